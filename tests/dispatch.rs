//! Sub-calls: ids, events, order, the exclusive barrier, settlement, contexts. Contract 3.5, 3.12, 6.8, 7.2 to 7.5;
//! decisions 8, 13, 21, 23, 28.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use code_mode::registry::{Acceptance, ContentBlock, HostEvent, PostDecision, Restriction, Token};
use code_mode::{Agent, Json, Mode, SignalSource, ToolError, json};
use futures::FutureExt as _;
use tokio::sync::oneshot;

use crate::support::{CALL, Gates, Host, HostConfig, Journal, context, tool};

/// A host with the gated tools `read` (may overlap) and `write` (runs alone).
fn gated() -> (Host, Arc<Gates>) {
    gated_with(HostConfig::default())
}

fn gated_with(config: HostConfig) -> (Host, Arc<Gates>) {
    let (host, gates) = (Host::made(config), Arc::new(Gates::new()));
    host.register(gates.tool("read").concurrency_safe(|_| true));
    host.register(gates.tool("write").exclusive());
    (host, gates)
}

/// Host events of sub-calls as lines: `start ID TOOL ARGUMENTS`, `settle ID TOOL ok|error CONTENT`.
fn lines(events: &[HostEvent]) -> Vec<String> {
    let line = |event: &HostEvent| match event {
        HostEvent::CodeDispatchStart { sub_call_id, name, arguments, .. } => {
            Some(format!("start {sub_call_id} {name} {arguments}"))
        }
        HostEvent::CodeDispatch { sub_call_id, name, is_error, content, .. } => {
            let text: Vec<&str> = content.iter().filter_map(ContentBlock::as_text).collect();
            Some(format!(
                "settle {sub_call_id} {name} {} {}",
                if *is_error { "error" } else { "ok" },
                text.join("\n")
            ))
        }
        _ => None,
    };
    events.iter().filter_map(line).collect()
}

#[test]
fn sub_calls_are_numbered_as_submitted_and_have_two_events_each() {
    let host = Host::new();
    host.value("await tools.echo({ value: [1] }); await tools.fail({ message: 'no' }).catch(() => {}); return tools.echo({ value: 2 })");
    let events = host.take_events();
    assert_eq!(
        lines(&events),
        [
            r#"start call_1:code:1 echo {"value":[1]}"#,
            "settle call_1:code:1 echo ok [1]",
            r#"start call_1:code:2 fail {"message":"no"}"#,
            "settle call_1:code:2 fail error Error: no",
            r#"start call_1:code:3 echo {"value":2}"#,
            "settle call_1:code:3 echo ok 2",
        ]
    );
    let parents = events.iter().filter_map(|event| match event {
        HostEvent::CodeDispatchStart { parent_call_id, .. }
        | HostEvent::CodeDispatch { parent_call_id, .. } => Some(parent_call_id.as_str()),
        _ => None,
    });
    assert!(parents.eq([CALL; 6]));
}

#[test]
fn call_that_is_refused_at_the_boundary_uses_no_number() {
    let host = Host::new();
    host.value("await tools.echo({ value: undefined }).catch(() => {}); await tools.echo(1, 2).catch(() => {}); return tools.echo({ value: 1 })");
    assert_eq!(host.take_started(), ["call_1:code:1 echo"]);
}

#[test]
fn call_that_breaks_its_schema_counts_as_started() {
    let host = Host::new();
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    host.register(
        tool("strict")
            .parameters(code_mode::Schema::full(schema))
            .execute(|_, _| async { Ok::<_, ToolError>(Json::Null) }),
    );
    let message = host.value("return tools.strict({ id: 'x' }).catch((error) => error.message)");
    assert_eq!(message, "invalid arguments: \"id\" must be an integer");
    assert_eq!(host.take_started(), ["call_1:code:1 strict"]);
}

#[test]
fn without_an_agent_there_are_no_events() {
    let host = Host::new();
    let mut call = host.call("console.log('x'); return tools.echo({ value: 1 })");
    call.agent = None;
    assert_eq!(host.run_call(call).value(), json!(1));
    assert_eq!(host.take_events(), []);
}

