//! Many calls, large ones, and more output than anybody reads.

use code_mode::FailureKind;

use super::case::{End, case, check, throws};
use crate::support::on_engine;

/// What is much for a debug build, in MiB. That of QuickJS, whose C is not optimized either, takes sixteen times as long.
const MIB: usize = if cfg!(feature = "v8") { 64 } else { 4 };
/// What that takes.
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
            case("17 MiB printed", "console.log('x'.repeat(17 << 20)); return 1", End::Returns("1"))
                .with_heap_mb(256)
                .answered_within(SECONDS, "a debug build of QuickJS counts 17 MiB for seconds")
                .trimmed("QuickJS copies the text several times in memory of `malloc`"),
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
fn floods_up_to_the_output_limit_cross_or_are_cut_to_the_byte() {
    let limit = MIB << 20;
    let over = || End::Fails(FailureKind::OutputLimit, "outer output exceeded ");
    // One line costs brackets and quotes beside its characters. Of many, each costs a MiB with its quotes and its comma,
    // which the first has not. With a result the log costs two bytes, and the result its quotes.
    let printed = |bytes: usize| format!("console.log('x'.repeat({}))", bytes - 4);
    let lines = |first: usize| {
        format!("for (let i = 0; i < {MIB}; i++) console.log('x'.repeat((1 << 20) - (i ? 3 : {first})))")
    };
    let returned = |bytes: usize| format!("return 'x'.repeat({})", bytes - 4);
    check(
        "floods::floods_up_to_the_output_limit_cross_or_are_cut_to_the_byte",
        [
            case("printed, at the limit", printed(limit), End::Silent),
            case("printed, one byte over", printed(limit + 1), over()),
            case("many lines, at the limit", lines(4), End::Silent),
            case("many lines, one byte over", lines(3), over()),
            case("returned, at the limit", returned(limit), End::ReturnsLong(limit - 4)),
            case("returned, one byte over", returned(limit + 1), over()),
        ]
        .map(|case| {
            case.with_heap_mb(512)
                .with_output_bytes(limit)
                .answered_within(SECONDS, "a debug build counts and copies so much several times over")
                .trimmed("lines of 1 MiB each are below the size that `malloc` gives back at once")
        }),
    );
}

#[test]
fn large_values_of_many_calls_cross_whole() {
    let bytes = MIB << 20;
    let length: &'static str = on_engine("67108864", "4194304");
    let calls = on_engine(100, 10);
    let texts = format!(
        "const calls = Array.from({{ length: {calls} }}, (_, i) => tools.echo({{ value: String(i % 10).repeat(1 << 20) }}));
         const all = await Promise.all(calls);
         return all.every((each, i) => each.length === 1 << 20 && each[7] === String(i % 10))"
    );
    let numbers = "const value = Array.from({ length: 1 << 18 }, (_, i) => i % 1000);
         const calls = Array.from({ length: 4 }, () => tools.echo({ value }));
         return (await Promise.all(calls)).every((each) => each.length === value.length)";
    check(
        "floods::large_values_of_many_calls_cross_whole",
        [
            case(
                "one large text there and back",
                format!("return (await tools.echo({{ value: 'x'.repeat({bytes}) }})).length"),
                End::Returns(length),
            ),
            case("many times 1 MiB at once", texts, End::Returns("true")),
            case("1 MiB of numbers at once", numbers, End::Returns("true")),
        ]
        .map(|case| {
            case.with_heap_mb(512)
                .answered_within(2 * SECONDS, "a debug build parses and writes all of it several times over")
                .trimmed("values of 1 MiB each are below the size that `malloc` gives back at once")
        }),
    );
}
