//! What other runtimes return silently or not at all.

use super::case::{End, case, check, lossy, throws};
use crate::support::on_engine;

#[test]
fn results_that_mislead_elsewhere_are_told_as_they_are() {
    let refused = |what| lossy(what);
    check(
        "results::results_that_mislead_elsewhere_are_told_as_they_are",
        [
            case(
                "cycle",
                "const a = {}; a.a = a; return a",
                refused(
                    "program completion must be lossless JSON: value.a refers back to a value that holds it",
                ),
            ),
            case(
                "function",
                "return () => 1",
                refused("program completion must be lossless JSON: value is a function"),
            ),
            case(
                "depth",
                "let a = []; for (let i = 0; i < 2e4; i++) a = [a];
                 let n = 0; for (let b = await tools.echo({ value: a }); b.length; b = b[0]) n++; return n",
                End::Returns("20000"),
            ),
            case(
                "not a number",
                "return { n: NaN, i: Infinity, u: undefined, m: new Map([[1, 2]]) }",
                refused("program completion must be lossless JSON: value.n is NaN"),
            ),
            case(
                "a map",
                "return { m: new Map([[1, 2]]) }",
                refused("program completion must be lossless JSON: value.m is a Map"),
            ),
            case("null", "return null", End::Returns("null")),
            case("bare expression", "1 + 1", End::Silent),
            case("assignment", "let x; x = 1", End::Silent),
            case("types", "const x: number = 1; return x", End::Returns("1")),
            case(
                "enum",
                "enum C { A }",
                throws("TypeScript enum is not supported in strip-only mode (program:1:1)"),
            ),
            case("declared in every run", "const r = 1; return r", End::Returns("1")),
            case("SyntaxError", "const = 1", throws("Unexpected token `=`. Expected ")),
            case(
                "names of other hosts",
                "return [typeof Deno, typeof __bootstrap, typeof SharedArrayBuffer, typeof ShadowRealm, typeof gc, typeof require, typeof process]",
                End::Returns(
                    r#"["undefined","undefined","undefined","undefined","undefined","undefined","undefined"]"#,
                ),
            ),
            case(
                "newer names",
                "return [typeof Temporal, typeof Iterator, typeof Float16Array, typeof WeakRef, typeof FinalizationRegistry]",
                End::Returns(r#"["object","function","function","function","function"]"#),
            ),
            case(
                "locale and time zone",
                "return [(1234.5).toLocaleString('de-DE'), new Date(0).toLocaleDateString('ja-JP', { timeZone: 'Asia/Tokyo' })]",
                // QuickJS has no `Intl` and ignores both arguments.
                on_engine(
                    End::Returns(r#"["1.234,5","1970/1/1"]"#),
                    End::Returns(r#"["1234.5","01/01/1970"]"#),
                ),
            ),
            case(
                "a proxy that lies",
                "let n = 0; return new Proxy({ a: 1 }, { get: () => n++ ? () => 1 : 7 })",
                refused("program completion must be lossless JSON: value.a is a function"),
            ),
            case(
                "a getter that lies",
                "let n = 0; return { get a() { return n++ ? () => 1 : 7 } }",
                End::Returns(r#"{"a":7}"#),
            ),
        ],
    );
}
