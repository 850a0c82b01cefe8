// Text as the console writes it: quotes and escapes, widths, columns. Pure functions over strings and lists.
//
// No regular expressions: matching one would show in the program's `RegExp.$1` and its sisters.
((internals) => {
  "use strict";

  const {
    MathFloor, MathMax, MathMin, MathRound, MathSqrt, NumberPrototypeToString, StringPrototypeCharCodeAt,
    StringPrototypeCodePointAt, StringPrototypeIncludes, StringPrototypeIndexOf, StringPrototypePadStart,
    StringPrototypeRepeat, StringPrototypeSlice, StringPrototypeToUpperCase, list,
  } = internals.primordials;

  const LINE_WIDTH = 128;
  const MAX_ITEMS = 100;
  const MAX_COLUMNS = 12;

  /**
   * Lays out many short entries in at most 12 columns, so that the block is about two and a half times as wide as high.
   * Returns `entries` itself where columns do not help.
   */
  function inColumns(entries, indent, toTheRight) {
    const counted = entries.length > MAX_ITEMS ? entries.length - 1 : entries.length; // without `... n more items`
    const widths = list();
    let total = 0;
    let widest = 0;
    for (let i = 0; i < counted; i++) {
      const width = textWidth(entries[i]);
      add(widths, width);
      total += width + 2;
      widest = MathMax(widest, width);
      if ((widest + 2) * 3 + indent >= LINE_WIDTH) return entries;
    }
    const cell = widest + 2;
    if (total / cell <= 5 && widest > 6) return entries;

    const typical = MathMax(cell - 3 - MathSqrt(cell - total / entries.length), 1);
    const count = MathMin(
      MathRound(MathSqrt(2.5 * typical * counted) / typical),
      MathFloor((LINE_WIDTH - indent) / cell),
      MAX_COLUMNS,
    );
    if (count <= 1) return entries;

    const columnWidths = list();
    for (let column = 0; column < count; column++) {
      let width = 0;
      for (let i = column; i < counted; i += count) width = MathMax(width, widths[i]);
      add(columnWidths, width + 2);
    }
    const rows = list();
    for (let from = 0; from < counted; from += count) {
      const last = MathMin(from + count, counted) - 1;
      let row = "";
      for (let i = from; i <= last; i++) {
        const text = i < last ? `${entries[i]}, ` : entries[i];
        const padding = spaces(columnWidths[i - from] - widths[i] - 2);
        row += toTheRight ? padding + text : i < last ? text + padding : text;
      }
      add(rows, row);
    }
    if (counted < entries.length) add(rows, entries[counted]);
    return rows;
  }

  function add(to, item) {
    to[to.length] = item; // `to` is a `list()`: no setter can be in the way.
  }

  function join(parts, separator) {
    let text = "";
    for (let i = 0; i < parts.length; i++) text += i > 0 ? separator + parts[i] : parts[i];
    return text;
  }

  function lines(text, from) {
    const parts = list();
    for (;;) {
      const end = StringPrototypeIndexOf(text, "\n", from);
      if (end < 0) break;
      add(parts, StringPrototypeSlice(text, from, end));
      from = end + 1;
    }
    add(parts, StringPrototypeSlice(text, from));
    return parts;
  }

  function spaces(count) {
    return StringPrototypeRepeat(" ", MathMax(count, 0));
  }

  function more(count, one, many) {
    return `... ${count} more ${count > 1 ? many : one}`;
  }

  function clip(text, length) {
    if (text.length <= length) return text;
    return StringPrototypeSlice(text, 0, length) + more(text.length - length, "character", "characters");
  }

  /** Single quotes, or the first other kind that spares escapes. */
  function quote(text) {
    if (!StringPrototypeIncludes(text, "'")) return `'${escape(text)}'`;
    if (!StringPrototypeIncludes(text, '"')) return `"${escape(text, false)}"`;
    if (StringPrototypeIncludes(text, "`") || StringPrototypeIncludes(text, "${")) return `'${escape(text)}'`;
    return `\`${escape(text, false)}\``;
  }

  /** Backslashes before what is not printable: controls, lone surrogates, the backslash, the single quote. */
  function escape(text, singleQuote = true) {
    let out = "";
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = StringPrototypeCharCodeAt(text, i);
      if (code > 0x9f ? code < 0xd800 || code > 0xdfff : code > 0x1f && code < 0x7f) {
        if (code !== 0x5c && (code !== 0x27 || !singleQuote)) continue;
      }
      if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
        const low = StringPrototypeCharCodeAt(text, i + 1);
        if (low >= 0xdc00 && low <= 0xdfff) {
          i++;
          continue;
        }
      }
      out += StringPrototypeSlice(text, from, i) + escapeCode(code);
      from = i + 1;
    }
    return from === 0 ? text : out + StringPrototypeSlice(text, from);
  }

  function escapeCode(code) {
    switch (code) {
      case 0x08: return "\\b";
      case 0x09: return "\\t";
      case 0x0a: return "\\n";
      case 0x0c: return "\\f";
      case 0x0d: return "\\r";
      case 0x27: return "\\'";
      case 0x5c: return "\\\\";
    }
    const hex = NumberPrototypeToString(code, 16);
    return code > 0xff ? `\\u${hex}` : `\\x${StringPrototypePadStart(StringPrototypeToUpperCase(hex), 2, "0")}`;
  }

  /** Whether a key needs no quotes. `$` is not among the letters. */
  function isWord(text) {
    for (let i = 0; i < text.length; i++) {
      if (!isWordCode(StringPrototypeCharCodeAt(text, i), i)) return false;
    }
    return text.length > 0;
  }

  function isWordCode(code, place) {
    return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f
      || (place > 0 && code >= 0x30 && code <= 0x39);
  }

  /** Columns of a terminal: none for controls and marks, two for wide letters and most emoji. */
  function textWidth(text) {
    let width = 0;
    for (let i = 0; i < text.length; i++) {
      const code = StringPrototypeCodePointAt(text, i);
      if (code > 0xffff) i++;
      if (code < 0x7f) width += code < 0x20 ? 0 : 1;
      else width += within(code, NO_WIDTH) ? 0 : within(code, DOUBLE_WIDTH) ? 2 : 1;
    }
    return width;
  }

  function within(code, ranges) {
    for (let i = 0; i < ranges.length; i += 2) {
      if (code <= ranges[i + 1]) return code >= ranges[i];
    }
    return false;
  }

  // Ranges of code points, ascending.
  const NO_WIDTH = [
    0x7f, 0x9f, 0x300, 0x36f, 0x483, 0x489, 0x591, 0x5bd, 0x610, 0x61a, 0x64b, 0x65f, 0x200b, 0x200f, 0x202a, 0x202e,
    0x2060, 0x2064, 0x20d0, 0x20f0, 0xfe00, 0xfe0f, 0xfe20, 0xfe2f, 0xfeff, 0xfeff, 0xe0001, 0xe01ef,
  ];
  const DOUBLE_WIDTH = [
    0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x23f0, 0x23f0, 0x23f3, 0x23f3, 0x25fd, 0x25fe,
    0x2614, 0x2615, 0x2648, 0x2653, 0x267f, 0x267f, 0x2693, 0x2693, 0x26a1, 0x26a1, 0x26aa, 0x26ab, 0x26bd, 0x26be,
    0x26c4, 0x26c5, 0x26ce, 0x26ce, 0x26d4, 0x26d4, 0x26ea, 0x26ea, 0x26f2, 0x26f3, 0x26f5, 0x26f5, 0x26fa, 0x26fa,
    0x26fd, 0x26fd, 0x2705, 0x2705, 0x270a, 0x270b, 0x2728, 0x2728, 0x274c, 0x274c, 0x274e, 0x274e, 0x2753, 0x2755,
    0x2757, 0x2757, 0x2795, 0x2797, 0x27b0, 0x27b0, 0x27bf, 0x27bf, 0x2b1b, 0x2b1c, 0x2b50, 0x2b50, 0x2b55, 0x2b55,
    0x2e80, 0x303e, 0x3041, 0xa4cf, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19, 0xfe30, 0xfe6b,
    0xff01, 0xff60, 0xffe0, 0xffe6, 0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1faff, 0x20000, 0x3fffd,
  ];

  internals.text = {
    __proto__: null,
    LINE_WIDTH, MAX_ITEMS, add, clip, escape, inColumns, isWord, isWordCode, join, lines, more, quote, spaces,
  };
})(globalThis.__internals);
// Turns values into the text that `console.log` and its four sisters put into the log: a look-alike of Node's
// `util.inspect` (depth 4, at most 100 items, strings cut at 10 000, lines of 128, three levels on one line).
//
// What always holds:
// - Nothing a program wrote runs while its values are formatted: getters are named, not called; proxies are looked
//   through by the engine; properties are read by descriptor, along prototype chains too.
// - `inspect` returns a string for every value. It does not throw.
// - Work and output are bounded, however large or shared the value is.
//
// What JavaScript cannot see, the host tells through `internals.native`, read at each call. Every member may be absent:
//   isProxy(v) -> boolean                      proxyDetails(v) -> [target, handler] | undefined; [null, null] if revoked
//   promiseState(p) -> [0 pending | 1 fulfilled | 2 rejected, value] | undefined
//   previewEntries(iterator) -> [entries, isKeyValue] | undefined       (Map and Set iterators, flat list of entries)
//   ownNonIndexKeys(v) -> own enumerable string and symbol keys that are not array indices
// Without the first two, a proxy is taken for the object it imitates, and its traps run.
((internals) => {
  "use strict";

  const {
    ErrorStackGetter, Map, MapPrototypeGet, MapPrototypeGetSize, MapPrototypeSet, ObjectGetOwnPropertySymbols,
    ObjectIs, ObjectKeys, ObjectPrototypePropertyIsEnumerable, ReflectApply, ReflectGetPrototypeOf,
    StringPrototypeIncludes, StringPrototypeIndexOf, StringPrototypeSlice, SymbolPrototypeGetDescription,
    SymbolToStringTag, TypedArrayPrototypeGetSymbolToStringTag, TypedArrayTagGetter, list, ownDescriptor,
  } = internals.primordials;
  const { LINE_WIDTH, MAX_ITEMS, add, clip, escape, inColumns, isWord, join, more, quote, spaces } = internals.text;

  // Layout, as the contract has it; line width and items per collection are in 02_text.js.
  const MAX_DEPTH = 4;
  const MAX_STRING = 10_000;
  const LEVELS_ON_ONE_LINE = 3;

  // Bounds of our own, for values made to hurt.
  const MAX_TEXT = 1 << 20; // characters of one inspected value
  const MAX_NAME = 1_000; // characters of a class, function or tag name
  const MAX_CHAIN = 200; // prototypes looked at
  const BIGINT_LIMIT = 1n << 33_219n; // about 10 ** 10 000: printing is more than linear work in the digits

  const UNREADABLE = "[value could not be inspected]";

  // ---- What the other scripts use --------------------------------------------------------------------------------

  /** The text of any one value; a string comes quoted. Never throws. */
  internals.inspect = (value) => {
    try {
      const ctx = { __proto__: null, indent: 0, spent: 0, probes: 0, lastLevel: 0, path: list(), refs: undefined };
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
        if (ctx.path[i] === target) return charge(ctx, `[Circular *${reference(ctx, target)}]`);
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
      case "number": return ObjectIs(value, -0) ? "-0" : `${value}`;
      case "bigint": return formatBigInt(value);
      case "symbol": return formatSymbol(value);
      default: return `${value}`;
    }
  }

  function formatSymbol(symbol) {
    return `Symbol(${clip(SymbolPrototypeGetDescription(symbol) ?? "", MAX_STRING)})`;
  }

  /** Long strings go on lines of their own, cut after each line feed. */
  function formatString(ctx, value) {
    let rest = "";
    if (value.length > MAX_STRING) {
      rest = more(value.length - MAX_STRING, "character", "characters");
      value = StringPrototypeSlice(value, 0, MAX_STRING);
    }
    if (value.length <= 16 || value.length <= LINE_WIDTH - ctx.indent - 4) return quote(value) + rest;
    const separator = ` +\n${spaces(ctx.indent + 2)}`;
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
    return value < BIGINT_LIMIT && value > -BIGINT_LIMIT ? `${value}n` : "[BigInt of more than 10000 digits]";
  }

  /** What is behind a proxy, however many there are, or a text when nothing is. */
  function behindProxies(value) {
    const { native } = internals;
    if (native === undefined) return value;
    while (isProxy(value)) {
      const details = native.proxyDetails === undefined ? undefined : native.proxyDetails(value);
      if (details === undefined) return "[Proxy]";
      value = details[0];
      if (value === null) return "<Revoked Proxy>";
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
      __proto__: null,
      base: "", open: "{", close: "}", items: undefined, subject: value, keys: undefined, short: undefined, grid: false,
    };
    const kind = inspector.kindOf(value, about);
    about.fallback = kind.name;
    kind.format(ctx, value, about, shape);
    shape.keys ??= ownKeys(value);
    if (shape.keys.length === 0 && shape.short !== undefined) return charge(ctx, shape.short);
    if (level > MAX_DEPTH) {
      const text = title(about, about.fallback);
      return charge(ctx, about.ctor === null ? text : `[${text}]`);
    }

    const inner = level + 1;
    const entries = list();
    const depth = ctx.path.length;
    ctx.path[depth] = value;
    ctx.lastLevel = inner;
    charge(ctx, shape.base + shape.open);
    if (shape.items !== undefined) shape.items(ctx, value, inner, entries, shape);
    propertyEntries(ctx, shape.subject, inner, shape.keys, entries);
    ctx.path.length = depth;

    const number = ctx.refs === undefined ? undefined : MapPrototypeGet(ctx.refs, value);
    if (number !== undefined) shape.base = `<ref *${number}>${shape.base === "" ? "" : ` ${shape.base}`}`;
    return layOut(ctx, entries, shape, inner);
  }

  function propertyEntries(ctx, object, level, keys, entries) {
    for (let i = 0; i < keys.length; i++) {
      if (!hasRoom(ctx)) {
        add(entries, more(keys.length - i, "property", "properties"));
        return;
      }
      const descriptor = ownDescriptor(object, keys[i]);
      if (descriptor === undefined) continue;
      const name = charge(ctx, formatKey(keys[i], descriptor.enumerable));
      add(entries, `${name}: ${formatProperty(ctx, descriptor, level)}`);
    }
  }

  function formatKey(key, enumerable) {
    if (typeof key === "symbol") return `[${escape(formatSymbol(key))}]`;
    if (key === "__proto__") return "['__proto__']";
    key = clip(key, MAX_STRING);
    if (!enumerable) return `[${escape(key)}]`;
    return isWord(key) ? key : quote(key);
  }

  function formatProperty(ctx, { value, get, set }, level) {
    if (get !== undefined) return charge(ctx, set === undefined ? "[Getter]" : "[Getter/Setter]");
    if (set !== undefined) return charge(ctx, "[Setter]");
    return formatIndented(ctx, value, level);
  }

  function formatIndented(ctx, value, level) {
    ctx.indent += 2;
    const text = formatValue(ctx, value, level);
    ctx.indent -= 2;
    return text;
  }

  /** Puts the entries on one line if they are the innermost levels and fit, else each on a line of its own. */
  function layOut(ctx, entries, { base, open, close, grid, subject }, level) {
    const lead = base === "" ? open : `${base} ${open}`;
    const rows = grid && entries.length > 6 ? inColumns(entries, ctx.indent, allNumbers(subject, entries.length)) : entries;
    if (rows === entries && ctx.lastLevel - level < LEVELS_ON_ONE_LINE && !StringPrototypeIncludes(base, "\n")) {
      let room = LINE_WIDTH - ctx.indent - open.length - base.length - 10 - 2 * entries.length;
      for (let i = 0; i < entries.length && room >= 0; i++) room -= entries[i].length;
      const line = room < 0 ? "\n" : join(entries, ", ");
      if (!StringPrototypeIncludes(line, "\n")) return `${lead} ${line} ${close}`;
    }
    const newLine = `\n${spaces(ctx.indent)}`;
    return `${lead}${newLine}  ${join(rows, `,${newLine}  `)}${newLine}${close}`;
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
    const about = { __proto__: null, ctor: null, tag: "", tagged: false, kind: undefined, opaque: false, fallback: "" };
    let object = value;
    for (let step = 0; object !== null; step++) {
      if (step > 0) {
        if (step > MAX_CHAIN || isProxy(object)) {
          about.opaque = true;
          break;
        }
        about.kind ??= MapPrototypeGet(inspector.kinds, object);
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
    const descriptor = ownDescriptor(object, SymbolToStringTag);
    if (descriptor === undefined) return;
    about.tagged = true;
    if (object === value && descriptor.enumerable) return;
    const tag = descriptor.get !== undefined && descriptor.get === TypedArrayTagGetter
      ? TypedArrayPrototypeGetSymbolToStringTag(value)
      : descriptor.value;
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
    if (name !== null) return `Object <${name}>`;
    return ownKeys(prototype).length === 0 ? "Object <[Object: null prototype] {}>" : "Object <[Object: null prototype]>";
  }

  /** How the object is introduced: class, size, and the tag where it says something else. */
  function title({ ctor, tag }, fallback, size = "") {
    const known = ctor ?? fallback;
    const name = ctor === null ? `[${known}${size}: null prototype]` : `${known}${size}`;
    return tag === "" || tag === known ? name : `${name} [${tag}]`;
  }

  // ---- Reading without running anything --------------------------------------------------------------------------

  /** The own data property, or undefined. */
  function ownValue(object, key) {
    const descriptor = ownDescriptor(object, key);
    return descriptor === undefined ? undefined : descriptor.value;
  }

  /** The data property of the object or of the nearest prototype that has it; of getters only that of stacks runs. */
  function chainedValue(object, key) {
    const start = object;
    for (let step = 0; object !== null && step < MAX_CHAIN && !isProxy(object); step++) {
      const descriptor = ownDescriptor(object, key);
      if (descriptor !== undefined) {
        const native = descriptor.get !== undefined && descriptor.get === ErrorStackGetter;
        return native ? ReflectApply(ErrorStackGetter, start, []) : descriptor.value;
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

  /** What 03_console_kinds.js builds on, and where it puts what it knows. */
  const inspector = {
    __proto__: null,
    /** From built-in prototype to kind. */
    kinds: new Map(),
    kindOf: undefined,
    charge, chainedValue, formatIndented, formatPrimitive, formatProperty, formatValue, functionName, hasRoom,
    inherits, isProxy, layOut, ownKeys, ownValue, title, MAX_CHAIN, MAX_NAME, MAX_STRING,
  };
  internals.inspector = inspector;
})(globalThis.__internals);
// What each kind of built-in object looks like when it is inspected: collections, binary data, functions, errors and more.
//
// One formatter a kind. It fills in the shape that 03_console.js lays out; the table at the end names them all.
((internals) => {
  "use strict";

  const {
    ArrayBufferIsView, ArrayBufferPrototype, ArrayBufferPrototypeGetByteLength, ArrayBufferPrototypeGetDetached,
    ArrayIsArray, AsyncFunctionPrototype, AsyncGeneratorFunctionPrototype, BigIntPrototype, BigIntPrototypeValueOf,
    BooleanPrototype, BooleanPrototypeValueOf, DataViewPrototype, DataViewPrototypeGetBuffer,
    DataViewPrototypeGetByteLength, DataViewPrototypeGetByteOffset, DatePrototype, DatePrototypeGetTime,
    DatePrototypeToISOString, ErrorPrototype, FunctionPrototypeToString, GeneratorFunctionPrototype, Map,
    MapIteratorPrototype, MapIteratorPrototypeNext, MapPrototype, MapPrototypeEntries, MapPrototypeGet,
    MapPrototypeGetSize, MapPrototypeSet, MathMin, NumberIsInteger, NumberPrototype, NumberPrototypeToString,
    NumberPrototypeValueOf, ObjectGetOwnPropertySymbols, ObjectHasOwn, ObjectKeys,
    ObjectPrototypePropertyIsEnumerable, ObjectPrototypeToString, PromisePrototype, ReflectGetPrototypeOf,
    ReflectOwnKeys, RegExpPrototype, RegExpPrototypeGetDotAll, RegExpPrototypeGetGlobal,
    RegExpPrototypeGetHasIndices, RegExpPrototypeGetIgnoreCase, RegExpPrototypeGetMultiline,
    RegExpPrototypeGetSource, RegExpPrototypeGetSticky, RegExpPrototypeGetUnicode, RegExpPrototypeGetUnicodeSets,
    SetIteratorPrototype, SetIteratorPrototypeNext, SetPrototype, SetPrototypeGetSize, SetPrototypeValues,
    StringPrototype, StringPrototypeCharCodeAt, StringPrototypeEndsWith, StringPrototypeIncludes,
    StringPrototypeIndexOf, StringPrototypePadStart, StringPrototypeSlice, StringPrototypeStartsWith,
    StringPrototypeValueOf, SymbolPrototype, SymbolPrototypeValueOf, SymbolToStringTag, TemporalPrototypes,
    TypedArrayPrototypeGetLength, TypedArrayPrototypeGetSymbolToStringTag, Uint8Array, WeakMapPrototype,
    WeakMapPrototypeHas, WeakSetPrototype, WeakSetPrototypeHas, list, ownDescriptor, uncurryThis,
  } = internals.primordials;
  const { MAX_ITEMS, add, clip, isWordCode, join, lines, more, spaces } = internals.text;
  const { inspector } = internals;
  const {
    charge, chainedValue, formatIndented, formatPrimitive, formatProperty, formatValue, functionName, hasRoom,
    inherits, isProxy, layOut, ownKeys, ownValue, title, MAX_NAME, MAX_STRING,
  } = inspector;

  // Bounds of our own, for values made to hurt.
  const MAX_STACK = 1 << 16; // characters of an error's stack
  const MAX_FRAMES = 64; // stack lines compared with those of the cause
  const MAX_KEYED = 1_000; // longest array whose extra keys are looked for without the host's help
  const MAX_PROBES = 50_000; // array holes stepped over one by one, before all keys are asked for

  function kindOf(value, about) {
    if (typeof value === "function") return FUNCTION;
    if (ArrayIsArray(value)) return ARRAY;
    if (TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined) return TYPED_ARRAY;
    if (about.kind !== undefined && isOfKind(value, about.kind)) return about.kind;
    // Without a tag in the way, this names the classes that have an internal mark of their own, prototype or not.
    if (!about.tagged && !about.opaque) {
      const mark = ObjectPrototypeToString(value);
      if (mark === "[object Arguments]") return about.ctor === "Object" ? ARGUMENTS : PLAIN;
      if (about.ctor === "Object" || mark === "[object Object]") {
        if (about.ctor !== null) return PLAIN;
      } else {
        return MapPrototypeGet(KINDS_BY_MARK, mark) ?? PLAIN;
      }
    }
    // The others can only be asked one by one, which is worth it for what would look empty otherwise.
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
    if (about.ctor !== "Object" || about.tag !== "") shape.open = `${title(about, about.fallback)} {`;
    shape.short = `${shape.open}}`;
  }

  function formatArguments(ctx, value, about, shape) {
    shape.open = "[Arguments] {";
    shape.short = "[Arguments] {}";
  }

  function formatArray(ctx, value, about, shape) {
    const { length } = value;
    shape.open = about.ctor === "Array" && about.tag === "" ? "[" : `${title(about, "Array", `(${length})`)} [`;
    shape.close = "]";
    shape.grid = true;
    shape.items = arrayItems;
    shape.keys = extraKeys(value, length);
    if (length === 0) shape.short = `${shape.open}]`;
  }

  function arrayItems(ctx, value, level, entries) {
    const { length } = value;
    const walk = { __proto__: null, keys: undefined, at: 0 };
    let i = 0;
    while (i < length && entries.length < MAX_ITEMS && hasRoom(ctx)) {
      const descriptor = ownDescriptor(value, i);
      if (descriptor !== undefined) {
        add(entries, formatProperty(ctx, descriptor, level));
        i++;
      } else {
        const next = nextIndex(ctx, value, i + 1, walk);
        add(entries, charge(ctx, `<${next - i} empty item${next - i > 1 ? "s" : ""}>`));
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
    walk.keys ??= ReflectOwnKeys(array); // Indices come first, in order; the next key is "length".
    while (walk.at < walk.keys.length && +walk.keys[walk.at] < from) walk.at++;
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
      const isIndex = index >= 0 && index < length && NumberIsInteger(index) && `${index}` === own[i];
      if (!isIndex && ObjectPrototypePropertyIsEnumerable(value, own[i])) add(keys, own[i]);
    }
    return keys;
  }

  function formatTypedArray(ctx, value, about, shape) {
    about.fallback = TypedArrayPrototypeGetSymbolToStringTag(value);
    const length = TypedArrayPrototypeGetLength(value);
    shape.open = `${title(about, about.fallback, `(${length})`)} [`;
    shape.close = "]";
    shape.grid = true;
    shape.items = typedArrayItems;
    shape.keys = extraKeys(value, length);
    if (length === 0) shape.short = `${shape.open}]`;
  }

  function typedArrayItems(ctx, value, level, entries) {
    const length = TypedArrayPrototypeGetLength(value);
    const shown = MathMin(length, MAX_ITEMS);
    for (let i = 0; i < shown; i++) add(entries, charge(ctx, formatPrimitive(ctx, value[i])));
    if (shown < length) add(entries, more(length - shown, "item", "items"));
  }

  function formatCollection(size, items) {
    return (ctx, value, about, shape) => {
      shape.open = `${title(about, about.fallback, `(${size(value)})`)} {`;
      shape.items = items;
      if (size(value) === 0) shape.short = `${shape.open}}`;
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
      return `${formatIndented(ctx, entry[0], level)} => ${formatIndented(ctx, entry[1], level)}`;
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
    const preview = native === undefined || native.previewEntries === undefined ? undefined : native.previewEntries(value);
    if (preview === undefined) return formatPlain(ctx, value, about, shape);
    const flat = preview[0];
    const inPairs = preview[1];
    shape.open = `[${inPairs ? about.fallback + " Entries" : about.fallback + " Iterator"}] {`;
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
    shape.open = `${title(about, about.fallback)} {`;
    shape.items = (_ctx, _value, level, entries) => add(entries, "<items unknown>");
  }

  function formatPromise(ctx, value, about, shape) {
    shape.open = `${title(about, "Promise")} {`;
    shape.items = (_ctx, _value, level, entries) => {
      const state = promiseState(value);
      if (state[0] === 0) return add(entries, "<pending>");
      if (state[0] === UNKNOWN) return add(entries, "<state unknown>");
      const text = formatIndented(ctx, state[1], level);
      add(entries, state[0] === 2 ? `<rejected> ${text}` : text);
    };
  }

  /** Undefined for what is no promise. */
  function promiseState(value) {
    const { native } = internals;
    if (native !== undefined && native.promiseState !== undefined) return native.promiseState(value);
    return inherits(value, PromisePrototype) ? [UNKNOWN] : undefined;
  }
  const UNKNOWN = 3;

  function formatArrayBuffer(ctx, value, about, shape) {
    shape.open = `${title(about, "ArrayBuffer")} {`;
    shape.items = (_ctx, _value, level, entries) => {
      const size = ArrayBufferPrototypeGetByteLength(value);
      add(entries, charge(ctx, bufferContents(value, size)));
      add(entries, `byteLength: ${size}`);
    };
  }

  function bufferContents(buffer, size) {
    if (ArrayBufferPrototypeGetDetached !== undefined && ArrayBufferPrototypeGetDetached(buffer)) return "(detached)";
    let bytes;
    try {
      bytes = new Uint8Array(buffer, 0, MathMin(size, MAX_ITEMS));
    } catch {
      return "(detached)";
    }
    let text = "";
    for (let i = 0; i < MathMin(size, MAX_ITEMS); i++) {
      text += (i > 0 ? " " : "") + StringPrototypePadStart(NumberPrototypeToString(bytes[i], 16), 2, "0");
    }
    if (size > MAX_ITEMS) text += ` ${more(size - MAX_ITEMS, "byte", "bytes")}`;
    return `[Uint8Contents]: <${text}>`;
  }

  function formatDataView(ctx, value, about, shape) {
    shape.open = `${title(about, "DataView")} {`;
    shape.items = (_ctx, _value, level, entries) => {
      add(entries, `byteLength: ${DataViewPrototypeGetByteLength(value)}`);
      add(entries, `byteOffset: ${DataViewPrototypeGetByteOffset(value)}`);
      add(entries, `buffer: ${formatIndented(ctx, DataViewPrototypeGetBuffer(value), level)}`);
    };
  }

  /** Dates, regular expressions, Temporal: one text, with a title unless it is the class itself. */
  function formatAsText(toText) {
    return (ctx, value, about, shape) => {
      const text = toText(value);
      const name = title(about, about.fallback);
      shape.base = name === about.fallback ? text : `${name} ${text}`;
      shape.short = shape.base;
    };
  }

  function dateText(value) {
    return DatePrototypeGetTime(value) === DatePrototypeGetTime(value) ? DatePrototypeToISOString(value) : "Invalid Date";
  }

  function regExpText(value) {
    let flags = "";
    for (let i = 0; i < REGEXP_FLAGS.length; i++) {
      const has = REGEXP_FLAGS[i][1];
      if (has !== undefined && has(value)) flags += REGEXP_FLAGS[i][0];
    }
    return `/${clip(RegExpPrototypeGetSource(value), MAX_STRING)}/${flags}`;
  }

  function formatBoxed(valueOf) {
    return (ctx, value, { ctor, tag, fallback }, shape) => {
      const primitive = valueOf(value);
      const other = ctor === fallback ? "" : ctor === null ? " (null prototype)" : ` (${ctor})`;
      shape.base = `[${fallback}${other}: ${formatPrimitive(ctx, primitive)}]`;
      if (tag !== "" && tag !== ctor) shape.base += ` [${tag}]`;
      shape.short = shape.base;
      if (typeof primitive === "string") shape.keys = extraKeys(value, primitive.length);
    };
  }

  function formatFunction(ctx, value, { ctor, tag, kind }, shape) {
    // Only of a class is `prototype` there and read-only.
    const prototype = ownDescriptor(value, "prototype");
    const isClass = prototype !== undefined && !prototype.writable
      && StringPrototypeStartsWith(FunctionPrototypeToString(value), "class");
    const name = functionName(value);
    const base = ReflectGetPrototypeOf(value);
    let text;
    if (isClass) {
      text = `class ${name === "" ? "(anonymous)" : name}`;
      if (ctor !== "Function" && ctor !== null) text += ` [${ctor}]`;
      if (tag !== "" && tag !== ctor) text += ` [${tag}]`;
      const baseName = ctor === null ? "[null prototype]" : typeof base === "function" && !isProxy(base) ? functionName(base) : "";
      shape.base = baseName === "" ? `[${text}]` : `[${text} extends ${baseName}]`;
    } else {
      const type = kind === undefined || kind.format !== formatFunction ? "Function" : kind.name;
      text = `${type}${ctor === null ? " (null prototype)" : ""}${name === "" ? " (anonymous)" : `: ${name}`}`;
      shape.base = `[${text}]`;
      if (ctor !== type && ctor !== null) shape.base += ` ${ctor}`;
      if (tag !== "" && tag !== ctor) shape.base += ` [${tag}]`;
    }
    shape.short = shape.base;
  }

  // ---- Errors ----------------------------------------------------------------------------------------------------

  function formatError(ctx, value, about, shape) {
    const name = chainedValue(value, "name");
    const message = chainedValue(value, "message");
    const stack = errorStack(value);
    shape.keys = errorKeys(value, stack);
    let text = withClassName(stack, about, typeof name === "string" ? name : "Error");
    const at = typeof message === "string" && message !== "" ? StringPrototypeIndexOf(text, message) : -1;
    const frames = StringPrototypeIndexOf(text, "\n    at", at < 0 ? 0 : at + message.length);
    // Brackets tell an error without a stack from its message.
    text = frames < 0 ? `[${text}]` : StringPrototypeSlice(text, 0, frames + 1) + ownFrames(text, frames + 1, value);
    shape.base = ctx.indent === 0 ? text : join(lines(text, 0), `\n${spaces(ctx.indent)}`);
    shape.short = shape.base;
  }

  /** The stack as it is; where an engine leaves the first line out, or there is none, that line is made. */
  function errorStack(error) {
    const stack = chainedValue(error, "stack");
    const text = typeof stack === "string" ? clip(stack, MAX_STACK) : "";
    if (text !== "" && !StringPrototypeStartsWith(text, "    at ")) return text;
    const name = chainedValue(error, "name");
    const message = chainedValue(error, "message");
    let first = typeof name === "string" ? clip(name, MAX_NAME) : "Error";
    if (typeof message === "string" && message !== "") first += `${first === "" ? "" : ": "}${clip(message, MAX_STACK)}`;
    return text === "" ? first : `${first}\n${text}`;
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
        if (typeof value === "string" && StringPrototypeIncludes(stack, value)) continue;
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
    if (!StringPrototypeIncludes(full, name)) return `${full} [${name}]${StringPrototypeSlice(stack, length)}`;
    return length === 0 ? `${full}: ${stack}` : full + StringPrototypeSlice(stack, length);
  }

  /** Length of the class name a stack begins with; 0 when it begins with something else. */
  function errorWordLength(stack) {
    let i = 0;
    while (i < stack.length && i < MAX_NAME && isWordCode(StringPrototypeCharCodeAt(stack, i), i)) i++;
    return i === stack.length || stack[i] === ":" || StringPrototypeStartsWith(stack, "\n    at", i) ? i : 0;
  }

  /** The frames from `from` on; a long run that the cause's stack repeats is shown there only. */
  function ownFrames(text, from, error) {
    const cause = ownValue(error, "cause");
    const isError = typeof cause === "object" && cause !== null && !isProxy(cause) && inherits(cause, ErrorPrototype);
    const causeStack = isError ? errorStack(cause) : "";
    const causeFrom = StringPrototypeIndexOf(causeStack, "\n    at");
    if (causeFrom < 0) return StringPrototypeSlice(text, from);
    const frames = lines(text, from);
    const others = lines(causeStack, causeFrom + 1);
    const kept = list();
    for (let i = 0; i < frames.length; i++) {
      const run = i < MAX_FRAMES ? commonRun(frames, i, others) : 0;
      add(kept, frames[i]);
      if (run > 3) {
        add(kept, `    ... ${run - 2} lines matching cause stack trace ...`);
        i += run - 2;
        for (i++; i < frames.length; i++) add(kept, frames[i]);
      }
    }
    return join(kept, "\n");
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

  const REGEXP_FLAGS = [
    ["d", RegExpPrototypeGetHasIndices], ["g", RegExpPrototypeGetGlobal], ["i", RegExpPrototypeGetIgnoreCase],
    ["m", RegExpPrototypeGetMultiline], ["s", RegExpPrototypeGetDotAll], ["u", RegExpPrototypeGetUnicode],
    ["v", RegExpPrototypeGetUnicodeSets], ["y", RegExpPrototypeGetSticky],
  ];

  // A kind: `name` where the class has none, `check` that throws or returns false for an impostor, `format`.
  const kind = (name, check, format) => ({ __proto__: null, name, check, format });
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
    MapPrototypeSet(inspector.kinds, prototype, added);
    return added;
  }

  function addMarked(prototype, name, check, format) {
    MapPrototypeSet(KINDS_BY_MARK, `[object ${name}]`, addKind(prototype, name, check, format));
  }

  addMarked(ErrorPrototype, "Error", undefined, formatError);
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
  const ANY_KEY = {};
  add(UNMARKED_KINDS, addKind(MapPrototype, "Map", MapPrototypeGetSize, formatCollection(MapPrototypeGetSize, mapItems)));
  add(UNMARKED_KINDS, addKind(SetPrototype, "Set", SetPrototypeGetSize, formatCollection(SetPrototypeGetSize, setItems)));
  add(UNMARKED_KINDS, addKind(WeakMapPrototype, "WeakMap", (v) => void WeakMapPrototypeHas(v, ANY_KEY), formatWeak));
  add(UNMARKED_KINDS, addKind(WeakSetPrototype, "WeakSet", (v) => void WeakSetPrototypeHas(v, ANY_KEY), formatWeak));
  add(UNMARKED_KINDS, addKind(ArrayBufferPrototype, "ArrayBuffer", ArrayBufferPrototypeGetByteLength, formatArrayBuffer));
  add(UNMARKED_KINDS, addKind(DataViewPrototype, "DataView", ArrayBufferIsView, formatDataView));
  add(UNMARKED_KINDS, addKind(PromisePrototype, "Promise", (v) => promiseState(v) !== undefined, formatPromise));
  for (let i = 0; i < TemporalPrototypes.length; i++) {
    const toText = uncurryThis(TemporalPrototypes[i].toString);
    addKind(TemporalPrototypes[i], TemporalPrototypes[i][SymbolToStringTag], toText, formatAsText(toText));
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
