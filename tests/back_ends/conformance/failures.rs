//! How programs fail by themselves. Contract 6.4.

use code_mode::{Failure, FailureKind};

use crate::subject::{BackEnd, Subject};
use crate::{Case, cases};

pub(super) fn cases() -> Vec<Case<BackEnd>> {
    cases![
        thrown_error_has_message_and_position,
        text_that_is_no_program_is_refused_with_its_place,
        program_that_nothing_can_settle_fails_at_once,
        rejection_that_nothing_handles_fails_the_run,
        error_text_is_cut_for_the_model_and_kept_for_the_host,
        program_longer_than_its_limit_is_refused_with_both_sizes,
        run_leaves_nothing_behind_for_the_next,
    ]
}

fn thrown_error_has_message_and_position(back_end: BackEnd) {
    let failure = Subject::new(back_end).failure("const a = 1;\n\n  throw new TypeError('no');");
    assert_eq!((failure.kind, failure.line), (FailureKind::Exception, Some(3)));
    assert!(failure.message.starts_with("TypeError: no\n"), "{}", failure.message);
    if cfg!(not(feature = "quickjs")) {
        assert_eq!(failure.column, Some(9));
    }
}

fn text_that_is_no_program_is_refused_with_its_place(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    for (program, line) in
        [("return 1 +", 1), ("\nenum Color { Red }", 2), ("const x = 1;\nimport fs from 'fs'", 2)]
    {
        let failure = subject.failure(program);
        assert_eq!((failure.kind, failure.line), (FailureKind::Exception, Some(line)), "{program}");
        subject.check_serves(program);
    }
}

fn program_that_nothing_can_settle_fails_at_once(back_end: BackEnd) {
    let message = "the program waits on a promise that nothing can settle";
    Subject::new(back_end).check_failure("await new Promise(() => {})", FailureKind::Exception, message);
}

fn rejection_that_nothing_handles_fails_the_run(back_end: BackEnd) {
    let subject = Subject::new(back_end);
    let message = "unhandled rejection: Error: lost";
    subject.check_failure("Promise.reject(new Error('lost')); return 1", FailureKind::Exception, message);
    let failure =
        subject.failure("setTimeout(() => { throw new Error('late') }); await new Promise(() => {})");
    assert!(failure.message.starts_with("Error: late"), "{}", failure.message);
}

fn error_text_is_cut_for_the_model_and_kept_for_the_host(back_end: BackEnd) {
    let failure = Subject::new(back_end).failure("throw new Error('x'.repeat(300_000))");
    assert!(failure.message.len() <= Failure::MAX_MESSAGE_BYTES, "{} bytes", failure.message.len());
    assert!(failure.whole.is_some_and(|whole| whole.len() > 300_000));
}

fn program_longer_than_its_limit_is_refused_with_both_sizes(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.limits.max_source_bytes = 10);
    let message = "the program is 14 bytes long, the limit is 10 bytes";
    subject.check_failure("return /* */ 1", FailureKind::Exception, message);
}

fn run_leaves_nothing_behind_for_the_next(back_end: BackEnd) {
    let subject = Subject::with(back_end, |setup| setup.max_concurrent_runs = 1);
    subject.run(
        "globalThis.left = 1; Array.prototype.map = () => 'poisoned'; Object.prototype.odd = 2;
         setInterval(() => console.log('late'), 1); tools.hold({}); return 1",
    );
    for _ in 0..3 {
        let outcome = subject.run("return [typeof left, [1].map((n) => n + 1), ({}).odd === undefined]");
        assert_eq!(outcome.end, Ok(Some(code_mode::json!(["undefined", [2], true]))));
        assert!(outcome.logs.is_empty(), "{:?}", outcome.logs);
    }
}