#[test]
fn log_is_streamed_while_the_program_runs() {
    let (host, gates) = gated();
    let run = host
        .spawn(host.registry.execute(
            host.call("console.log('first'); await tools.read({ id: 'a' }); console.log('second')"),
        ));
    assert_eq!(host.block_on(gates.next()), "a");
    let log = |events: Vec<HostEvent>| -> Vec<String> {
        events
            .into_iter()
            .filter_map(|event| match event {
                HostEvent::Log { text, .. } => Some(text.to_string()),
                _ => None,
            })
            .collect()
    };
    assert_eq!(log(host.take_events()), ["first"]);
    gates.release("a");
    host.block_on(run).unwrap();
    assert_eq!(log(host.take_events()), ["second"]);
}

#[test]
fn calls_overlap_up_to_the_bound_and_start_in_submission_order() {
    let config = HostConfig { max_parallel_sub_calls: 2, ..HostConfig::default() };
    let (host, gates) = gated_with(config);
    let program = "return Promise.all(['a', 'b', 'c', 'd'].map((id) => tools.read({ id })))";
    let run = host.spawn(host.registry.execute(host.call(program)));
    host.block_on(async {
        assert_eq!((gates.next().await, gates.next().await), ("a".to_owned(), "b".to_owned()));
        gates.release("b");
        assert_eq!(gates.next().await, "c");
        gates.release("a");
        assert_eq!(gates.next().await, "d");
        gates.release("d");
        gates.release("c");
        assert_eq!(run.await.unwrap().value().unwrap().get("result"), Some(&json!(["a", "b", "c", "d"])));
    });
    // Nothing began before there was room for it.
    assert_eq!(gates.journal.take()[..4], ["a begins", "b begins", "b ends", "c begins"]);
}

#[test]
fn exclusive_call_waits_for_all_bodies_and_holds_up_all_others() {
    let (host, gates) = gated();
    let program =
        "return Promise.all([tools.read({ id: 'r1' }), tools.read({ id: 'r2' }), tools.write({ id: 'w1' }),
        tools.write({ id: 'w2' }), tools.read({ id: 'r3' })])";
    let run = host.spawn(host.registry.execute(host.call(program)));
    host.block_on(async {
        assert_eq!((gates.next().await, gates.next().await), ("r1".to_owned(), "r2".to_owned()));
        for (release, next) in
            [("r1", None), ("r2", Some("w1")), ("w1", Some("w2")), ("w2", Some("r3")), ("r3", None)]
        {
            gates.release(release);
            if let Some(next) = next {
                assert_eq!(gates.next().await, next);
            }
        }
        run.await.unwrap();
    });
    let journal = gates.journal.take();
    assert_eq!(
        journal[4..],
        ["w1 begins", "w1 ends", "w2 begins", "w2 ends", "r3 begins", "r3 ends"],
        "{journal:?}"
    );
}

#[test]
fn exclusive_barrier_holds_until_its_own_commit() {
    let (host, journal) = (Host::new(), Journal::default());
    host.register(tool("write").exclusive().execute({
        let journal = journal.clone();
        move |_, _| {
            journal.add("write runs");
            async { Ok::<_, ToolError>(Json::Null) }
        }
    }));
    host.tool("read", {
        let journal = journal.clone();
        move |_, _| {
            journal.add("read runs");
            async { Ok(Json::Null) }
        }
    });
    let _post = host.registry.on_post_execute({
        let journal = journal.clone();
        move |execution, _, next| {
            let journal = journal.clone();
            async move {
                // Long enough for anything that could begin meanwhile.
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                if execution.parent().is_some() {
                    journal.add(format!("{} is committed", execution.name()));
                }
                next.call().await
            }
        }
    });
    host.value("return (await Promise.all([tools.write(), tools.read()])).length");
    assert_eq!(journal.take(), ["write runs", "write is committed", "read runs", "read is committed"]);
}

#[test]
fn promises_settle_in_the_order_in_which_calls_finish() {
    let (host, gates) = gated();
    let program = "
        const order = [];
        const calls = ['slow', 'quick'].map((id) => tools.read({ id }).then((each) => { order.push(each) }));
        const first = await Promise.race(calls).then(() => [...order]);
        console.log(first.join());
        await Promise.all(calls);
        return order;
    ";
    let run = host.spawn(host.registry.execute(host.call(program)));
    let logged = Arc::new(tokio::sync::Notify::new());
    let _observer = host.on_log({
        let logged = Arc::clone(&logged);
        move || logged.notify_one()
    });
    host.block_on(async {
        gates.next().await;
        gates.next().await;
        gates.release("quick");
        // The program goes on although the call before is still running.
        logged.notified().await;
        gates.release("slow");
        assert_eq!(run.await.unwrap().value().unwrap().get("result"), Some(&json!(["quick", "slow"])));
    });
    let settled: Vec<String> =
        lines(&host.take_events()).into_iter().filter(|line| line.starts_with("settle")).collect();
    assert_eq!(settled, ["settle call_1:code:2 read ok \"quick\"", "settle call_1:code:1 read ok \"slow\""]);
}

