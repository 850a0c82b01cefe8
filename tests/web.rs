//! The globals of the web (decision 9), on both engines: what they do, and that a program cannot bend them.

use code_mode::{Json, json};

use crate::support::Host;

/// Says what each expression gives, all in one program; what an expression throws is `name: message`.
#[track_caller]
fn check(expressions: &[(&str, Json)]) {
    check_after("", expressions);
}

#[track_caller]
fn check_after(first: &str, expressions: &[(&str, Json)]) {
    let list: String =
        expressions.iter().map(|(expression, _)| format!("async () => ({expression}),\n")).collect();
    let values = Host::new().value(&format!(
        "{first}
        const given = [];
        for (const make of [{list}]) {{
            try {{ given.push((await make()) ?? null) }} catch (error) {{ given.push(`${{error.name}}: ${{error.message}}`) }}
        }}
        return given"
    ));
    for (index, (expression, expected)) in expressions.iter().enumerate() {
        assert_eq!(values.index(index), Some(expected), "{expression}");
    }
}

#[test]
fn urls_are_parsed_changed_and_written() {
    check(&[
        (
            "(({ href, origin, protocol, username, password, host, hostname, port, pathname, search, hash }) =>
                [href, origin, protocol, username, password, host, hostname, port, pathname, search, hash])(
                new URL('HTTPS://me:pw@Example.com:8080/a/../b c?q=1#top'))",
            json!([
                "https://me:pw@example.com:8080/b%20c?q=1#top",
                "https://example.com:8080",
                "https:",
                "me",
                "pw",
                "example.com:8080",
                "example.com",
                "8080",
                "/b%20c",
                "?q=1",
                "#top"
            ]),
        ),
        ("new URL('../x?y', 'http://h/a/b/c').href", json!("http://h/a/x?y")),
        ("new URL('http://h').toString() + JSON.stringify({ u: new URL('http://h') })", json!("http://h/{\"u\":\"http://h/\"}")),
        ("new URL('x')", json!("TypeError: Invalid URL: 'x' (a relative URL needs a base: new URL(url, base))")),
        ("new URL('x', 'y')", json!("TypeError: Invalid URL: 'x' with base 'y'")),
        ("new URL()", json!("TypeError: a URL needs its text: new URL(url, base)")),
        ("[URL.canParse('a:b'), URL.canParse('b'), URL.parse('b'), URL.parse('b', 'http://h').href]", json!([true, false, null, "http://h/b"])),
        (
            "(() => { const u = new URL('http://h/a'); u.pathname = '/b b'; u.hash = 'z'; u.host = 'i:1'; u.port = 'x';
               u.searchParams.append('k', 'v &'); u.protocol = 'https'; return u.href })()",
            json!("https://i:1/b%20b?k=v+%26#z"),
        ),
        (
            "(() => { const u = new URL('http://h/?a=1&b=2'); const p = u.searchParams; u.search = '?c=3'; const seen = [...p];
               p.delete('c'); return [seen, u.href, p === u.searchParams] })()",
            json!([[["c", "3"]], "http://h/", true]),
        ),
        ("(() => { const u = new URL('http://h'); u.href = 'no' })()", json!("TypeError: Invalid URL: 'no' (a relative URL needs a base: new URL(url, base))")),
        ("Object.prototype.toString.call(new URL('a:b'))", json!("[object URL]")),
    ]);
}

