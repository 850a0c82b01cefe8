//! Where an error is: the text that the model gets names the line and the column of its own program.
//! Contract 6.4; decisions 11 to 13, 16, 18.

use crate::support::Host;

/// A program, and the place that its failure must name.
struct Row {
    name: &'static str,
    program: &'static str,
    line: u32,
    /// On V8.
    column: u32,
    /// On QuickJS, where another column is right or none is known.
    quickjs: QuickJs,
}

/// What QuickJS tells of a place, beside its line.
#[derive(Clone, Copy)]
enum QuickJs {
    /// The same: our parser found it, before any engine.
    Same,
    /// Nothing that can be held to: it puts an error at the call or at the line's beginning, as its version likes,
    /// and counts characters where the others count UTF-16 units.
    Line,
    /// Not even the line.
    Nowhere,
}

use QuickJs::{Line, Nowhere, Same};

fn at(name: &'static str, program: &'static str, line: u32, column: u32, quickjs: QuickJs) -> Row {
    Row { name, program, line, column, quickjs }
}

fn rows() -> Vec<Row> {
    vec![
        at("thrown", "const a = 1;\nthrow new Error('x')", 2, 7, Line),
        at("thrown by the engine", "const a = null;\n\n  a.b.c()", 3, 5, Line),
        at("name that is not there", "const a = 1;\nreturn a + missing", 2, 12, Line),
        at("rejected", "await null;\nawait Promise.reject(new TypeError('x'))", 2, 22, Line),
        at(
            "callback",
            "[1, 2].map((n) => {\n  if (n === 2) throw new Error('x');\n  return n;\n})",
            2,
            22,
            Line,
        ),
        at("comparator", "return [3, 1].sort(\n  (a, b) => a.length.size - b)", 2, 22, Line),
        at(
            "async function",
            "async function load() {\n  await null;\n  throw new Error('x');\n}\nawait load()",
            3,
            9,
            Line,
        ),
        at(
            "class",
            "class A {\n  #n = 1;\n  read() { return this.#n.b.c }\n}\nreturn new A().read()",
            3,
            29,
            Line,
        ),
        at("constructor", "class A { constructor() {\n  throw new Error('x') } }\nnew A()", 2, 9, Line),
        at("field", "class A {\n  a = undefined.b;\n}\nnew A()", 2, 17, Line),
        at("static block", "class A {\n  static { null.a }\n}", 2, 17, Line),
        at("getter", "const o = {\n  get a() { throw new Error('x') },\n};\nreturn o.a", 2, 19, Line),
        at(
            "timer",
            "setTimeout(() => {\n  throw new Error('x') }, 1);\nawait new Promise((done) => setTimeout(done, 5000))",
            2,
            9,
            Line,
        ),
        at(
            "microtask",
            "queueMicrotask(() => {\n    throw new Error('x') });\nawait new Promise((done) => setTimeout(done, 1))",
            2,
            11,
            Line,
        ),
        at(
            "generator",
            "function* g() {\n  yield 1;\n  throw new Error('x');\n}\nreturn [...g()]",
            3,
            9,
            Line,
        ),
        at(
            "async generator",
            "async function* g() {\n  yield 1;\n  throw new Error('x');\n}\nfor await (const n of g()) ;",
            3,
            9,
            Line,
        ),
        at("default of a parameter", "const f = (a,\n  b = a.b.c) => b;\nf(1)", 2, 11, Line),
        at("destructuring", "const f = () => null;\nconst { a } = f()", 2, 9, Nowhere),
        at("template", "const a = `\n${null.b}`", 2, 8, Nowhere),
        at("never awaited", "const lost = Promise.reject(new Error('x'));\nreturn 1", 1, 29, Line),
        at(
            "never awaited function",
            "(async () => {\n  await null;\n  throw new Error('x') })();\nawait new Promise((done) => setTimeout(done, 5))",
            3,
            9,
            Line,
        ),
        at("arguments of a call", "const a = 1;\nreturn await tools.echo({ value: undefined })", 2, 20, Line),
        at("more than one argument", "\nawait tools.echo(1, 2)", 2, 13, Line),
        at("tool that failed", "const a = 1;\nawait tools.fail({ message: 'x' })", 2, 13, Line),
        at(
            "tool that failed, never awaited",
            "\n\ntools.fail({ message: 'x' });\nawait tools.echo({})",
            3,
            7,
            Line,
        ),
        at("tool that is not there", "\nawait tools.ecko({})", 2, 13, Line),
        at("after characters beyond 16 bits", "const s = '\u{1f600}é'; null.a", 1, 23, Line),
        at("after a fence", "```ts\nconst a = 1;\nnull.b\n```", 3, 6, Line),
        at("after a byte order mark", "\u{feff}const a = 1;\nnull.b", 2, 6, Line),
        at("CRLF", "const a = 1;\r\nconst b = 2;\r\nnull.c", 3, 6, Line),
        at("after long types", "const a: Array<{ id: number; name: string }> = []; null.b", 1, 57, Line),
        at(
            "after an interface",
            "interface A {\n  b: string\n}\ntype C<T> = T extends A ? 1 : 2;\nnull.b as C<A>",
            5,
            6,
            Line,
        ),
        at(
            "generics",
            "function f<T extends object>(a: T): T { return (null as any).b }\nf<{ a: 1 }>({ a: 1 })",
            1,
            62,
            Line,
        ),
        at("syntax", "const a = 1;\nconst b = ;", 2, 11, Same),
        at("open brace", "if (true) {\n  const a = 1;", 2, 15, Same),
        at("brace too many", "const a = 1;\n}\n", 2, 1, Same),
        at("enum", "const a = 1;\n  enum A { B }", 2, 3, Same),
        at("namespace", "\nnamespace N { export const a = 1 }", 2, 1, Same),
        at("parameter property", "class A {\n  constructor(private a: number) {}\n}", 2, 23, Same),
        at("decorator", "class A {\n  @log m() {}\n}", 2, 3, Same),
        at("import", "const a = 1;\nimport fs from 'fs'", 2, 1, Same),
        at("export", "\nexport const a = 1", 2, 1, Same),
        at("bad await", "const f = () => {\n  await tools.echo({}) }", 2, 3, Same),
        at("declared twice", "let a = 1;\nlet a = 2;", 2, 5, Line),
        at("bad assignment", "const f = () => 1;\nf() = 2", 2, 1, Line),
        at("constant", "const a = 1;\na = 2", 2, 3, Line),
        at("regular expression", "const a = 1;\nreturn /(/", 2, 8, Nowhere),
        at("label", "for (;;) {\n  break out }", 2, 3, Line),
        at("deep value", "const a = 1;\nthrow Object.assign(new Error('x'), { a })", 2, 21, Line),
        at("cause", "try {\n  null.a\n} catch (cause) { throw new Error('x', { cause }) }", 3, 25, Line),
    ]
}

