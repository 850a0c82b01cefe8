//! Many calls, large ones, and more output than anybody reads.

use code_mode::FailureKind;

use super::case::{End, case, check, throws};

/// What 64 MiB take in a debug build.
const SECONDS: u64 = 5;

#[test]
fn many_calls_are_queued_and_large_ones_cross() {
    check(
        "floods::many_calls_are_queued_and_large_ones_cross",
        [
            case(
                "a hundred in a row",
                "for (let i = 0; i < 100; i++) if (await tools.echo({ value: i }) !== i) throw i; return 'all'",
                End::Returns("\"all\""),
            ),
            case(
                "257 at once",
                "const all = await Promise.all(Array.from({ length: 257 }, (_, value) => tools.echo({ value })));
                 return all.every((each, i) => each === i)",
                End::Returns("true"),
            ),
            case("a sum", "let s = 0; for (let i = 0; i < 51; i++) s += await tools.echo({ value: 15 }); return s", End::Returns("765")),
            case(
                "4 MiB there and back",
                "return (await tools.echo({ value: 'x'.repeat(4 << 20) })).length",
                End::Returns("4194304"),
            )
            .with_heap_mb(128),
            case("17 MiB printed", "console.log('x'.repeat(17 << 20)); return 1", End::Returns("1")).with_heap_mb(256),
            case(
                "floods of output",
                "for (;;) console.log('x'.repeat(1e6))",
                End::Fails(FailureKind::OutputLimit, "outer output exceeded 4194304 bytes"),
            )
            .with_output_bytes(4 << 20),
            case("lost call", "tools.hang(); return 'done'", End::Returns("\"done\"")),
            case(
                "lost call that fails",
                "tools.fail({ message: 'disk full' }); await tools.echo({}); return 'done'",
                throws("a tool call that was not awaited failed: ToolCallError: tool \"fail\" failed: disk full\n"),
            ),
            case("failure", "return await tools.fail({ message: 'no such id 7' })", throws("ToolCallError: tool \"fail\" failed: no such id 7\n")),
            case("text that is JSON", "return await tools.echo({ value: '[1]' })", End::Returns("\"[1]\"")),
        ],
    );
}

#[test]
fn floods_of_64_mib_cross_or_are_cut_to_the_byte() {
    let over = || End::Fails(FailureKind::OutputLimit, "outer output exceeded 67108864 bytes");
    check(
        "floods::floods_of_64_mib_cross_or_are_cut_to_the_byte",
        [
            // The log costs `[\"x…\"]`.
            case("printed, at the limit", "console.log('x'.repeat((64 << 20) - 4))", End::Silent),
            case("printed, one byte over", "console.log('x'.repeat((64 << 20) - 3))", over()),
            // Each line costs a MiB with its quotes and its comma, which the first has not; the brackets cost two.
            case(
                "64 lines, at the limit",
                "for (let i = 0; i < 64; i++) console.log('x'.repeat((1 << 20) - (i ? 3 : 4)))",
                End::Silent,
            ),
            case(
                "64 lines, one byte over",
                "for (let i = 0; i < 64; i++) console.log('x'.repeat((1 << 20) - 3))",
                over(),
            ),
            // The empty log costs two, the quotes of the result as much.
            case(
                "returned, at the limit",
                "return 'x'.repeat((64 << 20) - 4)",
                End::ReturnsLong((64 << 20) - 4),
            ),
            case("returned, one byte over", "return 'x'.repeat((64 << 20) - 3)", over()),
        ]
        .map(|case| {
            case.with_heap_mb(512)
                .answered_within(SECONDS, "a debug build counts and copies 64 MiB several times over")
        }),
    );
}

#[test]
fn large_values_of_many_calls_cross_whole() {
    check(
        "floods::large_values_of_many_calls_cross_whole",
        [
            case(
                "64 MiB there and back",
                "return (await tools.echo({ value: 'x'.repeat(64 << 20) })).length",
                End::Returns("67108864"),
            ),
            case(
                "a hundred times 1 MiB at once",
                "const all = await Promise.all(Array.from({ length: 100 }, (_, i) => tools.echo({ value: String(i % 10).repeat(1 << 20) })));
                 return all.every((each, i) => each.length === 1 << 20 && each[7] === String(i % 10))",
                End::Returns("true"),
            ),
            case(
                "ten times 1 MiB of numbers at once",
                "const value = Array.from({ length: 1 << 18 }, (_, i) => i % 1000);
                 const all = await Promise.all(Array.from({ length: 10 }, () => tools.echo({ value }).then((each) => each.length)));
                 return all.every((length) => length === value.length)",
                End::Returns("true"),
            ),
        ]
        .map(|case| {
            case.with_heap_mb(512)
                .answered_within(2 * SECONDS, "a debug build parses and writes some 200 MiB of JSON")
        }),
    );
}