#[test]
fn policies_of_different_calls_never_overlap() {
    let host = Host::new();
    let (journal, inside) = (Journal::default(), Arc::new(Mutex::new(0)));
    let _pre = host.registry.on_pre_execute({
        let (journal, inside) = (journal.clone(), Arc::clone(&inside));
        move |execution, next| {
            let (journal, inside) = (journal.clone(), Arc::clone(&inside));
            async move {
                if execution.parent().is_some() {
                    *inside.lock().unwrap() += 1;
                    for _ in 0..5 {
                        tokio::task::yield_now().await;
                    }
                    let mut inside = inside.lock().unwrap();
                    journal.add(inside.to_string());
                    *inside -= 1;
                }
                next.call().await
            }
        }
    });
    host.value("return (await Promise.all([1, 2, 3, 4].map((value) => tools.echo({ value })))).length");
    assert_eq!(journal.take(), ["1", "1", "1", "1"]);
}

#[test]
fn call_that_nobody_awaits_is_aborted_when_the_program_returns() {
    let host = Host::new();
    let run = host.run("tools.hang({}); tools.hang({}); return 'gone'");
    assert_eq!(
        run.text(),
        "gone\nNote: the program ended while these tool calls were still running; they were aborted: hang (2 times)."
    );
    let events = lines(&host.take_events());
    assert_eq!(events.iter().filter(|line| line.starts_with("start")).count(), 2);
    let settled = events.iter().filter(|line| line.ends_with("error Error: cancelled: run_code settled"));
    assert_eq!(settled.count(), 2, "{events:?}");
}

#[test]
fn images_of_tool_calls_follow_the_text_in_the_order_of_the_calls() {
    let host = Host::new();
    let shot = |value: &Json| {
        let name = value.as_str().unwrap_or_default();
        vec![ContentBlock::text(name), ContentBlock::image(name, "image/png")]
    };
    host.register(
        tool("shot")
            .render(move |_, value| shot(value))
            .concurrency_safe(|_| true)
            .execute(|arguments, _| async move { Ok(arguments.get("of").cloned().unwrap_or_default()) }),
    );
    let program =
        "await Promise.all(['b', 'a'].map((of) => tools.shot({ of })));\ntools.hang();\nreturn 'seen'";
    let content = host.run(program).result.content().to_vec();
    let note = "Note: the program ended while these tool calls were still running; they were aborted: hang.";
    assert_eq!(
        content,
        [
            ContentBlock::text(format!("seen\n{note}")),
            ContentBlock::image("b", "image/png"),
            ContentBlock::image("a", "image/png")
        ]
    );
}

#[test]
fn observer_can_hold_inner_successes_back_until_the_outer_result() {
    let host = Host::new();
    let journal = Journal::default();
    let held = Arc::new(Mutex::new(HashMap::<Token, Vec<String>>::new()));
    let _observer = host.registry.on_result({
        let (journal, held) = (journal.clone(), Arc::clone(&held));
        move |execution, result| {
            if let Some(parent) = execution.parent() {
                held.lock().unwrap().entry(parent).or_default().push(result.text());
            } else {
                let inner = held.lock().unwrap().remove(&execution.token()).unwrap_or_default();
                journal.add(format!("{} with {inner:?}", result.is_error()));
            }
        }
    });
    host.run("await tools.echo({ value: 1 }); await tools.echo({ value: 2 })");
    host.run("await tools.echo({ value: 3 }); throw 1");
    assert_eq!(journal.take(), ["false with [\"1\", \"2\"]", "true with [\"3\"]"]);
}

#[test]
fn success_after_the_run_has_settled_is_committed_as_aborted() {
    let host = Host::new();
    host.tool("stubborn", |_, ctx| async move {
        ctx.signal().cancelled().await;
        Ok(json!("done all the same"))
    });
    assert_eq!(host.run("tools.stubborn(); return 1").value(), json!(1));
    assert_eq!(
        lines(&host.take_events()),
        ["start call_1:code:1 stubborn {}", "settle call_1:code:1 stubborn error Error: tool call aborted"]
    );
}

