//! From Rust types to values: a serde serializer that refuses whatever would lose something.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::ser::{self, Serialize};

use super::keys::KeyCache;
use super::path::Segment;
use super::{Json, LosslessError, Lossy, MAX_SERDE_DEPTH, Number, Path};

/// Turns any serializable value into canonical JSON, or says where it would lose something.
///
/// Follows serde's JSON conventions: structs and maps become objects, enums are externally
/// tagged, `None` and `()` are `null`, bytes are arrays of numbers. A [`Json`] inside the value
/// goes in as it is, without a copy.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct Reading {
///     values: Vec<f64>,
/// }
///
/// let error = code_mode_schema::to_json(&Reading { values: vec![1.0, f64::NAN] }).unwrap_err();
/// assert_eq!(error.to_string(), "values[1] is NaN");
/// ```
///
/// # Errors
///
/// [`LosslessError`] with the path: `NaN`, infinities and `-0`; integers beyond ±(2^53 − 1),
/// which are never rounded; map keys other than strings; types that nest deeper than
/// [`MAX_SERDE_DEPTH`]; a failure of the type's own `Serialize`.
///
/// Source: contract 3.4, decisions 16 and 17.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Json, LosslessError> {
    let mut keys = KeyCache::default();
    value
        .serialize(ToJson { keys: &mut keys, depth: 0 })
        .map_err(|error| LosslessError::new(Path::from_innermost(&error.0.path), error.0.reason))
}

/// Serializes the value for any format.
///
/// # Errors
///
/// Besides the format's own: values that nest deeper than [`MAX_SERDE_DEPTH`], because serde
/// recurses. Use [`Json::to_text`] for those. [`to_json`] takes the value whole, at any depth.
impl Serialize for Json {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(WHOLE, &Nested { value: self, depth: 0 })
    }
}

/// The newtype name by which our own serializer and deserializer recognize a whole [`Json`].
pub(super) const WHOLE: &str = "$code_mode_schema::Json";

thread_local! {
    /// Hands a whole [`Json`] through serde's generic interface, which has no way to carry one.
    static HANDOVER: RefCell<Handover> = const { RefCell::new(Handover::Idle) };
}

enum Handover {
    Idle,
    Wanted,
    Given(Json),
}

/// A value on its way through somebody else's serializer.
struct Nested<'a> {
    value: &'a Json,
    depth: usize,
}

impl Serialize for Nested<'_> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.depth == 0 && give_if_wanted(self.value) {
            return serializer.serialize_unit();
        }
        if self.depth > MAX_SERDE_DEPTH {
            return Err(ser::Error::custom(Lossy::TooDeep { limit: MAX_SERDE_DEPTH }));
        }
        let inside = |value| Nested { value, depth: self.depth + 1 };
        match self.value {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => match u64::try_from(integer) {
                    Ok(natural) => serializer.serialize_u64(natural),
                    Err(_) => serializer.serialize_i64(integer),
                },
                None => serializer.serialize_f64(number.get()),
            },
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(array) => serializer.collect_seq(array.iter().map(inside)),
            Json::Object(object) => {
                serializer.collect_map(object.iter().map(|(key, value)| (key, inside(value))))
            }
        }
    }
}

fn give_if_wanted(value: &Json) -> bool {
    HANDOVER.with_borrow_mut(|handover| {
        let wanted = matches!(handover, Handover::Wanted);
        if wanted {
            *handover = Handover::Given(value.clone());
        }
        wanted
    })
}

/// Asks `value`, which is the content of a [`Json`], for the whole of it.
fn take_whole<T: Serialize + ?Sized>(value: &T) -> Option<Json> {
    HANDOVER.with_borrow_mut(|handover| *handover = Handover::Wanted);
    let _ = value.serialize(Discard);
    match HANDOVER.with_borrow_mut(|handover| std::mem::replace(handover, Handover::Idle)) {
        Handover::Given(value) => Some(value),
        Handover::Idle | Handover::Wanted => None,
    }
}

/// The serializer's error: boxed, because it travels in every result.
#[derive(Debug)]
struct Refused(Box<RefusedAt>);

#[derive(Debug)]
struct RefusedAt {
    /// Innermost first; each level adds its own step on the way up.
    path: Vec<Segment>,
    reason: Lossy,
}

impl Refused {
    fn new(reason: Lossy) -> Refused {
        Refused(Box::new(RefusedAt { path: Vec::new(), reason }))
    }

    fn under_key(mut self, key: &str) -> Refused {
        self.0.path.push(Segment::Key(key.into()));
        self
    }

    fn under_index(mut self, index: usize) -> Refused {
        self.0.path.push(Segment::Index(index));
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", Path::from_innermost(&self.0.path), self.0.reason)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Refused {
        Refused::new(Lossy::Unserializable(message.to_string().into()))
    }
}

