//! Why a prompt could not be assembled or rendered.

use std::sync::Arc;

use crate::error::{ProjectionError, quoted};

/// Why an assembly or its rendering failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// Mode `code` or `both` without a code runtime, or with one of another language.
    #[error("{message}")]
    Runtime {
        /// What is required.
        message: String,
    },
    /// The text of a section could not be made.
    #[error("prompt section \"{section}\" failed: {message}")]
    Section {
        /// The section.
        section: Arc<str>,
        /// The provider's message.
        message: Arc<str>,
    },
    /// `toolOrder` names tools that are not registered.
    #[error("{}", unregistered(unknown, known))]
    UnregisteredInToolOrder {
        /// The unknown names, in their order.
        unknown: Vec<Arc<str>>,
        /// The names that are legal in this mode, sorted.
        known: Vec<Arc<str>>,
    },
    /// A tool has the name that stands for all unlisted tools.
    #[error("a tool is named \"<unlisted-tools>\", which toolOrder reserves for its rest entry")]
    RestEntryAsName,
    /// The schemas of the tools cannot be projected.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A `system-prompt/assemble` listener failed.
    #[error("a system-prompt/assemble listener failed: {message}")]
    Listener {
        /// The listener's message.
        message: Arc<str>,
    },
    /// A section names a variable that nobody provides.
    #[error("unknown prompt variable \"{{{{{variable}}}}}\" in section \"{section}\"")]
    UnknownVariable {
        /// The variable, without braces.
        variable: Arc<str>,
        /// The section.
        section: Arc<str>,
    },
    /// A variable could not be made.
    #[error("prompt variable \"{{{{{variable}}}}}\" failed: {message}")]
    Variable {
        /// The variable, without braces.
        variable: Arc<str>,
        /// The provider's message.
        message: Arc<str>,
    },
}

fn unregistered(unknown: &[Arc<str>], known: &[Arc<str>]) -> String {
    let plural = if unknown.len() == 1 { "" } else { "s" };
    let known = if known.is_empty() { "(none)".to_owned() } else { known.join(", ") };
    format!("toolOrder lists unregistered tool{plural} {}; known tools: {known}", quoted(unknown))
}

/// Why a section or a variable was not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionError {
    /// The name is taken in the same layer.
    #[error("\"{name}\" is already registered in this layer of the prompt")]
    AlreadyRegistered {
        /// The name.
        name: Arc<str>,
    },
}
