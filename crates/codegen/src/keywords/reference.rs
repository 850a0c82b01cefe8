//! `$ref`, `$dynamicRef`, `$recursiveRef`: schemas said elsewhere.

use code_mode_schema::Json;

use super::Assertions;

/// The references of a schema, as written.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReferenceFacts<'a> {
    /// `$ref`.
    pub(crate) plain: Option<&'a str>,
    /// `$dynamicRef` or `$recursiveRef`: what they mean depends on how the schema was reached,
    /// unless only one schema of the document can be meant.
    pub(crate) dynamic: Option<&'a str>,
}

impl ReferenceFacts<'_> {
    pub(crate) fn is_present(&self) -> bool {
        self.plain.is_some() || self.dynamic.is_some()
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    let facts = &mut assertions.reference;
    // What is no text refers to nothing, and is found to be dangling like any other.
    let text = value.as_str().unwrap_or("#/-");
    match keyword {
        "$ref" => facts.plain = Some(text),
        _ => facts.dynamic = Some(text),
    }
}
