//! Files of tools, as an MCP server lists them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

use code_mode::schema::ParseError;
use code_mode::{Json, SdkTool, json};

/// The tools of one file.
pub(crate) struct ToolFile {
    /// As it was given.
    pub(crate) path: String,
    tools: Vec<Tool>,
    /// The place of a tool called `run_code`, which no SDK shows.
    pub(crate) left_out: Option<usize>,
}

struct Tool {
    name: String,
    description: Option<String>,
    input_schema: Option<Json>,
    output_schema: Option<Json>,
}

/// Why a file gives no tools.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolFileError {
    #[error("cannot read {path}: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("{path}: expected JSON: {source}")]
    NotJson { path: String, source: ParseError },
    #[error("{path}: expected JSON in UTF-8, found the byte {byte:#04x} at offset {offset}")]
    NotUtf8 { path: String, offset: usize, byte: u8 },
    #[error("{path}: expected an array of tools or an answer to `tools/list`, found {found}")]
    NotAnArray { path: String, found: &'static str },
    #[error("{path}[{place}]: expected a tool, an object with a `name`, found {found}")]
    NotATool { path: String, place: usize, found: &'static str },
    #[error("{path}[{place}].{key}: expected {expected}, found {found}")]
    WrongMember { path: String, place: usize, key: &'static str, expected: &'static str, found: &'static str },
    #[error("two tools of {path} are called {name:?}: rename one of them")]
    RepeatedWithin { name: String, path: String },
    /// The schema of the arguments stands where other forms of tool definitions have it.
    #[error("{path}[{place}]: expected `inputSchema`, found `{found}`: rename it as an MCP server spells it")]
    Misspelt { path: String, place: usize, found: &'static str },
    #[error(
        "two tools are called {name:?}, in {first} and in {second}: rename one of them, or print the files one by one"
    )]
    Repeated { name: String, first: String, second: String },
}

impl ToolFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is not JSON, or holds anything but tools with a name each and schemas that are objects.
    pub(crate) fn read(path: &Path) -> Result<Self, ToolFileError> {
        let shown = path.display().to_string();
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(ToolFileError::Unreadable { path: shown, source }),
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                return Err(ToolFileError::NotUtf8 { path: shown, offset, byte: error.as_bytes()[offset] });
            }
        };
        let value = match Json::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
            Ok(value) => value,
            Err(source) => return Err(ToolFileError::NotJson { path: shown, source }),
        };
        // Bare, the result of `tools/list`, or its answer with the envelope of JSON-RPC.
        let result = value.get("result").unwrap_or(&value);
        let Some(list) = result.get("tools").unwrap_or(&value).as_array() else {
            return Err(ToolFileError::NotAnArray { path: shown, found: kind_of(&value) });
        };
        let mut file = Self { path: shown, tools: Vec::with_capacity(list.len()), left_out: None };
        for (place, value) in list.iter().enumerate() {
            let tool = Tool::read(value, &file.path, place)?;
            if tool.name == "run_code" {
                file.left_out = Some(place);
            } else {
                file.tools.push(tool);
            }
        }
        let mut known = HashSet::new();
        match file.tools.iter().find(|tool| !known.insert(&*tool.name)) {
            Some(tool) => Err(ToolFileError::RepeatedWithin { name: tool.name.clone(), path: file.path }),
            None => Ok(file),
        }
    }

    /// The tools as the SDK takes them.
    pub(crate) fn sdk_tools(&self) -> impl Iterator<Item = SdkTool<'_>> {
        // A tool without a schema takes an object of anything and gives anything.
        static ANY_OBJECT: LazyLock<Json> = LazyLock::new(|| json!({"type": "object"}));
        static ANY: LazyLock<Json> = LazyLock::new(|| json!({}));
        self.tools.iter().map(|tool| SdkTool {
            name: &tool.name,
            description: tool.description.as_deref().unwrap_or_default(),
            parameters: tool.input_schema.as_ref().unwrap_or(&ANY_OBJECT),
            output: tool.output_schema.as_ref().unwrap_or(&ANY),
        })
    }

    /// The tools as JSON, as they would be sent to a model: what is there of name, description and schemas.
    pub(crate) fn json(&self) -> Json {
        let member = |name: &str, value: &Json| (name.to_owned(), value.clone());
        let tools = self.tools.iter().map(|tool| {
            let mut members = vec![member("name", &Json::from(&*tool.name))];
            members.extend(tool.description.iter().map(|text| member("description", &Json::from(&**text))));
            members.extend(tool.input_schema.iter().map(|schema| member("inputSchema", schema)));
            members.extend(tool.output_schema.iter().map(|schema| member("outputSchema", schema)));
            Json::from(members.into_iter().collect::<code_mode::schema::Object>())
        });
        tools.collect()
    }
}

impl Tool {
    fn read(value: &Json, path: &str, place: usize) -> Result<Self, ToolFileError> {
        if !value.is_object() {
            return Err(ToolFileError::NotATool { path: path.to_owned(), place, found: kind_of(value) });
        }
        let given = |key| value.get(key).filter(|value| !value.is_null());
        let text = |key, expected| match given(key) {
            None => Ok(None),
            Some(Json::String(text)) if !text.is_empty() || key != "name" => Ok(Some(text.to_string())),
            Some(other) => {
                let found = if other.is_string() { "an empty string" } else { kind_of(other) };
                Err(ToolFileError::WrongMember { path: path.to_owned(), place, key, expected, found })
            }
        };
        let missing = || ToolFileError::WrongMember {
            path: path.to_owned(),
            place,
            key: "name",
            expected: "a name",
            found: "nothing",
        };
        let schema = |key| match given(key) {
            Some(other) if !other.is_object() => Err(ToolFileError::WrongMember {
                path: path.to_owned(),
                place,
                key,
                expected: "a schema, an object",
                found: kind_of(other),
            }),
            schema => Ok(schema.cloned()),
        };
        let input_schema = schema("inputSchema")?;
        if input_schema.is_none()
            && let Some(found) = ["input_schema", "parameters"].into_iter().find(|key| given(key).is_some())
        {
            return Err(ToolFileError::Misspelt { path: path.to_owned(), place, found });
        }
        Ok(Self {
            name: text("name", "a name")?.ok_or_else(missing)?,
            description: text("description", "a string")?,
            input_schema,
            output_schema: schema("outputSchema")?,
        })
    }
}

/// The tools of all the files.
///
/// # Errors
/// If two have the same name: a program could not tell them apart.
pub(crate) fn all_of(files: &[ToolFile]) -> Result<Vec<SdkTool<'_>>, ToolFileError> {
    let mut all = Vec::new();
    let mut known: HashMap<&str, &str> = HashMap::new();
    for file in files {
        for tool in file.sdk_tools() {
            if let Some(first) = known.insert(tool.name, &file.path) {
                let (name, path) = (tool.name.to_owned(), file.path.clone());
                return Err(ToolFileError::Repeated { name, first: first.to_owned(), second: path });
            }
            all.push(tool);
        }
    }
    Ok(all)
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}
