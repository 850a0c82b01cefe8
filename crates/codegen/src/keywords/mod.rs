//! What one schema says, keyword by keyword. One file holds one family; [`FAMILIES`] names them all.
//!
//! Every file has the same inner order: the family (its keywords and their reader), what it keeps of
//! them, the reader, and then how the facts of several schemas that hold at once become a type.

pub(crate) mod array;
pub(crate) mod combine;
pub(crate) mod keys;
pub(crate) mod kinds;
pub(crate) mod literals;
pub(crate) mod negate;
pub(crate) mod notes;
pub(crate) mod object;
pub(crate) mod reference;

use code_mode_schema::Json;

/// A family of keywords that are read together.
pub(crate) struct Family {
    /// The keywords.
    pub(crate) keywords: &'static [&'static str],
    /// Takes note of one of them.
    pub(crate) read: for<'a> fn(&mut Assertions<'a>, &str, &'a Json),
}

/// All the families. A keyword of none of them says nothing about the type; what it says to a
/// reader is up to [`notes`].
pub(crate) const FAMILIES: [&Family; 8] = [
    &kinds::FAMILY,
    &literals::FAMILY,
    &object::FAMILY,
    &keys::FAMILY,
    &array::FAMILY,
    &combine::FAMILY,
    &negate::FAMILY,
    &reference::FAMILY,
];

/// What one schema asserts, one field for each family.
#[derive(Clone, Default)]
pub(crate) struct Assertions<'a> {
    pub(crate) kinds: kinds::KindsFacts,
    pub(crate) literals: literals::LiteralFacts<'a>,
    pub(crate) object: object::ObjectFacts<'a>,
    pub(crate) keys: keys::KeysFacts<'a>,
    pub(crate) array: array::ArrayFacts<'a>,
    pub(crate) combine: combine::CombineFacts<'a>,
    pub(crate) negate: negate::NegateFacts,
    pub(crate) reference: reference::ReferenceFacts<'a>,
}

impl<'a> Assertions<'a> {
    /// Reads the keywords of a schema; a schema that is no object asserts nothing here.
    pub(crate) fn read(schema: &'a Json) -> Assertions<'a> {
        let mut assertions = Assertions::default();
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            if let Some(family) = family_of(keyword) {
                (family.read)(&mut assertions, keyword, value);
            }
        }
        assertions
    }

    /// Whether anything is said about what objects hold.
    pub(crate) fn describe_objects(&self) -> bool {
        self.object.is_present() || self.keys.is_present()
    }
}

fn family_of(keyword: &str) -> Option<&'static Family> {
    FAMILIES.into_iter().find(|family| family.keywords.contains(&keyword))
}
