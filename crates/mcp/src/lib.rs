//! MCP: other servers' tools in a registry, and `run_code` as a server's tool.
//!
//! The crate has its place in the workspace and nothing else yet.
#![forbid(unsafe_code)]
