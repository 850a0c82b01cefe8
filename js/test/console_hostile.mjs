// Values made to hurt the console's formatter: code that must not run, and sizes that must not be walked.

import util from "node:util";
import { error, nonEnumerable, range, revoked } from "./console_values.mjs";

/** How often code of "the program" ran. */
export const runs = { count: 0 };
const thrown = new Error("the program's code ran");
export const trap = () => {
  runs.count++;
  throw thrown;
};

const traps = new Proxy({}, { get: () => trap });
export const trapped = (target = {}) => new Proxy(target, traps);
const gettersFor = (object, ...keys) => {
  for (const key of keys) Object.defineProperty(object, key, { get: trap, set: trap, configurable: true });
  return object;
};
const protoOf = (object, prototype) => Object.setPrototypeOf(object, prototype);
class Lying {
  static [Symbol.hasInstance]() {
    trap();
  }
  get [Symbol.toStringTag]() {
    trap();
  }
  toString() {
    trap();
  }
  valueOf() {
    trap();
  }
  toJSON() {
    trap();
  }
  [Symbol.toPrimitive]() {
    trap();
  }
  [util.inspect.custom]() {
    trap();
  }
  get [Symbol.iterator]() {
    trap();
  }
  then() {
    trap();
  }
}
class LyingMap extends Map {
  get size() {
    trap();
  }
  entries() {
    trap();
  }
  [Symbol.iterator]() {
    trap();
  }
}
class LyingArray extends Array {
  static get [Symbol.species]() {
    trap();
  }
  get [Symbol.toStringTag]() {
    trap();
  }
}
const shared = (levels) => {
  let value = { leaf: "x".repeat(20) };
  for (let i = 0; i < levels; i++) value = range(100, () => value);
  return value;
};
const deepObject = (levels) => {
  let value = {};
  for (let i = 0; i < levels; i++) value = { value };
  return value;
};
const deepPrototype = (levels) => {
  let value = null;
  for (let i = 0; i < levels; i++) value = Object.create(value);
  return value;
};
const deepProxy = (levels) => {
  let value = { a: 1 };
  for (let i = 0; i < levels; i++) value = trapped(value);
  return value;
};
const manyKeys = Object.fromEntries(range(300_000, (i) => [`k${i}`, 1]));
const manySymbols = {};
for (let i = 0; i < 10_000; i++) manySymbols[Symbol(i)] = i;
export const long = "s".repeat(2 ** 26);

/** By name, how to make each. */
export const hostile = {
  getters: () =>
    gettersFor({}, "constructor", "length", "stack", "toString", Symbol.toStringTag, Symbol.iterator, "then"),
  errorGetters: () =>
    gettersFor(new Error("m"), "stack", "name", "message", "cause", "errors", "constructor", Symbol.toStringTag),
  errorClassGetters: () => new (gettersFor(class E extends Error {}, "name").prototype.constructor)("m"),
  errorPrototypeGetters: () =>
    new (class E extends Error {
      get name() {
        trap();
      }
      get message() {
        trap();
      }
    })(),
  errorProxyParts: () =>
    Object.assign(new Error("m"), {
      cause: trapped(new Error()),
      errors: trapped([]),
      name: trapped(),
      stack: trapped(),
    }),
  errorOddParts: () =>
    Object.assign(new Error("m"), { name: Symbol("n"), message: 1n, stack: () => {}, cause: null, errors: null }),
  lying: () => gettersFor(new Lying(), "constructor"),
  lyingMap: () => new LyingMap([[1, 2]]),
  lyingArray: () => LyingArray.of?.call(Array, 1, 2) && protoOf([1, 2], LyingArray.prototype),
  proxyEverywhere: () => ({
    a: trapped(),
    b: [trapped([])],
    c: new Map([[trapped(), trapped(() => {})]]),
    [Symbol("d")]: trapped(new Lying()),
  }),
  proxyPrototype: () => protoOf({ a: 1 }, trapped()),
  proxyArrayPrototype: () => protoOf([1, 2], trapped([])),
  proxyFunctionPrototype: () =>
    protoOf(
      class Q {
        static x = 1;
      },
      trapped(class R {}),
    ),
  proxyErrorPrototype: () => protoOf(new Error("m"), trapped(Error.prototype)),
  proxyMapPrototype: () => protoOf(new Map([[1, 2]]), trapped(Map.prototype)),
  proxyConstructor: () => ({ constructor: trapped(class Z {}) }),
  proxyConstructorInPrototype: () => Object.create({ constructor: trapped(class Z {}) }),
  revokedEverywhere: () => ({
    a: revoked(),
    b: protoOf({}, revoked()),
    c: new Proxy(revoked(), {}),
    d: Object.create(revoked()),
  }),
  deepProxies: () => deepProxy(100_000),
  selfPrototypeTag: () => nonEnumerable({}, Symbol.toStringTag, "T".repeat(2 ** 20)),
  newArray: () => new Array(2 ** 32 - 1),
  sparse: () => Object.assign([], { 4_000_000_000: 1, 5: 2 }),
  sparses: () => range(100, () => new Array(1e9)),
  sparseTail: () => Object.assign([], { 200_000: 1, 400_000: 2, 1e9: 3 }),
  dense: () => new Array(2e6).fill(1),
  bytes: () => new Uint8Array(2 ** 28),
  buffer: () => new ArrayBuffer(2 ** 28),
  map: () => new Map(range(2e5, (i) => [i, i])),
  set: () => new Set(range(2e5)),
  mapIterator: () => new Map(range(1e5, (i) => [i, i])).entries(),
  keys: () => manyKeys,
  keysShared: () => range(100, () => range(100, () => [[[[manyKeys]]]])),
  symbols: () => manySymbols,
  longString: () => [long],
  longKey: () => ({ [long]: 1 }),
  longSymbol: () => [Symbol(long), { [Symbol(long)]: 1 }],
  longBoxed: () => new String(long),
  longFunctionName: () => nonEnumerable(() => {}, "name", long),
  longClassName: () => new (nonEnumerable(class {}, "name", long))(),
  longTag: () => nonEnumerable({}, Symbol.toStringTag, long),
  longMessage: () => new Error("m".repeat(2 ** 24)),
  longMessageKey: () =>
    Object.assign(new Error(""), { message: `b${"a".repeat(2 ** 20)}`, stack: "a".repeat(2 ** 24), name: long }),
  longStack: () => error(new Error("m"), `Error: m${"\n    at f (p:1:1)".repeat(1e6)}`),
  longCause: () =>
    error(
      new Error("m", { cause: error(new Error("n"), `Error: n${"\n    at f (p:1:1)".repeat(1e5)}`) }),
      `Error: m${"\n    at f (p:1:1)".repeat(1e5)}`,
    ),
  longRegExp: () => new RegExp("a".repeat(2 ** 20)),
  longBigInt: () => [1n << (1n << 29n), -(1n << (1n << 29n))],
  controls: () => range(100, () => "\u0001".repeat(10_000)),
  shared: () => shared(5),
  sharedErrors: () => range(20, () => range(20, () => Object.assign(new Error("e".repeat(50_000)), { a: [1] }))),
  deep: () => deepObject(100_000),
  deepArray: () => JSON.parse("[".repeat(5_000) + "]".repeat(5_000)),
  deepPrototype: () => deepPrototype(100_000),
  causes: () =>
    range(5_000).reduce((cause) => error(new Error("c", { cause }), "Error: c\n    at f (p:1:1)"), undefined),
};
