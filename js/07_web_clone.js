// structuredClone.
//
// Iterative: a value of any depth is cloned. What cannot be cloned is refused with its kind, never cloned to less.
((internals) => {
  "use strict";

  const {
    Array, ArrayBuffer, ArrayBufferIsView, ArrayBufferPrototypeGetByteLength, ArrayBufferPrototypeTransfer,
    ArrayIsArray, BigIntPrototypeValueOf, BooleanPrototypeValueOf, DataView, DataViewPrototypeGetBuffer,
    DataViewPrototypeGetByteLength, DataViewPrototypeGetByteOffset, Date, DatePrototypeGetTime, Error, ErrorIsError,
    EvalError, Map, MapIteratorPrototypeNext, MapPrototypeEntries, MapPrototypeGet, MapPrototypeGetSize, MapPrototypeHas,
    MapPrototypeSet, NumberPrototypeValueOf, Object, ObjectDefineProperty, ObjectHasOwn, ObjectKeys, ObjectPrototype,
    RangeError, ReferenceError, ReflectApply, ReflectGetPrototypeOf, RegExp, RegExpPrototypeGetDotAll,
    RegExpPrototypeGetGlobal, RegExpPrototypeGetHasIndices, RegExpPrototypeGetIgnoreCase, RegExpPrototypeGetMultiline,
    RegExpPrototypeGetSource, RegExpPrototypeGetSticky, RegExpPrototypeGetUnicode, RegExpPrototypeGetUnicodeSets, Set,
    SetIteratorPrototypeNext, SetPrototypeAdd, SetPrototypeGetSize, SetPrototypeValues, StringPrototypeValueOf,
    SymbolPrototypeValueOf, SyntaxError, TypeError, TypedArrayPrototypeGetBuffer,
    TypedArrayPrototypeGetByteOffset, TypedArrayPrototypeGetLength, TypedArrayPrototypeGetSymbolToStringTag,
    TypedArrayPrototypeSet, TypedArrays, URIError, Uint8Array, WeakMapPrototypeHas, WeakSetPrototypeHas, list,
  } = internals.primordials;
  const { add } = internals.text;
  const { DOMException, hideSource, web } = internals;

  const refuse = (what) => {
    throw new DOMException(what + " cannot be cloned", "DataCloneError");
  };

  const ERRORS = new Map();
  const errors = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  for (let i = 0; i < errors.length; i++) MapPrototypeSet(ERRORS, errors[i].name, errors[i]);

  const VIEWS = new Map();
  for (let i = 0; i < TypedArrays.length; i++) {
    if (TypedArrays[i] !== undefined) MapPrototypeSet(VIEWS, TypedArrays[i].name, TypedArrays[i]);
  }

  const FLAGS = [
    ["d", RegExpPrototypeGetHasIndices], ["g", RegExpPrototypeGetGlobal], ["i", RegExpPrototypeGetIgnoreCase],
    ["m", RegExpPrototypeGetMultiline], ["s", RegExpPrototypeGetDotAll], ["u", RegExpPrototypeGetUnicode],
    ["v", RegExpPrototypeGetUnicodeSets], ["y", RegExpPrototypeGetSticky],
  ];

  /** What `read` gives of the value, or undefined if that is of another kind. */
  const attempt = (read, value) => {
    try {
      return read(value);
    } catch {
      return undefined;
    }
  };

  const define = (object, key, value, enumerable) =>
    ObjectDefineProperty(object, key, { __proto__: null, value, writable: true, enumerable, configurable: true });

  const cloneBuffer = (buffer) => {
    let copy;
    try {
      copy = new ArrayBuffer(ArrayBufferPrototypeGetByteLength(buffer));
    } catch (error) {
      throw internals.withBufferLimit(error);
    }
    TypedArrayPrototypeSet(new Uint8Array(copy), new Uint8Array(buffer));
    return copy;
  };

  const cloneView = (view, cloneOf) => {
    const tag = TypedArrayPrototypeGetSymbolToStringTag(view);
    if (tag === undefined) {
      const buffer = cloneOf(DataViewPrototypeGetBuffer(view));
      return new DataView(buffer, DataViewPrototypeGetByteOffset(view), DataViewPrototypeGetByteLength(view));
    }
    const buffer = cloneOf(TypedArrayPrototypeGetBuffer(view));
    const View = MapPrototypeGet(VIEWS, tag);
    return new View(buffer, TypedArrayPrototypeGetByteOffset(view), TypedArrayPrototypeGetLength(view));
  };

  const cloneRegExp = (value, source) => {
    let flags = "";
    for (let i = 0; i < FLAGS.length; i++) {
      const has = FLAGS[i][1];
      if (has !== undefined && has(value)) flags += FLAGS[i][0];
    }
    return new RegExp(source, flags);
  };

  const isAborted = internals.getterOf(web.AbortSignal, "aborted");
  const paramsSize = internals.getterOf(web.URLSearchParams, "size");
  // Kinds without a copy: each a name and a check that throws or is false for others.
  const ANY_KEY = {};
  const REFUSED = [
    ["a WeakMap", (value) => (WeakMapPrototypeHas(value, ANY_KEY), true)],
    ["a WeakSet", (value) => (WeakSetPrototypeHas(value, ANY_KEY), true)],
    ["a Promise", (value) => internals.native.promiseState(value) !== undefined],
    ["a Symbol object", (value) => (SymbolPrototypeValueOf(value), true)],
    ["a URL (clone url.href)", internals.getterOf(web.URL, "href")],
    ["a URLSearchParams (clone its text)", (value) => (paramsSize(value), true)],
    ["an AbortSignal", (value) => (isAborted(value), true)],
    ["an AbortController", internals.getterOf(web.AbortController, "signal")],
  ];
  for (let i = 0; i < internals.primordials.TemporalPrototypes.length; i++) {
    const { toString } = internals.primordials.TemporalPrototypes[i];
    add(REFUSED, ["a Temporal object (clone its text)", (value) => (ReflectApply(toString, value, []), true)]);
  }

  const BOXES = [StringPrototypeValueOf, NumberPrototypeValueOf, BooleanPrototypeValueOf, BigIntPrototypeValueOf];

  const isError = (value) => (ErrorIsError === undefined ? value instanceof Error : ErrorIsError(value));

  /** A copy without its content, which `fill` adds; `fill` is undefined where there is none. */
  const begin = (value, cloneOf) => {
    if (typeof value === "function") return refuse("a function");
    if (internals.native.isProxy(value)) return refuse("a Proxy");
    if (ArrayIsArray(value)) {
      const copy = new Array(value.length);
      return { copy, fill: fillObject };
    }
    const prototype = ReflectGetPrototypeOf(value);
    if (prototype === ObjectPrototype || prototype === null) return { copy: {}, fill: fillObject };
    if (ArrayBufferIsView(value)) return { copy: cloneView(value, cloneOf), fill: undefined };
    if (attempt(ArrayBufferPrototypeGetByteLength, value) !== undefined) return { copy: cloneBuffer(value), fill: undefined };
    if (attempt(MapPrototypeGetSize, value) !== undefined) return { copy: new Map(), fill: fillMap };
    if (attempt(SetPrototypeGetSize, value) !== undefined) return { copy: new Set(), fill: fillSet };
    const time = attempt(DatePrototypeGetTime, value);
    if (time !== undefined) return { copy: new Date(time), fill: undefined };
    const source = attempt(RegExpPrototypeGetSource, value);
    if (source !== undefined) return { copy: cloneRegExp(value, source), fill: undefined };
    if (isError(value)) {
      const Class = MapPrototypeGet(ERRORS, "" + value.name) ?? Error;
      return { copy: new Class(), fill: fillError };
    }
    for (let i = 0; i < BOXES.length; i++) {
      const primitive = attempt(BOXES[i], value);
      if (primitive !== undefined) return { copy: Object(primitive), fill: undefined };
    }
    for (let i = 0; i < REFUSED.length; i++) {
      if (attempt(REFUSED[i][1], value)) return refuse(REFUSED[i][0]);
    }
    return { copy: {}, fill: fillObject };
  };
  const fillObject = (value, copy, cloneOf) => {
    const keys = ObjectKeys(value);
    for (let i = 0; i < keys.length; i++) {
      // An earlier getter may have taken a later property away.
      if (ObjectHasOwn(value, keys[i])) define(copy, keys[i], cloneOf(value[keys[i]]), true);
    }
  };
  const fillMap = (value, copy, cloneOf) => {
    const iterator = MapPrototypeEntries(value);
    const entries = list();
    for (let i = MapPrototypeGetSize(value); i > 0; i--) add(entries, MapIteratorPrototypeNext(iterator).value);
    for (let i = 0; i < entries.length; i++) MapPrototypeSet(copy, cloneOf(entries[i][0]), cloneOf(entries[i][1]));
  };
  const fillSet = (value, copy, cloneOf) => {
    const iterator = SetPrototypeValues(value);
    const items = list();
    for (let i = SetPrototypeGetSize(value); i > 0; i--) add(items, SetIteratorPrototypeNext(iterator).value);
    for (let i = 0; i < items.length; i++) SetPrototypeAdd(copy, cloneOf(items[i]));
  };
  const fillError = (value, copy, cloneOf) => {
    if (ObjectHasOwn(value, "message")) define(copy, "message", "" + value.message, false);
    const { stack } = value;
    if (typeof stack === "string") define(copy, "stack", stack, false);
    if (ObjectHasOwn(value, "cause")) define(copy, "cause", cloneOf(value.cause), false);
  };

  const clone = (root) => {
    const copies = new Map();
    const open = list();
    const cloneOf = (value) => {
      if (typeof value === "symbol") return refuse("a symbol");
      if (value === null || (typeof value !== "object" && typeof value !== "function")) return value;
      if (MapPrototypeHas(copies, value)) return MapPrototypeGet(copies, value);
      const { copy, fill } = begin(value, cloneOf);
      MapPrototypeSet(copies, value, copy);
      if (fill !== undefined) add(open, { __proto__: null, value, copy, fill });
      return copy;
    };
    const copy = cloneOf(root);
    for (let i = 0; i < open.length; i++) {
      const { value, copy: target, fill } = open[i];
      open[i] = undefined;
      fill(value, target, cloneOf);
    }
    return copy;
  };

  const structuredClone = {
    structuredClone(value, options) {
      if (arguments.length === 0) throw new TypeError("structuredClone takes the value to clone");
      const buffers = list();
      const { transfer } = options ?? {};
      if (transfer !== undefined) {
        for (const buffer of transfer) {
          if (attempt(ArrayBufferPrototypeGetByteLength, buffer) === undefined) {
            throw new DOMException("only an ArrayBuffer can be transferred", "DataCloneError");
          };
          add(buffers, buffer);
        }
      }
      const copy = clone(value);
      // Detached only now: a value that is refused leaves everything as it was.
      for (let i = 0; i < buffers.length; i++) ArrayBufferPrototypeTransfer(buffers[i]);
      return copy;
    },
  }.structuredClone;
  hideSource(structuredClone);
  web.structuredClone = structuredClone;
})(globalThis.__internals);
