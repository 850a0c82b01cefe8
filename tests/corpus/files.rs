//! The JSON files of a folder.

use std::fs;
use std::path::Path;

use code_mode::Json;

use crate::arguments::Arguments;

/// A file, by its name without the extension.
pub(crate) struct File {
    pub(crate) name: String,
    /// What it holds, or why that cannot be read.
    pub(crate) value: Result<Json, String>,
}

/// The `.json` files that are asked for, by name.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn in_folder(folder: &Path, arguments: &Arguments) -> Result<Vec<File>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "json") && arguments.asks_for(&name) {
            files.push(File { name, value: read(&path) });
        }
    }
    files.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(files)
}

fn read(path: &Path) -> Result<Json, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    Json::parse(&text).map_err(|error| error.to_string())
}
