//! Tools over one folder: `list_dir`, `read_file`, `search_text` and `write_file`.
//!
//! ```
//! use code_mode_folder_tools::Folder;
//! use code_mode_registry::{ToolCall, ToolRegistry};
//! use code_mode_schema::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = ToolRegistry::default();
//! let _tools = Folder::open(env!("CARGO_MANIFEST_DIR"))?.register(&registry)?;
//!
//! let call = ToolCall::new("call_1", "read_file", json!({"path": "Cargo.toml", "limit": 1}));
//! let tokio = tokio::runtime::Runtime::new()?;
//! let result = tokio.block_on(registry.execute(call));
//! assert_eq!(result.value().unwrap().get("text"), Some(&json!("[package]\n")));
//! # Ok(()) }
//! ```
//!
//! # Confinement
//!
//! No path leads out of the folder: not `..`, not an absolute path, not a symlink, not one that is
//! swapped in while a call runs. Every file is opened relative to a handle of the folder, by the
//! kernel where it can (`openat2` with `RESOLVE_BENEATH`), else component by component; a path is
//! never checked first and used afterwards. Symlinks that stay inside are followed.
//!
//! It does not stop: hard links and mount points inside the folder, which are part of it; and what
//! other programs do with a file that was written, for example a Git hook. A host that minds
//! denies such calls with a guard of the registry.
//!
//! # Bounds
//!
//! Every call does bounded work and returns a bounded result; the constants of each tool say how
//! much, and what is left over is had with another call (`next`). A page costs a reading of the
//! folders that its cursor is in, and nothing for what comes before them. The file work runs on tokio's
//! blocking threads, since the operating system offers nothing better for files; it looks at the
//! call's signal at every step, and stops there with the contract's `ABORTED`.
//!
//! A name that is not UTF-8 is listed with U+FFFD where it is not, and cannot be opened.
#![forbid(unsafe_code)]

mod folder;

mod list_dir;
mod read_file;
mod search_text;
mod write_file;

// What several tools need.
mod text;

mod walk;

mod cursor;

mod work;

mod cards;

mod error;

pub use error::FolderError;
pub use folder::Folder;
