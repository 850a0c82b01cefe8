//! What a program calls. Contract 6.7.

use std::sync::Arc;

use code_mode::runtime::{HostCall, HostFunctions, Namespace};
use code_mode::{Json, RunRequest, json};

use crate::subject::{BackEnd, Subject, Tools, requesting, value};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        call_is_answered_at_once_or_later,
        thousand_calls_in_a_row_and_at_once_are_answered,
        answers_in_another_order_reach_their_calls,
        failed_call_is_an_error_of_the_namespaces_class,
        call_that_its_host_drops_or_panics_on_fails,
        functions_are_the_keys_in_their_order,
        several_namespaces_have_hosts_and_classes_of_their_own,
        arguments_that_are_no_json_never_reach_the_host,
        answer_after_the_end_goes_nowhere,
        host_is_called_within_the_embedders_tokio_runtime,
    ]
}

fn call_is_answered_at_once_or_later(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let program = "return [await tools.now({ a: 1 }), await tools.later({ b: [2, null] })]";
    assert_eq!(subject.value(program), json!([{"a": 1}, {"b": [2, null]}]));
}

fn thousand_calls_in_a_row_and_at_once_are_answered(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for function in ["now", "later"] {
        let in_a_row = format!(
            "let sum = 0; for (let i = 0; i < 1000; i++) sum += (await tools.{function}({{ i }})).i; return sum"
        );
        assert_eq!(subject.value(&in_a_row), Json::from(499_500));
        let at_once = format!(
            "const all = await Promise.all(Array.from({{ length: 1000 }}, (_, i) => tools.{function}({{ i }})));
             return all.every((each, i) => each.i === i)"
        );
        assert_eq!(subject.value(&at_once), Json::from(true));
    }
}

fn answers_in_another_order_reach_their_calls(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let (tools, mut told) = Tools::telling();
    let program = "
        const order: number[] = [];
        const call = async (n: number) => { const back = await tools.hold({ n }); order.push(n); return back };
        return [await Promise.all([call(0), call(1), call(2)]), order]";
    let run = subject.spawn(requesting(program, tools.clone()));
    let outcome = subject.tokio.block_on(async {
        for _ in 0..3 {
            told.recv().await.unwrap();
        }
        for (number, reply) in tools.take_held().into_iter().enumerate().rev() {
            reply.send(Ok(json!({"answer": number})));
        }
        run.await.unwrap().unwrap()
    });
    assert_eq!(value(outcome), json!([[{"answer": 0}, {"answer": 1}, {"answer": 2}], [2, 1, 0]]));
}

fn failed_call_is_an_error_of_the_namespaces_class(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let program = "
        try { await tools.fail({ message: 'no é\\n' }) } catch (error) {
            return [error instanceof ToolCallError, error instanceof Error, error.message, error.toolName, String(error)]
        }";
    assert_eq!(subject.value(program), json!([true, true, "no é\n", "fail", "ToolCallError: no é\n"]));
}

fn call_that_its_host_drops_or_panics_on_fails(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for function in ["drop", "panic"] {
        let program =
            format!("try {{ await tools.{function}({{}}) }} catch (error) {{ return error.message }}");
        assert_eq!(subject.value(&program), "the call was dropped by its host", "{function}");
    }
}

fn functions_are_the_keys_in_their_order(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let names: Vec<String> = (0..2000).map(|i| format!("tool_{}", (i * 7919) % 2000)).collect();
    let mut request = RunRequest::new("return Object.keys(tools)");
    request.namespaces = vec![Namespace::tools(
        names.iter().map(|name| Arc::from(name.as_str())).collect(),
        Arc::new(Named("")),
    )];
    let keys = value(subject.request(request).unwrap());
    assert_eq!(keys, Json::from(names.into_iter().map(Json::from).collect::<Vec<_>>()));
}

/// Answers with its own name and the place of the function.
struct Named(&'static str);

impl HostFunctions for Named {
    fn call(&self, call: HostCall) {
        let place = call.function;
        call.reply.send(if place == 9 { Err(self.0.to_owned()) } else { Ok(json!([self.0, place])) });
    }
}

fn several_namespaces_have_hosts_and_classes_of_their_own(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let mut request = RunRequest::new(
        "const failed = await db.f9().catch((error) => [error instanceof DbError, error.name, error.query, error.message]);
         return [await db.f1(), await web.f2(), failed]",
    );
    let names: Arc<[Arc<str>]> = (0..10).map(|i| Arc::from(format!("f{i}"))).collect();
    let mut db = Namespace::tools(Arc::clone(&names), Arc::new(Named("db")));
    db.global = "db".into();
    db.error_class.name = "DbError".into();
    db.error_class.member = "query".into();
    let mut web = Namespace::tools(names, Arc::new(Named("web")));
    web.global = "web".into();
    request.namespaces = vec![db, web];
    let expected = json!([["db", 1], ["web", 2], [true, "DbError", "f9", "db"]]);
    assert_eq!(value(subject.request(request).unwrap()), expected);
}

fn arguments_that_are_no_json_never_reach_the_host(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let (tools, mut told) = Tools::telling();
    let program = "try { await tools.told({ at: new Map() }) } catch (error) { return error.message }";
    let message = value(subject.request(requesting(program, tools)).unwrap());
    let message = message.as_str().unwrap();
    assert!(message.starts_with("binding arguments must be lossless JSON: args.at is a Map"), "{message}");
    assert!(told.try_recv().is_err());
}

fn answer_after_the_end_goes_nowhere(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 1);
    let (tools, _told) = Tools::telling();
    let outcome = subject.request(requesting("tools.hold({}); return 'first'", tools.clone())).unwrap();
    assert_eq!(value(outcome), "first");
    // The next run's first call has the number that this one had.
    let (others, mut told) = Tools::telling();
    let run = subject.spawn(requesting("return tools.hold({})", others.clone()));
    let outcome = subject.tokio.block_on(async {
        told.recv().await.unwrap();
        for reply in tools.take_held() {
            reply.send(Ok(json!("of the first run")));
        }
        for reply in others.take_held() {
            reply.send(Ok(json!("its own")));
        }
        run.await.unwrap().unwrap()
    });
    assert_eq!(value(outcome), "its own");
}

/// Answers whether it could spawn a task.
struct Spawns;

impl HostFunctions for Spawns {
    fn call(&self, call: HostCall) {
        let entered = tokio::runtime::Handle::try_current().is_ok();
        call.reply.send(Ok(entered.into()));
    }
}

fn host_is_called_within_the_embedders_tokio_runtime(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let mut request = RunRequest::new("return tools.f()");
    request.namespaces = vec![Namespace::tools(Arc::from([Arc::from("f")]), Arc::new(Spawns))];
    assert_eq!(value(subject.request(request).unwrap()), Json::from(true));
}
