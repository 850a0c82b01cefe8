//! Tools, scopes, and the pipeline every tool call passes through. No JavaScript engine, no TypeScript.
//!
//! A host registers [tools](ToolDefinition) in a [`ToolRegistry`] and hands it [calls](ToolCall). Every call,
//! whether a model made it or a program that a model wrote, takes the same path and ends in exactly one
//! [`ToolResult`]; what goes wrong on the way is a failed result, never an error or a panic.
//!
//! Beside this crate an embedder depends on `code-mode-schema` for [`Json`](code_mode_schema::Json), and for typed
//! tools on `serde` and `schemars` 1. No runtime is required; policies that wait want tokio's or a
//! [timer](policy::Timer) of yours. Words such as `contract 3.4` and `decision 23` name the rule that a behaviour comes
//! from; `tests/CONTRACT.md` lists the rules with the tests that hold them.
//!
//! # A tool
//!
//! A typed tool is an async function over Rust types. Both schemas come from the types, the arguments are
//! validated, and the value is rendered as text for the model.
//!
//! ```
//! use code_mode_registry::{ToolCall, ToolDefinition, ToolRegistry};
//! use code_mode_schema::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct CountWords {
//!     text: String,
//! }
//!
//! let registry = ToolRegistry::default();
//! let tool = ToolDefinition::typed("count_words", "Counts the words of a text", |args: CountWords, _| async move {
//!     Ok(args.text.split_whitespace().count())
//! })
//! .concurrency_safe(|_| true);
//! let _registration = registry.register(tool)?;
//!
//! # futures::executor::block_on(async {
//! let call = ToolCall::new("call_1", "count_words", json!({"text": "three little words"}));
//! assert_eq!(registry.execute(call).await.text(), "3");
//!
//! let result = registry.execute(ToolCall::new("call_2", "count_words", json!({}))).await;
//! assert_eq!(result.error().unwrap().code(), Some("INVALID_ARGS"));
//! # });
//! # Ok::<(), code_mode_registry::RegisterError>(())
//! ```
//!
//! A tool can as well be [built](ToolDefinition::builder) from schemas, written in the author DSL or as raw
//! JSON:
//!
//! ```
//! use code_mode_registry::{ToolDefinition, ToolError, ToolRegistry};
//! use code_mode_schema::{Json, ParameterSchemaSpec, ValueSchemaSpec};
//!
//! let tool = ToolDefinition::builder("greet")
//!     .description("Greets somebody")
//!     .parameters(ParameterSchemaSpec::new().required("name", ValueSchemaSpec::string()))
//!     .output(ValueSchemaSpec::string())
//!     .render(|_args, value| value.as_str().unwrap_or_default().to_owned())
//!     .execute(|args: Json, _ctx| async move {
//!         let name = args.get("name").and_then(Json::as_str).ok_or_else(|| ToolError::new("who?"))?;
//!         Ok(format!("Hello, {name}").into())
//!     });
//! let registry = ToolRegistry::default();
//! registry.register(tool)?.keep();
//! # Ok::<(), code_mode_registry::RegisterError>(())
//! ```
//!
//! Arguments are validated by the schema of a typed tool, by the author DSL and by a compiled
//! [`Schema`](code_mode_schema::Schema). Parameters given as raw JSON go to the model as they are, and the body gets
//! whatever the model wrote. A tool whose schemas come from elsewhere, such as an MCP server, is compiled with
//! [`Schema::full`](code_mode_schema::Schema::full), which takes any JSON Schema:
//!
//! ```
//! use code_mode_registry::{ContentBlock, ToolBuilder, ToolDefinition, ToolError, ToolRegistry};
//! use code_mode_schema::{Json, Schema, json};
//!
//! fn outside_tool(listed: &Json) -> ToolBuilder {
//!     let text = |key| listed.get(key).and_then(Json::as_str).unwrap_or_default();
//!     let schema = |key| Schema::full(listed.get(key).cloned().unwrap_or_else(|| json!({})));
//!     ToolDefinition::builder(text("name"))
//!         .description(text("description"))
//!         .parameters(schema("inputSchema"))
//!         .output(schema("outputSchema"))
//!         .render(|_args, value| vec![ContentBlock::text(value.to_text())])
//!         .execute(|args, _ctx| async move { forward(args).await })
//! }
//!
//! async fn forward(args: Json) -> Result<Json, ToolError> {
//!     Ok(args)
//! }
//!
//! let listed = Json::parse(r#"{"name": "find", "inputSchema": {"type": "object", "minProperties": 1}}"#)?;
//! let registry = ToolRegistry::default();
//! registry.register(outside_tool(&listed))?.keep();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is registered for an [`Agent`] ([`ToolRegistry::scoped`]) is seen and heard by that agent only; a
//! [`Restriction`] hides global tools from one. Every registration is a [guard](Registration) that ends it
//! when dropped.
//!
//! # The path of a call
//!
//! [`ToolRegistry::execute`] runs the stages of [`pipeline`] in a row:
//!
//! 1. **materialize**: the tool is looked up, the arguments are read once.
//! 2. **pre-execute**: the policies ([`Hooks::on_pre_execute`]) [allow, deny or ask](PreDecision).
//! 3. **approval**: a question goes to the mounted [`ApprovalService`], for example the
//!    [`ApprovalDesk`](approval::ApprovalDesk).
//! 4. **guards** ([`ToolRegistry::guard`]): an allowed call may still be denied; nothing can allow it again.
//! 5. **dispatch**: the wrappers ([`Hooks::on_execute`]) around the body. A started body is awaited, never
//!    dropped.
//! 6. **canonical**: the value is validated and rendered.
//! 7. **post-execute**: the policies ([`Hooks::on_post_execute`]) [accept, replace or block](PostDecision)
//!    the result.
//! 8. **finalize**: the tool's own last word on the content ([`ToolBuilder::finalize_content`]).
//! 9. **observe**: everybody who listens ([`Hooks::on_result`]) is told.
//!
//! Listeners nest: the first registered is the outermost, and `next.call()` runs the rest. A panic in a
//! callback counts as the failure that an `Err` would be.
//!
//! ## A guard
//!
//! ```
//! use code_mode_registry::{ToolCall, ToolExecution, ToolRegistry};
//! use code_mode_schema::json;
//!
//! let registry = ToolRegistry::default();
//! let _no_deletes = registry.guard(|execution: &ToolExecution| {
//!     execution.name().starts_with("delete_").then_some("deleting is switched off")
//! });
//! # futures::executor::block_on(async {
//! let result = registry.execute(ToolCall::new("1", "delete_file", json!({}))).await;
//! assert_eq!(result.text(), "Error: deleting is switched off");
//! # });
//! ```
//!
//! ## An approval
//!
//! ```
//! use code_mode_registry::{
//!     Agent, ApprovalOutcome, PreDecision, ToolCall, ToolRegistry,
//!     approval::{ApprovalDesk, ApprovalPolicy},
//! };
//! use code_mode_schema::json;
//!
//! let registry = ToolRegistry::default();
//! let _asks = registry.on_pre_execute(|_, _| async { Ok(PreDecision::ask("everything needs a yes")) });
//! let (desk, _mounted) = ApprovalDesk::mount(&registry, ApprovalPolicy::Ask);
//! let _user = registry.hooks().on_approval_request(|_request, _next| async { Ok(ApprovalOutcome::Rejected) });
//! let _turn = desk.open_turn();
//! # futures::executor::block_on(async {
//! let call = ToolCall::new("1", "write_file", json!({})).with_agent(Agent::new("main"));
//! assert_eq!(registry.execute(call).await.text(), r#"Error: the user rejected tool "write_file""#);
//! # });
//! ```
//!
//! ## A retry
//!
//! A wrapper may call `next` again; each call is a whole dispatch. [`policy::RetryPolicy`] does it with
//! pauses.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use code_mode_registry::{ToolCall, ToolDefinition, ToolError, ToolRegistry};
//! use code_mode_schema::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Nothing {}
//!
//! let registry = ToolRegistry::default();
//! let attempts = AtomicU32::new(0);
//! let flaky = ToolDefinition::typed("flaky", "Fails the first time", move |_: Nothing, _| {
//!     let attempt = attempts.fetch_add(1, Ordering::Relaxed) + 1;
//!     async move { if attempt == 1 { Err(ToolError::new("busy")) } else { Ok(attempt) } }
//! });
//! let _tool = registry.register(flaky)?;
//! let _twice = registry.on_execute(|_dispatch, next| async move {
//!     let first = next.call().await?;
//!     if first.is_error() { next.call().await } else { Ok(first) }
//! });
//! # futures::executor::block_on(async {
//! assert_eq!(registry.execute(ToolCall::new("1", "flaky", json!({}))).await.text(), "2");
//! # });
//! # Ok::<(), code_mode_registry::RegisterError>(())
//! ```
//!
//! ## A batch
//!
//! The calls of one assistant message go to [`ToolRegistry::execute_batch`] together, arguments as the model wrote
//! them. What may overlap does, up to a bound; results and their events come in the model's order.
//!
//! ```
//! use code_mode_registry::{BatchCall, ToolBatch, ToolDefinition, ToolRegistry};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Square {
//!     n: i32,
//! }
//!
//! let registry = ToolRegistry::default();
//! let square = ToolDefinition::typed("square", "Squares a number", |args: Square, _| async move {
//!     Ok(args.n * args.n)
//! });
//! registry.register(square.concurrency_safe(|_| true))?.keep();
//! let batch = ToolBatch::new([
//!     BatchCall::new("call_1", "square", r#"{"n": 3}"#),
//!     BatchCall::new("call_2", "square", "three"),
//! ]);
//! let outcome = futures::executor::block_on(registry.execute_batch(batch));
//! let texts: Vec<String> = outcome.results.iter().map(|call| call.result.text()).collect();
//! assert_eq!(texts, ["9", r#"Error: invalid arguments: "arguments" must be an object"#]);
//! # Ok::<(), code_mode_registry::RegisterError>(())
//! ```
//!
//! [`BatchOutcome`] shows how the results go back into the conversation.
//!
//! The [`scheduler`] behind it is the one that runs the calls of programs.
//!
//! # What the host is told
//!
//! [`HostEvent`]s are a log for people and tools beside the conversation: an
//! [observer](ToolRegistry::on_host_event) sees each as it happens, and [`host::channel`] makes a bounded channel of
//! them. The same stages are `tracing` spans; see [`pipeline`].
//!
//! # What the model is told
//!
//! [`ToolRegistry::assemble`] gives the [sections](Section) of the system prompt and the tools on the wire as
//! plain data. In which form tools are offered is the registry's [`Mode`], or the agent's
//! own ([`ScopedRegistry::present_as`]). The assembly's tools fit the common request shapes:
//! [function calling](Assembly::to_function_tools), [messages](Assembly::to_message_tools),
//! [MCP](Assembly::to_mcp_tools).
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

mod batch;

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
pub use batch::{BatchCall, BatchOutcome, BatchResult, ToolBatch};
pub use cancellation::{CancelReason, Cancelled, Signal, SignalSource};
pub use config::{Mode, RegistryConfig, UNLISTED_TOOLS};
pub use content::{AdditionalContext, ContentBlock};
pub use error::{
    ConfigError, ErrorInfo, PresentError, ProjectionError, RegisterError, RestrictError, ToolError,
    ToolFailure,
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
    IntoContent, IntoMeta, IntoOutputSchema, IntoParameters, RenderError, ToolBuilder, ToolDefinition,
    ToolParameters, ToolRunContext, TypedToolBuilder,
};
pub use visibility::{ExecutionMode, Restriction, ToolSchema, Transport};

/// What the traits that an embedder implements return, for example [`ApprovalService`]; that of the crate `futures`.
pub use futures::future::BoxFuture;