#[test]
fn call_that_is_still_queued_when_the_program_ends_never_starts() {
    let (host, _gates) = gated();
    host.register(tool("alone").exclusive().execute(|_, ctx| async move {
        ctx.signal().cancelled().await;
        Err::<Json, _>(ToolError::new("stopped"))
    }));
    assert_eq!(
        host.run("tools.alone(); tools.alone(); tools.echo({ value: 1 }); return 1").value(),
        json!(1)
    );
    assert_eq!(host.take_started(), ["call_1:code:1 alone"]);
}

#[test]
fn run_returns_only_when_every_started_body_has_ended() {
    let (host, gates) = gated();
    let mut run = host.spawn(host.registry.execute(host.call("tools.read({ id: 'deaf' }); return 1")));
    host.block_on(async {
        assert_eq!(gates.next().await, "deaf");
        // The body ignores its cancellation; the program itself has long ended.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!((&mut run).now_or_never().is_none());
        gates.release("deaf");
        assert_eq!(run.await.unwrap().value().unwrap().get("result"), Some(&json!(1)));
    });
    assert_eq!(gates.journal.take(), ["deaf begins", "deaf ends"]);
}

#[test]
fn cancelled_run_waits_for_a_tool_that_ignores_it() {
    let (host, gates) = gated();
    let stop = SignalSource::new();
    let mut run = host.spawn(
        host.registry.execute(host.call("return tools.read({ id: 'deaf' })").with_signal(stop.signal())),
    );
    let result = host.block_on(async {
        gates.next().await;
        stop.cancel("the user left");
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!((&mut run).now_or_never().is_none());
        gates.release("deaf");
        run.await.unwrap()
    });
    assert_eq!(result.text(), "Error: code run failed (abort): the user left");
}

#[test]
fn nothing_of_a_program_runs_after_it_has_ended() {
    let host = Host::new();
    let run = host.run("setTimeout(() => { tools.echo({ value: 1 }); console.log('late') }, 1); queueMicrotask(() => {}); return 1");
    assert_eq!((run.value(), run.logs()), (json!(1), Vec::new()));
    assert_eq!(host.value("await new Promise((done) => setTimeout(done, 20)); return 2"), json!(2));
    assert_eq!(host.take_events(), []);
}

#[test]
fn runs_beyond_the_bound_wait_first_in_first_out() {
    let mut config = HostConfig::default();
    config.runtime.max_concurrent_runs = 1;
    let (host, gates) = gated_with(config);
    let first =
        host.spawn(host.registry.execute(host.call("await tools.read({ id: 'a' }); console.log('first')")));
    host.block_on(async {
        gates.next().await;
        let mut second = Box::pin(host.registry.execute(host.call("console.log('second')")));
        let mut third = Box::pin(host.registry.execute(host.call("console.log('third')")));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        gates.release("a");
        let (third, second, first) = futures::join!(third, second, first);
        assert!(!third.is_error() && !second.is_error() && !first.unwrap().is_error());
    });
    let logged = host.take_events().into_iter().filter_map(|event| match event {
        HostEvent::Log { text, .. } => Some(text.to_string()),
        _ => None,
    });
    assert!(logged.eq(["first", "second", "third"]));
}

#[test]
fn run_beyond_the_queue_is_refused_with_both_numbers() {
    let mut config = HostConfig::default();
    config.runtime.max_concurrent_runs = 1;
    config.runtime.max_queued_runs = 0;
    let (host, gates) = gated_with(config);
    let first = host.spawn(host.registry.execute(host.call("return tools.read({ id: 'a' })")));
    host.block_on(gates.next());
    assert_eq!(host.run("return 1").text(), "Error: 0 runs are waiting already (limit 0): try again later");
    gates.release("a");
    assert!(!host.block_on(first).unwrap().is_error());
}

#[test]
fn tools_are_those_of_the_calling_agent_without_run_code() {
    let config = HostConfig { mode: Mode::Both, ..HostConfig::default() };
    let host = Host::made(config);
    let other = Agent::new("other");
    let scoped = host.registry.scoped(&host.agent);
    scoped.register(tool("mine").execute(|_, _| async { Ok::<_, ToolError>(json!("mine")) })).unwrap().keep();
    scoped
        .register(tool("echo").execute(|_, _| async { Ok::<_, ToolError>(json!("shadow")) }))
        .unwrap()
        .keep();
    scoped.restrict(Restriction::deny(["fail"])).unwrap().keep();
    let program = "return [Object.keys(tools), await tools.echo({ value: 'global' })]";
    assert_eq!(host.value(program), json!([["echo", "hang", "mine"], "shadow"]));
    assert_eq!(
        host.run_call(host.call(program).with_agent(other)).value(),
        json!([["echo", "fail", "hang"], "global"])
    );
}

