// Text as the console writes it: quotes and escapes, widths, columns. Pure functions over strings and lists.
//
// No regular expressions: matching one would show in the program's `RegExp.$1` and its sisters. No template literals
// with substitutions, here and in 03_console*.js: QuickJS makes them calls of the program's `String.prototype.concat`.
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
        const text = i < last ? entries[i] + ", " : entries[i];
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
    return "... " + count + " more " + (count > 1 ? many : one);
  }

  function clip(text, length) {
    if (text.length <= length) return text;
    return StringPrototypeSlice(text, 0, length) + more(text.length - length, "character", "characters");
  }

  /** Single quotes, or the first other kind that spares escapes. */
  function quote(text) {
    if (!StringPrototypeIncludes(text, "'")) return "'" + escape(text) + "'";
    if (!StringPrototypeIncludes(text, '"')) return '"' + escape(text, false) + '"';
    if (StringPrototypeIncludes(text, "`") || StringPrototypeIncludes(text, "${")) return "'" + escape(text) + "'";
    return "`" + escape(text, false) + "`";
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
    return code > 0xff ? "\\u" + hex : "\\x" + StringPrototypePadStart(StringPrototypeToUpperCase(hex), 2, "0");
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
