//! Contract 3.14 and 7.5: events for hosts, their wire form, and their observers.

use std::sync::{Arc, Mutex};

use code_mode_registry::{ContentBlock, ErrorInfo, HostEvent, HostEventRecord, ToolRegistry, host};
use code_mode_schema::{Json, json};

use crate::support::Log;

fn log_event(text: &str) -> HostEvent {
    HostEvent::Log { call_id: "c".into(), text: text.into() }
}

#[track_caller]
fn check_wire(event: HostEvent, wire: Json) {
    let json = code_mode_schema::to_json(&event).unwrap();
    assert_eq!(json, wire);
    assert_eq!(code_mode_schema::from_json::<HostEvent>(&json).unwrap(), event);
}

#[test]
fn events_have_the_contracts_names_and_fields() {
    check_wire(
        HostEvent::ToolCall {
            turn: 1,
            step: 2,
            call_id: "c".into(),
            name: "t".into(),
            arguments: r#"{"x":1}"#.into(),
        },
        json!({"type": "tool/call", "turn": 1, "step": 2, "callId": "c", "name": "t", "arguments": "{\"x\":1}"}),
    );
    check_wire(
        HostEvent::ToolResult {
            turn: 1,
            step: 2,
            call_id: "c".into(),
            content: vec!["Error: m".into()],
            is_error: true,
            error: Some(ErrorInfo::new("ToolNotFoundError", "UNKNOWN_TOOL")),
            meta: None,
            call_seq: 7,
        },
        json!({
            "type": "tool/result", "turn": 1, "step": 2, "callId": "c",
            "content": [{"type": "text", "text": "Error: m"}], "isError": true,
            "error": {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}, "callSeq": 7,
        }),
    );
    check_wire(
        HostEvent::CodeDispatchStart {
            parent_call_id: "p".into(),
            sub_call_id: "p:code:1".into(),
            name: "t".into(),
            arguments: json!({}),
        },
        json!({
            "type": "tool/code-dispatch-start", "parentCallId": "p", "subCallId": "p:code:1",
            "name": "t", "arguments": {},
        }),
    );
    check_wire(
        HostEvent::CodeDispatch {
            parent_call_id: "p".into(),
            sub_call_id: "p:code:1".into(),
            name: "t".into(),
            arguments: json!({}),
            is_error: false,
            content: Vec::new(),
        },
        json!({
            "type": "tool/code-dispatch", "parentCallId": "p", "subCallId": "p:code:1",
            "name": "t", "arguments": {}, "isError": false, "content": [],
        }),
    );
    check_wire(log_event("line"), json!({"type": "log", "callId": "c", "text": "line"}));
}

#[test]
fn a_record_is_the_event_with_its_place_and_time() {
    let registry = ToolRegistry::default();
    let seen: Arc<Mutex<Vec<HostEventRecord>>> = Arc::default();
    let keep = Arc::clone(&seen);
    let observer = move |record: &HostEventRecord| keep.lock().unwrap().push(record.clone());
    let registration = registry.on_host_event(Arc::new(observer));
    assert!(registry.has_host_observers());
    assert_eq!(registry.emit_host_event(log_event("a")), 1);
    assert_eq!(registry.emit_host_event(log_event("b")), 2);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2]);
    assert!(seen[0].time > 1_600_000_000_000 && seen[0].time <= seen[1].time);
    let json = code_mode_schema::to_json(&seen[0]).unwrap();
    assert_eq!(json.get("type"), Some(&json!("log")));
    assert_eq!(json.get("seq"), Some(&json!(1)));
    assert_eq!(json.get("contentBytes"), Some(&json!(1)));
    assert_eq!(json.get("argumentsBytes"), None);
    drop(registration);
    assert!(!registry.has_host_observers());
    assert_eq!(registry.emit_host_event(log_event("c")), 3, "the sequence goes on unseen");
}

#[test]
fn a_panicking_observer_is_contained() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let _panics = registry.on_host_event(Arc::new(|_: &HostEventRecord| panic!("observer")));
    let note = log.clone();
    let _second = registry.on_host_event(Arc::new(move |record: &HostEventRecord| {
        note.add(format!("{}", record.seq));
    }));
    registry.emit_host_event(log_event("a"));
    assert_eq!(log.take(), ["1"]);
}

#[test]
fn a_bounded_channel_drops_what_does_not_fit_and_counts_it() {
    let registry = ToolRegistry::default();
    let (observer, receiver) = host::channel(2);
    let registration = registry.on_host_event(Arc::new(observer));
    for text in ["a", "b", "c"] {
        registry.emit_host_event(log_event(text));
    }
    assert_eq!(receiver.try_recv().unwrap().event, log_event("a"));
    assert_eq!(receiver.dropped(), 1);
    registry.emit_host_event(log_event("d"));
    let rest: Vec<_> = std::iter::from_fn(|| receiver.try_recv()).map(|record| record.seq).collect();
    assert_eq!(rest, [2, 4]);
    registry.emit_host_event(log_event("e"));
    drop(registration);
    assert_eq!(receiver.iter().map(|record| record.seq).collect::<Vec<_>>(), [5]);
    assert_eq!(receiver.recv(), None, "ends with the registration");
}

#[test]
fn every_event_says_the_size_of_what_it_carries() {
    let registry = ToolRegistry::default();
    let (observer, receiver) = host::channel(10);
    let _registration = registry.on_host_event(Arc::new(observer));
    let sizes = |event: HostEvent| {
        registry.emit_host_event(event);
        let record = receiver.try_recv().unwrap();
        (record.arguments_bytes, record.content_bytes)
    };
    let content =
        vec!["é".into(), ContentBlock::image("aGk=", "image/png"), ContentBlock::Other(json!({"a": 1}))];
    assert_eq!(sizes(log_event("né")), (None, Some(3)));
    let settled = HostEvent::CodeDispatch {
        parent_call_id: "p".into(),
        sub_call_id: "p:code:1".into(),
        name: "t".into(),
        arguments: json!({"x": "é"}),
        is_error: false,
        content,
    };
    assert_eq!(sizes(settled), (Some(10), Some(2 + 4 + 7)));
    let started = HostEvent::CodeDispatchStart {
        parent_call_id: "p".into(),
        sub_call_id: "p:code:2".into(),
        name: "t".into(),
        arguments: json!({}),
    };
    assert_eq!(sizes(started), (Some(2), None));
    let asked =
        HostEvent::ApprovalAsked { id: "1".into(), tool_name: "t".into(), call_id: None, reason: None };
    assert_eq!(sizes(asked), (None, None));
}
