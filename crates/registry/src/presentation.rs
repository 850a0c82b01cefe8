//! Call and result cards: how a host shows a call, as plain data (contract 3.13).

use std::sync::Arc;

use code_mode_schema::Json;
use serde::{Deserialize, Serialize};

use crate::content::ContentBlock;

/// How a call is shown. JSON: `{"card": "generic" | "terminal" | "diff", …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "card", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum CallView {
    /// A title and, optionally, details.
    Generic {
        /// One line.
        title: Arc<str>,
        /// What sort of action it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<CallKind>,
        /// The input as the host should show it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw_input: Option<Json>,
        /// Details.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Vec<ContentBlock>>,
        /// Files the call touches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        locations: Option<Vec<Location>>,
    },
    /// A command.
    Terminal {
        /// The command line.
        title: Arc<str>,
        /// What it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Arc<str>>,
        /// Where it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<Arc<str>>,
    },
    /// A change of files.
    Diff {
        /// One line.
        title: Arc<str>,
        /// The changes.
        diffs: Vec<Diff>,
        /// Files the call touches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        locations: Option<Vec<Location>>,
    },
}

impl CallView {
    /// A generic card with a title only.
    #[must_use]
    pub fn generic(title: impl Into<Arc<str>>) -> Self {
        Self::Generic { title: title.into(), kind: None, raw_input: None, content: None, locations: None }
    }
}

/// How a finished call is shown. JSON: `{"card": "generic" | "terminal" | "diff", …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "card", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ResultView {
    /// Details.
    Generic {
        /// One line; replaces the call's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// Details.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Vec<ContentBlock>>,
    },
    /// What a command printed.
    Terminal {
        /// One line; replaces the call's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// What it printed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Arc<str>>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<Arc<str>>,
    },
    /// The changes that were made.
    Diff {
        /// One line; replaces the call's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// The changes.
        diffs: Vec<Diff>,
    },
}

/// What sort of action a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum CallKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Fetch,
    Other,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file.
    pub path: Arc<str>,
    /// The line, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The file.
    pub path: Arc<str>,
    /// The text before; `None` (JSON `null`) for a new file.
    pub old_text: Option<Arc<str>>,
    /// The text after.
    pub new_text: Arc<str>,
}

/// What a result presenter sees of a finished call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolOutcomeView<'a> {
    /// The final content.
    pub content: &'a [ContentBlock],
    /// Whether the call failed.
    pub is_error: bool,
    /// The meta, if the tool computed one.
    pub meta: Option<&'a Json>,
}

impl<'a> ToolOutcomeView<'a> {
    /// The view of a call that ended like this.
    #[must_use]
    pub fn new(content: &'a [ContentBlock], is_error: bool, meta: Option<&'a Json>) -> Self {
        Self { content, is_error, meta }
    }
}

impl<'a> From<&'a crate::execution::ToolResult> for ToolOutcomeView<'a> {
    fn from(result: &'a crate::execution::ToolResult) -> Self {
        Self { content: result.content(), is_error: result.is_error(), meta: result.meta() }
    }
}
