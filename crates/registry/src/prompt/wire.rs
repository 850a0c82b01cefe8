//! Which tools are on the wire, and in which order (contract 8).

use std::{
    cmp::Ordering,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::{PromptContext, PromptError};
use crate::{
    config::{Mode, UNLISTED_TOOLS},
    registry::RUN_CODE,
    shared::Shared,
    sync::read,
    tool::ToolDefinition,
    visibility::ToolSchema,
};

pub(super) fn tools_on_the_wire(
    shared: &Shared,
    context: &PromptContext,
) -> Result<Vec<ToolSchema>, PromptError> {
    let is_on_the_wire = |tool: &&ToolDefinition| context.mode != Mode::Code || tool.name() == RUN_CODE;
    let tools = context.tools.iter().filter(is_on_the_wire).map(ToolSchema::of);
    let mut tools = tools.collect::<Result<Vec<_>, _>>()?;
    if tools.iter().any(|tool| &*tool.name == UNLISTED_TOOLS) {
        return Err(PromptError::RestEntryAsName);
    }
    tools.sort_by(|left, right| by_code_unit(&left.name, &right.name));
    let Some(order) = &shared.config.tool_order else {
        return Ok(tools);
    };

    let known = known_names(shared, context);
    let listed = || order.iter().filter(|name| &***name != UNLISTED_TOOLS);
    let unknown: Vec<_> = listed().filter(|name| !known.contains(*name)).cloned().collect();
    if !unknown.is_empty() {
        return Err(PromptError::UnregisteredInToolOrder { unknown, known: known.into_iter().collect() });
    }
    // The sort is stable: all unlisted tools share the marker's place and keep their lexicographic order.
    let places: HashMap<&str, usize> = order.iter().map(AsRef::as_ref).zip(0..).collect();
    let rest = places.get(UNLISTED_TOOLS).copied().unwrap_or(order.len());
    tools.sort_by_key(|tool| places.get(&*tool.name).copied().unwrap_or(rest));
    Ok(tools)
}

/// The names legal in `toolOrder`; tools hidden from the agent by a filter included.
fn known_names(shared: &Shared, context: &PromptContext) -> BTreeSet<Arc<str>> {
    let mut known = BTreeSet::new();
    if context.mode != Mode::Native {
        known.insert(Arc::from(RUN_CODE));
    }
    if context.mode != Mode::Code {
        known.extend(read(&shared.layers).global.names().cloned());
        known.extend(context.tools.iter().map(|tool| Arc::clone(tool.name_shared())));
    }
    known
}

/// The order of JavaScript's string comparison.
fn by_code_unit(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}
