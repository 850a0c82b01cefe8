// The built-ins our scripts work with, captured before any program runs.
//
// A program may replace every global and every method of every prototype. So no other script names a global or
// calls a method on a value: it takes what it needs from `internals.primordials`, once, at its top.
//
// - `XPrototypeMethod(self, ...args)` is the method with `this` as its first parameter.
// - `XPrototypeGetName(self)` is a getter in the same form.
// - What an engine lacks is `undefined` here, and tested for by whoever uses it.
//
// Capturing alone is not enough: `for...of`, spread, array destructuring, `RegExp` matching by method, string methods
// given a regular expression, `desc.value` of a property descriptor and `array[array.length] = x` all consult
// prototypes. Use `list()` for arrays that grow, `ownDescriptor` for descriptors, and index loops. On QuickJS template
// literals with substitutions are calls of `String.prototype.concat`: join strings with `+`.
(() => {
  "use strict";

  const { apply } = Reflect;
  const { create, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const { bind, call } = Function.prototype;

  /** Makes `method.call(self, a)` callable as `f(self, a)`, without looking `call` up again. */
  const uncurryThis = bind.bind(call);
  const method = (holder, name) => {
    const found = holder === undefined ? undefined : holder[name];
    return typeof found === "function" ? uncurryThis(found) : undefined;
  };
  const getter = (holder, name) => {
    const found = holder === undefined ? undefined : getOwnPropertyDescriptor(holder, name);
    return found === undefined || found.get === undefined ? undefined : uncurryThis(found.get);
  };
  const prototypeOf = (constructor) => (constructor === undefined ? undefined : constructor.prototype);
  const optional = (name) => globalThis[name];

  const ArrayPrototype = Array.prototype;
  const StringPrototype = String.prototype;
  const NumberPrototype = Number.prototype;
  const BooleanPrototype = Boolean.prototype;
  const BigIntPrototype = BigInt.prototype;
  const SymbolPrototype = Symbol.prototype;
  const ObjectPrototype = Object.prototype;
  const FunctionPrototype = Function.prototype;
  const MapPrototype = Map.prototype;
  const SetPrototype = Set.prototype;
  const WeakMapPrototype = WeakMap.prototype;
  const WeakSetPrototype = WeakSet.prototype;
  const PromisePrototype = Promise.prototype;
  const DatePrototype = Date.prototype;
  const RegExpPrototype = RegExp.prototype;
  const ErrorPrototype = Error.prototype;
  const ArrayBufferPrototype = ArrayBuffer.prototype;
  const DataViewPrototype = DataView.prototype;
  const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
  const MapIteratorPrototype = getPrototypeOf(new Map().entries());
  const SetIteratorPrototype = getPrototypeOf(new Set().values());
  const AsyncFunctionPrototype = getPrototypeOf(async () => {});
  const GeneratorFunctionPrototype = getPrototypeOf(function* () {});
  const AsyncGeneratorFunctionPrototype = getPrototypeOf(async function* () {});
  const SharedArrayBufferPrototype = prototypeOf(optional("SharedArrayBuffer"));
  const Temporal = optional("Temporal");

  /** A new array without prototype: storing at its end and reading past it cannot reach what a program installed. */
  const list = () => setPrototypeOf([], null);

  /** The own property descriptor without prototype, or undefined: absent fields really read as undefined. */
  const ownDescriptor = (object, key) => {
    const descriptor = getOwnPropertyDescriptor(object, key);
    return descriptor === undefined ? undefined : setPrototypeOf(descriptor, null);
  };

  const stack = getOwnPropertyDescriptor(new Error(), "stack") ?? getOwnPropertyDescriptor(ErrorPrototype, "stack");

  const primordials = {
    __proto__: null,

    // Helpers.
    uncurryThis,
    list,
    ownDescriptor,

    // Reflect, proxies and Object.
    Proxy,
    Reflect,
    ReflectApply: apply,
    ReflectConstruct: Reflect.construct,
    ReflectDefineProperty: Reflect.defineProperty,
    ReflectDeleteProperty: Reflect.deleteProperty,
    ReflectGet: Reflect.get,
    ReflectGetOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
    ReflectGetPrototypeOf: Reflect.getPrototypeOf,
    ReflectHas: Reflect.has,
    ReflectOwnKeys: Reflect.ownKeys,
    ReflectSet: Reflect.set,
    ReflectSetPrototypeOf: Reflect.setPrototypeOf,
    Object,
    ObjectPrototype,
    ObjectCreate: create,
    ObjectDefineProperty: Object.defineProperty,
    ObjectFreeze: freeze,
    ObjectGetOwnPropertyDescriptor: getOwnPropertyDescriptor,
    ObjectGetOwnPropertyNames: Object.getOwnPropertyNames,
    ObjectGetOwnPropertySymbols: Object.getOwnPropertySymbols,
    ObjectGetPrototypeOf: getPrototypeOf,
    ObjectHasOwn: Object.hasOwn,
    ObjectIs: Object.is,
    ObjectKeys: Object.keys,
    ObjectSetPrototypeOf: setPrototypeOf,
    ObjectPrototypeHasOwnProperty: method(ObjectPrototype, "hasOwnProperty"),
    ObjectPrototypePropertyIsEnumerable: method(ObjectPrototype, "propertyIsEnumerable"),
    ObjectPrototypeToString: method(ObjectPrototype, "toString"),

    // Functions.
    Function,
    FunctionPrototype,
    FunctionPrototypeBind: method(FunctionPrototype, "bind"),
    FunctionPrototypeToString: method(FunctionPrototype, "toString"),
    FunctionPrototypeSymbolHasInstance: FunctionPrototype[Symbol.hasInstance],
    AsyncFunctionPrototype,
    GeneratorFunctionPrototype,
    AsyncGeneratorFunctionPrototype,

    // Arrays.
    Array,
    ArrayPrototype,
    ArrayFrom: Array.from,
    ArrayIsArray: Array.isArray,
    ArrayPrototypeJoin: method(ArrayPrototype, "join"),
    ArrayPrototypePop: method(ArrayPrototype, "pop"),
    ArrayPrototypePush: method(ArrayPrototype, "push"),
    ArrayPrototypeSlice: method(ArrayPrototype, "slice"),
    ArrayPrototypeSort: method(ArrayPrototype, "sort"),

    // Strings.
    String,
    StringPrototype,
    StringFromCharCode: String.fromCharCode,
    StringPrototypeCharCodeAt: method(StringPrototype, "charCodeAt"),
    StringPrototypeCodePointAt: method(StringPrototype, "codePointAt"),
    StringPrototypeEndsWith: method(StringPrototype, "endsWith"),
    StringPrototypeIncludes: method(StringPrototype, "includes"),
    StringPrototypeIndexOf: method(StringPrototype, "indexOf"),
    StringPrototypeIsWellFormed: method(StringPrototype, "isWellFormed"),
    StringPrototypePadEnd: method(StringPrototype, "padEnd"),
    StringPrototypePadStart: method(StringPrototype, "padStart"),
    StringPrototypeRepeat: method(StringPrototype, "repeat"),
    StringPrototypeSlice: method(StringPrototype, "slice"),
    StringPrototypeStartsWith: method(StringPrototype, "startsWith"),
    StringPrototypeToWellFormed: method(StringPrototype, "toWellFormed"),
    StringPrototypeToUpperCase: method(StringPrototype, "toUpperCase"),
    StringPrototypeValueOf: method(StringPrototype, "valueOf"),

    // Other primitives.
    Number,
    NumberPrototype,
    NumberIsFinite: Number.isFinite,
    NumberIsInteger: Number.isInteger,
    NumberIsSafeInteger: Number.isSafeInteger,
    NumberPrototypeToString: method(NumberPrototype, "toString"),
    NumberPrototypeValueOf: method(NumberPrototype, "valueOf"),
    Boolean,
    BooleanPrototype,
    BooleanPrototypeValueOf: method(BooleanPrototype, "valueOf"),
    BigInt,
    BigIntPrototype,
    BigIntPrototypeValueOf: method(BigIntPrototype, "valueOf"),
    Symbol,
    SymbolPrototype,
    SymbolAsyncIterator: Symbol.asyncIterator,
    SymbolIterator: Symbol.iterator,
    SymbolToStringTag: Symbol.toStringTag,
    SymbolHasInstance: Symbol.hasInstance,
    SymbolIsConcatSpreadable: Symbol.isConcatSpreadable,
    SymbolSpecies: Symbol.species,
    SymbolPrototypeGetDescription: getter(SymbolPrototype, "description"),
    SymbolPrototypeToString: method(SymbolPrototype, "toString"),
    SymbolPrototypeValueOf: method(SymbolPrototype, "valueOf"),

    // Math and JSON.
    MathFloor: Math.floor,
    MathMax: Math.max,
    MathMin: Math.min,
    MathRound: Math.round,
    MathSqrt: Math.sqrt,
    JSONParse: JSON.parse,
    JSONStringify: JSON.stringify,

    // Collections. `new Map()` and `new Set()` without an argument consult no prototype.
    Map,
    MapPrototype,
    MapPrototypeDelete: method(MapPrototype, "delete"),
    MapPrototypeEntries: method(MapPrototype, "entries"),
    MapPrototypeGet: method(MapPrototype, "get"),
    MapPrototypeGetSize: getter(MapPrototype, "size"),
    MapPrototypeHas: method(MapPrototype, "has"),
    MapPrototypeSet: method(MapPrototype, "set"),
    MapIteratorPrototype,
    MapIteratorPrototypeNext: method(MapIteratorPrototype, "next"),
    Set,
    SetPrototype,
    SetPrototypeAdd: method(SetPrototype, "add"),
    SetPrototypeDelete: method(SetPrototype, "delete"),
    SetPrototypeGetSize: getter(SetPrototype, "size"),
    SetPrototypeHas: method(SetPrototype, "has"),
    SetPrototypeValues: method(SetPrototype, "values"),
    SetIteratorPrototype,
    SetIteratorPrototypeNext: method(SetIteratorPrototype, "next"),
    WeakMap,
    WeakMapPrototype,
    WeakMapPrototypeGet: method(WeakMapPrototype, "get"),
    WeakMapPrototypeHas: method(WeakMapPrototype, "has"),
    WeakMapPrototypeSet: method(WeakMapPrototype, "set"),
    WeakSet,
    WeakSetPrototype,
    WeakSetPrototypeAdd: method(WeakSetPrototype, "add"),
    WeakSetPrototypeHas: method(WeakSetPrototype, "has"),

    // Promises. `then` reads `constructor` of its receiver: use it on promises made here, with `constructor` pinned.
    Promise,
    PromisePrototype,
    PromisePrototypeThen: method(PromisePrototype, "then"),
    PromiseReject: bind.call(Promise.reject, Promise),
    PromiseResolve: bind.call(Promise.resolve, Promise),

    // Dates and regular expressions. `flags` reads other properties of its receiver, hence one getter a flag.
    Date,
    DatePrototype,
    DatePrototypeGetTime: method(DatePrototype, "getTime"),
    DatePrototypeToISOString: method(DatePrototype, "toISOString"),
    RegExp,
    RegExpPrototype,
    RegExpPrototypeExec: method(RegExpPrototype, "exec"),
    RegExpPrototypeGetDotAll: getter(RegExpPrototype, "dotAll"),
    RegExpPrototypeGetGlobal: getter(RegExpPrototype, "global"),
    RegExpPrototypeGetHasIndices: getter(RegExpPrototype, "hasIndices"),
    RegExpPrototypeGetIgnoreCase: getter(RegExpPrototype, "ignoreCase"),
    RegExpPrototypeGetMultiline: getter(RegExpPrototype, "multiline"),
    RegExpPrototypeGetSource: getter(RegExpPrototype, "source"),
    RegExpPrototypeGetSticky: getter(RegExpPrototype, "sticky"),
    RegExpPrototypeGetUnicode: getter(RegExpPrototype, "unicode"),
    RegExpPrototypeGetUnicodeSets: getter(RegExpPrototype, "unicodeSets"),
    TemporalPrototypes: Temporal === undefined ? [] : [
      Temporal.Duration.prototype,
      Temporal.Instant.prototype,
      Temporal.PlainDate.prototype,
      Temporal.PlainDateTime.prototype,
      Temporal.PlainMonthDay.prototype,
      Temporal.PlainTime.prototype,
      Temporal.PlainYearMonth.prototype,
      Temporal.ZonedDateTime.prototype,
    ],

    // Errors. Newer V8 has `stack` as an own accessor: its getter is the only one of an error that is ours to call.
    Error,
    ErrorPrototype,
    ErrorPrototypeToString: method(ErrorPrototype, "toString"),
    ErrorIsError: Error.isError,
    ErrorStackGetter: stack === undefined ? undefined : stack.get,
    AggregateError,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,

    // Binary data.
    ArrayBuffer,
    ArrayBufferPrototype,
    ArrayBufferIsView: ArrayBuffer.isView,
    ArrayBufferPrototypeGetByteLength: getter(ArrayBufferPrototype, "byteLength"),
    ArrayBufferPrototypeTransfer: method(ArrayBufferPrototype, "transfer"),
    ArrayBufferPrototypeGetDetached: getter(ArrayBufferPrototype, "detached"),
    SharedArrayBufferPrototype,
    SharedArrayBufferPrototypeGetByteLength: getter(SharedArrayBufferPrototype, "byteLength"),
    DataViewPrototype,
    DataViewPrototypeGetBuffer: getter(DataViewPrototype, "buffer"),
    DataViewPrototypeGetByteLength: getter(DataViewPrototype, "byteLength"),
    DataViewPrototypeGetByteOffset: getter(DataViewPrototype, "byteOffset"),
    Uint8Array,
    TypedArrays: [
      Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
      BigUint64Array, optional("Float16Array"), Float32Array, Float64Array,
    ],
    DataView,
    TypedArrayPrototype,
    TypedArrayPrototypeSet: method(TypedArrayPrototype, "set"),
    TypedArrayPrototypeGetBuffer: getter(TypedArrayPrototype, "buffer"),
    TypedArrayPrototypeGetByteLength: getter(TypedArrayPrototype, "byteLength"),
    TypedArrayPrototypeGetByteOffset: getter(TypedArrayPrototype, "byteOffset"),
    TypedArrayPrototypeGetLength: getter(TypedArrayPrototype, "length"),
    TypedArrayPrototypeGetSymbolToStringTag: getter(TypedArrayPrototype, Symbol.toStringTag),
    TypedArrayTagGetter: getOwnPropertyDescriptor(TypedArrayPrototype, Symbol.toStringTag).get,
  };

  const ops = globalThis.Deno?.core?.ops;
  globalThis.__internals = {
    __proto__: null,
    primordials: freeze(primordials),
    // The functions of Rust. Absent where a test loads these files elsewhere.
    ops,
    // What JavaScript alone cannot see.
    native: ops && {
      __proto__: null,
      promiseState: ops.op_code_mode_promise_details,
      proxyDetails: ops.op_code_mode_proxy_details,
      isProxy: ops.op_code_mode_is_proxy,
    },
  };
})();
