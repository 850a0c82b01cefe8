// Compares the console's formatter with the `util.inspect` of the Node that runs this file (written for Node 20).
//
//   node js/test/console_parity.mjs [seed]
//
// Sections: the contract's samples, values compared with Node, generated values compared with Node, differences we
// mean (each with its reason), tampered built-ins, hostile and huge values, an engine that tells nothing.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import util from "node:util";
import { hostile, long, runs, trap, trapped } from "./console_hostile.mjs";
import { A, bare, error, foo, P, range, self, stackOf, SubTagged, values } from "./console_values.mjs";

// What an embedder's ops do, Node's internal binding does here; it is hidden behind a flag.
if (!process.execArgv.includes("--expose-internals")) {
  const flags = ["--expose-internals", "--no-warnings"];
  const { status } = spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  process.exit(status ?? 1);
}

const binding = createRequire(import.meta.url)("internal/test/binding").internalBinding("util");
const native = {
  __proto__: null,
  isProxy: util.types.isProxy,
  proxyDetails: (value) => binding.getProxyDetails(value),
  promiseState: (value) => (util.types.isPromise(value) ? binding.getPromiseDetails(value) : undefined),
  previewEntries: (value) => binding.previewEntries(value, true),
  ownNonIndexKeys: (value) => binding.getOwnNonIndexProperties(value, binding.constants.ONLY_ENUMERABLE),
};

