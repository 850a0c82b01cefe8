//! Canonical JSON: immutable, shared values that survive any depth, with their text form and serde bridge.

mod array;
mod de;
mod keys;
mod lossless;
mod macros;
mod number;
mod object;
mod parse;
mod path;
mod refuse;
mod ser;
mod serde_value;
mod shape;
mod text;
mod value;
mod walk;
mod whole;

pub use array::Array;
pub use de::{FromJsonError, from_json};
pub use lossless::{LosslessError, Lossy, MAX_SERDE_DEPTH};
#[doc(hidden)]
pub use macros::{member_key, member_value};
pub use number::{MAX_SAFE_INTEGER, Number};
pub use object::{Object, ObjectBuilder, ObjectIter};
pub use parse::{ParseError, ParseErrorKind};
pub use path::Path;
pub use ser::to_json;
pub use text::{json_string_len, write_json_string, write_number};
pub use value::Json;
