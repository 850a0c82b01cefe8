//! Programs that take all memory they can get.

use super::case::{End, HEAP, case, check, throws};
use crate::support::on_engine;

#[test]
fn memory_comes_back_after_a_heap_limit() {
    check(
        "memory::memory_comes_back_after_a_heap_limit",
        [
            case("split texts", "const a = []; for (;;) a.push('abc'.repeat(1e7).split(''))", HEAP),
            case("objects", "const a = []; for (;;) a.push({ a: 1, b: [{}] })", HEAP),
            case("map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })", HEAP),
            case("arrays of thirty million", "const a = []; for (;;) a.push(new Array(3e7).fill(0))", HEAP),
            // V8 lets one young object pass, and looks at the next collection.
            case(
                "one array of 240 MB",
                "return new Array(3e7).fill(0).length",
                on_engine(End::Returns("30000000"), HEAP),
            ),
            case(
                "one array of 240 MB, and a little more",
                "const a = new Array(3e7).fill(0); for (let i = 0; i < 1e6; i++) ({ i }); return a.length",
                HEAP,
            ),
            case("text of an array", "return JSON.stringify(new Array(5e6).fill('aaaaaaaaaa')).length", HEAP),
            case(
                "copy of a buffer",
                "const b = new ArrayBuffer(6e7), v = new Array(b.byteLength), u = new Uint8Array(b);
                 let i = v.length; while (i--) v[i] = u[i]",
                // QuickJS counts the buffer as heap, and refuses it as a whole.
                on_engine(HEAP, throws("InternalError: out of memory")),
            ),
            case("the heap, caught", "const a = []; for (;;) try { for (;;) a.push([a]) } catch {}", HEAP),
            case(
                "doubled text",
                "let s = 'x'; for (;;) s += s",
                on_engine(
                    throws("RangeError: Invalid string length"),
                    throws("InternalError: string too long"),
                ),
            ),
            case(
                "recursion",
                "const f = () => f() + 1; return f()",
                throws("RangeError: Maximum call stack size exceeded"),
            ),
        ],
    );
}

#[test]
fn array_buffers_stay_within_their_limit() {
    let refused = || {
        on_engine(
            throws("RangeError: Array buffer allocation failed"),
            throws("InternalError: out of memory"),
        )
    };
    let growing = || throws("RangeError: an ArrayBuffer with maxByteLength is not available");
    check(
        "memory::array_buffers_stay_within_their_limit",
        [
            case("1 GB", "return new ArrayBuffer(1e9).byteLength", refused()),
            case(
                "copied 100 MB",
                "const b = new ArrayBuffer(1e8), v = new Array(b.byteLength), u = new Uint8Array(b);
                 let i = v.length; while (i--) v[i] = u[i]",
                refused(),
            ),
            case("transfer", "return new ArrayBuffer(8).transfer(1e9).byteLength", refused()),
            case("growing", "return new ArrayBuffer(1e9, { maxByteLength: 1e9 }).byteLength", growing()),
            case(
                "growing, by its prototype",
                "return new (ArrayBuffer.prototype.constructor)(8, { maxByteLength: 1e9 }).byteLength",
                growing(),
            ),
            case(
                "WebAssembly",
                "return new WebAssembly.Memory({ initial: 1e4 })",
                throws("ReferenceError: WebAssembly is not defined"),
            ),
            case(
                "kept buffers",
                "const a = []; for (;;) a.push(new Uint8Array(1e6))",
                on_engine(throws("RangeError: Array buffer allocation failed"), HEAP),
            ),
        ],
    );
}