#[test]
fn query_parameters_are_an_ordered_list() {
    check(&[
        ("[...new URLSearchParams('?a=1&b=%20&a=2+3&&c')]", json!([["a", "1"], ["b", " "], ["a", "2 3"], ["c", ""]])),
        ("String(new URLSearchParams({ q: 'a b&c', n: 1 }))", json!("q=a+b%26c&n=1")),
        ("String(new URLSearchParams([['x', 1], ['x', true]]))", json!("x=1&x=true")),
        ("String(new URLSearchParams(new Map([['k', 'é']])))", json!("k=%C3%A9")),
        ("String(new URLSearchParams(new URLSearchParams('a=1')))", json!("a=1")),
        ("new URLSearchParams([['x']])", json!("TypeError: each pair of URLSearchParams is [name, value], but one has 1 items")),
        (
            "(() => { const p = new URLSearchParams('b=1&a=2&b=3&c=4'); const first = [p.get('b'), p.getAll('b'), p.has('z'), p.has('b', '3'), p.size];
               p.set('b', 9); p.append('d', 5); p.delete('c'); p.sort(); return [first, String(p), p.get('nope')] })()",
            json!([["1", ["1", "3"], false, true, 4], "a=2&b=9&d=5", null]),
        ),
        (
            "(() => { const seen = []; new URLSearchParams('a=1&b=2').forEach(function (v, k, all) { seen.push(k + v + this.t + all.size) }, { t: '!' });
               return seen })()",
            json!(["a1!2", "b2!2"]),
        ),
        ("[...new URLSearchParams('a=1&b=2').keys(), ...new URLSearchParams('a=1&b=2').values()]", json!(["a", "b", "1", "2"])),
        ("Object.fromEntries(new URLSearchParams('a=1&b=2'))", json!({"a": "1", "b": "2"})),
        ("new URLSearchParams('a=1').entries().map(([k]) => k).toArray()", json!(["a"])),
        ("new URLSearchParams('a').append('x')", json!("TypeError: URLSearchParams.append(name, value) got 1 of 2 arguments")),
        ("new URLSearchParams('a=\\uD800').get('a')", json!("\u{fffd}")),
    ]);
}

#[test]
fn text_and_bytes_are_converted() {
    check(&[
        ("[...new TextEncoder().encode('aé€𝄞')]", json!([97, 195, 169, 226, 130, 172, 240, 157, 132, 158])),
        ("[...new TextEncoder().encode('\\uD800')]", json!([239, 191, 189])),
        ("[new TextEncoder().encode().length, new TextEncoder().encoding]", json!([0, "utf-8"])),
        (
            "(() => { const bytes = new Uint8Array(8); const done = new TextEncoder().encodeInto('€𝄞€', bytes.subarray(1)); return [done, [...bytes]] })()",
            json!([{"read": 3, "written": 7}, [0, 226, 130, 172, 240, 157, 132, 158]]),
        ),
        ("new TextDecoder().decode(new TextEncoder().encode('aé€𝄞'))", json!("aé€𝄞")),
        ("new TextDecoder().decode(new Uint8Array([0xEF, 0xBB, 0xBF, 97, 0xFF]))", json!("a\u{fffd}")),
        (
            "new TextDecoder('utf8', { ignoreBOM: true }).decode(new Uint8Array([0xEF, 0xBB, 0xBF]).buffer)",
            json!("\u{feff}"),
        ),
        (
            "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xFF]))",
            json!("TypeError: the bytes are not valid utf-8"),
        ),
        (
            "new TextDecoder('latin1').decode(new DataView(new Uint8Array([1, 0xE9, 2]).buffer, 1, 1))",
            json!("é"),
        ),
        ("new TextDecoder('nope')", json!("RangeError: no encoding is called 'nope'")),
        (
            "new TextDecoder().decode('text')",
            json!("TypeError: the bytes must be an ArrayBuffer, a typed array or a DataView"),
        ),
        (
            "(() => { const d = new TextDecoder(); return [0xE2, 0x82, 0xAC].map((b) => d.decode(new Uint8Array([b]), { stream: true })).join('|') + d.decode() })()",
            json!("||€"),
        ),
        (
            "[btoa('hello'), atob('aGVsbG8='), atob(btoa('\\xff\\0'))]",
            json!(["aGVsbG8=", "hello", "\u{ff}\0"]),
        ),
        ("atob('*')", json!("InvalidCharacterError: The string to be decoded is not correctly encoded")),
        (
            "btoa('€')",
            json!(
                "InvalidCharacterError: The string to be encoded has characters beyond U+00FF: encode new TextEncoder().encode(text) byte by byte"
            ),
        ),
    ]);
}

#[test]
fn decoders_that_wait_are_bounded() {
    let program = "
        const open = [];
        let message;
        try { for (;;) { const d = new TextDecoder(); d.decode(new Uint8Array([0xE2]), { stream: true }); open.push(d) } }
        catch (error) { message = error.message }
        open[0].decode();
        new TextDecoder().decode(new Uint8Array([0xE2]), { stream: true });
        return [open.length, message]";
    let message = "more than 1000 decoders wait for more bytes: end a text with decode() without `stream`";
    assert_eq!(Host::new().value(program), json!([1000, message]));
}