function load(native) {
  for (const file of ["00_primordials.js", "02_text.js", "03_console.js", "03_console_kinds.js"]) {
    new Function(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"))();
  }
  const internals = globalThis.__internals;
  delete globalThis.__internals;
  internals.native = native;
  return internals;
}

// The stacks that matter are written by hand.
Error.stackTraceLimit = 1;
// Some of the promises made below reject, and nobody waits for them.
process.on("unhandledRejection", () => {});

const internals = load(native);
const options = { depth: 4, maxArrayLength: 100, maxStringLength: 10_000, breakLength: 128, compact: 3 };
let passed = 0;
let failed = 0;

function check(name, actual, expected) {
  if (actual === expected) {
    passed++;
    return;
  }
  failed++;
  console.log(`MISMATCH ${name}\n--- expected\n${around(expected, actual)}\n--- actual\n${around(actual, expected)}\n`);
}

/** The text near the first difference. */
function around(text, other) {
  if (typeof text !== "string" || typeof other !== "string") return String(text);
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return `${at > 300 ? "…" : ""}${text.slice(Math.max(at - 300, 0), at + 300)}`;
}
const parity = (name, value) => check(name, internals.inspect(value), util.inspect(value, options));

// ---- The contract's samples ----------------------------------------------------------------------------------------

const samples = [
  [{ d: { e: { f: { g: 1 } } } }, "{\n  d: { e: { f: { g: 1 } } }\n}"],
  [{ a: { b: { c: { d: { e: { f: {} } } } } } }, "{\n  a: {\n    b: { c: { d: { e: [Object] } } }\n  }\n}"],
  [{ a: { b: { c: { d: { e: [1] } } } } }, "{\n  a: {\n    b: { c: { d: { e: [Array] } } }\n  }\n}"],
  [new Map([[1, { a: 2 }]]), "Map(1) { 1 => { a: 2 } }"],
  [new Set(["x"]), "Set(1) { 'x' }"],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [/re/g, "/re/g"],
  [foo, "[Function: foo]"],
  [() => {}, "[Function (anonymous)]"],
  [A, "[class A]"],
  [new P(), "P { x: 1 }"],
  [Object.create(null), "[Object: null prototype] {}"],
  [
    {
      get x() {
        throw 1;
      },
      [Symbol("k")]: 1,
    },
    "{ x: [Getter], [Symbol(k)]: 1 }",
  ],
  [self, "<ref *1> { n: 1, self: [Circular *1] }"],
  [[undefined, , 3], "[ undefined, <1 empty item>, 3 ]"],
  [new Uint8Array(3), "Uint8Array(3) [ 0, 0, 0 ]"],
  [Promise.resolve(1), "Promise { 1 }"],
  [-0, "-0"],
  [1n, "1n"],
  [Symbol("s"), "Symbol(s)"],
  [error(new Error("boom"), "Error: boom\n    at f (program:1:7)"), "Error: boom\n    at f (program:1:7)"],
];
samples.forEach(([value, text], i) => check(`sample ${i}`, internals.inspect(value), text));
check("more items", internals.inspect(range(150)).endsWith(",\n  ... 50 more items\n]"), true);

const entries = [];
const console_ = internals.makeConsole((text) => entries.push(text));
check("console keys", Reflect.ownKeys(console_).join(), "log,info,warn,error,debug");
check("console prototype", Object.getPrototypeOf(console_), null);
console_.log("%s a", "b", 1, { a: "x" });
console_.info();
console_.warn("a\nb", null, undefined);
console_.error(error(new TypeError("no"), "TypeError: no\n    at x"));
console_.debug(["s"], -0);
check(
  "entries",
  JSON.stringify(entries),
  JSON.stringify(["%s a b 1 { a: 'x' }", "", "a\nb null undefined", "TypeError: no\n    at x", "[ 's' ] -0"]),
);
for (const name of ["log", "info", "warn", "error", "debug"]) {
  check(`console.${name}.name`, console_[name].name, name);
  let thrown = "nothing";
  try {
    new console_[name]();
  } catch (e) {
    thrown = e.name;
  }
  check(`new console.${name}`, thrown, "TypeError");
}

// ---- Values compared with Node -------------------------------------------------------------------------------------

for (const [name, value] of Object.entries(values)) parity(name, value);
for (const [name, value] of Object.entries(values)) parity(`[${name}]`, [value, { value }]);
parity("everything", values);

// ---- Generated values ----------------------------------------------------------------------------------------------

const seed = Number(process.argv[2] ?? 20_241);
let state = seed;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const int = (n) => Math.floor(random() * n);
const pick = (list) => list[int(list.length)];
const text = () =>
  pick([
    "",
    "a",
    "it's",
    'q"q',
    "two words",
    "line\nfeed\n",
    "x".repeat(int(160)),
    "漢字",
    "😀",
    "tab\t",
    "\\",
    "`${a}`",
  ]);
const key = () =>
  pick([
    "a",
    "b",
    "key",
    "two words",
    "a-b",
    "1",
    "22",
    "$",
    "it's",
    "",
    "k".repeat(int(30)),
    Symbol("s"),
    Symbol("t u"),
  ]);
const leaf = () =>
  pick([
    () => int(100),
    () => -random() * 1e6,
    () => int(2) === 0,
    () => null,
    () => undefined,
    text,
    text,
    () => BigInt(int(1e9)),
    () => Symbol(text()),
    () => new Date(int(1e9) * 1000),
    () => /x+/gi,
    () => foo,
    () => A,
    () => -0,
    () => new Uint8Array(int(12)),
    () => error(new Error("e"), stackOf("Error: e")),
  ])();
// Not of a proxy, nor of an array that begins with null: see the differences below.
const proxyOf = (value) => new Proxy(util.types.isProxy(value) || value?.[0] === null ? {} : Object(value), {});
function generate(depth, above) {
  if (depth <= 0 || random() < 0.25) return random() < 0.04 && above.length > 0 ? pick(above) : leaf();
  const child = (here) => generate(depth - 1, [...above, here]);
  const size = pick([0, 1, 2, 3, 5, 9, 25]);
  switch (int(9)) {
    case 0:
    case 1:
    case 2: {
      const object = pick([() => ({}), () => ({}), () => new P(), () => bare({}), () => new SubTagged()])();
      for (let i = 0; i < Math.min(size, 9); i++) object[key()] = child(object);
      return object;
    }
    case 3:
    case 4: {
      const array = [];
      for (let i = 0; i < size; i++) if (random() > 0.03) array[i] = child(array);
      if (random() < 0.1) array.extra = leaf();
      return array;
    }
    case 5: {
      const make = pick([int, text, leaf, () => random(), () => BigInt(int(1000))]);
      return range(int(130), () => make(1000));
    }
    case 6: {
      const map = new Map();
      for (let i = 0; i < Math.min(size, 9); i++) map.set(child(map), child(map));
      return map;
    }
    case 7: {
      const set = new Set();
      for (let i = 0; i < size; i++) set.add(child(set));
      return set;
    }
    default:
      return pick([
        () => Promise.resolve(child({})),
        () => Object.assign(error(new TypeError("t"), stackOf("TypeError: t")), { info: child({}) }),
        () => proxyOf(child({})),
      ])();
  }
}
for (let i = 0; i < 500; i++) parity(`generated ${seed}/${i}`, generate(1 + int(7), []));

// ---- Differences we mean -------------------------------------------------------------------------------------------

// The last argument is why.
const difference = (name, value, text, _reason) => {
  check(`difference ${name}`, internals.inspect(value), text);
  if (text === util.inspect(value, options)) check(`difference ${name} is one`, "same as Node", "different");
};
difference(
  "tag getter",
  new (class T {
    get [Symbol.toStringTag]() {
      return "X";
    }
  })(),
  "T {}",
  "no getter runs",
);
difference(
  "stack is no string",
  Object.assign(new Error("m"), { stack: 5 }),
  "[Error: m]",
  "an error still shows what it says",
);
difference(
  "stack without its first line",
  error(new Error("m"), "    at f (p:1:1)"),
  "Error: m\n    at f (p:1:1)",
  "some engines give frames only",
);
difference(
  "custom inspect",
  { [util.inspect.custom]: () => "mine" },
  "{ [Symbol(nodejs.util.inspect.custom)]: [Function: [nodejs.util.inspect.custom]] }",
  "no such hook",
);
difference(
  "error with a name getter",
  error(
    new (class E extends Error {
      get name() {
        return "Mine";
      }
    })("m"),
    stackOf("Error: m"),
  ),
  "E [Error]: m\n    at f (p:1:1)\n    at g (p:2:2)",
  "no getter runs",
);
difference(
  "long BigInt",
  10n ** 10_001n,
  "[BigInt of more than 10000 digits]",
  "printing it is slow, nothing can stop it",
);
difference(
  "boxed string",
  Object.assign(new String("abc"), { 7: 1 }),
  "[String: 'abc']",
  "its integer keys are taken for characters",
);
difference(
  "proxy of a proxy",
  new Proxy(new Proxy(new Map([[1, 2]]), {}), {}),
  "Map(1) { 1 => 2 }",
  "Node looks through one only, so that traps run",
);
difference("proxy of [null]", new Proxy([null], {}), "[ null ]", "Node takes it for a revoked one");
difference(
  "inspected class",
  new URL("http://x/"),
  "URL {}",
  "no hook: built-in classes of ours are shown through setInspectView",
);

// ---- Tampered built-ins --------------------------------------------------------------------------------------------
// The formatter was loaded before; now everything a program can reach throws, and index setters lie in wait.

const prototypesOf = (iterator) => {
  const prototype = Object.getPrototypeOf(iterator);
  return [prototype, Object.getPrototypeOf(prototype)];
};
const constructors =
  "Object Function Array String Number Boolean Symbol BigInt Map Set WeakMap WeakSet Promise RegExp Date Error " +
  "TypeError ArrayBuffer DataView Uint8Array Proxy";
const holders = constructors
  .split(" ")
  .map((name) => globalThis[name])
  .concat(Object.getPrototypeOf(Uint8Array))
  .flatMap((constructor) => [constructor, constructor.prototype ?? []].flat())
  .concat(Reflect, JSON, Math)
  .concat(
    [[].values(), new Map().keys(), new Set().keys(), "".matchAll(/a/g), (function* () {})()].flatMap(prototypesOf),
  );
// Left alone: they make the classes' names, and so would rightly change what is shown.
const kept = new Set(["constructor", "prototype", "name", "message", Symbol.toStringTag]);
const bareDescriptor = (descriptor) => descriptor && Object.setPrototypeOf(descriptor, null);
const tampers = [];
function tamper(holder, key) {
  const old = bareDescriptor(Object.getOwnPropertyDescriptor(holder, key));
  if (old === undefined || old.configurable)
    tampers.push([holder, key, old, bareDescriptor({ get: trap, set: trap, configurable: true })]);
}
for (const holder of holders) {
  for (const key of Reflect.ownKeys(holder)) {
    if (!kept.has(key)) tamper(holder, key);
  }
}
for (const key of [
  ..."get set value enumerable writable done length isProxy native spent base".split(" "),
  ...range(120),
]) {
  for (const holder of [Object.prototype, Array.prototype]) {
    if (!Object.hasOwn(holder, key)) tamper(holder, key);
  }
}
for (const name of "Object Array Map Set String Symbol Error RangeError Uint8Array Reflect Math".split(" ")) {
  tamper(globalThis, name);
}

/** Runs `work` with everything tampered with. Nothing that was tampered with may be used in here, or in there. */
function tampered(work) {
  const { defineProperty } = Object;
  const { deleteProperty } = Reflect;
  const { length } = tampers;
  runs.count = 0;
  for (let i = 0; i < length; i++) defineProperty(tampers[i][0], tampers[i][1], tampers[i][3]);
  work();
  for (let i = length - 1; i >= 0; i--) {
    const old = tampers[i][2];
    if (old === undefined) deleteProperty(tampers[i][0], tampers[i][1]);
    else defineProperty(tampers[i][0], tampers[i][1], old);
  }
}

{
  const { inspect } = internals;
  const names = Object.keys(values);
  // What is tampered with itself, and so looks different.
  const itself = new Set("prototypes morePrototypes constructors math json reflect functionPrototype".split(" "));
  const before = names.map((name) => inspect(values[name]));
  const during = names.map(() => "");
  let entry = "";
  let ranInFormatter = 0;
  let ranInAll = 0;
  const hostileConsole = internals.makeConsole((text) => {
    entry = text;
  });
  tampered(() => {
    for (let i = 0; i < names.length; i++) during[i] = inspect(values[names[i]]);
    hostileConsole.log("a", 1, values.array);
    ranInFormatter = runs.count;
    try {
      [].push(1);
    } catch {
      ranInAll = runs.count;
    }
  });
  check("tampered: program code that ran in the formatter", ranInFormatter, 0);
  check("tampered: a built-in of the program's throws", ranInAll, 1);
  check("entry while tampered with", entry, "a 1 [ 1, 'a', null ]");
  names.forEach((name, i) => {
    if (!itself.has(name)) check(`tampered ${name}`, during[i], before[i]);
  });
}
{
  const { iterator } = Symbol;
  const { emptyMap, emptySet } = values;
  const old = Array.prototype[iterator];
  delete Array.prototype[iterator];
  const text = internals.inspect([[1], emptyMap, emptySet]);
  Array.prototype[iterator] = old;
  check("without Array.prototype[Symbol.iterator]", text, "[ [ 1 ], Map(0) {}, Set(0) {} ]");
}

// ---- Hostile and huge values ---------------------------------------------------------------------------------------
// Each must give a string, soon, without running the program's code.

const MAX_TEXT = 1 << 20;
let slowest = { name: "", time: 0 };
for (const [name, make] of Object.entries(hostile)) {
  const value = make();
  runs.count = 0;
  const start = performance.now();
  let text;
  try {
    text = internals.inspect(value);
  } catch (thrown) {
    text = thrown;
  }
  const time = performance.now() - start;
  if (time > slowest.time) slowest = { name, time };
  check(`hostile ${name} is text`, typeof text, "string");
  // Engines make a stack when it is first read, and may ask for the error's name then.
  if (name !== "errorPrototypeGetters") check(`hostile ${name} ran`, runs.count, 0);
  check(`hostile ${name} is bounded`, text.length <= MAX_TEXT + 50, true);
  check(`hostile ${name} is soon there (${Math.round(time)} ms)`, time < 5000, true);
  if (process.env.SHOW) console.log(name, Math.round(time), text.length, JSON.stringify(text.slice(0, 150)));
}
console.log(`slowest hostile value: ${slowest.name}, ${Math.round(slowest.time)} ms`);
check("many arguments", internals.formatLog(range(100_000)).length, range(100_000).join(" ").length);
check("strings too long together", internals.formatLog(range(20, () => long)).startsWith("sss"), true);

// The stack may be full at any call: text or a RangeError of the program's own, and the next call is right again.
{
  let calls = 0;
  let text = "";
  const dig = () => {
    text = internals.inspect([{ a: new Map([[1, new Set([2])]]) }, new Error("e")]);
    calls++;
    dig();
  };
  let thrown = "";
  try {
    dig();
  } catch (e) {
    thrown = e.name;
  }
  check("full stack", thrown, "RangeError");
  check("full stack reached", calls > 100 && typeof text === "string", true);
  check("after a full stack", internals.inspect({ a: [1] }), "{ a: [ 1 ] }");
}

// ---- An engine that tells nothing ----------------------------------------------------------------------------------

{
  const alone = load(undefined);
  const told = new Set(
    (
      "resolved pending rejected promiseExtra myPromise barePromise promises nestedPromise revoked proxy proxyArray " +
      "proxyFunction proxyClass proxyMap proxyNested proxyDate proxyError mapIterator mapEntries mapEntriesMany " +
      "setIterator setEntries usedIterator"
    ).split(" "),
  );
  for (const [name, value] of Object.entries(values)) {
    const text = alone.inspect(value);
    if (told.has(name)) check(`alone ${name}`, typeof text, "string");
    else check(`alone ${name}`, text, util.inspect(value, options));
  }
  check("alone promise", alone.inspect(Promise.resolve(1)), "Promise { <state unknown> }");
  check("alone iterator", alone.inspect(new Map([[1, 2]]).keys()), "Object [Map Iterator] {}");
  check("alone proxy", alone.inspect({ p: trapped() }), "{ p: [value could not be inspected] }");
  for (const [name, make] of Object.entries(hostile)) {
    if (name === "deepProxies") continue; // Each of its traps runs, one inside the other.
    const value = make();
    const start = performance.now();
    let text;
    try {
      text = alone.inspect(value);
    } catch (thrown) {
      text = thrown;
    }
    const time = performance.now() - start;
    check(`alone hostile ${name}`, typeof text, "string");
    check(`alone hostile ${name} is soon there (${Math.round(time)} ms)`, time < 5000, true);
  }
  const half = load({ __proto__: null, isProxy: util.types.isProxy });
  check("only isProxy", half.inspect([trapped()]), "[ [Proxy] ]");
}

// ---- Classes of ours -----------------------------------------------------------------------------------------------

{
  class Url {
    #href = "http://x/";
    get href() {
      return this.#href;
    }
  }
  internals.setInspectView(Url.prototype, (url) => ({ __proto__: null, href: url.href }));
  check("view", internals.inspect([new Url()]), "[ Url { href: 'http://x/' } ]");
}

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
