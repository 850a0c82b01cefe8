//! The spine: one schema becomes one TypeScript type.

use code_mode_schema::Json;

use crate::subset;

/// The TypeScript type of a JSON Schema; never fails.
pub fn json_schema_to_ts(schema: &Json, indent: usize) -> String {
    let mut text = String::new();
    if subset::is_subset(schema) {
        subset::print(schema, indent, &mut text);
    } else {
        text.push_str("unknown");
    }
    text
}
