//! The programs that no thread of this process survives: only a process of its own, killed at the limit, ends them.
//! Data without dependencies, so that the tests of that back end can include this file. Decision 32.

/// What a program does to the thread, or the process, that runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// Its thread never comes back; the caller is answered all the same.
    NeverReturns,
    /// Its thread comes back, long after its limit.
    FarTooLate,
    /// Its thread is busy for far longer than its limit, in memory that no limit counts.
    EscapesItsHeap,
}

/// One such program, and how that is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unsurvivable {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) harm: Harm,
    /// The engines that it holds for.
    pub(crate) on_v8: bool,
    pub(crate) on_quickjs: bool,
    /// What was seen.
    pub(crate) evidence: &'static str,
}

/// All of them.
pub(crate) const UNSURVIVABLE: &[Unsurvivable] = &[
    Unsurvivable {
        name: "literal of fifty million elements",
        program: "eval('[' + '1,'.repeat(5e7) + ']')",
        harm: Harm::EscapesItsHeap,
        on_v8: true,
        on_quickjs: false,
        evidence: "the parser's own memory is in no heap limit and its work has no interrupt check: past 9 s and 1 GiB \
                   under limits of 1 s and 64 MiB",
    },
    Unsurvivable {
        name: "long array as text, for ever",
        program: "const long = new Array(2e6).fill('x'); for (;;) JSON.stringify(long)",
        harm: Harm::NeverReturns,
        on_v8: false,
        on_quickjs: true,
        evidence: "interrupts are polled once in 10 000 turns, and a turn takes long: more than 8 s past its limit",
    },
    Unsurvivable {
        name: "long text as values, for ever",
        program: "const long = '[' + '1,'.repeat(8e6) + '1]'; for (;;) JSON.parse(long)",
        harm: Harm::FarTooLate,
        on_v8: true,
        on_quickjs: true,
        evidence: "QuickJS: as above, more than 8 s past its limit; V8 honours a termination some turns later, and its \
                   thread came back 13 and 21 s after a limit of 2 s",
    },
    Unsurvivable {
        name: "a thousand million dropped items",
        program: "const far = []; far[1735689600] = 1; far.values().drop(1e9).next()",
        harm: Harm::FarTooLate,
        on_v8: false,
        on_quickjs: true,
        evidence: "iterators of arrays are walked in C without a check: its thread came back two minutes after a limit of 2 s",
    },
    Unsurvivable {
        name: "a hundred thousand endless jobs",
        program: "for (let i = 0; i < 1e5; i++) (async () => { for (;;) await null })(); await new Promise(() => {})",
        harm: Harm::NeverReturns,
        on_v8: false,
        on_quickjs: true,
        evidence: "the queue of jobs is drained without a check, and each interrupt ends one job only",
    },
];
