//! `code-mode sdk` as it is used: whole outputs and exit statuses.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails where it stands")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use code_mode::codegen::{INSTRUCTIONS, sdk_declarations};
use code_mode::{Json, json};
use tempfile::TempDir;

/// Files of tools, and the command run beside them.
struct Files(TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        command(self.0.path(), arguments).output().unwrap()
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], status: i32, stdout: &str, stderr: &str) {
        let output = self.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert_eq!(
            (text(&output.stdout).as_str(), text(&output.stderr).as_str(), output.status.code()),
            (stdout, stderr, Some(status)),
            "{arguments:?}"
        );
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_code-mode"));
    command.arg("sdk").args(arguments).current_dir(folder);
    command
}

const PLANTS: &str = r#"[
  {
    "name": "water-plant",
    "description": "Waters a plant.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "name": {"type": "string", "minLength": 1},
        "litres": {"type": "number", "exclusiveMinimum": 0, "description": "How much"},
        "at": {"anyOf": [{"type": "string", "format": "time"}, {"type": "null"}], "default": null}
      },
      "required": ["name"],
      "additionalProperties": false
    },
    "annotations": {"readOnlyHint": false}
  },
  {
    "name": "list_plants",
    "outputSchema": {"type": "array", "items": {"type": "string"}}
  }
]"#;

const PLANTS_TS: &str = r#"type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

interface ToolArgsMap {
  list_plants: Record<string, JsonValue>;
  /** Waters a plant. */
  "water-plant": {
    /** non-empty */
    name: string;
    /** How much (> 0) */
    litres?: number;
    /** time */
    at?: string | null;
  };
}

interface ToolOutputMap {
  list_plants: string[];
  "water-plant": JsonValue;
}

type ToolName = keyof ToolOutputMap

declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  readonly toolName: ToolName;
}

declare const tools: {
  [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]>;
}
"#;

const SHED: &str = r##"[
  {"name": "open_shed", "description": "Opens the shed.", "inputSchema": {"type": "object", "properties": {"key": {"$ref": "#/$defs/Key"}, "door": {"type": "dor"}}}},
  {"name": "run_code", "inputSchema": {"type": "object"}}
]"##;

#[test]
fn declarations_are_the_typescript_alone() {
    let files = Files::new(&[("plants.json", PLANTS)]);
    files.check(&["--tools", "plants.json", "--declarations"], 0, PLANTS_TS, "");
}

#[test]
fn section_is_the_instructions_and_the_typescript_in_a_fence() {
    let files = Files::new(&[("plants.json", PLANTS)]);
    let section = format!("{INSTRUCTIONS}\n\n```ts\n{PLANTS_TS}```\n");
    files.check(&["--tools", "plants.json"], 0, &section, "");
}