#[test]
fn signals_abort_once_with_a_reason() {
    check(&[
        (
            "(() => { const c = new AbortController(); const seen = []; c.signal.onabort = () => seen.push('on');
               c.signal.addEventListener('abort', (e) => seen.push(e.type, e.target === c.signal), { once: true });
               c.abort('why'); c.abort('again'); return [seen, c.signal.aborted, c.signal.reason] })()",
            json!([["on", "abort", true], true, "why"]),
        ),
        ("(() => { const c = new AbortController(); c.abort(); c.signal.throwIfAborted() })()", json!("AbortError: This operation was aborted")),
        ("AbortSignal.abort(7).reason", json!(7)),
        ("(() => { const c = new AbortController(); const any = AbortSignal.any([new AbortController().signal, c.signal]); c.abort(1); return [any.aborted, any.reason] })()", json!([true, 1])),
        ("new Promise((_, reject) => { const s = AbortSignal.timeout(5); s.addEventListener('abort', () => reject(s.reason)) })", json!("TimeoutError: The operation was aborted due to timeout")),
        ("new AbortSignal()", json!("TypeError: AbortSignal has no constructor: use new AbortController().signal")),
        ("AbortSignal.any([{}])", json!("TypeError: AbortSignal.any takes a list of AbortSignals")),
        ("(() => { const c = new AbortController(); const f = () => { throw 1 }; c.signal.addEventListener('abort', f); c.signal.removeEventListener('abort', f); c.abort(); return 'quiet' })()", json!("quiet")),
    ]);
}

#[test]
fn what_a_listener_throws_fails_the_program_with_its_place() {
    let failure = Host::new()
        .run("const c = new AbortController();\nc.signal.addEventListener('abort', () => {\n  throw new Error('in a listener') });\nc.abort();\nawait new Promise((done) => setTimeout(done, 1));\nreturn 1")
        .failure();
    assert!(
        failure.message.contains("in a listener") && failure.message.contains("program:3:"),
        "{failure:?}"
    );
}

#[test]
fn values_of_every_kind_are_cloned() {
    check(&[
        (
            "(() => { const v = { a: [1, , 'x'], d: new Date(5), r: /x/gi, m: new Map([[{ k: 1 }, new Set([1])]]), n: -0, b: 10n, o: Object('s') };
               v.self = v; const c = structuredClone(v);
               return [c !== v, c.self === c, c.d.getTime(), String(c.r), [...c.m][0][0].k, [...c.m][0][1].has(1), Object.is(c.n, -0), String(c.b), 1 in c.a, c.a.length, c.o.length] })()",
            json!([true, true, 5, "/x/gi", 1, true, true, "10", false, 3, 1]),
        ),
        (
            "(() => { const e = new RangeError('bad', { cause: { k: 1 } }); const c = structuredClone(e);
               return [c instanceof RangeError, c.message, c.cause.k, c.cause !== e.cause, c.stack === e.stack] })()",
            json!([true, "bad", 1, true, true]),
        ),
        (
            "(() => { const b = new Uint8Array([1, 2, 3]).subarray(1); const [x, y] = structuredClone([b, b.buffer]); y[0] = 9;
               return [[...x], x.byteOffset, x.buffer === y, b[0]] })()",
            json!([[2, 3], 1, true, 2]),
        ),
        ("(() => { class P { x = 1; get y() { return 2 } } const c = structuredClone(new P()); return [c, c instanceof P] })()", json!([{"x": 1}, false])),
        (
            "(() => { const b = new ArrayBuffer(4); const c = structuredClone({ b }, { transfer: [b] }); return [c.b.byteLength, b.byteLength] })()",
            json!([4, 0]),
        ),
        ("structuredClone({ f() {} })", json!("DataCloneError: a function cannot be cloned")),
        ("structuredClone(Symbol('s'))", json!("DataCloneError: a symbol cannot be cloned")),
        ("structuredClone([Promise.resolve()])", json!("DataCloneError: a Promise cannot be cloned")),
        ("structuredClone(new WeakMap())", json!("DataCloneError: a WeakMap cannot be cloned")),
        ("structuredClone(new Proxy({}, {}))", json!("DataCloneError: a Proxy cannot be cloned")),
        ("structuredClone(new URL('a:b'))", json!("DataCloneError: a URL (clone url.href) cannot be cloned")),
        ("structuredClone()", json!("TypeError: structuredClone takes the value to clone")),
        (
            "(() => { let deep = []; for (let i = 0; i < 20000; i++) deep = [deep]; let c = structuredClone(deep), n = 0; while (c.length) { c = c[0]; n++ } return n })()",
            json!(20000),
        ),
    ]);
}

