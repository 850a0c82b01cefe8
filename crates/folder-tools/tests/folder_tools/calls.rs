//! What a host sees of the calls: classes, cancellation, cards, and the declarations for a model.

use std::{
    fs,
    future::{Future, poll_fn},
    pin::pin,
    sync::mpsc,
    task::Poll,
};

use code_mode_codegen::{SdkTool, sdk_declarations};
use code_mode_folder_tools::{Folder, FolderError};
use code_mode_registry::{ExecutionMode, SignalSource, ToolCall, ToolRegistry};
use code_mode_schema::{Json, json, to_json};

use crate::support::{Bench, each_tool};

#[test]
fn only_write_file_is_exclusive() {
    let bench = Bench::new(&[]);
    for (tool, args) in each_tool("a") {
        let expected = match tool {
            "write_file" => ExecutionMode::Exclusive,
            _ => ExecutionMode::Parallel,
        };
        let call = ToolCall::new("1", tool, args);
        assert_eq!(bench.registry.execution_mode(&call), expected, "{tool}");
    }
}

/// The call has started, and its file work waits for a thread, when it is cancelled.
#[test]
fn call_cancelled_after_its_start_stops_before_it_does_anything() {
    let bench = Bench::new(&[("a.txt", b"x")]);
    let tokio = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let calls = each_tool("a.txt").into_iter().filter(|(tool, _)| *tool != "list_dir");
    for (tool, args) in calls.chain([("list_dir", json!({"path": "."}))]) {
        let (release, released) = mpsc::channel::<()>();
        tokio.spawn_blocking(move || released.recv());
        let source = SignalSource::new();
        let call = ToolCall::new("1", tool, args).with_signal(source.signal());
        let result = tokio.block_on(async {
            let mut running = pin!(bench.registry.execute(call));
            let started = poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await;
            assert!(started.is_pending(), "{tool}");
            source.cancel("enough");
            drop(release);
            running.await
        });
        let failure = result.error().unwrap();
        assert_eq!((failure.message(), failure.code()), ("tool call aborted", Some("ABORTED")));
        // It is the tool that stopped, and not only the pipeline that dropped its result.
        let source = failure.source().and_then(|source| source.downcast_ref());
        assert!(matches!(source, Some(FolderError::Aborted)), "{tool}");
    }
    assert_eq!(fs::read_to_string(bench.inside("a.txt")).unwrap(), "x");
}

#[test]
fn call_outside_tokio_says_what_is_missing() {
    let bench = Bench::new(&[]);
    let call = ToolCall::new("1", "list_dir", json!({"path": "."}));
    let result = futures::executor::block_on(bench.registry.execute(call));
    assert_eq!(result.message(), Some("folder tools need a tokio runtime: await the call inside one"));
}

/// The card of the call, and the title of the card of its result.
#[track_caller]
fn check_cards(bench: &Bench, tool: &str, args: Json, call: Json, title: Json) {
    let definition = bench.registry.get(tool, None).unwrap();
    assert_eq!(to_json(&definition.present_call(&args)).unwrap(), call);
    let result = bench.result(tool, args.clone());
    let card = definition.present_result(&args, &(&*result).into());
    assert_eq!(
        to_json(&card).unwrap(),
        json!({"card": "generic", "title": title, "content": to_json(result.content()).unwrap()})
    );
}

#[test]
fn calls_and_results_have_cards() {
    let bench = Bench::new(&[("a.txt", b"one\ntwo\n")]);
    let generic = |title: &str, kind: &str, location: Json| json!({"card": "generic", "title": title, "kind": kind, "locations": [location]});
    check_cards(
        &bench,
        "list_dir",
        json!({"path": "."}),
        generic("List .", "read", json!({"path": "."})),
        json!("List . (1 entry)"),
    );
    check_cards(
        &bench,
        "read_file",
        json!({"path": "a.txt", "offset": 1}),
        generic("Read a.txt", "read", json!({"path": "a.txt", "line": 2})),
        json!("Read a.txt (1 line from 2)"),
    );
    check_cards(
        &bench,
        "search_text",
        json!({"pattern": "o"}),
        generic("Search . for o", "search", json!({"path": "."})),
        json!("Search . for o (2 matches)"),
    );
    check_cards(
        &bench,
        "write_file",
        json!({"path": "b.txt", "content": "é"}),
        json!({
            "card": "diff",
            "title": "Create b.txt",
            "diffs": [{"path": "b.txt", "oldText": null, "newText": "é"}],
            "locations": [{"path": "b.txt"}],
        }),
        json!("Create b.txt (2 bytes)"),
    );
    let mut append = generic("Append to b.txt", "edit", json!({"path": "b.txt"}));
    if let Json::Object(fields) = &append {
        let content = ("content", json!([{"type": "text", "text": "x"}]));
        append =
            Json::Object(fields.iter().map(|(key, value)| (key, value.clone())).chain([content]).collect());
    }
    check_cards(
        &bench,
        "write_file",
        json!({"path": "b.txt", "content": "x", "mode": "append"}),
        append,
        json!("Append to b.txt (3 bytes)"),
    );
}

#[test]
fn card_of_a_failed_call_shows_the_error() {
    let bench = Bench::new(&[]);
    let args = json!({"path": "no"});
    let result = bench.result("read_file", args.clone());
    let card = bench.registry.get("read_file", None).unwrap().present_result(&args, &(&*result).into());
    let error = r#"Error: "no" does not exist: list_dir shows what does"#;
    assert_eq!(
        to_json(&card).unwrap(),
        json!({"card": "generic", "content": [{"type": "text", "text": error}]})
    );
}

#[test]
fn tool_of_a_taken_name_leaves_none_registered() {
    let registry = ToolRegistry::default();
    let folder = Folder::open(".").unwrap();
    let tools = folder.register(&registry).unwrap();
    assert!(folder.register(&registry).is_err());
    assert_eq!(registry.view(None).len(), 4);
    drop(tools);
    assert!(registry.view(None).is_empty());
}

#[test]
fn folder_that_is_none_is_refused() {
    assert!(Folder::open("Cargo.toml").is_err());
    assert!(Folder::open("no/such/folder").is_err());
}

/// What a model reads.
#[test]
fn declarations_have_types_and_say_what_fields_mean() {
    let tools = Folder::open(".").unwrap().tools();
    let tools: Vec<SdkTool<'_>> = tools
        .iter()
        .map(|tool| SdkTool {
            name: tool.name(),
            description: tool.description(),
            parameters: tool.parameters().unwrap(),
            output: tool.output_schema().unwrap().document(),
        })
        .collect();
    let declarations = sdk_declarations(&tools);
    let tools = declarations.split("interface ").skip(1).take(2).collect::<String>();
    assert!(!tools.contains("unknown") && !tools.contains("JsonValue") && !tools.contains("null"), "{tools}");
    for expected in [
        "path: string;",
        "recursive?: boolean;",
        "/** `next` of the previous result, to go on from there. */",
        r#"mode?: "create" | "replace" | "append";"#,
        r#"kind: "file" | "dir" | "symlink" | "other";"#,
        "next?: string;",
        "next?: number;",
        "unreadable?: string[];",
    ] {
        assert!(tools.contains(expected), "{expected} in {tools}");
    }
}
