//! The spans of a call: one for the call, one per stage, with stable names; payloads on demand only.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use code_mode_registry::{ToolCall, ToolError, ToolRegistry, policy::TracePayloads};
use code_mode_schema::{Schema, json};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::with_default,
};

use crate::support::{Log, echo, run};

/// Writes a line for each span that is made and for each event, with everything that is in it.
struct Collector {
    lines: Log,
    last_id: AtomicU64,
    entered: Mutex<Vec<u64>>,
    names: Mutex<Vec<&'static str>>,
}

impl Collector {
    fn name_of(&self, id: u64) -> &'static str {
        self.names.lock().unwrap()[usize::try_from(id).unwrap() - 1]
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("code_mode")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.last_id.fetch_add(1, Ordering::SeqCst) + 1;
        let name = span.metadata().name();
        let parent = match span.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if span.is_contextual() => self.entered.lock().unwrap().last().copied(),
            None => None,
        };
        self.names.lock().unwrap().push(name);
        let mut line = match parent {
            Some(parent) => format!("{} > {name}", self.name_of(parent)),
            None => name.to_owned(),
        };
        span.record(&mut Fields(&mut line));
        self.lines.add(line);
        Id::from_u64(id)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = "record".to_owned();
        values.record(&mut Fields(&mut line));
        self.lines.add(line);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let inside = self.entered.lock().unwrap().last().copied();
        let mut line = format!("event in {}", inside.map_or("nothing", |id| self.name_of(id)));
        event.record(&mut Fields(&mut line));
        self.lines.add(line);
    }

    fn enter(&self, id: &Id) {
        self.entered.lock().unwrap().push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        let mut entered = self.entered.lock().unwrap();
        if let Some(at) = entered.iter().rposition(|known| *known == id.into_u64()) {
            entered.remove(at);
        }
    }
}

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        *self.0 += &format!(" {}={value:?}", field.name());
    }
}

/// What is traced of one call of `t` with the arguments `{"password": "hunter2"}`.
fn trace_of(registry: &ToolRegistry) -> Vec<String> {
    traced(|| {
        run(registry.execute(ToolCall::new("call-1", "t", json!({"password": "hunter2"}))));
    })
}

fn traced(work: impl FnOnce()) -> Vec<String> {
    let lines = Log::default();
    let collector = Collector {
        lines: lines.clone(),
        last_id: AtomicU64::new(0),
        entered: Mutex::default(),
        names: Mutex::default(),
    };
    with_default(Arc::new(collector), work);
    lines.take()
}

const CALL: &str = r#"tool_call tool="t" call_id="call-1" is_sub_call=false"#;

#[test]
fn a_call_has_a_span_with_one_child_per_stage() {
    let registry = ToolRegistry::default();
    registry.register(echo("t")).unwrap().keep();
    assert_eq!(
        trace_of(&registry),
        [
            CALL,
            "tool_call > pre_execute",
            "tool_call > approval",
            "tool_call > guards",
            "tool_call > dispatch",
            "dispatch > body",
            "dispatch > canonical",
            "tool_call > post_execute",
            "tool_call > finalize",
            "tool_call > observe",
        ]
    );
}

#[test]
fn what_a_tool_traces_stands_inside_its_body() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|args, _| async move {
        tracing::info!(target: "code_mode::test", "working");
        Ok(args)
    });
    registry.register(tool).unwrap().keep();
    assert!(trace_of(&registry).contains(&"event in body message=working".to_owned()));
}

#[test]
fn arguments_and_results_are_traced_on_demand_only() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, _| async { Err(ToolError::new("hunter2 is wrong")) });
    registry.register(tool).unwrap().keep();
    let secret = |lines: &[String]| lines.iter().any(|line| line.contains("hunter2"));
    assert!(!secret(&trace_of(&registry)));

    let traced = TracePayloads::install(&registry);
    let events: Vec<String> =
        trace_of(&registry).into_iter().filter(|line| line.starts_with("event")).collect();
    assert_eq!(
        events,
        [
            r#"event in pre_execute message=tool arguments tool="t" call_id="call-1" arguments={"password":"hunter2"}"#,
            concat!(
                r#"event in observe message=tool result tool="t" call_id="call-1" is_error=true "#,
                r#"content=[{"type":"text","text":"Error: hunter2 is wrong"}]"#
            ),
        ]
    );
    drop(traced);
    assert!(!secret(&trace_of(&registry)));
}

#[test]
fn a_schema_that_is_enforced_in_part_only_is_told_at_registration() {
    let schema = Schema::full(json!({"type": "object", "properties": {"a": {"pattern": "("}}}));
    let registry = ToolRegistry::default();
    let lines = traced(|| registry.register(echo("t").parameters(schema).build()).unwrap().keep());
    assert_eq!(lines.len(), 1, "{lines:?}");
    let told = "event in nothing message=parts of a schema are not enforced tool=\"t\" schema=\"parameters\"";
    assert!(lines[0].starts_with(told) && lines[0].contains("pattern"), "{lines:?}");

    let lines = traced(|| registry.register(echo("sound").build()).unwrap().keep());
    assert!(lines.is_empty(), "{lines:?}");
}