#[test]
fn tool_that_is_gone_meanwhile_is_an_unknown_tool() {
    let host = Host::new();
    let registration =
        host.registry.register(tool("brief").execute(|_, _| async { Ok::<_, ToolError>(json!(1)) })).unwrap();
    let registration = Arc::new(registration);
    host.tool("remove", move |_, _| {
        registration.dispose();
        async { Ok(Json::Null) }
    });
    let program = "const before = await tools.brief(); await tools.remove(); return [before, await tools.brief().catch((error) => error.message)]";
    assert_eq!(host.value(program), json!([1, "unknown tool \"brief\""]));
}

#[test]
fn contexts_reach_the_outer_result_in_the_order_of_the_calls() {
    let (host, gates) = gated();
    let _deferring = host.registry.on_post_execute(|execution, _, _| async move {
        let mut acceptance = Acceptance::default();
        if let Some(id) =
            execution.arguments().and_then(|arguments| arguments.get("id")).and_then(Json::as_str)
        {
            acceptance.additional_contexts.push(context(id));
        }
        Ok(PostDecision::Accept(acceptance))
    });
    let program = "await Promise.all(['a', 'b'].map((id) => tools.read({ id }))); throw 'fails later'";
    let run = host.spawn(host.registry.execute(host.call(program)));
    let result = host.block_on(async {
        gates.next().await;
        gates.next().await;
        gates.release("b");
        gates.release("a");
        run.await.unwrap()
    });
    assert!(result.is_error());
    assert_eq!(result.additional_contexts(), [context("a"), context("b")]);
}

#[test]
fn block_of_the_outer_call_drops_the_contexts_of_its_sub_calls() {
    let host = Host::new();
    host.tool("deferring", |_, ctx| {
        ctx.defer_context(context("from inside"));
        async { Ok(Json::Null) }
    });
    assert_eq!(host.run("await tools.deferring()").result.additional_contexts(), [context("from inside")]);
    let _blocking = host.registry.on_post_execute(|execution, _, next| async move {
        if execution.parent().is_none() { Ok(PostDecision::block("not this")) } else { next.call().await }
    });
    let run = host.run("return tools.deferring()");
    assert_eq!((run.text(), run.result.additional_contexts()), ("not this".to_owned(), &[][..]));
}

#[test]
fn sub_calls_compute_no_meta() {
    let (host, journal) = (Host::new(), Journal::default());
    host.register(
        tool("shown")
            .presentation_meta({
                let journal = journal.clone();
                move |_, _| {
                    journal.add("meta");
                    json!({})
                }
            })
            .execute(|_, _| async { Ok::<_, ToolError>(json!(1)) }),
    );
    assert_eq!(host.value("return tools.shown()"), json!(1));
    assert_eq!(journal.take(), Vec::<String>::new());
}

#[test]
fn sub_call_carries_agent_parent_and_signal_of_its_run() {
    let host = Host::new();
    let outer = Arc::new(Mutex::new(None));
    let _pre = host.registry.on_pre_execute({
        let outer = Arc::clone(&outer);
        move |execution, next| {
            if execution.parent().is_none() {
                *outer.lock().unwrap() = Some(execution.token());
            }
            async move { next.call().await }
        }
    });
    host.tool("look", {
        let agent = host.agent.clone();
        move |_, ctx| {
            let same = [
                ctx.agent() == Some(&agent),
                ctx.parent() == *outer.lock().unwrap(),
                !ctx.signal().is_cancelled(),
            ];
            async move { Ok(json!(same)) }
        }
    });
    assert_eq!(host.value("return tools.look()"), json!([true, true, true]));
}

#[test]
fn what_a_tool_spawned_outlives_the_run() {
    let host = Host::new();
    let (sender, receiver) = oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let go = Arc::new(tokio::sync::Notify::new());
    host.tool("spawn", {
        let go = Arc::clone(&go);
        move |_, _| {
            let (sender, go) = (sender.lock().unwrap().take(), Arc::clone(&go));
            async move {
                tokio::spawn(async move {
                    go.notified().await;
                    sender.map(|sender| sender.send("still here"))
                });
                Ok(Json::Null)
            }
        }
    });
    assert_eq!(host.value("return tools.spawn()"), Json::Null);
    go.notify_one();
    assert_eq!(host.block_on(receiver), Ok("still here"));
}
