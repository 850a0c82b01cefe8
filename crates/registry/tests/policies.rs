//! The stock policies: timeout (contract 3.10), spill (contract 8), retry, size (decision 26), metrics, invariants
//! (contract 3.15).

use std::{
    fs,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use code_mode_registry::{
    Acceptance, ContentBlock, ErrorInfo, PostDecision, Registration, SignalSource, ToolBuilder, ToolError,
    ToolRegistry, ToolResult,
    policy::{
        CallSizePolicy, DevInvariants, FolderStore, Metrics, RetryPolicy, Spill, SpillPolicy, SpillStore,
        TimeoutPolicy, Timer,
    },
};
use code_mode_schema::json;
use futures::future::BoxFuture;

use crate::support::{Log, call, check_failure, code, echo, execute, run};

/// Runs on a paused clock: a sleep ends as soon as nothing else can go on.
fn run_paused<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true);
    builder.build().unwrap().block_on(future)
}

// Timeout.

/// A tool with a timeout of 100 ms that takes `takes` and heeds its signal or not.
fn timed(takes: Duration, heeds: bool) -> ToolBuilder {
    echo("t").timeout(Duration::from_millis(100)).execute(move |args, ctx| async move {
        let work = tokio::time::sleep(takes);
        if heeds {
            tokio::select! {
                reason = ctx.signal().cancelled() => return Err(ToolError::new(format!("stopped: {reason}"))),
                () = work => {}
            }
        } else {
            work.await;
        }
        Ok(args)
    })
}

fn timeout_registry(tool: ToolBuilder) -> ToolRegistry {
    let registry = ToolRegistry::default();
    registry.register(tool).unwrap().keep();
    TimeoutPolicy::install(&registry).keep();
    registry
}

#[track_caller]
fn check_timed_out(result: &ToolResult) {
    check_failure(result, "tool call timed out after 100ms", Some("TOOL_TIMEOUT"));
    assert_eq!(result.error().unwrap().info().unwrap().name(), "ToolTimeoutError");
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(10);

#[test]
fn a_tool_within_its_timeout_is_untouched() {
    let registry = timeout_registry(timed(SHORT, true));
    assert!(!run_paused(registry.execute(call("t"))).is_error());
}

#[test]
fn an_own_timer_that_fires_first_replaces_whatever_came_back() {
    for heeds in [true, false] {
        let registry = timeout_registry(timed(LONG, heeds));
        check_timed_out(&run_paused(registry.execute(call("t"))));
    }
}

#[test]
fn a_caller_that_aborts_first_is_an_ordinary_abort() {
    let registry = timeout_registry(timed(LONG, false));
    let result = run_paused(async {
        let stop = SignalSource::new();
        let executing = registry.execute(call("t").with_signal(stop.signal()));
        let stopping = async {
            tokio::time::sleep(SHORT).await;
            stop.cancel("escape");
        };
        futures::join!(executing, stopping).0
    });
    check_failure(&result, "tool call aborted", Some("ABORTED"));
}

#[test]
fn a_caller_that_aborts_after_the_deadline_changes_nothing() {
    let registry = timeout_registry(timed(LONG, false));
    let result = run_paused(async {
        let stop = SignalSource::new();
        let executing = registry.execute(call("t").with_signal(stop.signal()));
        let stopping = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stop.cancel("escape");
        };
        futures::join!(executing, stopping).0
    });
    check_timed_out(&result);
}

#[test]
fn a_tool_without_a_timeout_is_untouched() {
    let registry = timeout_registry(echo("t").execute(|args, _| async move {
        tokio::time::sleep(LONG).await;
        Ok(args)
    }));
    assert!(!run_paused(registry.execute(call("t"))).is_error());
}

#[test]
fn the_signal_in_place_is_put_back_after_the_timeout_policy() {
    let registry = ToolRegistry::default();
    registry.register(timed(LONG, true)).unwrap().keep();
    let stop = SignalSource::new();
    let signal = stop.signal();
    let _outer = registry.on_execute(move |dispatch, next| {
        let signal = signal.clone();
        async move {
            let result = next.call().await;
            assert!(dispatch.signal().same(&signal));
            result
        }
    });
    let _timeout = TimeoutPolicy::install(&registry);
    check_timed_out(&run_paused(registry.execute(call("t").with_signal(stop.signal()))));
}