#[test]
fn several_files_make_one_text_in_any_order() {
    let (first, second) =
        (r#"[{"name": "a", "inputSchema": {"type": "object"}}]"#, "\u{feff}[{\"name\": \"b\"}]");
    let files = Files::new(&[("1.json", first), ("2.json", second)]);
    let (object, any) = (json!({"type": "object"}), json!({}));
    let tool = |name| code_mode::SdkTool { name, description: "", parameters: &object, output: &any };
    let expected = format!("{}\n", sdk_declarations(&[tool("a"), tool("b")]));
    files.check(&["--tools", "1.json", "--tools", "2.json", "--declarations"], 0, &expected, "");
    files.check(&["--declarations", "--tools", "2.json", "--tools", "1.json"], 0, &expected, "");
}

#[test]
fn json_holds_the_text_and_what_is_unknown() {
    let files = Files::new(&[("plants.json", PLANTS), ("shed.json", SHED)]);
    let output = files.run(&["--tools", "plants.json", "--declarations", "--json"]);
    let value = Json::parse(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    assert_eq!(value, json!({"declarations": (PLANTS_TS.trim_end()), "unknown": []}));
    let output = files.run(&["--tools", "shed.json", "--json"]);
    let value = Json::parse(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    let text = value.get("section").and_then(Json::as_str).unwrap();
    assert!(
        text.contains("\n  open_shed: { key?: unknown; door?: unknown } & Record<string, JsonValue>;\n"),
        "{text}"
    );
    assert_eq!(
        *value.get("unknown").unwrap(),
        json!([
            {"tool": "open_shed", "schema": "inputSchema", "pointer": "/properties/key", "reason": "unresolved-reference"},
            {"tool": "open_shed", "schema": "inputSchema", "pointer": "/properties/door", "reason": "invalid-type"}
        ])
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "code-mode: shed.json[1]: left out: `run_code` is the tool that runs programs\n"
    );
}

#[test]
fn stats_are_a_line_for_each_file_and_the_reasons() {
    let files = Files::new(&[("plants.json", PLANTS), ("shed.json", SHED)]);
    let table = "\
file         tools     json      sdk  ratio   nodes  unknown
plants.json      2      108      180   1.67      10        0
shed.json        1       44      138   3.14       4        2
total            3      152      318   2.09      14        2
unknown: shed.json: open_shed: inputSchema#/properties/key: unresolved-reference
unknown: shed.json: open_shed: inputSchema#/properties/door: invalid-type
";
    let note = "code-mode: shed.json[1]: left out: `run_code` is the tool that runs programs\n";
    files.check(&["--tools", "plants.json", "--tools", "shed.json", "--stats"], 0, table, note);
}

#[test]
fn stats_as_json_hold_the_same_figures() {
    let files = Files::new(&[("plants.json", PLANTS)]);
    let stats = r#"{"files":[{"file":"plants.json","tools":2,"jsonTokens":108,"sdkTokens":180,"ratio":1.6667,"nodes":10,"unknown":[]}],"total":{"file":"total","tools":2,"jsonTokens":108,"sdkTokens":180,"ratio":1.6667,"nodes":10,"unknown":[]}}"#;
    files.check(&["--tools", "plants.json", "--stats", "--json"], 0, &format!("{stats}\n"), "");
}

#[test]
fn files_that_hold_no_tools_are_refused_with_the_place_and_what_to_do() {
    let files = Files::new(&[
        ("broken.json", "[{\"name\": }]"),
        ("object.json", r#"{"name": "a"}"#),
        ("schema.json", r#"[{"name": "a", "inputSchema": "string"}]"#),
        ("output.json", r#"[{"name": "a", "outputSchema": [1]}]"#),
        ("misspelt.json", r#"[{"name": "a"}, {"name": "b", "input_schema": {}}]"#),
        ("number.json", "7"),
        ("item.json", r#"[{"name": "a"}, "b"]"#),
        ("nameless.json", r#"[{"description": "x"}]"#),
        ("empty-name.json", r#"[{"name": ""}]"#),
        ("description.json", r#"[{"name": "a", "description": 1}]"#),
        ("twice.json", r#"[{"name": "a"}, {"name": "a"}]"#),
    ]);
    for (file, problem) in [
        ("broken.json", "broken.json: expected JSON: expected a value at line 1 column 11"),
        (
            "object.json",
            "object.json: expected an array of tools or an answer to `tools/list`, found an object",
        ),
        ("schema.json", "schema.json[0].inputSchema: expected a schema, an object, found a string"),
        ("output.json", "output.json[0].outputSchema: expected a schema, an object, found an array"),
        (
            "misspelt.json",
            "misspelt.json[1]: expected `inputSchema`, found `input_schema`: rename it as an MCP server spells it",
        ),
        (
            "number.json",
            "number.json: expected an array of tools or an answer to `tools/list`, found a number",
        ),
        ("item.json", "item.json[1]: expected a tool, an object with a `name`, found a string"),
        ("nameless.json", "nameless.json[0].name: expected a name, found nothing"),
        ("empty-name.json", "empty-name.json[0].name: expected a name, found an empty string"),
        ("description.json", "description.json[0].description: expected a string, found a number"),
        ("twice.json", "two tools of twice.json are called \"a\": rename one of them"),
    ] {
        files.check(&["--tools", file], 1, "", &format!("code-mode: {problem}\n"));
    }
}

#[test]
fn file_that_is_not_utf_8_is_refused_with_the_place() {
    let files = Files::new(&[]);
    let utf_16: Vec<u8> = "\u{feff}[]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(files.0.path().join("wide.json"), utf_16).unwrap();
    let problem = "code-mode: wide.json: expected JSON in UTF-8, found the byte 0xff at offset 0\n";
    files.check(&["--tools", "wide.json"], 1, "", problem);
    // A byte order mark of UTF-8 itself is no problem.
    std::fs::write(files.0.path().join("marked.json"), "\u{feff}[]").unwrap();
    assert_eq!(files.run(&["--tools", "marked.json"]).status.code(), Some(0));
}

#[test]
fn answer_to_tools_list_is_taken_as_it_came() {
    let list =
        r#"[{"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"type": "string"}}}}]"#;
    let files = Files::new(&[
        ("bare.json", list),
        ("result.json", &format!(r#"{{"tools": {list}, "nextCursor": "x"}}"#)),
        ("answer.json", &format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": {list}}}}}"#)),
    ]);
    let printed = |file| files.run(&["--tools", file]).stdout;
    let bare = printed("bare.json");
    assert!(String::from_utf8_lossy(&bare).contains("b?: string;"));
    assert_eq!(printed("result.json"), bare);
    assert_eq!(printed("answer.json"), bare);
}

#[test]
fn tools_of_one_name_in_two_files_are_refused_unless_each_file_stands_alone() {
    let files = Files::new(&[("1.json", r#"[{"name": "a"}]"#), ("2.json", r#"[{"name": "a"}]"#)]);
    let both = ["--tools", "1.json", "--tools", "2.json"];
    let problem = "code-mode: two tools are called \"a\", in 1.json and in 2.json: rename one of them, or print the files one by one\n";
    files.check(&both, 1, "", problem);
    assert_eq!(files.run(&[&both[..], &["--stats"]].concat()).status.code(), Some(0));
}

#[test]
fn what_cannot_be_read_and_wrong_command_lines_exit_with_2() {
    let files = Files::new(&[("plants.json", PLANTS)]);
    let missing = "code-mode: cannot read none.json: No such file or directory (os error 2)\n";
    files.check(&["--tools", "none.json"], 2, "", missing);
    for arguments in
        [&[][..], &["--tools"], &["plants.json"], &["--tools", "plants.json", "--stats", "--declarations"]]
    {
        let output = files.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn reader_that_has_seen_enough_is_no_failure() {
    let files = Files::new(&[("plants.json", PLANTS)]);
    let mut child = command(files.0.path(), &["--tools", "plants.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn standard_error_that_takes_nothing_is_no_panic() {
    let files = Files::new(&[("left-out.json", r#"[{"name": "run_code"}]"#)]);
    for (file, status) in [("left-out.json", 0), ("none.json", 2)] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = command(files.0.path(), &["--tools", file]);
        let ended = command.stdout(Stdio::null()).stderr(full).status().unwrap();
        assert_eq!(ended.code(), Some(status), "{file}");
    }
}