#[test]
fn failures_name_their_line_and_column() {
    let host = Host::new();
    let problems: Vec<String> = rows().iter().filter_map(|row| problem(&host, row)).collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n\n"));
}

/// What is wrong with the place that a row's failure names.
fn problem(host: &Host, row: &Row) -> Option<String> {
    let run = host.run(row.program);
    let text = run.text();
    if !run.result.is_error() {
        return Some(format!("{}: it did not fail: {text}", row.name));
    }
    let failure = run.failure();
    let (line, exact) = (Some(row.line), format!("program:{}:{}", row.line, row.column));
    let is_right = match row.quickjs {
        _ if cfg!(feature = "v8") => {
            names(&text, &exact) && (failure.line, failure.column) == (line, Some(row.column))
        }
        Same => names(&text, &exact) && (failure.line, failure.column) == (line, Some(row.column)),
        Line => names(&text, &format!("program:{}", row.line)) && failure.line == line,
        Nowhere => true,
    };
    let told = (failure.line, failure.column);
    (!is_right).then(|| format!("{}: not {exact} but {told:?}\n{text}", row.name))
}

/// True if `text` has `place` and not only one that begins alike.
fn names(text: &str, place: &str) -> bool {
    text.match_indices(place)
        .any(|(start, _)| !text[start + place.len()..].starts_with(|next: char| next.is_ascii_digit()))
}