struct ToJson<'k> {
    keys: &'k mut KeyCache,
    depth: usize,
}

impl<'k> ToJson<'k> {
    /// The serializer for what is inside a container.
    fn inside(self) -> Result<ToJson<'k>, Refused> {
        if self.depth == MAX_SERDE_DEPTH {
            return Err(Refused::new(Lossy::TooDeep { limit: MAX_SERDE_DEPTH }));
        }
        Ok(ToJson { keys: self.keys, depth: self.depth + 1 })
    }

    fn elements(self, length: Option<usize>) -> Result<Elements<'k>, Refused> {
        Ok(Elements { to: self.inside()?, items: Vec::with_capacity(length.unwrap_or(0).min(4_096)) })
    }

    fn members(self, length: usize) -> Result<Members<'k>, Refused> {
        let entries = Vec::with_capacity(length.min(4_096));
        Ok(Members { to: self.inside()?, entries, key: None })
    }
}

fn number<T>(value: T) -> Result<Json, Refused>
where
    Number: TryFrom<T, Error = Lossy>,
{
    Number::try_from(value).map(Json::Number).map_err(Refused::new)
}

fn tagged(variant: &str, value: Json) -> Json {
    Json::Object(vec![(Arc::from(variant), value)].into())
}

impl<'k> ser::Serializer for ToJson<'k> {
    type Ok = Json;
    type Error = Refused;
    type SerializeSeq = Elements<'k>;
    type SerializeTuple = Elements<'k>;
    type SerializeTupleStruct = Elements<'k>;
    type SerializeTupleVariant = Tagged<Elements<'k>>;
    type SerializeMap = Members<'k>;
    type SerializeStruct = Members<'k>;
    type SerializeStructVariant = Tagged<Members<'k>>;

