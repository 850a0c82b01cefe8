// Values the console's formatter is compared with Node on, and what they are made with.

export const error = (make, stack) =>
  Object.defineProperty(make, "stack", { value: stack, configurable: true, writable: true });
export const bare = (value) => Object.setPrototypeOf(value, null);
export const deep = (value, levels = 5) => {
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
};
export const range = (length, make = (i) => i) => Array.from({ length }, (_, i) => make(i));

export class A {}
export class P {
  x = 1;
}
export function foo() {}
export const self = { n: 1 };
self.self = self;

class Base {
  a = 1;
}
class Derived extends Base {
  b = 2;
  #hidden = 3;
}
class MyArray extends Array {}
class MyMap extends Map {}
class MySet extends Set {}
class MyDate extends Date {}
class MyRegExp extends RegExp {}
class MyBytes extends Uint8Array {}
class MyPromise extends Promise {}
class MyString extends String {}
class MyFunction extends Function {}
class HttpError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}
class NotFound extends Error {}
class Named extends Error {
  name = "Named";
}
class Tagged {
  get [Symbol.toStringTag]() {
    return "never";
  }
}
Object.defineProperty(Tagged.prototype, Symbol.toStringTag, { value: "Tag", configurable: true });
export class SubTagged extends Tagged {
  x = 1;
}

export const stackOf = (first, frames = ["f (p:1:1)", "g (p:2:2)"]) =>
  [first, ...frames.map((frame) => `    at ${frame}`)].join("\n");
const chain = (value, ...links) => links.reduceRight((cause, link) => Object.assign(link, { cause }), value);
const frames = range(9, (i) => `f${i} (p:${i}:1)`);

function circular() {
  const a = { name: "a", list: [], map: new Map(), set: new Set() };
  a.list.push(a, [a.list]);
  a.map.set("me", a).set(a.map, 1);
  a.set.add(a).add(a.set);
  return a;
}
function twoCycles() {
  const a = { n: "a" };
  const b = { n: "b", a };
  a.b = b;
  return [a, b, { a, b }];
}
const detached = () => {
  const buffer = new ArrayBuffer(4);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
};
const rejected = () => {
  const promise = Promise.reject(error(new Error("no"), stackOf("Error: no")));
  promise.catch(() => {});
  return promise;
};
export const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
export const nonEnumerable = (object, key, value) => Object.defineProperty(object, key, { value, configurable: true });
function args() {
  return arguments;
}

