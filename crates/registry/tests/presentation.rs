//! Contract 3.13: cards are plain data, presenters are pure and total.

use code_mode_registry::{
    CallKind, CallView, ContentBlock, Diff, Location, ResultView, ToolDefinition, ToolOutcomeView,
    ToolRegistry,
};
use code_mode_schema::{Json, json};

use crate::support::{echo, execute};

#[track_caller]
fn check_wire<T>(view: &T, wire: &Json)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(&code_mode_schema::to_json(view).unwrap(), wire);
    assert_eq!(&code_mode_schema::from_json::<T>(wire).unwrap(), view);
}

fn diff() -> Diff {
    Diff { path: "a.rs".into(), old_text: None, new_text: "x".into() }
}

#[test]
fn call_views_have_the_contracts_wire_form() {
    check_wire(&CallView::generic("t"), &json!({"card": "generic", "title": "t"}));
    check_wire(
        &CallView::Generic {
            title: "t".into(),
            kind: Some(CallKind::Execute),
            raw_input: Some(json!({"code": 1})),
            content: Some(vec![ContentBlock::text("c")]),
            locations: Some(vec![
                Location { path: "a".into(), line: Some(3) },
                Location { path: "b".into(), line: None },
            ]),
        },
        &json!({
            "card": "generic", "title": "t", "kind": "execute", "rawInput": {"code": 1},
            "content": [{"type": "text", "text": "c"}],
            "locations": [{"path": "a", "line": 3}, {"path": "b"}],
        }),
    );
    check_wire(
        &CallView::Terminal { title: "ls".into(), description: Some("d".into()), cwd: Some("/".into()) },
        &json!({"card": "terminal", "title": "ls", "description": "d", "cwd": "/"}),
    );
    check_wire(
        &CallView::Diff { title: "t".into(), diffs: vec![diff()], locations: None },
        &json!({"card": "diff", "title": "t", "diffs": [{"path": "a.rs", "oldText": null, "newText": "x"}]}),
    );
}

#[test]
fn result_views_have_the_contracts_wire_form() {
    check_wire(&ResultView::Generic { title: None, content: None }, &json!({"card": "generic"}));
    check_wire(
        &ResultView::Terminal {
            title: None,
            output: Some("o".into()),
            exit_code: Some(-1),
            signal: Some("SIGKILL".into()),
        },
        &json!({"card": "terminal", "output": "o", "exitCode": -1, "signal": "SIGKILL"}),
    );
    check_wire(
        &ResultView::Diff { title: Some("t".into()), diffs: vec![diff()] },
        &json!({"card": "diff", "title": "t", "diffs": [{"path": "a.rs", "oldText": null, "newText": "x"}]}),
    );
}

#[test]
fn every_kind_has_its_word() {
    use CallKind::{Delete, Edit, Execute, Fetch, Move, Other, Read, Search};
    let kinds = [Read, Edit, Delete, Move, Search, Execute, Fetch, Other];
    let words = code_mode_schema::to_json(&kinds).unwrap();
    assert_eq!(words, json!(["read", "edit", "delete", "move", "search", "execute", "fetch", "other"]));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    path: String,
}

fn typed() -> ToolDefinition {
    ToolDefinition::typed("t", "", |args: Args, _| async move { Ok(args.path) })
        .present_call(|args| Some(CallView::generic(args.path.as_str())))
        .present_result(|args, outcome| {
            let title = format!("{} {} {:?}", args.path, outcome.is_error, outcome.meta);
            Some(ResultView::Generic { title: Some(title.into()), content: Some(outcome.content.to_vec()) })
        })
        .build()
}

#[test]
fn presenters_get_the_arguments_and_the_outcome() {
    let tool = typed();
    let args = json!({"path": "p"});
    assert_eq!(tool.present_call(&args), Some(CallView::generic("p")));
    let content = [ContentBlock::text("c")];
    let view = tool.present_result(&args, &ToolOutcomeView::new(&content, true, None)).unwrap();
    assert_eq!(
        view,
        ResultView::Generic { title: Some("p true None".into()), content: Some(content.to_vec()) }
    );
}

#[test]
fn arguments_that_do_not_validate_present_nothing() {
    let tool = typed();
    for args in [json!({}), json!({"path": 5}), json!("text"), json!(null)] {
        assert_eq!(tool.present_call(&args), None);
        assert_eq!(tool.present_result(&args, &ToolOutcomeView::new(&[], false, None)), None);
    }
}

#[test]
fn a_panicking_presenter_presents_nothing() {
    let tool = echo("t").present_call(|_| panic!("call")).present_result(|_, _| panic!("result")).build();
    assert_eq!(tool.present_call(&json!({})), None);
    assert_eq!(tool.present_result(&json!({}), &ToolOutcomeView::new(&[], false, None)), None);
    assert_eq!(echo("t").build().present_call(&json!({})), None);
}

#[test]
fn a_finished_result_can_be_presented() {
    let registry = ToolRegistry::default();
    let tool = echo("t")
        .presentation_meta(|_, _| json!("meta"))
        .present_result(|_, outcome| {
            let title = outcome.meta.and_then(Json::as_str).map(Into::into);
            Some(ResultView::Generic { title, content: None })
        })
        .build();
    let _tool = registry.register(tool.clone()).unwrap();
    let result = execute(&registry, "t");
    let view = tool.present_result(&json!({}), &ToolOutcomeView::from(&*result));
    assert_eq!(view, Some(ResultView::Generic { title: Some("meta".into()), content: None }));
}