    fn serialize_bool(self, value: bool) -> Result<Json, Refused> {
        Ok(Json::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Json, Refused> {
        number(value)
    }

    fn serialize_i128(self, value: i128) -> Result<Json, Refused> {
        number(value)
    }

    fn serialize_u8(self, value: u8) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<Json, Refused> {
        number(value)
    }

    fn serialize_u128(self, value: u128) -> Result<Json, Refused> {
        number(value)
    }

    fn serialize_f32(self, value: f32) -> Result<Json, Refused> {
        number(value)
    }

    fn serialize_f64(self, value: f64) -> Result<Json, Refused> {
        number(value)
    }

    fn serialize_char(self, value: char) -> Result<Json, Refused> {
        Ok(Json::from(&*value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, value: &str) -> Result<Json, Refused> {
        Ok(value.into())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Json, Refused> {
        Ok(value.iter().map(|&byte| Json::from(byte)).collect())
    }

    fn serialize_none(self) -> Result<Json, Refused> {
        Ok(Json::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, Refused> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Json, Refused> {
        Ok(Json::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Json, Refused> {
        Ok(Json::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Json, Refused> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Json, Refused> {
        if name == WHOLE && let Some(whole) = take_whole(value) {
            return Ok(whole);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json, Refused> {
        let value = value.serialize(self.inside()?).map_err(|error| error.under_key(variant))?;
        Ok(tagged(variant, value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Elements<'k>, Refused> {
        self.elements(length)
    }

    fn serialize_tuple(self, length: usize) -> Result<Elements<'k>, Refused> {
        self.elements(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<Elements<'k>, Refused> {
        self.elements(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Elements<'k>>, Refused> {
        Ok(Tagged { variant, content: self.inside()?.elements(Some(length))? })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Members<'k>, Refused> {
        self.members(length.unwrap_or(0))
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Members<'k>, Refused> {
        self.members(length)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Members<'k>>, Refused> {
        Ok(Tagged { variant, content: self.inside()?.members(length)? })
    }
}

/// An array being filled.
struct Elements<'k> {
    to: ToJson<'k>,
    items: Vec<Json>,
}

impl Elements<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let to = ToJson { keys: self.to.keys, depth: self.to.depth };
        let item = value.serialize(to).map_err(|error| error.under_index(self.items.len()))?;
        self.items.push(item);
        Ok(())
    }

    fn finish(self) -> Json {
        self.items.into()
    }
}

/// An object being filled.
struct Members<'k> {
    to: ToJson<'k>,
    entries: Vec<(Arc<str>, Json)>,
    /// The key whose value comes next.
    key: Option<Arc<str>>,
}

impl Members<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Refused> {
        let to = ToJson { keys: self.to.keys, depth: self.to.depth };
        let value = value.serialize(to).map_err(|error| error.under_key(key))?;
        self.entries.push((self.to.keys.share(key), value));
        Ok(())
    }

    fn finish(self) -> Json {
        Json::Object(self.entries.into())
    }
}

/// The content of an enum variant, which becomes the only member of an object.
struct Tagged<C> {
    variant: &'static str,
    content: C,
}

macro_rules! elements {
    ($($serialize:ident :: $push:ident),*) => {$(
        impl ser::$serialize for Elements<'_> {
            type Ok = Json;
            type Error = Refused;

            fn $push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
                self.push(value)
            }

            fn end(self) -> Result<Json, Refused> {
                Ok(self.finish())
            }
        }
    )*};
}

elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field
);

impl ser::SerializeTupleVariant for Tagged<Elements<'_>> {
    type Ok = Json;
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        self.content.push(value).map_err(|error| error.under_key(self.variant))
    }

    fn end(self) -> Result<Json, Refused> {
        Ok(tagged(self.variant, self.content.finish()))
    }
}

impl ser::SerializeMap for Members<'_> {
    type Ok = Json;
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        self.key = Some(key.serialize(KeyOnly(self.to.keys))?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let key = self.key.take().expect("serde gives a key before its value");
        let to = ToJson { keys: self.to.keys, depth: self.to.depth };
        let value = value.serialize(to).map_err(|error| error.under_key(&key))?;
        self.entries.push((key, value));
        Ok(())
    }

    fn end(self) -> Result<Json, Refused> {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for Members<'_> {
    type Ok = Json;
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        self.push(key, value)
    }

    fn end(self) -> Result<Json, Refused> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Tagged<Members<'_>> {
    type Ok = Json;
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        self.content.push(key, value).map_err(|error| error.under_key(self.variant))
    }

    fn end(self) -> Result<Json, Refused> {
        Ok(tagged(self.variant, self.content.finish()))
    }
}

/// Takes what can be a key: strings, characters and unit variants, which serde writes as strings.
struct KeyOnly<'k>(&'k mut KeyCache);

/// Takes nothing: for values that are handed over another way.
struct Discard;

/// Writes the methods of a serializer that refuses everything it does not implement itself.
macro_rules! refuse {
    (scalars $error:expr, $ok:ty, $failure:ty; $($method:ident($value:ty)),*) => {$(
        fn $method(self, _: $value) -> Result<$ok, $failure> {
            Err($error)
        }
    )*};
    (containers $error:expr, $ok:ty, $failure:ty) => {
        type SerializeSeq = ser::Impossible<$ok, $failure>;
        type SerializeTuple = ser::Impossible<$ok, $failure>;
        type SerializeTupleStruct = ser::Impossible<$ok, $failure>;
        type SerializeTupleVariant = ser::Impossible<$ok, $failure>;
        type SerializeMap = ser::Impossible<$ok, $failure>;
        type SerializeStruct = ser::Impossible<$ok, $failure>;
        type SerializeStructVariant = ser::Impossible<$ok, $failure>;

        fn serialize_none(self) -> Result<$ok, $failure> {
            Err($error)
        }

        fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<$ok, $failure> {
            Err($error)
        }

        fn serialize_unit_struct(self, _: &'static str) -> Result<$ok, $failure> {
            Err($error)
        }

        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<$ok, $failure> {
            Err($error)
        }

        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, $failure> {
            Err($error)
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, $failure> {
            Err($error)
        }

        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, $failure> {
            Err($error)
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, $failure> {
            Err($error)
        }

        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, $failure> {
            Err($error)
        }

        fn serialize_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStruct, $failure> {
            Err($error)
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, $failure> {
            Err($error)
        }
    };
}

impl ser::Serializer for KeyOnly<'_> {
    type Ok = Arc<str>;
    type Error = Refused;

    refuse!(containers Refused::new(Lossy::NonStringKey), Arc<str>, Refused);
    refuse!(scalars Refused::new(Lossy::NonStringKey), Arc<str>, Refused;
        serialize_bool(bool), serialize_bytes(&[u8]), serialize_f32(f32), serialize_f64(f64),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128));

    fn serialize_unit(self) -> Result<Arc<str>, Refused> {
        Err(Refused::new(Lossy::NonStringKey))
    }

    fn serialize_char(self, value: char) -> Result<Arc<str>, Refused> {
        Ok(self.0.share(value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, value: &str) -> Result<Arc<str>, Refused> {
        Ok(self.0.share(value))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Arc<str>, Refused> {
        Ok(self.0.share(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Arc<str>, Refused> {
        if name == WHOLE && let Some(whole) = take_whole(value) {
            return match whole {
                Json::String(key) => Ok(key),
                _ => Err(Refused::new(Lossy::NonStringKey)),
            };
        }
        value.serialize(self)
    }
}

impl ser::Serializer for Discard {
    type Ok = ();
    type Error = fmt::Error;

    refuse!(containers fmt::Error, (), fmt::Error);
    refuse!(scalars fmt::Error, (), fmt::Error;
        serialize_bool(bool), serialize_bytes(&[u8]), serialize_f32(f32), serialize_f64(f64),
        serialize_char(char), serialize_str(&str),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128));

    fn serialize_unit(self) -> Result<(), fmt::Error> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }
}
