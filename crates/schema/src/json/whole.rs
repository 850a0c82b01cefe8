//! Values inside Rust types: serde's view of [`Json`], and how our own serializer and deserializer
//! hand it over whole instead of taking it apart.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize};

use super::refuse::refuse;
use super::{Array, Json, Lossy, MAX_SERDE_DEPTH, Number, Object};

/// Serializes the value for any format.
///
/// # Errors
///
/// Besides the format's own: values that nest deeper than [`MAX_SERDE_DEPTH`], because serde
/// recurses. Use [`Json::to_text`] for those. [`to_json`](crate::to_json) takes the value whole, at any depth.
impl Serialize for Json {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(WHOLE, &Nested { value: self, depth: 0 })
    }
}

/// Reads the value from any format.
///
/// # Errors
///
/// Besides the format's own: values that are not lossless JSON, and values that nest deeper than
/// [`MAX_SERDE_DEPTH`], because serde recurses. Use [`Json::parse`] for deep text.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_newtype_struct(WHOLE, AnyJson { depth: 0 })
    }
}

macro_rules! as_json {
    ($($kind:ident $expected:literal),*) => {$(
        /// As the [`Json`] it is.
        impl Serialize for $kind {
            fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Json::$kind(self.clone()).serialize(serializer)
            }
        }

        /// As [`Json`], of which other kinds are refused.
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$kind, D::Error> {
                match Json::deserialize(deserializer)? {
                    Json::$kind(value) => Ok(value),
                    _ => Err(de::Error::custom(concat!("expected ", $expected))),
                }
            }
        }
    )*};
}

as_json!(Array "an array", Object "an object", Number "a number");

/// The newtype name by which our own serializer and deserializer recognize a whole [`Json`].
pub(super) const WHOLE: &str = "$code_mode_schema::Json";

thread_local! {
    /// Hands a whole [`Json`] through serde's generic interface, which has no way to carry one.
    static OUT: RefCell<Handover> = const { RefCell::new(Handover::Idle) };
    /// The same for the way in.
    static IN: RefCell<Option<Json>> = const { RefCell::new(None) };
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
    OUT.with_borrow_mut(|handover| {
        let wanted = matches!(handover, Handover::Wanted);
        if wanted {
            *handover = Handover::Given(value.clone());
        }
        wanted
    })
}

/// Asks `value`, which is the content of a [`Json`], for the whole of it.
pub(super) fn take_whole<T: Serialize + ?Sized>(value: &T) -> Option<Json> {
    OUT.with_borrow_mut(|handover| *handover = Handover::Wanted);
    let _ = value.serialize(Discard);
    match OUT.with_borrow_mut(|handover| std::mem::replace(handover, Handover::Idle)) {
        Handover::Given(value) => Some(value),
        Handover::Idle | Handover::Wanted => None,
    }
}

/// Hands `value` to a visitor that asked for it by [`WHOLE`].
pub(super) fn give_whole<'de, V: Visitor<'de>, E: de::Error>(
    value: &Json,
    visitor: V,
) -> Result<V::Value, E> {
    IN.set(Some(value.clone()));
    visitor.visit_unit()
}

/// Takes nothing: for values that are handed over another way.
struct Discard;

impl ser::Serializer for Discard {
    type Ok = ();
    type Error = fmt::Error;

    refuse!(fmt::Error, fmt::Error;
        serialize_bool(bool), serialize_bytes(&[u8]), serialize_f32(f32), serialize_f64(f64),
        serialize_char(char), serialize_str(&str),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128));

    fn serialize_unit(self) -> Result<(), fmt::Error> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), fmt::Error> {
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

/// Builds a value from whatever a format offers.
#[derive(Clone, Copy)]
struct AnyJson {
    depth: usize,
}

impl AnyJson {
    fn inside<E: de::Error>(self) -> Result<AnyJson, E> {
        if self.depth == MAX_SERDE_DEPTH {
            return Err(E::custom(Lossy::TooDeep { limit: MAX_SERDE_DEPTH }));
        }
        Ok(AnyJson { depth: self.depth + 1 })
    }
}

fn number<T, E: de::Error>(value: T) -> Result<Json, E>
where
    Number: TryFrom<T, Error = Lossy>,
{
    Number::try_from(value).map(Json::Number).map_err(|reason| E::custom(format_args!("number {reason}")))
}

impl<'de> DeserializeSeed<'de> for AnyJson {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Json, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(IN.take().unwrap_or_default())
    }

    fn visit_none<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Json, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        number(value)
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Json, E> {
        number(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        number(value)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Json, E> {
        number(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        number(value)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let inside = self.inside()?;
        let mut items = Vec::new();
        while let Some(item) = elements.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let inside = self.inside()?;
        let mut entries: Vec<(Arc<str>, Json)> = Vec::new();
        while let Some(key) = members.next_key::<String>()? {
            entries.push((key.into(), members.next_value_seed(inside)?));
        }
        Ok(Json::Object(entries.into()))
    }
}
