// What each kind of built-in object looks like when it is inspected: collections, binary data, functions, errors, more.
//
// One formatter a kind. It fills in the shape that 03_console.js lays out; the table at the end names them all.
((internals) => {
  "use strict";

  const {
    ArrayBufferIsView, ArrayBufferPrototype, ArrayBufferPrototypeGetByteLength, ArrayIsArray,
    AsyncFunctionPrototype, AsyncGeneratorFunctionPrototype, BigIntPrototype, BigIntPrototypeValueOf,
    BooleanPrototype, BooleanPrototypeValueOf, DataViewPrototype, DataViewPrototypeGetBuffer,
    DataViewPrototypeGetByteLength, DataViewPrototypeGetByteOffset, DatePrototype, DatePrototypeGetTime,
    DatePrototypeToISOString, ErrorIsError, ErrorPrototype, FunctionPrototypeToString, GeneratorFunctionPrototype,
    Map, MapIteratorPrototype, MapIteratorPrototypeNext, MapPrototype, MapPrototypeEntries, MapPrototypeGet,
    MapPrototypeGetSize, MapPrototypeSet, MathFloor, MathMin, NumberIsFinite, NumberIsInteger, NumberPrototype,
    NumberPrototypeToString, NumberPrototypeValueOf, ObjectGetOwnPropertySymbols, ObjectHasOwn, ObjectKeys,
    ObjectPrototypePropertyIsEnumerable, ObjectPrototypeToString, PromisePrototype, ReflectGetOwnPropertyDescriptor,
    ReflectGetPrototypeOf, ReflectOwnKeys, RegExpPrototype, RegExpPrototypeGetDotAll, RegExpPrototypeGetGlobal,
    RegExpPrototypeGetHasIndices, RegExpPrototypeGetIgnoreCase, RegExpPrototypeGetMultiline,
    RegExpPrototypeGetSource, RegExpPrototypeGetSticky, RegExpPrototypeGetUnicode, RegExpPrototypeGetUnicodeSets,
    SetIteratorPrototype, SetIteratorPrototypeNext, SetPrototype, SetPrototypeGetSize, SetPrototypeValues,
    StringPrototype, StringPrototypeCharCodeAt, StringPrototypeEndsWith, StringPrototypeIncludes,
    StringPrototypeIndexOf, StringPrototypePadStart, StringPrototypeSlice, StringPrototypeStartsWith,
    StringPrototypeValueOf, SymbolPrototype, SymbolPrototypeValueOf, SymbolToStringTag, TemporalPrototypes,
    TypedArrayPrototypeGetLength, TypedArrayPrototypeGetSymbolToStringTag, Uint8Array, WeakMapPrototype,
    WeakMapPrototypeHas, WeakSetPrototype, WeakSetPrototypeHas, list, uncurryThis,
  } = internals.primordials;
  const { MAX_ITEMS, add, clip, isWordCode, join, lines, more, spaces } = internals.text;
  const { inspector } = internals;
  const {
    charge, chainedValue, formatIndented, formatPrimitive, formatProperty, formatValue, functionName, hasRoom,
    inherits, isProxy, layOut, ownKeys, ownValue, title, KEYS_PER_CHARACTER, MAX_NAME, MAX_STRING,
  } = inspector;

  // Bounds of our own, for values made to hurt.
  const MAX_STACK = 1 << 16; // characters of an error's stack
  const MAX_FRAMES = 64; // stack lines compared with those of the cause
  const MAX_KEYED = 1_000; // longest array whose extra keys are looked for without the host's help
  const MAX_PROBES = 50_000; // array holes stepped over one by one, before all keys are asked for

  /** The formatter for a value: by what the engine knows of it, then by its prototypes if they tell the truth. */
  function kindOf(value, about) {
    if (typeof value === "function") return FUNCTION;
    if (ArrayIsArray(value)) return ARRAY;
    if (TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined) return TYPED_ARRAY;
    if (about.kind !== undefined && isOfKind(value, about.kind)) return about.kind;
    // Without a tag in the way, this names the classes that have an internal mark of their own, prototype or not.
    if (!about.tagged && !about.opaque) {
      const mark = ObjectPrototypeToString(value);
      if (mark === "[object Arguments]") return ARGUMENTS;
      // With the prototype of plain objects, any of them is shown as one.
      if (mark !== "[object Object]" && about.ctor !== "Object") return MapPrototypeGet(KINDS_BY_MARK, mark) ?? PLAIN;
    }
    // The others can only be tried one by one, which is worth it for what would look empty otherwise.
    if (about.opaque && ErrorIsError !== undefined && ErrorIsError(value)) return ERROR;
    if (about.ctor === null && ownKeys(value).length === 0) {
      for (let i = 0; i < UNMARKED_KINDS.length; i++) {
        if (isOfKind(value, UNMARKED_KINDS[i])) return UNMARKED_KINDS[i];
      }
    }
    return PLAIN;
  }

  function isOfKind(value, kind) {
    if (kind.check === undefined) return true;
    try {
      return kind.check(value) !== false;
    } catch {
      return false;
    }
  }

  function formatPlain(ctx, value, about, shape) {
    if (about.ctor !== "Object" || about.tag !== "") shape.open = title(about, about.fallback) + " {";
    shape.short = shape.open + "}";
  }

  function formatArguments(ctx, value, about, shape) {
    shape.open = "[Arguments] {";
    shape.short = "[Arguments] {}";
  }

  function formatArray(ctx, value, about, shape) {
    const { length } = value;
    shape.open = about.ctor === "Array" && about.tag === "" ? "[" : title(about, "Array", "(" + length + ")") + " [";
    shape.close = "]";
    shape.grid = true;
    shape.items = arrayItems;
    shape.keys = extraKeys(value, length);
    if (length === 0) shape.short = shape.open + "]";
  }

  function arrayItems(ctx, value, level, entries) {
    const { length } = value;
    const walk = { keys: undefined, at: 0 };
    let i = 0;
    while (i < length && entries.length < MAX_ITEMS && hasRoom(ctx)) {
      const descriptor = ReflectGetOwnPropertyDescriptor(value, i);
      if (descriptor !== undefined) {
        add(entries, formatProperty(ctx, descriptor, level));
        i++;
      } else {
        const next = nextIndex(ctx, value, i + 1, walk);
        add(entries, charge(ctx, "<" + (next - i) + " empty item" + (next - i > 1 ? "s" : "") + ">"));
        i = next;
      }
    }
    if (i < length) add(entries, more(length - i, "item", "items"));
  }

  /** The first index from `from` on that is no hole. All keys are asked for only after many single steps. */
  function nextIndex(ctx, array, from, walk) {
    const { length } = array;
    for (; from < length && ctx.probes < MAX_PROBES; from++, ctx.probes++) {
      if (ObjectHasOwn(array, from)) return from;
    }
    if (from >= length) return length;
    if (walk.keys === undefined) {
      walk.keys = ReflectOwnKeys(array); // Indices come first, in order; the next key is "length".
      ctx.spent += MathFloor(walk.keys.length / KEYS_PER_CHARACTER);
    }
    while (+walk.keys[walk.at] < from) walk.at++;
    const index = +walk.keys[walk.at];
    return index < length ? index : length;
  }

  /** Own enumerable keys that are not indices. Listing indices is slow: a long array needs the host for it. */
  function extraKeys(value, length) {
    const { native } = internals;
    if (native !== undefined && native.ownNonIndexKeys !== undefined) return native.ownNonIndexKeys(value);
    const own = length <= MAX_KEYED ? ReflectOwnKeys(value) : ObjectGetOwnPropertySymbols(value);
    const keys = list();
    for (let i = 0; i < own.length; i++) {
      const index = typeof own[i] === "string" ? +own[i] : -1;
      const isIndex = index >= 0 && index < length && NumberIsInteger(index) && "" + index === own[i];
      if (!isIndex && ObjectPrototypePropertyIsEnumerable(value, own[i])) add(keys, own[i]);
    }
    return keys;
  }

  function formatTypedArray(ctx, value, about, shape) {
    about.fallback = TypedArrayPrototypeGetSymbolToStringTag(value);
    const length = TypedArrayPrototypeGetLength(value);
    shape.open = title(about, about.fallback, "(" + length + ")") + " [";
    shape.close = "]";
    shape.grid = true;
    shape.items = typedArrayItems;
    shape.keys = extraKeys(value, length);
    if (length === 0) shape.short = shape.open + "]";
  }

  function typedArrayItems(ctx, value, level, entries) {
    const length = TypedArrayPrototypeGetLength(value);
    const shown = MathMin(length, MAX_ITEMS);
    for (let i = 0; i < shown; i++) add(entries, charge(ctx, formatPrimitive(ctx, value[i])));
    if (shown < length) add(entries, more(length - shown, "item", "items"));
  }

  function formatCollection(size, items) {
    return (ctx, value, about, shape) => {
      shape.open = title(about, about.fallback, "(" + size(value) + ")") + " {";
      shape.items = items;
      if (size(value) === 0) shape.short = shape.open + "}";
    };
  }

  function setItems(ctx, value, level, entries) {
    const iterator = SetPrototypeValues(value);
    const next = () => formatIndented(ctx, SetIteratorPrototypeNext(iterator).value, level);
    takeItems(ctx, SetPrototypeGetSize(value), next, entries);
  }

  function mapItems(ctx, value, level, entries) {
    const iterator = MapPrototypeEntries(value);
    const next = () => {
      const entry = MapIteratorPrototypeNext(iterator).value;
      return formatIndented(ctx, entry[0], level) + " => " + formatIndented(ctx, entry[1], level);
    };
    takeItems(ctx, MapPrototypeGetSize(value), next, entries);
  }

  function takeItems(ctx, size, next, entries) {
    let i = 0;
    for (; i < size && i < MAX_ITEMS && hasRoom(ctx); i++) add(entries, next());
    if (i < size) add(entries, more(size - i, "item", "items"));
  }

  function formatIterator(ctx, value, about, shape) {
    const { native } = internals;
    const knows = native !== undefined && native.previewEntries !== undefined;
    const preview = knows ? native.previewEntries(value) : undefined;
    if (preview === undefined) return formatPlain(ctx, value, about, shape);
    const flat = preview[0];
    const inPairs = preview[1];
    shape.open = "[" + about.fallback + " " + (inPairs ? "Entries" : "Iterator") + "] {";
    shape.items = (_ctx, _value, level, entries) => {
      let at = 0;
      const item = () => formatIndented(ctx, flat[at++], level);
      const pair = () => {
        ctx.indent += 2;
        const both = list();
        for (let i = 0; i < 2; i++) add(both, formatValue(ctx, flat[at++], level));
        ctx.indent -= 2;
        return layOut(ctx, both, { __proto__: null, base: "", open: "[", close: "]", grid: false }, level);
      };
      takeItems(ctx, inPairs ? flat.length / 2 : flat.length, inPairs ? pair : item, entries);
    };
  }

  function formatWeak(ctx, value, about, shape) {
    shape.open = title(about, about.fallback) + " {";
    shape.items = (_ctx, _value, level, entries) => add(entries, "<items unknown>");
  }

  function formatPromise(ctx, value, about, shape) {
    shape.open = title(about, "Promise") + " {";
    shape.items = (_ctx, _value, level, entries) => {
      const state = promiseState(value);
      if (state[0] === 0) return add(entries, "<pending>");
      if (state[0] === UNKNOWN) return add(entries, "<state unknown>");
      const text = formatIndented(ctx, state[1], level);
      add(entries, state[0] === 2 ? "<rejected> " + text : text);
    };
  }

  /** Undefined for what is no promise. */
  function promiseState(value) {
    const { native } = internals;
    if (native !== undefined && native.promiseState !== undefined) return native.promiseState(value);
    return inherits(value, PromisePrototype) ? [UNKNOWN] : undefined;
  }
  function formatArrayBuffer(ctx, value, about, shape) {
    shape.open = title(about, "ArrayBuffer") + " {";
    shape.items = (_ctx, _value, level, entries) => {
      const size = ArrayBufferPrototypeGetByteLength(value);
      add(entries, charge(ctx, bufferContents(value, size)));
      add(entries, "byteLength: " + size);
    };
  }

  function bufferContents(buffer, size) {
    const shown = MathMin(size, MAX_ITEMS);
    let bytes;
    try {
      bytes = new Uint8Array(buffer, 0, shown);
    } catch {
      return "(detached)";
    }
    let text = "";
    for (let i = 0; i < shown; i++) {
      text += (i > 0 ? " " : "") + StringPrototypePadStart(NumberPrototypeToString(bytes[i], 16), 2, "0");
    }
    if (shown < size) text += " " + more(size - shown, "byte", "bytes");
    return "[Uint8Contents]: <" + text + ">";
  }

  function formatDataView(ctx, value, about, shape) {
    shape.open = title(about, "DataView") + " {";
    shape.items = (_ctx, _value, level, entries) => {
      add(entries, "byteLength: " + DataViewPrototypeGetByteLength(value));
      add(entries, "byteOffset: " + DataViewPrototypeGetByteOffset(value));
      add(entries, "buffer: " + formatIndented(ctx, DataViewPrototypeGetBuffer(value), level));
    };
  }

  /** Dates and regular expressions: one text, with a title unless it is the class itself. */
  function formatAsText(toText) {
    return (ctx, value, about, shape) => {
      const text = toText(value);
      const name = title(about, about.fallback);
      shape.base = name === about.fallback ? text : name + " " + text;
      shape.short = shape.base;
    };
  }

  /** The classes are named as programs write them: `Temporal.PlainDate`, not `PlainDate [Temporal.PlainDate]`. */
  function formatTemporal(toText) {
    return (ctx, value, about, shape) => {
      const { ctor, fallback } = about;
      shape.base = ("Temporal." + ctor === fallback ? fallback : title(about, fallback)) + " " + toText(value);
      shape.short = shape.base;
    };
  }

  function dateText(value) {
    return NumberIsFinite(DatePrototypeGetTime(value)) ? DatePrototypeToISOString(value) : "Invalid Date";
  }

  function regExpText(value) {
    let flags = "";
    for (let i = 0; i < REGEXP_FLAGS.length; i++) {
      const has = REGEXP_FLAGS[i][1];
      if (has !== undefined && has(value)) flags += REGEXP_FLAGS[i][0];
    }
    return "/" + clip(RegExpPrototypeGetSource(value), MAX_STRING) + "/" + flags;
  }

  function formatBoxed(valueOf) {
    return (ctx, value, { ctor, tag, fallback }, shape) => {
      const primitive = valueOf(value);
      const other = ctor === fallback ? "" : ctor === null ? " (null prototype)" : " (" + ctor + ")";
      shape.base = "[" + fallback + other + ": " + formatPrimitive(ctx, primitive) + "]";
      if (tag !== "" && tag !== ctor) shape.base += " [" + tag + "]";
      shape.short = shape.base;
      if (typeof primitive === "string") shape.keys = extraKeys(value, primitive.length);
    };
  }

  function formatFunction(ctx, value, { ctor, tag, kind }, shape) {
    // Only of a class is `prototype` there and read-only.
    const prototype = ReflectGetOwnPropertyDescriptor(value, "prototype");
    const isClass = prototype !== undefined && !prototype.writable
      && StringPrototypeStartsWith(FunctionPrototypeToString(value), "class");
    const name = functionName(value);
    const tagText = tag !== "" && tag !== ctor ? " [" + tag + "]" : "";
    if (isClass) {
      const other = ctor !== "Function" && ctor !== null ? " [" + ctor + "]" : "";
      shape.base = "[class " + (name === "" ? "(anonymous)" : name) + other + tagText + extendsText(value, ctor) + "]";
    } else {
      const type = kind === undefined || kind.format !== formatFunction ? "Function" : kind.name;
      const bare = ctor === null ? " (null prototype)" : "";
      const other = ctor !== type && ctor !== null ? " " + ctor : "";
      shape.base = "[" + type + bare + (name === "" ? " (anonymous)" : ": " + name) + "]" + other + tagText;
    }
    shape.short = shape.base;
  }

  function extendsText(value, ctor) {
    if (ctor === null) return " extends [null prototype]";
    const base = ReflectGetPrototypeOf(value);
    const name = typeof base === "function" && !isProxy(base) ? functionName(base) : "";
    return name === "" ? "" : " extends " + name;
  }

  // ---- Errors ----------------------------------------------------------------------------------------------------

  function formatError(ctx, value, about, shape) {
    const name = chainedValue(value, "name");
    const message = chainedValue(value, "message");
    const stack = errorStack(value);
    shape.keys = errorKeys(value, stack);
    let text = withClassName(stack, about, typeof name === "string" ? clip(name, MAX_NAME) : "Error");
    const at = typeof message === "string" && message !== "" ? StringPrototypeIndexOf(text, needle(message)) : -1;
    const frames = StringPrototypeIndexOf(text, "\n    at", at < 0 ? 0 : at + message.length);
    // Brackets tell an error without a stack from its message.
    if (frames < 0) text = "[" + text + "]";
    else text = StringPrototypeSlice(text, 0, frames + 1) + ownFrames(text, frames + 1, value);
    shape.base = ctx.indent === 0 ? text : join(lines(text, 0), "\n" + spaces(ctx.indent));
    shape.short = shape.base;
  }

  /** The stack as it is; where an engine leaves the first line out, or there is none, that line is made. */
  function errorStack(error) {
    let stack;
    try {
      stack = chainedValue(error, "stack");
    } catch {
      // Engines make it when it is first asked for, and may run the program's code to do so.
    }
    let text = typeof stack === "string" ? clip(stack, MAX_STACK) : "";
    if (StringPrototypeEndsWith(text, "\n")) text = StringPrototypeSlice(text, 0, text.length - 1);
    if (text !== "" && !StringPrototypeStartsWith(text, "    at ")) return text;
    const name = chainedValue(error, "name");
    const message = chainedValue(error, "message");
    let first = typeof name === "string" ? clip(name, MAX_NAME) : "Error";
    if (typeof message === "string" && message !== "") {
      first += (first === "" ? "" : ": ") + clip(message, MAX_STACK);
    }
    return text === "" ? first : first + "\n" + text;
  }

  /** What is searched for instead of a long text: searching is at worst a product of both lengths. */
  function needle(text) {
    return StringPrototypeSlice(text, 0, MAX_NAME);
  }

  /** Extra properties, the cause and the errors of an aggregate; not what the stack already says. */
  function errorKeys(error, stack) {
    const own = ownKeys(error);
    const keys = list();
    let hasCause = false;
    let hasErrors = false;
    for (let i = 0; i < own.length; i++) {
      const key = own[i];
      if (key === "name" || key === "message" || key === "stack") {
        const value = ownValue(error, key);
        if (typeof value === "string" && StringPrototypeIncludes(stack, needle(value))) continue;
      }
      hasCause ||= key === "cause";
      hasErrors ||= key === "errors";
      add(keys, key);
    }
    if (!hasCause && ObjectHasOwn(error, "cause")) add(keys, "cause");
    if (!hasErrors && isOwnArray(error, "errors")) add(keys, "errors");
    return keys;
  }

  function isOwnArray(object, key) {
    const value = ownValue(object, key);
    return typeof value === "object" && !isProxy(value) && ArrayIsArray(value);
  }

  /** Stacks begin with the name the prototype has, often just `Error`: put the class there. */
  function withClassName(stack, about, name) {
    let length = name.length;
    if (about.ctor === null) {
      length = errorWordLength(stack);
    } else if (!StringPrototypeEndsWith(name, "Error") || !StringPrototypeStartsWith(stack, name)
      || (stack.length > length && stack[length] !== ":" && stack[length] !== "\n")) {
      return stack;
    }
    const word = StringPrototypeSlice(stack, 0, length);
    const full = title(about, about.ctor === null && word !== "" ? word : "Error");
    if (full === name) return stack;
    if (!StringPrototypeIncludes(full, name)) return full + " [" + name + "]" + StringPrototypeSlice(stack, length);
    return length === 0 ? full + ": " + stack : full + StringPrototypeSlice(stack, length);
  }

  /** Length of the class name a stack begins with; 0 when it begins with something else. */
  function errorWordLength(stack) {
    let i = 0;
    while (i < stack.length && i < MAX_NAME && isWordCode(StringPrototypeCharCodeAt(stack, i), i)) i++;
    return i === stack.length || stack[i] === ":" || StringPrototypeStartsWith(stack, "\n    at", i) ? i : 0;
  }

  /** The frames from `from` on; of a long run that the cause's stack repeats, only the ends. */
  function ownFrames(text, from, error) {
    const cause = ownValue(error, "cause");
    const isError = typeof cause === "object" && cause !== null && !isProxy(cause) && inherits(cause, ErrorPrototype);
    const causeStack = isError ? errorStack(cause) : "";
    const causeFrom = StringPrototypeIndexOf(causeStack, "\n    at");
    if (causeFrom < 0) return StringPrototypeSlice(text, from);
    const frames = lines(text, from);
    const others = lines(causeStack, causeFrom + 1);
    for (let i = 0; i < frames.length && i < MAX_FRAMES; i++) {
      const run = commonRun(frames, i, others);
      if (run <= 3) continue;
      const kept = list();
      for (let j = 0; j <= i; j++) add(kept, frames[j]);
      add(kept, "    ... " + (run - 2) + " lines matching cause stack trace ...");
      for (let j = i + run - 1; j < frames.length; j++) add(kept, frames[j]);
      return join(kept, "\n");
    }
    return StringPrototypeSlice(text, from);
  }

  function commonRun(frames, from, others) {
    for (let i = 0; i < others.length && i < MAX_FRAMES; i++) {
      if (others[i] !== frames[from]) continue;
      let run = 1;
      while (from + run < frames.length && i + run < others.length && frames[from + run] === others[i + run]) run++;
      return run;
    }
    return 0;
  }

  // ---- Tables ----------------------------------------------------------------------------------------------------

  const UNKNOWN = 3; // the state of a promise, without the host's help

  const REGEXP_FLAGS = [
    ["d", RegExpPrototypeGetHasIndices], ["g", RegExpPrototypeGetGlobal], ["i", RegExpPrototypeGetIgnoreCase],
    ["m", RegExpPrototypeGetMultiline], ["s", RegExpPrototypeGetDotAll], ["u", RegExpPrototypeGetUnicode],
    ["v", RegExpPrototypeGetUnicodeSets], ["y", RegExpPrototypeGetSticky],
  ];

  // A kind: `name` where the class has none, `check` that throws or returns false for an impostor, `format`.
  const kind = (name, check, format) => ({ name, check, format });
  const PLAIN = kind("Object", undefined, formatPlain);
  const ARGUMENTS = kind("Object", undefined, formatArguments);
  const ARRAY = kind("Array", undefined, formatArray);
  const TYPED_ARRAY = kind("TypedArray", undefined, formatTypedArray);
  const FUNCTION = kind("Function", undefined, formatFunction);

  /** From `[object X]` to kind. */
  const KINDS_BY_MARK = new Map();
  /** Kinds that only a failing call tells apart. */
  const UNMARKED_KINDS = list();

  function addKind(prototype, name, check, format) {
    const added = kind(name, check, format);
    MapPrototypeSet(inspector.KINDS, prototype, added);
    return added;
  }

  function addUnmarked(prototype, name, check, format) {
    add(UNMARKED_KINDS, addKind(prototype, name, check, format));
  }

  function addMarked(prototype, name, check, format) {
    const added = addKind(prototype, name, check, format);
    MapPrototypeSet(KINDS_BY_MARK, "[object " + name + "]", added);
    return added;
  }

  const ANY_KEY = {};
  const mapFormat = formatCollection(MapPrototypeGetSize, mapItems);
  const setFormat = formatCollection(SetPrototypeGetSize, setItems);
  const ERROR = addMarked(ErrorPrototype, "Error", undefined, formatError);
  addMarked(DatePrototype, "Date", DatePrototypeGetTime, formatAsText(dateText));
  addMarked(RegExpPrototype, "RegExp", RegExpPrototypeGetSource, formatAsText(regExpText));
  addMarked(StringPrototype, "String", StringPrototypeValueOf, formatBoxed(StringPrototypeValueOf));
  addMarked(NumberPrototype, "Number", NumberPrototypeValueOf, formatBoxed(NumberPrototypeValueOf));
  addMarked(BooleanPrototype, "Boolean", BooleanPrototypeValueOf, formatBoxed(BooleanPrototypeValueOf));
  addKind(BigIntPrototype, "BigInt", BigIntPrototypeValueOf, formatBoxed(BigIntPrototypeValueOf));
  addKind(SymbolPrototype, "Symbol", SymbolPrototypeValueOf, formatBoxed(SymbolPrototypeValueOf));
  addKind(AsyncFunctionPrototype, "AsyncFunction", undefined, formatFunction);
  addKind(GeneratorFunctionPrototype, "GeneratorFunction", undefined, formatFunction);
  addKind(AsyncGeneratorFunctionPrototype, "AsyncGeneratorFunction", undefined, formatFunction);
  addKind(MapIteratorPrototype, "Map", undefined, formatIterator);
  addKind(SetIteratorPrototype, "Set", undefined, formatIterator);
  addUnmarked(MapPrototype, "Map", MapPrototypeGetSize, mapFormat);
  addUnmarked(SetPrototype, "Set", SetPrototypeGetSize, setFormat);
  addUnmarked(WeakMapPrototype, "WeakMap", (v) => void WeakMapPrototypeHas(v, ANY_KEY), formatWeak);
  addUnmarked(WeakSetPrototype, "WeakSet", (v) => void WeakSetPrototypeHas(v, ANY_KEY), formatWeak);
  addUnmarked(ArrayBufferPrototype, "ArrayBuffer", ArrayBufferPrototypeGetByteLength, formatArrayBuffer);
  addUnmarked(DataViewPrototype, "DataView", ArrayBufferIsView, formatDataView);
  addUnmarked(PromisePrototype, "Promise", (v) => promiseState(v) !== undefined, formatPromise);
  for (let i = 0; i < TemporalPrototypes.length; i++) {
    const toText = uncurryThis(TemporalPrototypes[i].toString);
    addKind(TemporalPrototypes[i], TemporalPrototypes[i][SymbolToStringTag], toText, formatTemporal(toText));
  }

  inspector.kindOf = kindOf;

  /** Shows instances of a built-in class of ours by `view(instance)`, an object of the fields that matter. */
  internals.setInspectView = (prototype, view) => {
    addKind(prototype, "Object", undefined, (ctx, value, about, shape) => {
      formatPlain(ctx, value, about, shape);
      shape.subject = view(value);
      shape.keys = ObjectKeys(shape.subject);
    });
  };
})(globalThis.__internals);
