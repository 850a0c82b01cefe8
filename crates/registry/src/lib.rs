//! Tools, scopes, and the pipeline every tool call passes through. No JavaScript engine, no TypeScript.
#![forbid(unsafe_code)]

// What is called.
mod tool;

mod registry;

mod scoped;

mod registration;

mod visibility;

mod config;

mod layers;

mod shared;

// What happens to a call.
pub mod pipeline;
pub mod scheduler;

mod execution;

mod content;

mod events;

mod hooks;

pub mod approval;

mod cancellation;

// What the model and the host are told.
pub mod prompt;

mod presentation;

pub mod host;

pub mod policy;

// Small tools of the house.
mod error;

mod contain;

mod sync;

pub use approval::{ApprovalOutcome, ApprovalRequest, ApprovalService};
pub use cancellation::{CancelReason, Cancelled, Signal, SignalSource};
pub use config::{Mode, RegistryConfig, UNLISTED_TOOLS};
pub use content::{AdditionalContext, ContentBlock};
pub use error::{
    ConfigError, ErrorInfo, ProjectionError, RegisterError, RestrictError, ToolError, ToolFailure,
};
pub use events::Next;
pub use execution::{
    Agent, CallId, Dispatch, IntoArguments, Outcome, Token, ToolCall, ToolExecution, ToolResult,
};
pub use hooks::{Acceptance, Hooks, PostDecision, PreDecision};
pub use host::{HostEvent, HostEventObserver, HostEventRecord};
pub use pipeline::{Admission, AskingCall, SettledCall, StartedCall};
pub use presentation::{CallKind, CallView, Diff, Location, ResultView, ToolOutcomeView};
pub use prompt::{
    Assembly, PromptContext, PromptError, Section, SectionError, SystemSection, Variable, Variables,
};
pub use registration::Registration;
pub use registry::{IntoVerdict, RUN_CODE, ToolRegistry};
pub use scoped::ScopedRegistry;
pub use tool::{
    IntoContent, IntoMeta, IntoOutputSchema, IntoParameters, RenderError, ToolBuilder,
    ToolDefinition, ToolParameters, ToolRunContext, TypedToolBuilder,
};
pub use visibility::{ExecutionMode, Restriction, ToolSchema, Transport};
