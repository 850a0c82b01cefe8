//! Code Mode: a model gets one tool, `run_code`, and a generated TypeScript SDK of
//! all tools. It writes one program; the program runs in a fresh isolate, and every
//! `await tools.name(args)` goes through the pipeline that a direct tool call goes
//! through. Only what the program prints or returns reaches the model.
//!
//! ```
//! use std::sync::Arc;
//! use code_mode::{CodeMode, Mode, RegistryConfig, ThreadRuntime, ToolCall, ToolDefinition, ToolRegistry, json};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct City {
//!     /// Its name, in English.
//!     city: String,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
//! let length = ToolDefinition::typed("name_length", "Counts the letters of a city's name.", |args: City, _| async move {
//!     Ok(args.city.chars().count())
//! });
//! registry.register(length.concurrency_safe(|_| true).build())?.keep();
//! let code_mode = CodeMode::install(&registry, Arc::new(ThreadRuntime::new()?))?;
//!
//! // What goes into the system prompt.
//! assert!(code_mode.sdk_section(None).contains("Its name, in English."));
//!
//! // What the model sends, and what it gets back.
//! let program = r#"
//!     const cities: string[] = ["Paris", "Rome", "Berlin"];
//!     const lengths = await Promise.all(cities.map((city) => tools.name_length({ city })));
//!     return Object.fromEntries(cities.map((city, i) => [city, lengths[i]]));
//! "#;
//! let arguments = json!({"code": program, "description": "Measure the names of three cities"});
//! let tokio = tokio::runtime::Runtime::new()?;
//! let result = tokio.block_on(registry.execute(ToolCall::new("call_1", "run_code", arguments)));
//! assert_eq!(result.text(), "{\n  \"Paris\": 5,\n  \"Rome\": 4,\n  \"Berlin\": 6\n}");
//! # Ok(()) }
//! ```
//!
//! This package only re-exports the crates that carry it: [`schema`] (canonical JSON
//! and schemas), [`registry`] (tools and the pipeline), [`codegen`] (the TypeScript)
//! and [`runtime`] (the programs). The first three build and test without any
//! JavaScript engine.
//!
//! # Features
//!
//! `v8` (default) and `quickjs` choose the engine and exclude each other.
#![forbid(unsafe_code)]

pub use code_mode_codegen as codegen;
pub use code_mode_registry as registry;
pub use code_mode_runtime as runtime;
pub use code_mode_schema as schema;

pub use code_mode_codegen::{SdkTool, json_schema_to_ts, sdk_section};
pub use code_mode_registry::{
    Agent, CallId, ContentBlock, Mode, Registration, RegistryConfig, Signal, SignalSource, ToolCall,
    ToolDefinition, ToolError, ToolRegistry, ToolResult, ToolRunContext,
};
pub use code_mode_runtime::{
    BackEndConfig, CodeMode, CodeModeConfig, CodeRun, CodeRunError, CodeRunFailed, CodeRuntime, Failure,
    FailureKind, Isolation, Limits, RunOutcome, RunRequest, ThreadRuntime, ThreadRuntimeConfig,
};
#[cfg(unix)]
pub use code_mode_runtime::{ProcessRuntime, ProcessRuntimeConfig, worker};
pub use code_mode_schema::{Json, Schema, json};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
