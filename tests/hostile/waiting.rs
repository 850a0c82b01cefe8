//! Programs that wait for what never comes, or do not wait for what does.

use super::case::{End, TIMEOUT, case, check, lossy, throws};

#[test]
fn programs_that_wait_for_nothing_end() {
    let stalled = || throws("the program waits on a promise that nothing can settle");
    check(
        "waiting::programs_that_wait_for_nothing_end",
        [
            case("promise", "await new Promise(() => {})", stalled()),
            case("race of none", "await Promise.race([])", stalled()),
            case("timer far away", "await new Promise((done) => setTimeout(done, 1e9))", TIMEOUT),
            case("interval", "setInterval(() => {}, 1); await new Promise(() => {})", TIMEOUT),
            case("tool that hangs", "return await tools.hang()", TIMEOUT),
            case("tools that hang", "await Promise.all(Array.from({ length: 33 }, () => tools.hang()))", TIMEOUT),
            case("endless job", "for (;;) await null", TIMEOUT),
            case("endless microtask", "const again = () => queueMicrotask(again); again(); await new Promise(() => {})", TIMEOUT),
            case("endless hook", "return { toJSON() { for (;;) ; } }", lossy("program completion must be lossless JSON: value.toJSON is a function")),
            case("endless getter", "return { get a() { for (;;) ; } }", TIMEOUT),
            case("hook on stacks", "Error.prepareStackTrace = () => { for (;;) ; }; throw new Error('x')", throws("Error: x\n")),
            case(
                "signal that waits",
                "try { await new Promise((_, no) => AbortSignal.timeout(20).addEventListener('abort', (e) => no(e.target.reason))) }
                 catch (error) { return error.name }",
                End::Returns("\"TimeoutError\""),
            ),
            case(
                "finalizers and async functions after the end",
                "new FinalizationRegistry(() => { for (;;) ; }).register({}); (async () => { for (;;) await null })(); for (;;) ({})",
                TIMEOUT,
            ),
            case("rejection", "Promise.reject(new Error('lost'))", throws("unhandled rejection: Error: lost\n")),
            case(
                "rejection handled later",
                "const p = Promise.reject(new Error('x')); await null; return await p.catch(() => 'fine')",
                End::Returns("\"fine\""),
            ),
        ],
    );
}
