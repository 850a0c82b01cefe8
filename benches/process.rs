//! What the `process` back end costs over `thread`: the same programs on both.
//! See `benches/README.md`.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use code_mode::{
    BackEndConfig, CodeMode, Isolation, Json, Mode, RegistryConfig, ToolCall, ToolDefinition, ToolRegistry,
    json,
};
use criterion::{Criterion, criterion_group};

struct Host {
    tokio: tokio::runtime::Runtime,
    registry: ToolRegistry,
    _code_mode: CodeMode,
}

impl Host {
    fn new(isolation: Isolation) -> Self {
        let registry =
            ToolRegistry::new(RegistryConfig::new(Mode::Both)).expect("the configuration is valid");
        let noop = ToolDefinition::builder("noop")
            .parameters(json!({"type": "object"}))
            .output(json!({}))
            .render(|_: &Json, _: &Json| String::new())
            .concurrency_safe(|_: &Json| true)
            .execute(|_, _| async { Ok(Json::Null) })
            .build();
        registry.register(noop).expect("the tool is valid").keep();
        let runtime = BackEndConfig::new(isolation).build().expect("the back end starts");
        let code_mode = CodeMode::install(&registry, Arc::clone(&runtime)).expect("the mode allows programs");
        let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("tokio starts");
        Self { tokio, registry, _code_mode: code_mode }
    }

    fn run(&self, code: &str) -> Arc<code_mode::ToolResult> {
        let arguments = json!({"code": code, "description": "Measure"});
        let call = ToolCall::new("bench", "run_code", arguments);
        let result = self
            .tokio
            .block_on(self.tokio.spawn(self.registry.execute(call)))
            .expect("the call does not panic");
        assert!(!result.is_error(), "{}", result.text());
        result
    }
}

/// Time of `iterations` runs of `code`.
fn timed(host: &Host, iterations: u64, code: &str) -> Duration {
    let start = Instant::now();
    for _ in 0..iterations {
        black_box(host.run(code));
    }
    start.elapsed()
}

fn on_both(c: &mut Criterion, name: &str, samples: usize, code: &str) {
    let mut group = c.benchmark_group(name);
    group.sample_size(samples);
    for (title, isolation) in [("floor: thread", Isolation::Thread), ("process", Isolation::Process)] {
        let host = Host::new(isolation);
        host.run(code);
        group.bench_function(title, |b| b.iter_custom(|n| timed(&host, n, code)));
    }
    group.finish();
}

fn run_of_a_program(c: &mut Criterion) {
    on_both(c, "isolation: return 1", 100, "return 1");
}

fn thousand_calls(c: &mut Criterion) {
    let code = "for (let i = 0; i < 1000; i++) await tools.noop({}); return 1";
    on_both(c, "isolation: 1000 calls awaited one by one", 30, code);
    let code = "await Promise.all(Array.from({ length: 1000 }, () => tools.noop({}))); return 1";
    on_both(c, "isolation: 1000 calls all at once", 30, code);
}

fn large_result(c: &mut Criterion) {
    on_both(c, "isolation: a text of 10 MB", 20, "return 'x'.repeat(1e7)");
    let code =
        "return Array.from({ length: 160000 }, (_, id) => ({ id, name: 'row', tags: ['a', 'b'], on: true }))";
    on_both(c, "isolation: 10 MB of small objects", 10, code);
}

criterion_group!(benches, run_of_a_program, thousand_calls, large_result);

fn main() {
    // The workers are this executable.
    code_mode::worker::run_if_requested();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
