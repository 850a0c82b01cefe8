//! The programs, and how each must end.

use code_mode::FailureKind::{self, Exception, InvalidOutput, OutputLimit, Timeout, WorkerExit};

/// A program, and the kinds of failure that are right for it; none where it must complete. Where more than one is, it
/// is a matter of the engine, or of its speed, which limit is met first.
pub(super) type Program = (&'static [FailureKind], &'static str);

const COMPLETES: &[FailureKind] = &[];

/// Loops that lose their interrupt check unless loop unrolling is off, and others.
pub(super) const LOOPS: &[Program] = &[
    (&[Timeout], "while (true) new Array(5).fill(1)"),
    (&[Timeout], "while (true) new Array(20).fill(1)"),
    (&[Timeout], "while (true) new Array(100).fill(1)"),
    (&[Timeout], "while (true) new Array(1000).fill(1)"),
    (&[Timeout], "while (true) new Array(5000).fill(1)"),
    (&[WorkerExit, Timeout], "const a = []; while (true) a.push(new Array(1000).fill(1))"),
    (&[Timeout], "await (async () => { for (;;) { const a = new Array(100).fill(0) } })()"),
    (&[Timeout], "for (let i = 0; i < 1e12; i++) {}"),
    (&[Timeout], "try { for (;;) {} } finally { for (;;) {} }"),
    (COMPLETES, "let n = 0; for (let i = 0; i < 1e6; i++) n += i; return n"),
];

/// Memory, on the heap and beside it.
pub(super) const MEMORY: &[Program] = &[
    (&[WorkerExit, Timeout], "const a = []; for (;;) a.push('abc'.repeat(1e7).split(''))"),
    (&[WorkerExit, Timeout, Exception], "eval('[' + '1,'.repeat(5e7) + ']')"),
    (&[WorkerExit, Timeout, Exception], "const a = []; for (;;) a.push(new Array(3e7).fill(0))"),
    (&[WorkerExit, Timeout], "const a = []; for (;;) a.push({ a: 1, b: [{}] })"),
    (&[WorkerExit, Timeout], "const a = new Map(); for (let i = 0; ; i++) a.set(i, { i })"),
    (&[WorkerExit, Timeout], "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1e5) + i)"),
    (&[WorkerExit, Timeout], "const a = []; for (;;) try { for (;;) a.push([a]) } catch {}"),
    (&[WorkerExit, Timeout, Exception], "return JSON.stringify(new Array(5e6).fill('aaaaaaaaaa')).length"),
    (&[WorkerExit, Timeout, Exception], "let s = 'x'; for (;;) s += s"),
    (&[WorkerExit, Timeout, Exception], "const a = []; for (;;) a.push(new Float64Array(1e6))"),
    (&[WorkerExit, Timeout, Exception], "const a = []; for (;;) a.push(new Uint8Array(1e6))"),
    (&[WorkerExit, Exception], "return new ArrayBuffer(1e9).byteLength"),
    (&[WorkerExit, Exception], "return new ArrayBuffer(8).transfer(1e9).byteLength"),
    (&[Exception], "return new ArrayBuffer(1e9, { maxByteLength: 1e9 }).byteLength"),
    (&[Exception], "return new (ArrayBuffer.prototype.constructor)(8, { maxByteLength: 1e9 }).byteLength"),
    (&[Exception], "return new WebAssembly.Memory({ initial: 1e4 })"),
    (&[WorkerExit, Timeout, Exception], "new Function('return ' + '('.repeat(1e6) + ')'.repeat(1e6))()"),
    (&[WorkerExit, Timeout, Exception], "return JSON.parse('['.repeat(1e7))"),
    (
        &[WorkerExit, Timeout, Exception],
        "const b = new ArrayBuffer(1e8), v = new Array(b.byteLength), u = new Uint8Array(b); let i = v.length; while (i--) v[i] = u[i]",
    ),
    (
        &[WorkerExit, Timeout, Exception],
        "const b = new ArrayBuffer(6e7), v = new Array(b.byteLength), u = new Uint8Array(b); let i = v.length; while (i--) v[i] = u[i]",
    ),
    (&[Exception], "const f = () => f() + 1; return f()"),
];

