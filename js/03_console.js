// Turns values into the text that `console.log` and its four sisters put into the log: a look-alike of Node's
// `util.inspect` (depth 4, at most 100 items, strings cut at 10 000, lines of 128, three levels on one line).
//
// Three files: 02_text.js (quotes, widths, columns), this one (values, properties, layout, what an object is), and
// 03_console_kinds.js (one formatter for each kind of built-in object).
//
// What always holds:
// - Nothing a program wrote runs while its values are formatted: getters are named, not called; proxies are looked
//   through by the engine; properties are read by descriptor, along prototype chains too. (One exception is not ours:
//   engines make an error's stack when it is first read, and may ask for the error's name to do so.)
// - `inspect` returns a string for every value. It does not throw.
// - Work and output are bounded, however large or shared the value is.
//
// What JavaScript cannot see, the host tells through `internals.native`, read at each call. Every member may be absent:
//   isProxy(v) -> boolean
//   proxyDetails(v) -> [target, handler], [null, null] of a revoked one, or undefined
//   promiseState(v) -> [0 pending | 1 fulfilled | 2 rejected, value], or undefined
//   previewEntries(v) -> of a Map or Set iterator [flat list of what is left, whether keys and values alternate]
//   ownNonIndexKeys(v) -> own enumerable string and symbol keys that are not array indices
// `native` itself has no prototype. Without the first two members, a proxy is taken for the object it imitates, and
// its traps run.
((internals) => {
  "use strict";

  const {
    ErrorStackGetter, Map, MapPrototypeGet, MapPrototypeGetSize, MapPrototypeSet, MathFloor,
    ObjectGetOwnPropertySymbols, ObjectHasOwn, ObjectIs, ObjectKeys, ObjectPrototype,
    ObjectPrototypePropertyIsEnumerable, ReflectApply, ReflectGetOwnPropertyDescriptor, ReflectGetPrototypeOf,
    StringPrototypeIncludes, StringPrototypeIndexOf, StringPrototypeSlice, SymbolPrototypeGetDescription,
    SymbolToStringTag, TypedArrayPrototypeGetSymbolToStringTag, TypedArrayTagGetter, list,
  } = internals.primordials;
  const { LINE_WIDTH, add, clip, escape, inColumns, isWord, join, more, quote, spaces } = internals.text;

  // Layout, as the contract has it; line width and items per collection are in 02_text.js.
  const MAX_DEPTH = 4;
  const MAX_STRING = 10_000;
  const LEVELS_ON_ONE_LINE = 3;

  // Bounds of our own, for values made to hurt.
  const MAX_TEXT = 1 << 20; // characters of one inspected value, and the measure of work spent on it
  const KEYS_PER_CHARACTER = 8; // listing keys is work as well,
  const OBJECT_CHARACTERS = 32; // and so is finding out what an object is
  const MAX_NAME = 1_000; // characters of a class, function or tag name
  const MAX_CHAIN = 100; // prototypes looked at
  const BIGINT_LIMIT = 1n << 33_219n; // about 10 ** 10 000: printing is more than linear work in the digits

  const UNREADABLE = "[value could not be inspected]";

  // The records made for every value have no null prototype: V8 would keep them as slow dictionaries. All their fields
  // are own from the start, so that none is ever looked up further.

  // ---- What the other scripts use --------------------------------------------------------------------------------

  /** The text of any one value; a string comes quoted. Never throws. */
  internals.inspect = (value) => {
    try {
      const ctx = { indent: 0, spent: 0, probes: 0, lastLevel: 0, path: list(), refs: undefined };
      return clip(formatValue(ctx, value, 0), MAX_TEXT);
    } catch {
      return UNREADABLE; // Most likely the call stack is full: nothing may be called here.
    }
  };

  /** One log entry: strings as they are, other values inspected, one space between. `args` has own indices. */
  internals.formatLog = (args) => {
    let text = "";
    try {
      for (let i = 0; i < args.length; i++) {
        if (i > 0) text += " ";
        text += typeof args[i] === "string" ? args[i] : internals.inspect(args[i]);
      }
    } catch {
      // Longer than the engine's longest string: what fits is the entry.
    }
    return text;
  };

  /** The object programs get as `console`; `emit(text)` is called once per call. Methods cannot be constructed. */
  internals.makeConsole = (emit) => {
    const { formatLog } = internals;
    return {
      __proto__: null,
      log(...args) { emit(formatLog(args)); },
      info(...args) { emit(formatLog(args)); },
      warn(...args) { emit(formatLog(args)); },
      error(...args) { emit(formatLog(args)); },
      debug(...args) { emit(formatLog(args)); },
    };
  };

  // ---- Values ----------------------------------------------------------------------------------------------------

  /** `level` counts the objects around the value; `ctx` is the state of one `inspect`. */
  function formatValue(ctx, value, level) {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      return charge(ctx, formatPrimitive(ctx, value));
    }
    const { indent } = ctx;
    const depth = ctx.path.length;
    try {
      const target = behindProxies(value);
      if (typeof target === "string") return charge(ctx, target);
      for (let i = 0; i < depth; i++) {
        if (ctx.path[i] === target) return charge(ctx, "[Circular *" + reference(ctx, target) + "]");
      }
      return formatObject(ctx, target, level);
    } catch {
      // A full call stack, or an unreported proxy with throwing traps: lose this value only.
      ctx.indent = indent;
      ctx.path.length = depth;
      return UNREADABLE;
    }
  }

  /** Counts what was written, so that loops know when to stop. */
  function charge(ctx, text) {
    ctx.spent += text.length + 2;
    return text;
  }

  function hasRoom(ctx) {
    return ctx.spent <= MAX_TEXT;
  }

  function formatPrimitive(ctx, value) {
    switch (typeof value) {
      case "string": return formatString(ctx, value);
      case "number": return ObjectIs(value, -0) ? "-0" : "" + value;
      case "bigint": return formatBigInt(value);
      case "symbol": return formatSymbol(value);
      default: return "" + value;
    }
  }

  function formatSymbol(symbol) {
    return "Symbol(" + clip(SymbolPrototypeGetDescription(symbol) ?? "", MAX_STRING) + ")";
  }

  /** Long strings go on lines of their own, cut after each line feed. */
  function formatString(ctx, value) {
    let rest = "";
    if (value.length > MAX_STRING) {
      rest = more(value.length - MAX_STRING, "character", "characters");
      value = StringPrototypeSlice(value, 0, MAX_STRING);
    }
    if (value.length <= 16 || value.length <= LINE_WIDTH - ctx.indent - 4) return quote(value) + rest;
    const separator = " +\n" + spaces(ctx.indent + 2);
    let text = "";
    for (let from = 0; from < value.length;) {
      const feed = StringPrototypeIndexOf(value, "\n", from);
      const end = feed < 0 ? value.length : feed + 1;
      text += (from > 0 ? separator : "") + quote(StringPrototypeSlice(value, from, end));
      from = end;
    }
    return text + rest;
  }

  function formatBigInt(value) {
    return value < BIGINT_LIMIT && value > -BIGINT_LIMIT ? value + "n" : "[BigInt of more than 10000 digits]";
  }

  /** What is behind a proxy, however many there are, or a text when nothing is. */
  function behindProxies(value) {
    const { native } = internals;
    if (native === undefined) return value;
    while (isProxy(value)) {
      const details = native.proxyDetails === undefined ? undefined : native.proxyDetails(value);
      if (details === undefined) return "[Proxy]";
      value = details[0];
      if (value === null || (typeof value !== "object" && typeof value !== "function")) return "<Revoked Proxy>";
    }
    return value;
  }

  function isProxy(value) {
    const { native } = internals;
    if (native === undefined) return false;
    if (native.isProxy !== undefined) return native.isProxy(value);
    return native.proxyDetails !== undefined && native.proxyDetails(value) !== undefined;
  }

  /** The number of a value that contains itself, given at the first meeting. */
  function reference(ctx, value) {
    ctx.refs ??= new Map();
    let number = MapPrototypeGet(ctx.refs, value);
    if (number === undefined) {
      number = MapPrototypeGetSize(ctx.refs) + 1;
      MapPrototypeSet(ctx.refs, value, number);
    }
    return number;
  }

  // ---- Objects ---------------------------------------------------------------------------------------------------

  /**
   * A kind's formatter fills in the shape: `base` stands before the brackets, `items` writes what is not a property,
   * `keys` are the properties of `subject`, and `short` is the whole text when there are none.
   */
  function formatObject(ctx, value, level) {
    const about = describe(value, level);
    const shape = {
      base: "", open: "{", close: "}", items: undefined, subject: value, keys: undefined, short: undefined, grid: false,
    };
    const kind = inspector.kindOf(value, about);
    about.fallback = kind.name;
    if (about.opaque) about.ctor ??= kind.name;
    kind.format(ctx, value, about, shape);
    shape.keys ??= ownKeys(value);
    ctx.spent += OBJECT_CHARACTERS + MathFloor(shape.keys.length / KEYS_PER_CHARACTER);
    if (shape.keys.length === 0 && shape.short !== undefined) return charge(ctx, shape.short);
    if (level > MAX_DEPTH) {
      const text = title(about, about.fallback);
      return charge(ctx, about.ctor === null ? text : "[" + text + "]");
    }

    const inner = level + 1;
    const entries = list();
    const depth = ctx.path.length;
    ctx.path[depth] = value;
    ctx.lastLevel = inner;
    charge(ctx, shape.base + shape.open);
    if (shape.items !== undefined) shape.items(ctx, value, inner, entries);
    propertyEntries(ctx, shape.subject, inner, shape.keys, entries);
    ctx.path.length = depth;

    const number = ctx.refs === undefined ? undefined : MapPrototypeGet(ctx.refs, value);
    if (number !== undefined) shape.base = "<ref *" + number + ">" + (shape.base === "" ? "" : " " + shape.base);
    return layOut(ctx, entries, shape, inner);
  }

  function propertyEntries(ctx, object, level, keys, entries) {
    for (let i = 0; i < keys.length; i++) {
      if (!hasRoom(ctx)) {
        add(entries, more(keys.length - i, "property", "properties"));
        return;
      }
      const descriptor = ReflectGetOwnPropertyDescriptor(object, keys[i]);
      if (descriptor === undefined) continue;
      const name = charge(ctx, formatKey(keys[i], descriptor.enumerable));
      add(entries, name + ": " + formatProperty(ctx, descriptor, level));
    }
  }

  function formatKey(key, enumerable) {
    if (typeof key === "symbol") return "[" + escape(formatSymbol(key)) + "]";
    if (key === "__proto__") return "['__proto__']";
    key = clip(key, MAX_STRING);
    if (!enumerable) return "[" + escape(key) + "]";
    return isWord(key) ? key : quote(key);
  }

  function formatProperty(ctx, descriptor, level) {
    if (ObjectHasOwn(descriptor, "value")) return formatIndented(ctx, descriptor.value, level);
    if (descriptor.get === undefined) return charge(ctx, descriptor.set === undefined ? "undefined" : "[Setter]");
    return charge(ctx, descriptor.set === undefined ? "[Getter]" : "[Getter/Setter]");
  }

  function formatIndented(ctx, value, level) {
    ctx.indent += 2;
    const text = formatValue(ctx, value, level);
    ctx.indent -= 2;
    return text;
  }

  /** Puts the entries on one line if they are the innermost levels and fit, else each on a line of its own. */
  function layOut(ctx, entries, { base, open, close, grid, subject }, level) {
    const lead = base === "" ? open : base + " " + open;
    let rows = entries;
    if (grid && entries.length > 6) rows = inColumns(entries, ctx.indent, allNumbers(subject, entries.length));
    if (rows === entries && ctx.lastLevel - level < LEVELS_ON_ONE_LINE && !StringPrototypeIncludes(base, "\n")) {
      let room = LINE_WIDTH - ctx.indent - open.length - base.length - 10 - 2 * entries.length;
      for (let i = 0; i < entries.length && room >= 0; i++) room -= entries[i].length;
      const line = room < 0 ? "\n" : join(entries, ", ");
      if (!StringPrototypeIncludes(line, "\n")) return lead + " " + line + " " + close;
    }
    const newLine = "\n" + spaces(ctx.indent);
    return lead + newLine + "  " + join(rows, "," + newLine + "  ") + newLine + close;
  }

  function allNumbers(array, count) {
    for (let i = 0; i < count; i++) {
      const type = typeof ownValue(array, i);
      if (type !== "number" && type !== "bigint") return false;
    }
    return true;
  }

  // ---- What an object is -----------------------------------------------------------------------------------------

  /**
   * One walk along the prototype chain: `ctor` is the name of the class, null without one; `tag` is the
   * `Symbol.toStringTag` that is worth showing; `kind` is the built-in class nearest in the chain. A chain that leads
   * to a proxy is `opaque` from there on.
   */
  function describe(value, level) {
    const about = { ctor: null, tag: "", tagged: false, kind: undefined, opaque: false, fallback: "" };
    let object = value;
    for (let step = 0; object !== null; step++) {
      if (step > 0) {
        const kind = MapPrototypeGet(KINDS, object);
        if (step > MAX_CHAIN || (kind === undefined && object !== ObjectPrototype && isProxy(object))) {
          about.opaque = true;
          break;
        }
        about.kind ??= kind;
      }
      if (!about.tagged) readTag(about, object, value);
      about.ctor ??= className(object, value);
      object = ReflectGetPrototypeOf(object);
    }
    if (about.ctor === null && !about.opaque) about.ctor = nameByPrototype(value, level);
    return about;
  }

  /** An own enumerable tag is shown as the property it is, so not again before the brackets. */
  function readTag(about, object, value) {
    const descriptor = ReflectGetOwnPropertyDescriptor(object, SymbolToStringTag);
    if (descriptor === undefined) return;
    about.tagged = true;
    if (object === value && descriptor.enumerable) return;
    let tag;
    if (ObjectHasOwn(descriptor, "value")) tag = descriptor.value;
    else if (descriptor.get === TypedArrayTagGetter) tag = TypedArrayPrototypeGetSymbolToStringTag(value);
    if (typeof tag === "string") about.tag = clip(tag, MAX_NAME);
  }

  /** The name of the class whose prototype `object` is or claims to be, if `value` is an instance of it. */
  function className(object, value) {
    const constructor = ownValue(object, "constructor");
    if (typeof constructor !== "function" || isProxy(constructor)) return null;
    const name = functionName(constructor);
    if (name === "") return null;
    const prototype = ownValue(constructor, "prototype");
    if (prototype === object) return object === value ? null : name;
    return prototype !== undefined && inherits(value, prototype) ? name : null;
  }

  function inherits(object, prototype) {
    for (let step = 0; step < MAX_CHAIN && !isProxy(object); step++) {
      object = ReflectGetPrototypeOf(object);
      if (object === null) return false;
      if (object === prototype) return true;
    }
    return false;
  }

  function functionName(value) {
    const name = ownValue(value, "name");
    return typeof name === "string" ? clip(name, MAX_NAME) : "";
  }

  /** No class in the chain: null for a null prototype, else a name that shows the chain. */
  function nameByPrototype(value, level) {
    const prototype = ReflectGetPrototypeOf(value);
    if (prototype === null) return null;
    if (level > MAX_DEPTH) return "Object <Complex prototype>";
    const name = describe(prototype, level + 1).ctor;
    if (name !== null) return "Object <" + name + ">";
    return "Object <[Object: null prototype]" + (ownKeys(prototype).length === 0 ? " {}" : "") + ">";
  }

  /** How the object is introduced: class, size, and the tag where it says something else. */
  function title({ ctor, tag }, fallback, size = "") {
    const known = ctor ?? fallback;
    const name = ctor === null ? "[" + known + size + ": null prototype]" : known + size;
    return tag === "" || tag === known ? name : name + " [" + tag + "]";
  }

  // ---- Reading without running anything --------------------------------------------------------------------------

  // Of a property descriptor, `get` and `set` are read only where there is no own `value`: absent fields would be
  // looked up in `Object.prototype`. (`ownDescriptor` avoids that too, but this is a busy place, and it costs more.)

  /** The own data property, or undefined. */
  function ownValue(object, key) {
    const descriptor = ReflectGetOwnPropertyDescriptor(object, key);
    return descriptor !== undefined && ObjectHasOwn(descriptor, "value") ? descriptor.value : undefined;
  }

  /** The data property of the object or of the nearest prototype that has it; of getters only that of stacks runs. */
  function chainedValue(object, key) {
    const start = object;
    for (let step = 0; object !== null && step < MAX_CHAIN && !isProxy(object); step++) {
      const descriptor = ReflectGetOwnPropertyDescriptor(object, key);
      if (descriptor !== undefined) {
        if (ObjectHasOwn(descriptor, "value")) return descriptor.value;
        const ours = descriptor.get !== undefined && descriptor.get === ErrorStackGetter;
        return ours ? ReflectApply(ErrorStackGetter, start, []) : undefined;
      }
      object = ReflectGetPrototypeOf(object);
    }
    return undefined;
  }

  /** Own enumerable keys, symbols last. */
  function ownKeys(object) {
    const keys = ObjectKeys(object);
    const symbols = ObjectGetOwnPropertySymbols(object);
    if (symbols.length === 0) return keys;
    const all = list();
    for (let i = 0; i < keys.length; i++) add(all, keys[i]);
    for (let i = 0; i < symbols.length; i++) {
      if (ObjectPrototypePropertyIsEnumerable(object, symbols[i])) add(all, symbols[i]);
    }
    return all;
  }

  // ---- What 03_console_kinds.js builds on, and where it puts what it knows ---------------------------------------

  /** From built-in prototype to kind. */
  const KINDS = new Map();

  const inspector = {
    __proto__: null,
    KINDS,
    kindOf: undefined,
    charge, chainedValue, formatIndented, formatPrimitive, formatProperty, formatValue, functionName, hasRoom,
    inherits, isProxy, layOut, ownKeys, ownValue, title, KEYS_PER_CHARACTER, MAX_NAME, MAX_STRING,
  };
  internals.inspector = inspector;
})(globalThis.__internals);