#[test]
fn a_fraction_of_a_millisecond_is_said_as_it_is() {
    let registry = timeout_registry(timed(LONG, true).timeout(Duration::from_micros(1_500)));
    let result = run_paused(registry.execute(call("t")));
    assert_eq!(result.message(), Some("tool call timed out after 1.5ms"));
}

#[test]
fn without_a_timer_the_call_fails_and_says_so() {
    let registry = timeout_registry(timed(SHORT, true));
    let result = run(registry.execute(call("t")));
    assert!(result.text().contains("reactor") || result.text().contains("runtime"), "{}", result.text());
}

// Retry.

/// Notes the pauses and does not wait.
fn noted_pauses(log: &Log) -> impl Timer {
    let log = log.clone();
    move |pause: Duration| {
        log.add(format!("{}ms", pause.as_millis()));
        std::future::ready(())
    }
}

/// Fails until the attempt `good`.
fn flaky(good: usize, failure: fn() -> ToolError) -> (ToolBuilder, Arc<AtomicUsize>) {
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    let tool = echo("t").execute(move |args, _| {
        let attempt = counter.fetch_add(1, Ordering::SeqCst) + 1;
        async move { if attempt < good { Err(failure()) } else { Ok(args) } }
    });
    (tool, attempts)
}

fn unreachable_host() -> ToolError {
    ToolError::new("host unreachable")
}

#[test]
fn a_retry_safe_tool_is_called_again_with_growing_pauses() {
    let registry = ToolRegistry::default();
    let log = Log::default();
    let (tool, attempts) = flaky(4, unreachable_host);
    let _tool = registry.register(tool.retry_safe()).unwrap();
    let policy = RetryPolicy::default()
        .with_max_attempts(5)
        .with_pauses(Duration::from_millis(100), Duration::from_millis(250));
    let _retry = policy.install_on(registry.hooks(), noted_pauses(&log));
    assert!(!execute(&registry, "t").is_error());
    assert_eq!(attempts.load(Ordering::SeqCst), 4);
    assert_eq!(log.take(), ["100ms", "200ms", "250ms"]);
}

#[test]
fn attempts_are_bounded() {
    let registry = ToolRegistry::default();
    let (tool, attempts) = flaky(100, unreachable_host);
    let _tool = registry.register(tool.retry_safe()).unwrap();
    let _retry = RetryPolicy::default().install_on(registry.hooks(), noted_pauses(&Log::default()));
    check_failure(&execute(&registry, "t"), "host unreachable", None);
    assert_eq!(attempts.load(Ordering::SeqCst), 3);
}

#[test]
fn only_what_may_be_gone_the_next_time_is_retried() {
    let with_code = || ToolError::new("m").with_info(ErrorInfo::new("E", "RATE_LIMIT"));
    let invalid = || ToolError::invalid_arguments(&["x".to_owned()]);
    type Case = (fn() -> ToolError, bool, usize);
    let cases: [Case; 4] =
        [(unreachable_host, true, 2), (unreachable_host, false, 1), (with_code, true, 2), (invalid, true, 1)];
    for (failure, is_safe, expected) in cases {
        let registry = ToolRegistry::default();
        let (tool, attempts) = flaky(2, failure);
        let tool = if is_safe { tool.retry_safe() } else { tool };
        let _tool = registry.register(tool).unwrap();
        let _retry = RetryPolicy::default().install_on(registry.hooks(), noted_pauses(&Log::default()));
        execute(&registry, "t");
        assert_eq!(attempts.load(Ordering::SeqCst), expected);
    }
}

#[test]
fn a_cancelled_call_is_not_retried() {
    let registry = ToolRegistry::default();
    let stop = Arc::new(SignalSource::new());
    let (tool, attempts) = flaky(5, unreachable_host);
    let _tool = registry.register(tool.retry_safe()).unwrap();
    let cancel = Arc::clone(&stop);
    let timer = move |_: Duration| {
        cancel.cancel("escape");
        std::future::pending()
    };
    let _retry = RetryPolicy::default().install_on(registry.hooks(), timer);
    let result = run(registry.execute(call("t").with_signal(stop.signal())));
    check_failure(&result, "host unreachable", None);
    assert_eq!(attempts.load(Ordering::SeqCst), 1);
}

// Spill.

/// Keeps what is stored, or refuses it.
#[derive(Clone, Default)]
struct Memory {
    stored: Arc<Mutex<Vec<Spill>>>,
    refuses: bool,
}