/// Built-ins that look at no interrupt for long, or at none.
pub(super) const BUILT_INS: &[Program] = &[
    (&[WorkerExit, Timeout], "const b = new Array(2e6).fill('x'); for (;;) JSON.stringify(b)"),
    (&[WorkerExit, Timeout], "const b = new Array(2e5).fill('x'); for (;;) JSON.stringify(b)"),
    (&[Timeout], "for (;;) JSON.stringify([1, 'b', { c: [] }])"),
    (&[WorkerExit, Timeout], "const t = '[' + '1,'.repeat(4e6) + '1]'; for (;;) JSON.parse(t)"),
    (&[Timeout], "const sparse = []; sparse[33554000] = 1; for (;;) sparse.sort()"),
    (&[WorkerExit, Timeout], "for (;;) Array.from({ length: 2e6 }, () => Math.random()).sort()"),
    (
        &[WorkerExit, Timeout, Exception],
        "const a = []; for (let i = 0; i < 5e6; i++) a.push(-i); for (;;) a.sort((x, y) => x - y || 1)",
    ),
    (&[WorkerExit, Timeout], "const t = 'a'.repeat(3e7); for (;;) t.replace(/a/g, 'b')"),
    (&[Timeout, Exception], "let x = 2n; while (true) x = x * x"),
    (&[Timeout, Exception], "let n = 3n; for (;;) n *= n"),
    (&[Timeout], "return /^(a+)+$/.test('a'.repeat(40) + 'b')"),
    // Refused, as nothing could stop them.
    (&[Exception], "const a = []; a[1735689600] = 1; a.filter(Boolean)"),
    (&[Exception], "const a = []; a[1735689600] = 1; a.forEach(() => {})"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.map((n) => n)"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.indexOf(2)"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.join()"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.slice(1)"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.sort()"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.reverse()"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.shift()"),
    (&[Exception], "const a = []; a[1735689600] = 1; return a.flat()"),
    (&[Exception], "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"),
    (&[Exception], "new Array(1e8).fill(0)"),
    (&[Exception], "Array.from({ length: 1e8 })"),
    // The same arrays, walked by what can be stopped.
    (&[Timeout], "const a = []; a[1735689600] = 1; for (const each of a) ;"),
    (&[Timeout], "const a = []; a[1735689600] = 1; for (let i = 0; i < a.length; i++) ;"),
    // QuickJS asks for the whole at once and is refused.
    (&[WorkerExit, Timeout, Exception], "const a = []; a[1735689600] = 1; return [...a].length"),
];

/// Jobs without end, and hooks that are called where the host would not think of it.
pub(super) const JOBS: &[Program] = &[
    (
        &[Timeout, WorkerExit],
        "for (let i = 0; i < 1e5; i++) (async () => { for (;;) await null })(); await new Promise(() => {})",
    ),
    (&[Timeout], "for (;;) await null"),
    (&[Timeout], "const again = () => queueMicrotask(again); again(); await new Promise(() => {})"),
    (
        &[Timeout, WorkerExit],
        "new FinalizationRegistry(() => { for (;;) ; }).register({}); (async () => { for (;;) await null })(); for (;;) ({})",
    ),
    (&[Exception], "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')"),
    (&[Timeout], "return { then() { for (;;); } }"),
    (&[Timeout], "return { get a() { for (;;) ; } }"),
    (&[InvalidOutput], "return { toJSON() { for (;;) ; } }"),
    (&[Timeout], "return new Proxy({}, { ownKeys() { for (;;); } })"),
    (&[Timeout], "await tools.now({ get a() { for (;;) ; } })"),
    (&[Exception], "throw { toString() { for (;;) ; } }"),
];

/// What waits, with and without an end.
pub(super) const WAITING: &[Program] = &[
    (&[Timeout], "await tools.hold({})"),
    (&[Timeout], "await Promise.all(Array.from({ length: 33 }, () => tools.hold({})))"),
    (&[Timeout], "await new Promise((done) => setTimeout(done, 1e9))"),
    (&[Timeout], "setInterval(() => {}, 1); await new Promise(() => {})"),
    (&[Exception], "await new Promise(() => {})"),
    (&[Exception], "await Promise.race([])"),
    (
        COMPLETES,
        "try { await new Promise((_, no) => AbortSignal.timeout(20).addEventListener('abort', (e) => no(e.target.reason))) }
         catch (error) { return error.name }",
    ),
];

/// Many calls, large values, what it returns, and where it would like to be.
pub(super) const RESULTS: &[Program] = &[
    (COMPLETES, "for (let i = 0; i < 100; i++) if ((await tools.now({ i })).i !== i) throw i"),
    (
        COMPLETES,
        "const all = await Promise.all(Array.from({ length: 257 }, (_, i) => tools.later({ i })));
         if (!all.every((each, i) => each.i === i)) throw all",
    ),
    (COMPLETES, "if ((await tools.now({ t: 'x'.repeat(1 << 20) })).t.length !== 1 << 20) throw 'short'"),
    (
        COMPLETES,
        "let a = []; for (let i = 0; i < 2e4; i++) a = [a];
         let n = 0; for (let b = (await tools.now({ a })).a; b.length; b = b[0]) n++;
         if (n !== 2e4) throw n",
    ),
    (&[OutputLimit], "for (;;) console.log('x'.repeat(1e6))"),
    (COMPLETES, "tools.hold({}); return 'done'"),
    (&[Exception], "tools.fail({ message: 'disk full' }); await tools.now({}); return 'done'"),
    (&[Exception], "return await tools.fail({ message: 'no such id 7' })"),
    (&[Exception], "Promise.reject(new Error('lost')); return 1"),
    (COMPLETES, "const p = Promise.reject(new Error('x')); await null; return await p.catch(() => 'fine')"),
    (&[InvalidOutput], "const a = {}; a.a = a; return a"),
    (&[InvalidOutput], "return () => 1"),
    (&[InvalidOutput], "return { n: NaN, i: Infinity, u: undefined, m: new Map([[1, 2]]) }"),
    (&[InvalidOutput], "let n = 0; return new Proxy({ a: 1 }, { get: () => n++ ? () => 1 : 7 })"),
    (COMPLETES, "let n = 0; return { get a() { return n++ ? () => 1 : 7 } }"),
    (COMPLETES, "let a = []; for (let i = 0; i < 2e4; i++) a = [a]; return a"),
    (&[Exception], "const x = ;"),
    (&[Exception], "enum C { A }"),
    (COMPLETES, "const x: number = 1; return x"),
    (&[Exception], "return this.constructor.constructor('return process')()"),
    (&[Exception], "return (async () => {}).constructor('return import(\"node:fs\")')()"),
    (&[Exception], "return tools.now.constructor.constructor('return process')().exit()"),
    (
        COMPLETES,
        "for (const name of ['Deno', '__bootstrap', 'SharedArrayBuffer', 'ShadowRealm', 'gc', 'require', 'process'])
           if (typeof globalThis[name] !== 'undefined') throw name",
    ),
];
