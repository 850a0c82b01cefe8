//! From values to Rust types: a serde deserializer over a borrowed value, with paths in its errors.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::path::Segment;
use super::whole::{WHOLE, give_whole};
use super::{Json, Lossy, MAX_SERDE_DEPTH, ObjectIter, Path};

/// Turns a value into a Rust type, without text in between.
///
/// Follows serde's JSON conventions, see [`to_json`](crate::to_json). A [`Json`] inside the type
/// receives its part whole, without a copy.
///
/// ```
/// use code_mode_schema::{from_json, json};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Server {
///     host: String,
///     port: u16,
/// }
///
/// let error = from_json::<Vec<Server>>(&json!([{"host": "a", "port": "80"}])).unwrap_err();
/// assert_eq!(error.to_string(), r#"[0].port: invalid type: string "80", expected u16"#);
/// ```
///
/// # Errors
///
/// [`FromJsonError`] with the path of what does not fit. Integers beyond ±(2^53 − 1) do not fit
/// integer types: whoever wrote them may have lost digits already. Types may nest at most
/// [`MAX_SERDE_DEPTH`] levels.
pub fn from_json<T: DeserializeOwned>(value: &Json) -> Result<T, FromJsonError> {
    T::deserialize(FromJson { value, depth: 0 }).map_err(|unfit| FromJsonError {
        path: Path::from_innermost(&unfit.0.path).into(),
        message: shortened(unfit.0.message),
    })
}

/// Serde quotes the value, which may be of any length.
fn shortened(mut message: String) -> String {
    const MAX_CHARS: usize = 1_000;
    if let Some((end, _)) = message.char_indices().nth(MAX_CHARS) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// A value does not fit a Rust type.
///
/// Prints as `servers[0].port: invalid type: string "80", expected u16`; without the path at the
/// root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FromJsonError {
    /// Where, as in `servers[0].port`; empty for the root.
    pub path: String,
    /// What does not fit, in serde's words, at most 1 000 characters of them.
    pub message: String,
}