impl SpillStore for Memory {
    fn store(&self, spill: Spill) -> BoxFuture<'static, Result<String, ToolError>> {
        let outcome = if self.refuses {
            Err(ToolError::new("disk full"))
        } else {
            self.stored.lock().unwrap().push(spill);
            Ok("memory:1".to_owned())
        };
        Box::pin(std::future::ready(outcome))
    }
}

struct Spilling {
    registry: ToolRegistry,
    memory: Memory,
    _policy: Registration,
}

impl Spilling {
    fn new(max: usize, text: &str) -> Self {
        Self::with(max, vec![ContentBlock::text(text)], Memory::default())
    }

    fn with(max: usize, content: Vec<ContentBlock>, memory: Memory) -> Self {
        let registry = ToolRegistry::default();
        for name in ["t", "read", "read_file"] {
            let content = content.clone();
            registry.register(echo(name).render(move |_, _| content.clone())).unwrap().keep();
        }
        let policy = SpillPolicy::new(memory.clone())
            .with_max_inline_bytes(max)
            .with_hint("Ask for it.")
            .with_exempt("read_file")
            .install(&registry);
        Self { registry, memory, _policy: policy }
    }

    fn stored(&self) -> usize {
        self.memory.stored.lock().unwrap().len()
    }

    #[track_caller]
    fn check_untouched(&self, name: &str, text: &str) {
        assert_eq!(execute(&self.registry, name).text(), text);
        assert_eq!(self.stored(), 0);
    }
}

#[test]
fn a_text_within_the_cap_stays() {
    let text = "x".repeat(200);
    Spilling::new(200, &text).check_untouched("t", &text);
}

#[test]
fn a_larger_text_becomes_its_ends_and_a_note_within_the_cap() {
    for max in [200, 201, 500, 999] {
        let text: String = ('a'..='z').cycle().take(1_000).collect();
        let spilling = Spilling::new(max, &text);
        let result = execute(&spilling.registry, "t");
        let shown = result.text();
        assert!(shown.len() <= max, "{} > {max}", shown.len());
        let (ends, note) = shown.split_once("\n\n(").unwrap();
        let (head, tail) = ends.split_once("\n[…]\n").unwrap();
        assert!(text.starts_with(head) && text.ends_with(tail) && !head.is_empty() && !tail.is_empty());
        let omitted = 1_000 - head.len() - tail.len();
        assert_eq!(
            note,
            format!("{omitted} bytes omitted. Full formatted result stored at: memory:1. Ask for it.)")
        );
        let stored = spilling.memory.stored.lock().unwrap();
        assert_eq!((&*stored[0].tool, stored[0].call_id.as_str()), ("t", "call-t"));
        assert_eq!(&*stored[0].text, text);
        assert_eq!(result.value(), Some(&json!({"x": 1})), "the value is whole");
    }
}

#[test]
fn a_preview_is_cut_between_characters() {
    let text = "ä€𝄞".repeat(200);
    for max in 150..170 {
        let spilling = Spilling::new(max, &text);
        let shown = execute(&spilling.registry, "t").text();
        assert!(shown.len() <= max);
        assert!(!shown.contains('\u{fffd}'));
    }
}

#[test]
fn a_cap_too_small_for_the_note_keeps_the_original() {
    let text = "x".repeat(100);
    let spilling = Spilling::new(20, &text);
    assert_eq!(execute(&spilling.registry, "t").text(), text);
}

#[test]
fn what_reads_the_spilled_is_never_spilled() {
    let text = "x".repeat(1_000);
    Spilling::new(200, &text).check_untouched("read", &text);
    Spilling::new(200, &text).check_untouched("read_file", &text);
}

#[test]
fn sub_calls_are_never_spilled() {
    let text = "x".repeat(1_000);
    let spilling = Spilling::new(200, &text);
    let outer = execute(&spilling.registry, "read").token().unwrap();
    let sub = run(spilling.registry.execute(call("t").with_parent(outer)));
    assert_eq!(sub.text(), text);
    assert_eq!(spilling.stored(), 0);
}

#[test]
fn content_that_is_not_all_text_stays() {
    let content = vec![ContentBlock::text("x".repeat(1_000)), ContentBlock::image("aGk=", "image/png")];
    let spilling = Spilling::with(200, content.clone(), Memory::default());
    assert_eq!(execute(&spilling.registry, "t").content(), content);
    assert_eq!(spilling.stored(), 0);
}

