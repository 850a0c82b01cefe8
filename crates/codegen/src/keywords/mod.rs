//! What one schema says, keyword by keyword. One file holds one family; [`read`] lists them all.
//!
//! Every file has the same inner order: what it keeps of its keywords, the reader, and then how the
//! facts of several schemas that hold at once become a type.

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

/// The list: which family reads which keyword.
///
/// A keyword of none says nothing about the type; what it says to a reader is up to [`notes`].
fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    match keyword {
        "type" | "nullable" => kinds::read(assertions, keyword, value),
        "enum" | "const" => literals::read(assertions, keyword, value),
        "properties" | "required" | "additionalProperties" | "unevaluatedProperties" => {
            object::read(assertions, keyword, value);
        }
        "patternProperties" | "propertyNames" => keys::read(assertions, keyword, value),
        "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "contains" | "minItems"
        | "maxItems" => {
            array::read(assertions, keyword, value);
        }
        "allOf" | "anyOf" | "oneOf" => combine::read(assertions, keyword, value),
        "not" | "if" | "then" | "else" | "dependentSchemas" | "dependencies" => {
            negate::read(assertions, keyword, value);
        }
        "$ref" | "$dynamicRef" | "$recursiveRef" => reference::read(assertions, keyword, value),
        _ => {}
    }
}

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
            read(&mut assertions, keyword, value);
        }
        assertions
    }

    /// Forgets the keywords that mean nothing before 2019-09.
    pub(crate) fn forget_modern(&mut self) {
        self.object.forget_modern();
        self.array.forget_modern();
        self.reference.dynamic = None;
    }

    /// Whether nothing is said but which kinds of value fit.
    pub(crate) fn are_only_kinds(&self) -> bool {
        let is_composed =
            self.reference.is_present() || self.combine.is_present() || self.literals.is_present();
        !is_composed && !self.describe_objects() && !self.array.is_present() && !self.kinds.is_malformed
    }

    /// Whether anything is said about what objects hold.
    pub(crate) fn describe_objects(&self) -> bool {
        self.object.is_present() || self.keys.is_present()
    }
}