impl fmt::Display for FromJsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            formatter.write_str(&self.message)
        } else {
            write!(formatter, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for FromJsonError {}

/// The deserializer's error: boxed, because it travels in every result.
#[derive(Debug)]
struct Unfit(Box<UnfitAt>);

#[derive(Debug)]
struct UnfitAt {
    /// Innermost first; each level adds its own step on the way up.
    path: Vec<Segment>,
    message: String,
}

impl Unfit {
    fn under_key(mut self, key: &str) -> Unfit {
        self.0.path.push(Segment::Key(key.into()));
        self
    }

    fn under_index(mut self, index: usize) -> Unfit {
        self.0.path.push(Segment::Index(index));
        self
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl std::error::Error for Unfit {}

impl de::Error for Unfit {
    fn custom<T: fmt::Display>(message: T) -> Unfit {
        Unfit(Box::new(UnfitAt { path: Vec::new(), message: message.to_string() }))
    }
}

#[derive(Clone, Copy)]
struct FromJson<'de> {
    value: &'de Json,
    depth: usize,
}

impl<'de> FromJson<'de> {
    /// The deserializer for a value inside this one.
    fn inside(self, value: &'de Json) -> Result<FromJson<'de>, Unfit> {
        if self.depth == MAX_SERDE_DEPTH {
            return Err(de::Error::custom(format_args!(
                "value {}",
                Lossy::TooDeep { limit: MAX_SERDE_DEPTH }
            )));
        }
        Ok(FromJson { value, depth: self.depth + 1 })
    }

    fn unexpected(self) -> de::Unexpected<'de> {
        match self.value {
            Json::Null => de::Unexpected::Unit,
            Json::Bool(value) => de::Unexpected::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => de::Unexpected::Signed(integer),
                None => de::Unexpected::Float(number.get()),
            },
            Json::String(text) => de::Unexpected::Str(text),
            Json::Array(_) => de::Unexpected::Seq,
            Json::Object(_) => de::Unexpected::Map,
        }
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.value {
            Json::Number(number) if number.is_integer() && number.as_i64().is_none() => {
                let reason = Lossy::UnsafeInteger(number.to_string().into());
                Err(de::Error::custom(format_args!("value {reason}")))
            }
            _ => self.deserialize_any(visitor),
        }
    }
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
            self.integer(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for FromJson<'de> {
    type Error = Unfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.value {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => match u64::try_from(integer) {
                    Ok(natural) => visitor.visit_u64(natural),
                    Err(_) => visitor.visit_i64(integer),
                },
                None => visitor.visit_f64(number.get()),
            },
            Json::String(text) => visitor.visit_borrowed_str(text),
            Json::Array(array) => {
                let mut rest = Elements { of: self, rest: array.iter(), next: 0 };
                let value = visitor.visit_seq(&mut rest)?;
                match rest.rest.len() {
                    0 => Ok(value),
                    left => Err(de::Error::invalid_length(
                        rest.next + left,
                        &format!("an array of {} elements", rest.next).as_str(),
                    )),
                }
            }
            Json::Object(object) => visitor.visit_map(Members { of: self, rest: object.iter(), value: None }),
        }
    }

    integers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128);
    integers!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        if name == WHOLE {
            return give_whole(self.value, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        match self.value {
            Json::String(variant) => visitor.visit_enum(Variant { of: self, name: variant, content: None }),
            Json::Object(object) => match (object.len(), object.iter().next()) {
                (1, Some((name, content))) => {
                    visitor.visit_enum(Variant { of: self, name, content: Some(content) })
                }
                _ => Err(de::Error::invalid_value(
                    de::Unexpected::Map,
                    &"an object with the variant's name as its only key",
                )),
            },
            _ => Err(de::Error::invalid_type(self.unexpected(), &"a string or an object")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier
    }
}

struct Elements<'de> {
    of: FromJson<'de>,
    rest: std::slice::Iter<'de, Json>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Unfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Unfit> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        let item = self.of.inside(item).and_then(|item| seed.deserialize(item));
        item.map(Some).map_err(|error| error.under_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Members<'de> {
    of: FromJson<'de>,
    rest: ObjectIter<'de>,
    value: Option<(&'de str, &'de Json)>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Unfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unfit> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some((key, value));
        let key: de::value::BorrowedStrDeserializer<'de, Unfit> =
            de::value::BorrowedStrDeserializer::new(key);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Unfit> {
        let Some((key, value)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        let value = self.of.inside(value).and_then(|value| seed.deserialize(value));
        value.map_err(|error| error.under_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Variant<'de> {
    of: FromJson<'de>,
    name: &'de str,
    content: Option<&'de Json>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Unfit;
    type Variant = Variant<'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Variant<'de>), Unfit> {
        let name: de::value::StrDeserializer<'_, Unfit> = self.name.into_deserializer();
        seed.deserialize(name).map(|variant| (variant, self))
    }
}

impl<'de> Variant<'de> {
    fn content(&self, expected: &'static str) -> Result<FromJson<'de>, Unfit> {
        match self.content {
            Some(content) => self.of.inside(content),
            None => Err(de::Error::invalid_type(de::Unexpected::UnitVariant, &expected)),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Unfit;

    fn unit_variant(self) -> Result<(), Unfit> {
        match self.content {
            None | Some(Json::Null) => Ok(()),
            Some(_) => Err(de::Error::invalid_type(self.of.unexpected(), &"unit variant")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unfit> {
        let value = self.content("newtype variant").and_then(|content| seed.deserialize(content));
        value.map_err(|error| error.under_key(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unfit> {
        let value = self.content("tuple variant").and_then(|content| {
            if content.value.is_array() {
                content.deserialize_any(visitor)
            } else {
                Err(de::Error::invalid_type(content.unexpected(), &"tuple variant"))
            }
        });
        value.map_err(|error| error.under_key(self.name))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let value = self.content("struct variant").and_then(|content| content.deserialize_any(visitor));
        value.map_err(|error| error.under_key(self.name))
    }
}