#[test]
fn several_texts_are_spilled_as_one() {
    let content = vec![ContentBlock::text("a".repeat(300)), ContentBlock::text("b".repeat(300))];
    let spilling = Spilling::with(400, content, Memory::default());
    let result = execute(&spilling.registry, "t");
    assert_eq!(result.content().len(), 1);
    assert_eq!(spilling.memory.stored.lock().unwrap()[0].text.len(), 601);
}

#[test]
fn a_failing_store_keeps_the_original() {
    let text = "x".repeat(1_000);
    let memory = Memory { refuses: true, ..Memory::default() };
    Spilling::with(200, vec![ContentBlock::text(&*text)], memory).check_untouched("t", &text);
}

#[test]
fn blocks_and_replaced_values_are_not_spilled_and_replaced_content_is() {
    let long = "y".repeat(1_000);
    let decide = |decision: PostDecision| {
        let spilling = Spilling::new(200, "short");
        let _inner = spilling.registry.on_post_execute(move |_, _, _| {
            let decision = decision.clone();
            async move { Ok(decision) }
        });
        (execute(&spilling.registry, "t").text(), spilling.stored())
    };
    assert_eq!(decide(PostDecision::block(&*long)), (long.clone(), 0));
    let value = Acceptance { value: Some(json!(1)), ..Acceptance::default() };
    assert_eq!(decide(PostDecision::Accept(value)), ("short".to_owned(), 0));
    let content = Acceptance { content: Some(vec![ContentBlock::text(&*long)]), ..Acceptance::default() };
    assert_eq!(decide(PostDecision::Accept(content)).1, 1);
}

