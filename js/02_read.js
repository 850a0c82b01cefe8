// JSON text into values, at any depth. The text is the host's and valid.
((internals) => {
  "use strict";

  const {
    JSONParse,
    ObjectDefineProperty,
    StringPrototypeCharCodeAt,
    StringPrototypeIndexOf,
    StringPrototypeSlice,
  } = internals.primordials;

  const QUOTE = 34;
  const COMMA = 44;
  const COLON = 58;
  const OPEN_ARRAY = 91;
  const BACKSLASH = 92;
  const CLOSE_ARRAY = 93;
  const OPEN_OBJECT = 123;
  const CLOSE_OBJECT = 125;

  internals.fromJsonText = (text) => {
    try {
      return JSONParse(text);
    } catch {
      // QuickJS reads by recursion and refuses what is deeper than its stack.
      return readDeep(text);
    }
  };

  // The same with a stack of our own: slower, so only for what needs it.
  const readDeep = (text) => {
    let at = 0;
    let open = null; // { value, isArray, length, key, outer } of the innermost container
    const skip = () => {
      while (at < text.length && StringPrototypeCharCodeAt(text, at) <= 32) at++;
    };
    const put = (value) => {
      const key = open.isArray ? open.length++ : open.key;
      ObjectDefineProperty(open.value, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    };
    for (;;) {
      skip();
      const code = StringPrototypeCharCodeAt(text, at);
      let value;
      if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
        at++;
        const isArray = code === OPEN_ARRAY;
        value = isArray ? [] : {};
        if (open !== null) put(value);
        open = { __proto__: null, value, isArray, length: 0, key: "", outer: open };
        skip();
        if (StringPrototypeCharCodeAt(text, at) !== (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) {
          if (!isArray) readKey();
          continue;
        }
      } else {
        const end = code === QUOTE ? stringEnd(text, at) : scalarEnd(text, at);
        value = JSONParse(StringPrototypeSlice(text, at, end));
        at = end;
        if (open === null) return value;
        put(value);
      }
      // After a value: the next one, or the ends of what is open.
      for (;;) {
        skip();
        const next = StringPrototypeCharCodeAt(text, at++);
        if (next === COMMA) {
          if (!open.isArray) readKey();
          break;
        }
        value = open.value;
        open = open.outer;
        if (open === null) return value;
      }
    }

    function readKey() {
      skip();
      const end = stringEnd(text, at);
      open.key = JSONParse(StringPrototypeSlice(text, at, end));
      at = end;
      skip();
      if (StringPrototypeCharCodeAt(text, at) === COLON) at++;
    }
  };

  /** Behind the closing quote of the string that opens at `start`. */
  const stringEnd = (text, start) => {
    for (let from = start + 1;;) {
      const quote = StringPrototypeIndexOf(text, "\"", from);
      let slashes = 0;
      while (StringPrototypeCharCodeAt(text, quote - 1 - slashes) === BACKSLASH) slashes++;
      if (slashes % 2 === 0) return quote + 1;
      from = quote + 1;
    }
  };

  /** Behind the number or word that begins at `start`. */
  const scalarEnd = (text, start) => {
    let end = start + 1;
    for (; end < text.length; end++) {
      const code = StringPrototypeCharCodeAt(text, end);
      if (code <= 32 || code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT) break;
    }
    return end;
  };
})(globalThis.__internals);
