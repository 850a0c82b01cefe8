//! `allOf`, `anyOf`, `oneOf`: schemas of schemas.

use code_mode_schema::Json;

use super::Assertions;

/// The branches of each; empty without the keyword.
///
/// `oneOf` is shown as `anyOf` is: that no second branch may fit is left to validation.
#[derive(Clone, Copy, Default)]
pub(crate) struct CombineFacts<'a> {
    pub(crate) all_of: &'a [Json],
    pub(crate) any_of: &'a [Json],
    pub(crate) one_of: &'a [Json],
}

impl CombineFacts<'_> {
    pub(crate) fn is_present(&self) -> bool {
        !self.all_of.is_empty() || !self.any_of.is_empty() || !self.one_of.is_empty()
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    let Some(branches) = value.as_array() else { return };
    let facts = &mut assertions.combine;
    match keyword {
        "allOf" => facts.all_of = branches,
        "anyOf" => facts.any_of = branches,
        _ => facts.one_of = branches,
    }
}