#[test]
fn a_folder_store_writes_each_text_to_a_file_of_its_own() {
    let folder = std::env::temp_dir().join(format!("code-mode-spill-{}", std::process::id()));
    let store = FolderStore::new(&folder);
    let registry = ToolRegistry::default();
    let text = "z".repeat(1_000);
    let rendered = text.clone();
    let _tool = registry.register(echo("t").render(move |_, _| rendered.clone())).unwrap();
    let _policy = SpillPolicy::new(store).with_max_inline_bytes(400).install(&registry);
    let hostile = code_mode_registry::ToolCall::new("../../up:1", "t", json!({}));
    for file in ["up1.txt", "up1-1.txt"] {
        let shown = run(registry.execute(hostile.clone())).text();
        let path = folder.join(file);
        assert!(shown.contains(&*path.to_string_lossy()), "{shown}");
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    fs::remove_dir_all(folder).unwrap();
}

// Size.

#[test]
fn arguments_beyond_their_bound_are_denied() {
    let registry = ToolRegistry::default();
    registry.register(echo("t")).unwrap().keep();
    // `{"x":1}` has 7 bytes.
    let fits = CallSizePolicy::default().with_max_arguments_bytes(7).install(&registry);
    assert!(!execute(&registry, "t").is_error());
    drop(fits);
    let _bounded = CallSizePolicy::default().with_max_arguments_bytes(6).install(&registry);
    let message = "tool \"t\" was given arguments of 7 bytes; the limit is 6 (maxArgumentsBytes)";
    check_failure(&execute(&registry, "t"), message, None);
}

#[test]
fn a_value_beyond_its_bound_is_a_failure_that_keeps_its_contexts() {
    let registry = ToolRegistry::default();
    let tool = echo("t").execute(|_, ctx| async move {
        ctx.defer_context(code_mode_registry::AdditionalContext::text("tool", "c"));
        Ok(json!("é"))
    });
    registry.register(tool).unwrap().keep();
    let fits = CallSizePolicy::default().with_max_value_bytes(4).install(&registry);
    assert!(!execute(&registry, "t").is_error());
    drop(fits);
    let _bounded = CallSizePolicy::default().with_max_value_bytes(3).install(&registry);
    let result = execute(&registry, "t");
    check_failure(&result, "tool \"t\" returned a value of 4 bytes; the limit is 3 (maxValueBytes)", None);
    assert_eq!(result.additional_contexts().len(), 1);
}

#[test]
fn sizes_are_unbounded_by_default_and_run_code_has_its_own_limits() {
    let registry = ToolRegistry::default();
    let _tools = [registry.register(echo("t")), registry.register(echo("run_code"))];
    let unbounded = CallSizePolicy::default().install(&registry);
    assert!(!execute(&registry, "t").is_error());
    drop(unbounded);
    let bounds = CallSizePolicy::default().with_max_arguments_bytes(1).with_max_value_bytes(1);
    let _bounded = bounds.install(&registry);
    assert!(!execute(&registry, "run_code").is_error());
}

// Metrics and invariants.

#[test]
fn metrics_count_calls_failures_and_dispatches() {
    let registry = ToolRegistry::default();
    let (metrics, _installed) = Metrics::install(&registry);
    let _tools = [
        registry.register(echo("t")),
        registry.register(echo("fails").execute(|_, _| async { Err(ToolError::new("m")) })),
    ];
    for name in ["t", "t", "fails", "unknown"] {
        execute(&registry, name);
    }
    let snapshot = metrics.snapshot();
    assert_eq!((snapshot["t"].calls, snapshot["t"].dispatches, snapshot["t"].failures.len()), (2, 2, 0));
    assert_eq!(snapshot["fails"].failures[""], 1);
    assert_eq!(snapshot["unknown"].failures["UNKNOWN_TOOL"], 1);
    assert!(snapshot["t"].total_time >= snapshot["t"].max_time);
}

#[test]
fn invariants_hold_and_empty_names_are_noted() {
    let registry = ToolRegistry::default();
    let (invariants, _installed) = DevInvariants::install(&registry);
    let _tools = [registry.register(echo("t")), registry.register(echo(""))];
    let _denied = registry.guard(|execution: &code_mode_registry::ToolExecution| {
        (execution.name() == "denied").then_some("no")
    });
    let _retry = registry.on_execute(|_, next| async move {
        next.call().await?;
        next.call().await
    });
    for name in ["t", "unknown", "denied"] {
        execute(&registry, name);
    }
    assert_eq!(invariants.violations(), [""; 0]);
    run(registry.execute(code_mode_registry::ToolCall::new("", "", json!({}))));
    assert_eq!(invariants.violations(), [" (): the name is empty", " (): the call id is empty"]);
}

#[test]
fn a_call_that_mode_code_refuses_breaks_no_invariant() {
    let registry = crate::support::registry_in(code_mode_registry::Mode::Code);
    let (invariants, _installed) = DevInvariants::install(&registry);
    execute(&registry, "t");
    assert_eq!(invariants.violations(), [""; 0]);
}

#[test]
fn a_listener_that_runs_the_first_phase_twice_breaks_an_invariant() {
    let registry = ToolRegistry::default();
    let _outermost_later: Registration;
    let (invariants, installed) = DevInvariants::install(&registry);
    _outermost_later = registry.hooks().prepend().on_pre_execute(|_, next| async move {
        next.call().await?;
        next.call().await
    });
    execute(&registry, "t");
    assert_eq!(invariants.violations(), ["call-t (t): pre-execute ran twice"]);
    drop(installed);
    assert_eq!(code(&execute(&registry, "t")).as_deref(), Some("UNKNOWN_TOOL"));
}

#[test]
fn a_store_that_panics_keeps_the_content() {
    struct Broken;
    impl SpillStore for Broken {
        fn store(&self, _: Spill) -> BoxFuture<'static, Result<String, ToolError>> {
            panic!("disk on fire")
        }
    }
    let registry = ToolRegistry::default();
    let _tool = registry.register(echo("t").render(|_, _| "x".repeat(100))).unwrap();
    let _spill = SpillPolicy::new(Broken).with_max_inline_bytes(20).install(&registry);
    assert_eq!(execute(&registry, "t").text(), "x".repeat(100));
}

#[test]
fn names_that_no_tool_answers_to_do_not_fill_the_metrics() {
    let registry = ToolRegistry::default();
    let (metrics, _installed) = Metrics::install(&registry);
    execute(&registry, &"n".repeat(257));
    for number in 0..1_100 {
        execute(&registry, &format!("unknown {number}"));
    }
    let _tool = registry.register(echo("t")).unwrap();
    execute(&registry, "t");
    let snapshot = metrics.snapshot();
    assert_eq!(snapshot["t"].calls, 1);
    assert_eq!(snapshot["unknown 0"].calls, 1);
    assert_eq!(snapshot.len(), 1_001);
    assert_eq!(snapshot.values().map(|tool| tool.calls).sum::<u64>(), 1_102);
    assert_eq!(snapshot[Metrics::OTHER_NAMES].calls, 102);
}
