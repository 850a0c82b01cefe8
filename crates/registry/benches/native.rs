//! What one native call costs, what registering many tools costs, and what looking at them again allocates.
//!
//! `cargo bench -p code-mode-registry --bench native`. Each line: the question, the median, the bound it must
//! keep. The floor is the body alone: a boxed future that is ready at once.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    future::Future,
    hint::black_box,
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use code_mode_registry::{SignalSource, ToolCall, ToolDefinition, ToolExecution, ToolRegistry};
use code_mode_schema::{Json, Schema, json};
use futures::future::BoxFuture;

fn main() {
    let mut is_within = true;
    let mut report = |question: &str, figure: Duration, bound: Option<Duration>| {
        let verdict = match bound {
            Some(bound) if figure > bound => "TOO SLOW, bound ",
            Some(_) => "bound ",
            None => "",
        };
        is_within &= bound.is_none_or(|bound| figure <= bound);
        println!(
            "{question:<64} {figure:>10.2?}  {verdict}{}",
            bound.map_or(String::new(), |b| format!("{b:.0?}"))
        );
    };

    report("floor: a boxed future that is ready", floor(), None);
    let registry = registry();
    report("allowed call, validation, no listeners", call(&registry, false), Some(Duration::from_micros(3)));
    report("the same with a caller's signal", call(&registry, true), Some(Duration::from_micros(3)));
    println!("{:<64} {:>10}", "allocations of that call", allocations_of_a_call(&registry));

    let _listeners = [
        registry.on_pre_execute(|_, next| async move { next.call().await }),
        registry.on_execute(|_, next| async move { next.call().await }),
        registry.on_post_execute(|_, _, next| async move { next.call().await }),
        registry.guard(|_: &ToolExecution| None::<String>),
    ];
    let bound = Some(Duration::from_micros(6));
    report("one listener on each waterfall and one guard", call(&registry, false), bound);
    report("registering 5 000 tools", register_many(5_000), Some(Duration::from_millis(50)));

    let counted = allocations_of_schemas();
    println!("{:<64} {counted:>10}  must be 0", "allocations of a second `schemas()`");
    assert!(is_within && counted == 0, "a bound is broken");
}

const ROUNDS: usize = 200;
const CALLS: u32 = 500;

/// The median over rounds of the mean of one call.
fn median(mut one: impl FnMut()) -> Duration {
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            (0..CALLS).for_each(|_| one());
            started.elapsed() / CALLS
        })
        .collect();
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("every tool here is ready at once"),
    }
}

fn floor() -> Duration {
    let arguments = arguments();
    median(|| {
        let arguments = arguments.clone();
        let body: BoxFuture<'static, Json> = Box::pin(async move { arguments });
        black_box(ready(body));
    })
}

fn arguments() -> Json {
    json!({"path": "src/lib.rs", "limit": 10, "recursive": true})
}

fn tool(name: &str) -> ToolDefinition {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"}, "recursive": {"type": "boolean"},
        },
        "required": ["path"],
    });
    ToolDefinition::builder(name)
        .description("Does nothing")
        .parameters(Schema::subset(parameters).expect("the subset has these keywords"))
        .output(json!({"type": "null"}))
        .render(|_, _| "done")
        .execute(|_, _| std::future::ready(Ok(Json::Null)))
        .build()
}

fn registry() -> ToolRegistry {
    let registry = ToolRegistry::default();
    for number in 0..50 {
        registry.register(tool(&format!("tool_{number}"))).expect("the names differ").keep();
    }
    registry
}

fn call(registry: &ToolRegistry, with_signal: bool) -> Duration {
    let arguments = arguments();
    let stop = SignalSource::new();
    median(|| {
        let mut call = ToolCall::new("call_1", "tool_7", arguments.clone());
        if with_signal {
            call = call.with_signal(stop.signal());
        }
        let result = ready(registry.execute(call));
        assert!(!black_box(result).is_error());
    })
}

fn register_many(count: usize) -> Duration {
    let mut rounds: Vec<Duration> = (0..9)
        .map(|_| {
            let tools: Vec<_> = (0..count).map(|number| tool(&format!("tool_{number}"))).collect();
            let registry = ToolRegistry::default();
            let started = Instant::now();
            for tool in tools {
                registry.register(tool).expect("the names differ").keep();
            }
            let time = started.elapsed();
            assert_eq!(registry.view(None).len(), count);
            time
        })
        .collect();
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

fn allocations_of_a_call(registry: &ToolRegistry) -> usize {
    let call = ToolCall::new("call_1", "tool_7", arguments());
    count(|| {
        black_box(ready(registry.execute(call)));
    })
}

fn allocations_of_schemas() -> usize {
    let registry = registry();
    let look = || black_box(registry.schemas(None).expect("the parameters are JSON").len());
    look();
    count(|| {
        look();
    })
}

fn count(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    run();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: both methods hand on to the system's allocator what they were given and nothing else.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` through `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}
