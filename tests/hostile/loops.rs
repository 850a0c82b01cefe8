//! Loops and built-ins that engines fail to interrupt.

use super::case::{End, HEAP, TIMEOUT, case, check, throws};
use super::unsurvivable::UNSURVIVABLE;
use crate::support::on_engine;

#[test]
fn loops_without_a_check_of_their_own_end() {
    check(
        "loops::loops_without_a_check_of_their_own_end",
        [
            case("fill of 5", "while (true) new Array(5).fill(1)", TIMEOUT),
            case("fill of 20", "while (true) new Array(20).fill(1)", TIMEOUT),
            case("fill of 100", "while (true) new Array(100).fill(1)", TIMEOUT),
            case("fill of 1000", "while (true) new Array(1000).fill(1)", TIMEOUT),
            case("fill of 5000", "while (true) new Array(5000).fill(1)", TIMEOUT),
            case(
                "fill in an async function",
                "await (async () => { for (;;) { const a = new Array(100).fill(0) } })()",
                TIMEOUT,
            ),
            case("kept fills", "const a = []; while (true) a.push(new Array(1000).fill(1))", HEAP),
            case("count to 1e12", "for (let i = 0; i < 1e12; i++) {}", TIMEOUT),
            case(
                "a million turns",
                "let n = 0; for (let i = 0; i < 1e6; i++) n += i; return n",
                End::Returns("499999500000"),
            ),
        ],
    );
}

#[test]
fn long_built_ins_are_answered_in_time() {
    // A sort of five million keeps a debug build of QuickJS busy for minutes.
    let many = on_engine(5_000_000, 100_000);
    let mut cases = vec![
        // V8 computes on for seconds, QuickJS refuses the size.
        case(
            "squared bigint",
            "let x = 2n; while (true) x = x * x",
            on_engine(TIMEOUT, throws("RangeError: BigInt is too large to allocate")),
        ),
        case("regular expression", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", TIMEOUT),
        case(
            "sort of a sparse array",
            "const a = []; a[33554000] = 1; a.sort(); a.sort(); return 1",
            TIMEOUT,
        ),
        case("short texts", "for (;;) JSON.stringify([1, 'b', { c: [] }])", TIMEOUT),
        case(
            "replacements in a long text",
            format!("const text = 'ab'.repeat({}); for (;;) text.replace(/a/g, 'c')", on_engine(5_000_000, 500_000)),
            TIMEOUT,
        )
        .with_heap_mb(1024),
        case(
            "sort of many numbers",
            format!("const a = []; for (let i = 0; i < {many}; i++) a.push(i); for (;;) a.sort()"),
            TIMEOUT,
        )
        .with_heap_mb(1024),
        case(
            "sort with a comparator",
            format!("const a = []; for (let i = 0; i < {many}; i++) a.push(-i); for (;;) a.sort((x, y) => x - y || 1)"),
            TIMEOUT,
        )
        .with_heap_mb(1024),
    ];
    if cfg!(feature = "v8") {
        // On QuickJS no thread survives these.
        cases.extend(
            UNSURVIVABLE
                .iter()
                .filter(|each| !each.on_v8)
                .map(|each| case(each.name, each.program, TIMEOUT).with_heap_mb(512)),
        );
    }
    check("loops::long_built_ins_are_answered_in_time", cases);
}
