//! Lengths that a built-in would walk for minutes.

use super::case::{End, HEAP, TIMEOUT, case, check, throws};
use crate::support::on_engine;

const TOO_LONG: End = throws("RangeError: array of length ");

#[test]
fn arrays_with_a_far_element_are_refused_in_time() {
    check(
        "lengths::arrays_with_a_far_element_are_refused_in_time",
        [
            case("filter", "const a = []; a[1735689600] = 1; return a.filter(Boolean)", TOO_LONG),
            case("forEach", "const a = []; a[1735689600] = 1; a.forEach(() => {})", TOO_LONG),
            case("map", "const a = []; a[1735689600] = 1; return a.map((n) => n)", TOO_LONG),
            case("indexOf", "const a = []; a[1735689600] = 1; return a.indexOf(2)", TOO_LONG),
            case("join", "const a = []; a[1735689600] = 1; return a.join()", TOO_LONG),
            case("slice", "const a = []; a[1735689600] = 1; return a.slice(1)", TOO_LONG),
            case("sort", "const a = []; a[1735689600] = 1; return a.sort()", TOO_LONG),
            case("reverse", "const a = []; a[1735689600] = 1; return a.reverse()", TOO_LONG),
            case("shift", "const a = []; a[1735689600] = 1; return a.shift()", TOO_LONG),
            case("flat", "const a = []; a[1735689600] = 1; return a.flat()", TOO_LONG),
            case("includes", "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", TOO_LONG),
            case("fill", "return new Array(1e8).fill(0).length", TOO_LONG),
            case("from", "return Array.from({ length: 1e8 }).length", TOO_LONG),
            case("for of", "const a = []; a[1735689600] = 1; for (const each of a) ;", TIMEOUT),
            case(
                "index",
                "const a = []; a[1735689600] = 1; for (;;) for (let i = 0; i < a.length; i++) ;",
                TIMEOUT,
            ),
            case("set", "const a = []; a[1735689600] = 1; return new Set(a).size", TIMEOUT),
            case(
                "spread",
                "const a = []; a[1735689600] = 1; return [...a].length",
                // QuickJS asks for the whole at once and is refused.
                on_engine(HEAP, throws("InternalError: out of memory")),
            ),
        ],
    );
}

#[test]
fn lists_of_arguments_that_are_too_long_are_refused_in_time() {
    check(
        "lengths::lists_of_arguments_that_are_too_long_are_refused_in_time",
        [
            case("apply", "return Math.max.apply(null, { length: 1e8 })", TOO_LONG),
            case(
                "apply, by call",
                "return Function.prototype.apply.call(Math.max, null, { length: 1e8 })",
                TOO_LONG,
            ),
            case("apply of a class", "return Reflect.construct(Array, { length: 1e8 })", TOO_LONG),
            case("apply of Reflect", "return Reflect.apply(Math.max, null, { length: 1e8 })", TOO_LONG),
            case(
                "apply of a far element",
                "const a = []; a[1735689600] = 1; return Math.max.apply(null, a)",
                TOO_LONG,
            ),
            case(
                "apply of a length that grows",
                "let n = 0; return [Math.max.apply(null, { get length() { return n++ ? 1e9 : 1 } }), n]
                    .map(String)",
                End::Returns(r#"["NaN","1"]"#),
            ),
            case("raw texts", "return String.raw({ raw: { length: 2 ** 53 - 1 } })", TOO_LONG),
            // Just within the limit: seconds of the engine's own work, each of which ends.
            case(
                "apply of 2^25, for ever",
                "for (;;) try { Math.max.apply(null, { length: 33554432 }) } catch {}",
                TIMEOUT,
            ),
        ],
    );
}

#[test]
fn proxies_that_change_their_length_do_not_open_the_way() {
    check(
        "lengths::proxies_that_change_their_length_do_not_open_the_way",
        [
            case(
                "map",
                "let n = 0; const odd = new Proxy([], { get: (t, k) => k === 'length' ? (n++ ? 2 ** 53 - 1 : 1) : t[k] });
                 return [odd.map((x) => x).length, n]",
                End::Returns("[1,1]"),
            ),
            case(
                "map, revocable",
                "let n = 0; const handler = { get: (t, k) => k === 'length' ? (n++ ? 2 ** 53 - 1 : 1) : t[k] };
                 return [Proxy.revocable([], handler).proxy.map((x) => x).length, n]",
                End::Returns("[1,1]"),
            ),
            case(
                "indexOf",
                "return new Proxy([], { get: (t, k) => k === 'length' ? 1e9 : t[k] }).indexOf(1)",
                TOO_LONG,
            ),
            case(
                "concat",
                "let n = 0; const odd = new Proxy([], { get: (t, k) => k === 'length' ? (n++ ? 2 ** 53 - 1 : 1) : t[k] });
                 return [[].concat(odd).length, n]",
                End::Returns("[1,1]"),
            ),
            case(
                "apply",
                "let n = 0; const odd = new Proxy([], { get: (t, k) => k === 'length' ? (n++ ? 1e9 : 1) : t[k] });
                 return [String(Math.max.apply(null, odd)), n]",
                End::Returns("[\"NaN\",1]"),
            ),
            case(
                "flat",
                "let n = 0; const odd = new Proxy([], { get: (t, k) => k === 'length' ? (n++ ? 2 ** 53 - 1 : 1) : t[k] });
                 return [[odd].flat().length, n]",
                End::Returns("[0,1]"),
            ),
            case(
                "flatMap",
                "let n = 0; const odd = new Proxy([], { get: (t, k) => k === 'length' ? (n++ ? 2 ** 53 - 1 : 1) : t[k] });
                 return [[1].flatMap(() => odd).length, n]",
                End::Returns("[0,1]"),
            ),
            case(
                "length of a prototype",
                "let n = 0; class Odd { get length() { return n++ ? 1e9 : 1 } }
                 return [Array.prototype.map.call(new Odd(), (x) => x).length, n]",
                End::Returns("[1,1]"),
            ),
        ],
    );
}