export const values = {
  // Primitives.
  zero: 0,
  float: 1.5,
  big: 1e21,
  small: 5e-324,
  nan: NaN,
  infinity: -Infinity,
  true: true,
  null: null,
  undefined: undefined,
  bigint: -123456789012345678901234567890n,
  emptySymbol: Symbol(),
  symbol: Symbol("a b"),
  wellKnown: Symbol.iterator,
  symbolLines: Symbol("a\nb"),
  // Strings and quotes.
  empty: "",
  single: "it's",
  both: `it's "x"`,
  all: 'it\'s "x" `y`',
  template: 'it\'s "${x}"',
  backslash: "a\\b",
  controls: "\0\x01\b\t\n\v\f\r\x1b\x7f\x80\x9f\xa0",
  lone: "\ud83d",
  loneLow: "a\udc00b",
  pair: "😀",
  mixed: "\ud83d\ud83d\ude00\ude00",
  unicode: "é漢字",
  long: "x".repeat(300),
  longLines: "line one\nline two\n".repeat(20),
  tooLong: "y".repeat(10_001),
  tooLong2: "y\n".repeat(6_000),
  nestedLong: { s: "z".repeat(300), t: "ab\ncd\n".repeat(30) },
  nestedLines: { a: "one\ntwo", b: ["three\nfour"] },
  cutPair: `${"x".repeat(9_999)}😀`,
  noFeed: ["q".repeat(130)],
  deepLines: { a: { b: { c: "0123456789\n".repeat(12) } } },
  // Objects.
  emptyObject: {},
  one: { a: 1 },
  keys: { a: 1, "a-b": 2, $: 3, _x1: 4, "": 5, "1x": 6, 7: 7, "it's": 8, "a\nb": 9, é: 10 },
  proto: JSON.parse('{"__proto__":1,"b":2}'),
  symbols: { [Symbol("k")]: 1, [Symbol()]: 2, [Symbol("a\n'b")]: 3, k: 4 },
  hiddenKeys: Object.defineProperties({ a: 1 }, { b: { value: 2 }, [Symbol("c")]: { value: 3 } }),
  accessors: {
    get a() {
      throw 1;
    },
    set b(x) {},
    get c() {
      return 1;
    },
    set c(x) {},
  },
  accessorIndex: Object.defineProperty([1, 2], 1, {
    get() {
      throw 1;
    },
  }),
  undefinedValue: { a: undefined, b: null },
  manyKeys: Object.fromEntries(range(40, (i) => [`key${i}`, i])),
  longKeys: { ["k".repeat(80)]: 1, ["l".repeat(80)]: 2 },
  nested4: deep(1, 4),
  nested5: deep({ x: 1 }, 5),
  nested6: deep([[]], 6),
  nestedEmpty: deep([], 5),
  nestedMap: deep(new Map([[1, 2]])),
  nestedNull: deep(bare({ a: 1 })),
  nestedDate: deep(new Date(0)),
  nestedFunction: deep(() => {}),
  nestedTagged: deep(new SubTagged()),
  nestedDerived: deep(new Derived()),
  nestedTyped: deep(new Uint8Array(2)),
  nestedBareArray: deep(bare([1])),
  nestedSet: deep(new Set()),
  nestedFunctionKeys: deep(Object.assign(() => {}, { a: 1 })),
  nestedBoxed: deep(new String("a")),
  nestedErrorKeys: deep(Object.assign(error(new TypeError("x"), stackOf("TypeError: x")), { code: 1 })),
  // Width of lines.
  ...Object.fromEntries(range(12, (i) => [`width${i}`, { a: "x".repeat(50 + i), b: "y".repeat(47) }])),
  ...Object.fromEntries(range(8, (i) => [`widthArray${i}`, ["x".repeat(60 + i), { a: { b: "y".repeat(30) } }]])),
  threeLevels: { a: { b: { c: {} } } },
  fourLevels: { a: { b: { c: { d: 1 } } } },
  mixedLevels: { a: { b: { c: {} } }, d: [1, [2, [3, [4]]]] },
  levelsLast: { d: [1, [2, [3, [4]]]], a: 1 },
  servers: [
    { host: "a", ports: [{ n: 1, tags: ["x", "y"] }] },
    { host: "b", ports: [] },
  ],
  // Classes and prototypes.
  derived: new Derived(),
  emptyClass: new A(),
  anonymous: new (class {})(),
  bareObject: bare({ a: 1 }),
  create: Object.create({ a: 1 }),
  createBare: Object.create(bare({})),
  createBareKeys: Object.create(bare({ a: 1 })),
  createDeep: Object.create(Object.create(Object.create(bare({})))),
  createDeep2: { x: { y: Object.create(bare({})) } },
  classPrototype: A.prototype,
  derivedPrototype: Derived.prototype,
  constructorKey: { constructor: "x" },
  constructorFn: { constructor: A },
  tagged: new Tagged(),
  subTagged: new SubTagged(),
  ownTag: { [Symbol.toStringTag]: "X", a: 1 },
  hiddenTag: nonEnumerable({}, Symbol.toStringTag, "X"),
  hiddenTagClass: nonEnumerable(new P(), Symbol.toStringTag, "X"),
  hiddenTagBare: nonEnumerable(bare({ a: 1 }), Symbol.toStringTag, "X"),
  badTag: nonEnumerable({}, Symbol.toStringTag, 5),
  tagArray: nonEnumerable([1], Symbol.toStringTag, "X"),
  tagMap: nonEnumerable(new Map(), Symbol.toStringTag, "X"),
  tagFunction: nonEnumerable(() => {}, Symbol.toStringTag, "X"),
  tagClass: nonEnumerable(class Q {}, Symbol.toStringTag, "X"),
  math: Math,
  json: JSON,
  reflect: Reflect,
  intl: Intl,
  atomics: Atomics,
  prototypes: [
    Map.prototype,
    Set.prototype,
    Date.prototype,
    RegExp.prototype,
    Promise.prototype,
    Object.prototype,
    Symbol.prototype,
  ],
  morePrototypes: [Number.prototype, String.prototype, Boolean.prototype, Error.prototype, Array.prototype],
  // Arrays.
  emptyArray: [],
  array: [1, "a", null],
  sparse: [, 1, , , 2, ,],
  allHoles: new Array(5),
  hole1: [,],
  extra: Object.assign([1], { a: 2, [Symbol("s")]: 3 }),
  extraEmpty: Object.assign([], { a: 1 }),
  extraOdd: Object.assign([1, 2], { "-1": 1, 1.5: 2, "01": 3 }),
  match: /b(?<n>.)/.exec("abc"),
  myArray: MyArray.from([1]),
  bareArray: bare([1, 2]),
  nestedArrays: [[[[[[[]]]]]]],
  nestedArrays2: [[[[[[[1]]]]]]],
  array6: range(6),
  array7: range(7),
  array100: range(100),
  array101: range(101),
  array150: range(150, (i) => i * 7),
  negatives: range(20, (i) => -i),
  floats: range(30, (i) => i / 7),
  words: range(30, (i) => "ab".repeat(i % 7)),
  words2: range(27, (i) => `item ${i}`),
  bigints: range(20, BigInt),
  mixedNumbers: range(20, (i) => (i % 2 ? i : BigInt(i))),
  mixedTypes: range(20, (i) => [i, "s", null, undefined, true][i % 5]),
  objects: range(8, (i) => ({ i })),
  longItems: range(10, (i) => "w".repeat(40 + i)),
  oneLong: ["v".repeat(60), ...range(20)],
  wide: range(20, (i) => "漢".repeat(i % 4)),
  emoji: range(12, () => "😀"),
  sparseMany: Object.assign([], Object.fromEntries(range(30, (i) => [i * 3, i]))),
  sparse150: Object.assign(new Array(500), Object.fromEntries(range(150, (i) => [i * 3, i]))),
  extraMany: Object.assign(range(20), { k: 1 }),
  extra100: Object.assign(range(100), { k: 1, l: 2 }),
  extra101: Object.assign(range(120), { k: 1 }),
  combined: { a: range(30), b: range(7, (i) => `s${i}`), c: [range(10), range(10)] },
  arrayOfArrays: range(10, (i) => range(i)),
  multiline: range(8, () => "a\nb"),
  numbersThenString: [...range(100), "x"],
  undefineds: new Array(10).fill(),
  nulls: new Array(10).fill(null),
  booleans: range(12, (i) => i % 3 === 0),
  hugeSparse: Object.assign([], { 1735689600: 1 }),
  tailHoles: Object.assign([1], { length: 200 }),
  deepGrid: deep({ a: range(30, (i) => i * 1000) }, 3),
  maxIndex: Object.assign([], { 4294967294: 1 }),
  newArray: new Array(1e9),
  // Collections.
  emptyMap: new Map(),
  emptySet: new Set(),
  map: new Map([
    ["a", { b: [1] }],
    [{ k: 1 }, new Map([[1, 2]])],
  ]),
  set: new Set([1, "a", {}, [1]]),
  bigMap: new Map(range(120, (i) => [i, i])),
  bigSet: new Set(range(120)),
  set30: new Set(range(30)),
  mapExtra: Object.assign(new Map([[1, 2]]), { x: 1 }),
  myMap: new MyMap([[1, 2]]),
  mySet: new MySet([1]),
  bareMap: bare(new Map([[1, 2]])),
  bareSet: bare(new Set([1])),
  mapStrings: new Map([["a\nb", "c\nd"]]),
  mapLong: new Map([["k".repeat(70), "v".repeat(70)]]),
  mapIterator: new Map([["a", 1]]).keys(),
  mapEntries: new Map([
    ["a", { b: 1 }],
    [1, 2],
  ]).entries(),
  mapEntriesMany: new Map(range(120, (i) => [i, i])).entries(),
  setIterator: new Set(range(120)).values(),
  setEntries: new Set([1, 2]).entries(),
  usedIterator: (() => {
    const it = new Set([1, 2]).values();
    it.next();
    return it;
  })(),
  arrayIterator: [1].values(),
  stringIterator: "a"[Symbol.iterator](),
  matchAll: "a".matchAll(/a/g),
  weakMap: new WeakMap(),
  weakSet: new WeakSet(),
  bareWeak: [bare(new WeakMap()), bare(new WeakSet())],
  weakExtra: Object.assign(new WeakSet(), { a: 1 }),
  nestedMaps: new Map([[new Map([[1, new Map([[2, new Map([[3, new Map([[4, new Map([[5, 6]])]])]])]])]]), 1]]),
  // Binary.
  buffer: new ArrayBuffer(3),
  bigBuffer: new Uint8Array(range(130)).buffer,
  emptyBuffer: new ArrayBuffer(0),
  detached: detached(),
  view: new DataView(new ArrayBuffer(4), 1),
  bytes: new Uint8Array([1, 2, 255]),
  floats64: new Float64Array([1.5, -0, NaN]),
  bigs: new BigInt64Array([1n, -2n]),
  manyBytes: new Uint8Array(range(150)),
  emptyBytes: new Int16Array(0),
  myBytes: new MyBytes(2),
  bareBytes: bare(new Uint8Array(1)),
  bytesExtra: Object.assign(new Uint8Array(2), { a: 1 }),
  bufferExtra: Object.assign(new ArrayBuffer(1), { a: 1 }),
  clamped: new Uint8ClampedArray(10),
  f32: new Float32Array(range(20, (i) => i / 3)),
  // Dates, expressions, boxes.
  date: new Date(1e12),
  invalidDate: new Date(NaN),
  myDate: new MyDate(0),
  bareDate: bare(new Date(0)),
  dateExtra: Object.assign(new Date(0), { a: 1 }),
  plainDate: Object.setPrototypeOf(new Date(0), {}),
  flags: [/a/dgimsuy, /a/v, new RegExp(""), new RegExp("\n")],
  myRegExp: new MyRegExp("a", "g"),
  bareRegExp: bare(/a/g),
  regExpExtra: Object.assign(/a/, { a: 1 }),
  boxes: [new String("a'b"), new Number(-0), new Boolean(false), Object(1n), Object(Symbol("q"))],
  stringExtra: Object.assign(new String("abc"), { x: 1 }),
  myString: new MyString("abc"),
  bareBoxes: [bare(new String("")), bare(new Number(3)), bare(new Boolean(true))],
  longBox: new String("x".repeat(200)),
  // Functions.
  functions: {
    a() {},
    async b() {},
    *c() {},
    async *d() {},
    e: class {},
    f: class F extends A {},
    g: function () {},
    h: async () => {},
    i: Math.max,
    j: A.bind(),
  },
  classNull: class N extends null {},
  classExtra: class S {
    static x = 1;
    static m() {}
  },
  bareClass: bare(class A {}),
  bareFunction: bare(() => {}),
  functionExtra: Object.assign(() => {}, { a: 1, b: { c: 2 } }),
  methodNamedClass: { class() {}, "class x"() {} },
  myFunction: new MyFunction("return 1"),
  newFunction: new Function(),
  noName: (() => {
    const f = () => {};
    delete f.name;
    return f;
  })(),
  renamed: nonEnumerable(() => {}, "name", "other name"),
  constructors: [Object, Map, Promise, Symbol, Proxy],
  functionPrototype: Function.prototype,
  classStaticBlock: class {
    static {}
  },
  commentClass: class /* { */ C3 {},
  // Promises, generators, proxies, arguments.
  resolved: Promise.resolve({ a: [1] }),
  pending: new Promise(() => {}),
  rejected: rejected(),
  promiseExtra: Object.assign(Promise.resolve(1), { a: 1 }),
  myPromise: MyPromise.resolve(1),
  barePromise: bare(Promise.resolve(1)),
  promises: range(7, (i) => Promise.resolve(i)),
  nestedPromise: { a: { b: Promise.resolve({ c: { d: 1 } }) } },
  generator: (function* () {})(),
  asyncGenerator: (async function* () {})(),
  arguments: args(1, "a"),
  noArguments: args(),
  manyArguments: args(...range(10)),
  proxy: new Proxy({ a: 1 }, {}),
  proxyArray: new Proxy([1, 2], {}),
  proxyFunction: new Proxy(foo, {}),
  proxyClass: new Proxy(A, {}),
  revoked: revoked(),
  proxyMap: new Proxy(new Map([[1, 2]]), {}),
  proxyNested: { p: new Proxy({ q: new Proxy(new Set([1]), {}) }, {}) },
  proxyDate: new Proxy(new Date(0), {}),
  proxyError: new Proxy(error(new Error("e"), stackOf("Error: e")), {}),
  // Circles and sharing.
  circular: circular(),
  twoCycles: twoCycles(),
  shared: (() => {
    const s = { x: 1 };
    return [s, s, { s }];
  })(),
  selfArray: (() => {
    const a = [1];
    a.push(a);
    return a;
  })(),
  selfMap: (() => {
    const m = new Map();
    m.set(m, m);
    return m;
  })(),
  selfError: (() => {
    const e = error(new Error("loop"), stackOf("Error: loop"));
    e.cause = e;
    return e;
  })(),
  selfFunction: (() => {
    const f = () => {};
    f.f = f;
    return f;
  })(),
  selfClass: (() => {
    class K {
      me = this;
    }
    return new K();
  })(),
  // Errors.
  error: error(new Error("m"), stackOf("Error: m")),
  typeError: error(new TypeError("m"), stackOf("TypeError: m")),
  noFrames: error(new Error("m"), "Error: m"),
  noMessage: error(new Error(), stackOf("Error")),
  lines: error(new Error("a\nb"), stackOf("Error: a\nb")),
  messageWithAt: error(new Error("x\n    at y"), stackOf("Error: x\n    at y")),
  nestedError: { a: { e: error(new Error("m"), stackOf("Error: m")) } },
  nestedNoFrames: [error(new Error("m"), "Error: m")],
  errorArray: range(2, (i) => error(new Error(`m${i}`), stackOf(`Error: m${i}`))),
  httpError: error(new HttpError("gone", 410), stackOf("Error: gone")),
  notFound: error(new NotFound("x"), stackOf("Error: x")),
  named: error(new Named("x"), stackOf("Error: x")),
  renamedError: Object.assign(error(new Error("x"), stackOf("Error: x")), { name: "Other" }),
  keysInStack: Object.assign(error(new Error("x"), stackOf("Other: x")), { name: "Other" }),
  extraKeys: Object.assign(error(new Error("x"), stackOf("Error: x")), { code: "E", info: { a: [1] } }),
  messageKey: Object.assign(error(new Error(""), stackOf("Error")), { message: "added" }),
  cause: error(new Error("x", { cause: "why" }), stackOf("Error: x")),
  causeError: error(new Error("x", { cause: error(new TypeError("y"), stackOf("TypeError: y")) }), stackOf("Error: x")),
  causeChain: chain(
    error(new Error("3"), stackOf("Error: 3", frames)),
    error(new Error("1"), stackOf("Error: 1", ["a (p:1:1)", ...frames])),
    error(new Error("2"), stackOf("Error: 2", ["b (p:2:1)", ...frames.slice(3)])),
  ),
  hiddenCause: error(
    new Error("x", { cause: error(new Error("y"), stackOf("Error: y", frames)) }),
    stackOf("Error: x", ["a (p:1:1)", ...frames.slice(2), "z (p:9:9)"]),
  ),
  causeUndefined: error(new Error("x", { cause: undefined }), stackOf("Error: x")),
  causeKey: Object.assign(error(new Error("x"), stackOf("Error: x")), { cause: 1 }),
  aggregate: error(
    new AggregateError([error(new Error("i"), stackOf("Error: i")), 2], "all"),
    stackOf("AggregateError: all"),
  ),
  errorsKey: Object.assign(error(new Error("x"), stackOf("Error: x")), { errors: [1] }),
  bareError: bare(error(new Error("x"), stackOf("Error: x"))),
  bareTypeError: bare(error(new TypeError("x"), stackOf("TypeError: x"))),
  createdError: Object.create(Error.prototype),
  wordStack: error(new Error("x"), "foo"),
  taggedError: nonEnumerable(error(new Error("x"), stackOf("Error: x")), Symbol.toStringTag, "T"),
  errorInMap: new Map([[error(new Error("k"), stackOf("Error: k")), 1]]),
  rangeError: error(new RangeError("r"), stackOf("RangeError: r")),
  plainThrown: { message: "m", name: "n" },
  colonError: error(new Error("a: b: c"), stackOf("Error: a: b: c")),
  subTypeError: error(new (class BadTypeError extends TypeError {})("t"), stackOf("TypeError: t")),
  numberName: Object.assign(error(new Error("x"), stackOf("Error: x")), { name: 5 }),
  domStyle: error(Object.assign(new Error("x"), { name: "AbortError", code: 20 }), stackOf("AbortError: x")),
  toolError: (() => {
    class ToolCallError extends Error {}
    const e = error(new ToolCallError("no such file"), stackOf("ToolCallError: no such file"));
    Object.defineProperty(e, "name", { value: "ToolCallError", enumerable: true });
    Object.defineProperty(e, "toolName", { value: "read", enumerable: true });
    return e;
  })(),
};
