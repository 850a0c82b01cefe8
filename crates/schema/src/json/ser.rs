//! From Rust types to values: a serde serializer that refuses whatever would lose something.

use std::fmt;

use serde::ser::{self, Serialize};

use super::keys::{Keys, Naming};
use super::object::Unfinished;
use super::path::Segment;
use super::refuse::refuse;
use super::whole::{WHOLE, take_whole};
use super::{Array, Json, LosslessError, Lossy, MAX_SERDE_DEPTH, Number, Object, Path};

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
    let mut building = Building::default();
    value
        .serialize(ToJson { building: &mut building, depth: 0 })
        .map_err(|error| LosslessError::new(Path::from_innermost(&error.0.path), error.0.reason))
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

/// Room is made at once for so many elements at most, whatever length a type claims to have.
const MAX_RESERVED: usize = 1 << 16;

/// What is shared by all values of one snapshot.
#[derive(Default)]
struct Building {
    keys: Keys,
    /// Elements of all open arrays; each takes its tail when it closes.
    items: Vec<Json>,
    objects: Unfinished,
}

struct ToJson<'b> {
    building: &'b mut Building,
    depth: usize,
}

impl<'b> ToJson<'b> {
    /// The serializer for what is inside a container.
    fn inside(self) -> Result<ToJson<'b>, Refused> {
        if self.depth == MAX_SERDE_DEPTH {
            return Err(Refused::new(Lossy::TooDeep { limit: MAX_SERDE_DEPTH }));
        }
        Ok(ToJson { building: self.building, depth: self.depth + 1 })
    }

    fn again(&mut self) -> ToJson<'_> {
        ToJson { building: self.building, depth: self.depth }
    }

    fn elements(self, hint: usize) -> Result<Elements<'b>, Refused> {
        let start = self.building.items.len();
        self.building.items.reserve(hint.min(MAX_RESERVED));
        Ok(Elements { to: self.inside()?, start })
    }

    fn members(self) -> Result<Members<'b>, Refused> {
        let start = self.building.objects.start();
        Ok(Members { to: self.inside()?, start, naming: Naming::default() })
    }
}

fn number<T>(value: T) -> Result<Json, Refused>
where
    Number: TryFrom<T, Error = Lossy>,
{
    Number::try_from(value).map(Json::Number).map_err(Refused::new)
}

fn tagged(variant: &str, value: Json) -> Json {
    Json::Object(Object::from_iter([(variant, value)]))
}

impl<'b> ser::Serializer for ToJson<'b> {
    type Ok = Json;
    type Error = Refused;
    type SerializeSeq = Elements<'b>;
    type SerializeTuple = Elements<'b>;
    type SerializeTupleStruct = Elements<'b>;
    type SerializeTupleVariant = Tagged<Elements<'b>>;
    type SerializeMap = Members<'b>;
    type SerializeStruct = Members<'b>;
    type SerializeStructVariant = Tagged<Members<'b>>;

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

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Json, Refused> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Json, Refused> {
        if name == WHOLE
            && let Some(whole) = take_whole(value)
        {
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

    fn serialize_seq(self, length: Option<usize>) -> Result<Elements<'b>, Refused> {
        self.elements(length.unwrap_or(0))
    }

    fn serialize_tuple(self, length: usize) -> Result<Elements<'b>, Refused> {
        self.elements(length)
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Elements<'b>, Refused> {
        self.elements(length)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Elements<'b>>, Refused> {
        Ok(Tagged { variant, content: self.inside()?.elements(length)? })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'b>, Refused> {
        self.members()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'b>, Refused> {
        self.members()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Tagged<Members<'b>>, Refused> {
        Ok(Tagged { variant, content: self.inside()?.members()? })
    }
}

/// An array being filled.
struct Elements<'b> {
    to: ToJson<'b>,
    start: usize,
}

impl Elements<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let index = self.to.building.items.len() - self.start;
        let item = value.serialize(self.to.again()).map_err(|error| error.under_index(index))?;
        self.to.building.items.push(item);
        Ok(())
    }

    fn finish(self) -> Json {
        Json::Array(Array::of(self.to.building.items.drain(self.start..)))
    }
}

/// An object being filled.
struct Members<'b> {
    to: ToJson<'b>,
    start: usize,
    naming: Naming,
}

impl Members<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Refused> {
        self.naming.push(key, &mut self.to.building.keys);
        self.push_value(value)
    }

    fn push_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let value = value.serialize(self.to.again());
        let value = value.map_err(|error| error.under_key(self.naming.last()))?;
        self.to.building.objects.push(value);
        Ok(())
    }

    fn finish(self) -> Json {
        let Building { keys, objects, .. } = self.to.building;
        Json::Object(self.naming.finish(self.start, objects, keys))
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
        key.serialize(KeyOnly { naming: &mut self.naming, keys: &mut self.to.building.keys })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        self.push_value(value)
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
struct KeyOnly<'m> {
    naming: &'m mut Naming,
    keys: &'m mut Keys,
}

impl KeyOnly<'_> {
    fn take(self, key: &str) -> Result<(), Refused> {
        self.naming.push(key, self.keys);
        Ok(())
    }
}

impl ser::Serializer for KeyOnly<'_> {
    type Ok = ();
    type Error = Refused;

    refuse!(Refused::new(Lossy::NonStringKey), Refused;
        serialize_bool(bool), serialize_bytes(&[u8]), serialize_f32(f32), serialize_f64(f64),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128));

    fn serialize_unit(self) -> Result<(), Refused> {
        Err(Refused::new(Lossy::NonStringKey))
    }

    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.take(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.take(value)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Refused> {
        self.take(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        if name == WHOLE
            && let Some(whole) = take_whole(value)
        {
            return match whole {
                Json::String(key) => self.take(&key),
                _ => Err(Refused::new(Lossy::NonStringKey)),
            };
        }
        value.serialize(self)
    }
}
