//! Schemas of Rust types, without what only a Rust reader would want.

use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::Json;

/// A document with all types written out in place is taken up to this size, or if it is hardly
/// larger than the one with references.
const MAX_INLINED_BYTES: usize = 4_096;

/// Which way values of the type travel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    /// They are read.
    In,
    /// They are written.
    Out,
}

/// The schema of `T`.
pub(crate) fn document<T: JsonSchema>(direction: Direction) -> Json {
    let inlined = generate::<T>(direction, true);
    let inlined_bytes = inlined.text_len();
    if inlined_bytes <= MAX_INLINED_BYTES {
        return inlined;
    }
    let referring = generate::<T>(direction, false);
    if inlined_bytes <= referring.text_len() { inlined } else { referring }
}

fn generate<T: JsonSchema>(direction: Direction, is_inlined: bool) -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = is_inlined;
        settings.contract = match direction {
            Direction::In => Contract::Deserialize,
            Direction::Out => Contract::Serialize,
        };
    });
    let mut schema = settings
        .with_transform(RecursiveTransform(drop_number_format))
        .into_generator()
        .into_root_schema_for::<T>();
    if schema.get("title").and_then(Value::as_str) == Some(&*T::schema_name()) {
        schema.remove("title");
    }
    let mut document = schema.to_value();
    round_numbers(&mut document);
    Json::try_from(document).unwrap_or(Json::Bool(true))
}

/// Drops formats that repeat the width of a Rust number.
fn drop_number_format(schema: &mut Schema) {
    const PREFIXES: [&str; 4] = ["int", "uint", "float", "double"];
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| PREFIXES.iter().any(|prefix| format.starts_with(prefix))) {
        schema.remove("format");
    }
}

/// Bounds and defaults beyond what doubles can say exactly become the nearest double.
fn round_numbers(document: &mut Value) {
    let mut pending = vec![document];
    while let Some(value) = pending.pop() {
        match value {
            Value::Number(number) => {
                let is_exact = Json::try_from(&Value::Number(number.clone())).is_ok();
                // Adding zero turns negative zero into zero.
                let nearest = number.as_f64().map(|nearest| nearest + 0.0);
                if let Some(nearest) = nearest.and_then(serde_json::Number::from_f64)
                    && !is_exact
                {
                    *number = nearest;
                }
            }
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

/// Any value.
impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        true.into()
    }
}
