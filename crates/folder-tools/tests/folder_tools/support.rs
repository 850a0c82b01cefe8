//! A folder with tools over it, and what lies outside.

use std::{fs, path::PathBuf, sync::Arc};

use code_mode_folder_tools::Folder;
use code_mode_registry::{Registration, ToolCall, ToolRegistry, ToolResult};
use code_mode_schema::{Json, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

pub(crate) struct Bench {
    pub(crate) registry: ToolRegistry,
    tokio: Runtime,
    temp: TempDir,
    _tools: Registration,
}

impl Bench {
    /// Tools over a folder of these files. Beside it lies `outside/secret.txt`.
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::create_dir(temp.path().join("outside")).unwrap();
        fs::write(temp.path().join("outside/secret.txt"), "secret").unwrap();
        for (name, bytes) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let registry = ToolRegistry::default();
        let tools = Folder::open(&root).unwrap().register(&registry).unwrap();
        Self { registry, tokio: Builder::new_current_thread().build().unwrap(), temp, _tools: tools }
    }

    pub(crate) fn inside(&self, path: &str) -> PathBuf {
        self.temp.path().join("root").join(path)
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.temp.path().join("outside").join(path)
    }

    pub(crate) fn execute(&self, call: ToolCall) -> Arc<ToolResult> {
        self.tokio.block_on(self.registry.execute(call))
    }

    pub(crate) fn result(&self, tool: &str, args: Json) -> Arc<ToolResult> {
        self.execute(ToolCall::new("call_1", tool, args))
    }

    /// The value of a call that succeeds.
    #[track_caller]
    pub(crate) fn value(&self, tool: &str, args: Json) -> Json {
        let result = self.result(tool, args);
        result.value().cloned().unwrap_or_else(|| panic!("{}", result.text()))
    }

    /// The message of a call that fails.
    #[track_caller]
    pub(crate) fn error(&self, tool: &str, args: Json) -> String {
        let result = self.result(tool, args);
        result.message().unwrap_or_else(|| panic!("succeeded: {}", result.text())).to_owned()
    }
}

/// What each call that names `path` says.
pub(crate) fn each_tool(path: &str) -> [(&'static str, Json); 6] {
    let write = |mode: &str| json!({"path": path, "content": "x", "mode": mode});
    [
        ("list_dir", json!({"path": path})),
        ("read_file", json!({"path": path})),
        ("search_text", json!({"path": path, "pattern": "."})),
        ("write_file", write("create")),
        ("write_file", write("replace")),
        ("write_file", write("append")),
    ]
}

/// One field of each item of an array.
pub(crate) fn field(items: &Json, key: &str, field: &str) -> Vec<String> {
    let items = items.get(key).and_then(Json::as_array).unwrap();
    items.iter().map(|item| item.get(field).and_then(Json::as_str).unwrap().to_owned()).collect()
}
