//! What a program costs. One question each, with its floor in the same group.
//! See `benches/README.md`.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use code_mode::{
    CodeMode, Json, Mode, RegistryConfig, ThreadRuntime, ToolCall, ToolDefinition, ToolRegistry, json,
};
use criterion::{Criterion, criterion_group, criterion_main};

struct Host {
    tokio: tokio::runtime::Runtime,
    registry: ToolRegistry,
    _code_mode: CodeMode,
}

impl Host {
    fn new() -> Self {
        let registry =
            ToolRegistry::new(RegistryConfig::new(Mode::Both)).expect("the configuration is valid");
        for (name, parallel) in [("noop", true), ("echo", true)] {
            let tool = ToolDefinition::builder(name)
                .parameters(json!({"type": "object"}))
                .output(json!({}))
                .render(|_: &Json, _: &Json| String::new())
                .concurrency_safe(move |_: &Json| parallel)
                .execute(move |arguments: Json, _| async move {
                    Ok(if name == "echo" {
                        arguments.get("value").cloned().unwrap_or(Json::Null)
                    } else {
                        Json::Null
                    })
                })
                .build();
            registry.register(tool).expect("the tool is valid").keep();
        }
        let runtime = ThreadRuntime::new().expect("the engine starts");
        let code_mode = CodeMode::install(&registry, Arc::new(runtime)).expect("the mode allows programs");
        let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("tokio starts");
        Self { tokio, registry, _code_mode: code_mode }
    }

    /// Runs `code` and gives the text that the model gets.
    fn run(&self, code: &str) -> String {
        let arguments = json!({"code": code, "description": "Measure"});
        let call = ToolCall::new("bench", "run_code", arguments);
        let result = self
            .tokio
            .block_on(self.tokio.spawn(self.registry.execute(call)))
            .expect("the call does not panic");
        assert!(!result.is_error(), "{}", result.text());
        result.text()
    }
}

/// Time of `iterations` runs of `work`.
fn timed(iterations: u64, mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..iterations {
        work();
    }
    start.elapsed()
}

fn run_of_a_program(c: &mut Criterion) {
    let host = Host::new();
    let mut group = c.benchmark_group("run");
    group.sample_size(30);
    group.bench_function("floor: spawn a thread and a task", |b| {
        b.iter_custom(|n| {
            timed(n, || {
                let (done, wait) = tokio::sync::oneshot::channel();
                std::thread::spawn(move || done.send(1));
                black_box(host.tokio.block_on(host.tokio.spawn(wait)))
                    .expect("the task does not panic")
                    .expect("the thread sends");
            })
        });
    });
    group.bench_function("return 1", |b| {
        b.iter_custom(|n| timed(n, || drop(black_box(host.run("return 1")))))
    });
    group.finish();
}

fn thousand_calls(c: &mut Criterion) {
    let host = Host::new();
    let mut group = c.benchmark_group("1000 calls");
    group.sample_size(20);
    group.bench_function("floor: native, of a no-op tool", |b| {
        b.iter_custom(|n| {
            timed(n, || {
                host.tokio.block_on(async {
                    for _ in 0..1000 {
                        let call = ToolCall::new("bench", "noop", json!({}));
                        black_box(host.registry.execute(call).await);
                    }
                });
            })
        });
    });
    group.bench_function("floor: the program without calls", |b| {
        b.iter_custom(|n| {
            timed(n, || drop(black_box(host.run("for (let i = 0; i < 1000; i++) await null; return 1"))))
        });
    });
    group.bench_function("awaited one by one", |b| {
        b.iter_custom(|n| {
            timed(n, || {
                drop(black_box(host.run("for (let i = 0; i < 1000; i++) await tools.noop({}); return 1")))
            })
        });
    });
    group.bench_function("all at once", |b| {
        b.iter_custom(|n| {
            timed(n, || {
                drop(black_box(
                    host.run(
                        "await Promise.all(Array.from({ length: 1000 }, () => tools.noop({}))); return 1",
                    ),
                ));
            })
        });
    });
    group.finish();
}

fn large_values(c: &mut Criterion) {
    let host = Host::new();
    let rows: Vec<Json> =
        (0..50_000).map(|id| json!({"id": id, "name": "row", "tags": ["a", "b"], "on": true})).collect();
    let text = Json::from(rows).to_text();
    let mut group = c.benchmark_group("50000 small objects");
    group.sample_size(10);
    group.bench_function("floor: parse and print in Rust", |b| {
        b.iter_custom(|n| timed(n, || drop(black_box(Json::parse(&text).expect("it is JSON").to_text()))));
    });
    let make = "const value = Array.from({ length: 50000 }, (_, id) => ({ id, name: 'row', tags: ['a', 'b'], on: true }));";
    group.bench_function("floor: made in the program", |b| {
        let code = format!("{make} return value.length");
        b.iter_custom(|n| timed(n, || drop(black_box(host.run(&code)))));
    });
    group.bench_function("to a tool and back", |b| {
        let code = format!("{make} return (await tools.echo({{ value }})).length");
        b.iter_custom(|n| timed(n, || drop(black_box(host.run(&code)))));
    });
    group.finish();
}

fn arithmetic(c: &mut Criterion) {
    let host = Host::new();
    let mut group = c.benchmark_group("computation");
    group.sample_size(10);
    group.bench_function("loop of 1e7 turns", |b| {
        b.iter_custom(|n| {
            timed(n, || {
                drop(black_box(host.run("let s = 0; for (let i = 0; i < 1e7; i++) s += i % 7; return s")))
            })
        });
    });
    group.finish();
}

criterion_group!(benches, run_of_a_program, thousand_calls, large_values, arithmetic);
criterion_main!(benches);