#[test]
fn random_numbers_and_the_clock_are_the_hosts() {
    check(&[
        (
            "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
            json!(true),
        ),
        ("crypto.randomUUID() !== crypto.randomUUID()", json!(true)),
        (
            "(() => { const a = new Uint32Array(64); return crypto.getRandomValues(a) === a && a.some((n) => n > 65535) })()",
            json!(true),
        ),
        (
            "(() => { const a = new Uint8Array(64); crypto.getRandomValues(a.subarray(32)); return [a.subarray(0, 32).some(Boolean), a.subarray(32).some(Boolean)] })()",
            json!([false, true]),
        ),
        (
            "crypto.getRandomValues(new Float64Array(1))",
            json!("TypeMismatchError: getRandomValues fills a typed array of integers"),
        ),
        (
            "crypto.getRandomValues(new Uint8Array(65537))",
            json!("QuotaExceededError: getRandomValues fills at most 65536 bytes, not 65537"),
        ),
        (
            "(() => { const t = performance.now(); return typeof t === 'number' && t > 0 && performance.now() >= t })()",
            json!(true),
        ),
    ]);
}

#[test]
fn a_program_cannot_bend_them() {
    check_after(
        "const evil = () => { throw new Error('tampered') };
         const kept = new Set(['constructor', 'push', 'then', '__proto__', 'hasOwnProperty']);
         const holders = [Array, String, Map, Object, Function, RegExp, Promise].map((Class) => Class.prototype);
         const all = holders.flatMap((holder) => Reflect.ownKeys(holder).map((key) => [holder, key]))
             .filter(([holder, key]) => typeof key === 'string' && !kept.has(key)
                 && typeof Object.getOwnPropertyDescriptor(holder, key).value === 'function');
         for (let i = 0; i < all.length; i++) all[i][0][all[i][1]] = evil;
         JSON.parse = JSON.stringify = Uint8Array.prototype.set = evil;
         Object.defineProperty(Object.prototype, 'get', { get: evil, set: evil, configurable: true });",
        &[
            ("new URL('http://h/?a=1').searchParams.getAll('a')", json!(["1"])),
            ("'' + new URLSearchParams({ a: 'b c' }).toString()", json!("a=b+c")),
            ("new TextDecoder().decode(new TextEncoder().encode('€'))", json!("€")),
            ("atob(btoa('x'))", json!("x")),
            ("structuredClone({ a: [1, { b: 2 }] })", json!({"a": [1, {"b": 2}]})),
            ("(() => { const c = new AbortController(); let n = 0; c.signal.addEventListener('abort', () => n++); c.abort(); return n })()", json!(1)),
            ("crypto.randomUUID().length", json!(36)),
        ],
    );
}

#[test]
fn they_are_shown_by_what_matters() {
    let run = Host::new().run(
        "console.log(new URLSearchParams('a=1&b=2'), new TextDecoder('latin1'), new AbortController(), AbortSignal.abort(1).aborted);
         const url = new URL('http://h/p?q#f'); Object.defineProperty(URL.prototype, 'href', { get() { throw 1 } });
         console.log(url); console.log(String(URL), String(structuredClone), typeof crypto.randomUUID, URL.name, URL.length)",
    );
    assert_eq!(
        run.logs(),
        [
            "URLSearchParams { a: '1', b: '2' } TextDecoder { encoding: 'windows-1252', fatal: false, ignoreBOM: false } AbortController { signal: AbortSignal { aborted: false } } true",
            "URL {\n  href: 'http://h/p?q#f',\n  origin: 'http://h',\n  protocol: 'http:',\n  username: '',\n  password: '',\n  host: 'h',\n  hostname: 'h',\n  port: '',\n  pathname: '/p',\n  search: '?q',\n  hash: '#f'\n}",
            "function URL() { [native code] } function structuredClone() { [native code] } function URL 1",
        ]
    );
}
