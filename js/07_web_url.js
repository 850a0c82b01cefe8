// URL and URLSearchParams. The host parses and writes; here is only what a program holds.
((internals) => {
  "use strict";

  const {
    ArrayPrototypeSort, JSONParse, MapIteratorPrototype, ObjectCreate, ObjectDefineProperty, ReflectApply,
    ReflectGetPrototypeOf, ReflectOwnKeys, StringPrototypeIndexOf, StringPrototypeSlice, StringPrototypeStartsWith,
    SymbolIterator, SymbolToStringTag, TypeError, WeakMap, WeakMapPrototypeGet, WeakMapPrototypeSet, list, ownDescriptor,
  } = internals.primordials;
  const { op_code_mode_encode_query, op_code_mode_parse_query, op_code_mode_parse_url, op_code_mode_set_url } = internals.ops;
  const { add, clip } = internals.text;
  const { hideClass, hideSource, toText } = internals;

  // The parts in the order in which the host gives and takes them.
  const PARTS = [
    "href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
  ];
  const HREF = 0;
  const SEARCH = 9;

  /** The host gives all parts as lines: no part can hold a line feed. */
  const partsOf = (lines) => {
    const parts = list();
    let from = 0;
    for (let i = 0; i < PARTS.length; i++) {
      const end = StringPrototypeIndexOf(lines, "\n", from);
      add(parts, StringPrototypeSlice(lines, from, end < 0 ? lines.length : end));
      from = end + 1;
    }
    return parts;
  };

  const invalid = (url, base) => {
    const shown = internals.inspect(clip(url, 200));
    return new TypeError(base === undefined
      ? "Invalid URL: " + shown + (StringPrototypeIndexOf(url, ":") < 0 ? " (a relative URL needs a base: new URL(url, base))" : "")
      : "Invalid URL: " + shown + " with base " + internals.inspect(clip(base, 200)));
  };

  const parse = (url, base) => op_code_mode_parse_url(url, base !== undefined, base ?? "");

  class URLSearchParams {
    // Name, value, name, value ...
    #pairs = list();
    #url = null;

    constructor(init) {
      if (init === undefined || init === null) return;
      if (typeof init !== "object" && typeof init !== "function") {
        const text = toText(init);
        this.#pairs = parseQuery(StringPrototypeStartsWith(text, "?") ? StringPrototypeSlice(text, 1) : text);
      } else if (init[SymbolIterator] !== undefined && init[SymbolIterator] !== null) {
        for (const pair of init) {
          const both = list();
          for (const item of pair) add(both, toText(item));
          if (both.length !== 2) throw new TypeError("each pair of URLSearchParams is [name, value], but one has " + both.length + " items");
          add(this.#pairs, both[0]);
          add(this.#pairs, both[1]);
        }
      } else {
        const keys = ReflectOwnKeys(init);
        for (let i = 0; i < keys.length; i++) {
          if (typeof keys[i] !== "string" || !ownDescriptor(init, keys[i])?.enumerable) continue;
          this.#set(toText(keys[i]), toText(init[keys[i]]));
        }
      }
    }
    get size() {
      return this.#pairs.length / 2;
    }
    append(name, value) {
      need(arguments, 2, "append(name, value)");
      add(this.#pairs, toText(name));
      add(this.#pairs, toText(value));
      this.#changed();
    }
    delete(name, value) {
      need(arguments, 1, "delete(name)");
      const key = toText(name);
      const only = value === undefined ? undefined : toText(value);
      this.#keep((n, v) => n !== key || (only !== undefined && v !== only));
      this.#changed();
    }
    get(name) {
      need(arguments, 1, "get(name)");
      const at = this.#find(toText(name));
      return at < 0 ? null : this.#pairs[at + 1];
    }
    getAll(name) {
      need(arguments, 1, "getAll(name)");
      const key = toText(name);
      const values = [];
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] === key) {
          ObjectDefineProperty(values, values.length, {
            __proto__: null, value: this.#pairs[i + 1], writable: true, enumerable: true, configurable: true,
          });
        }
      }
      return values;
    }
    has(name, value) {
      need(arguments, 1, "has(name)");
      const key = toText(name);
      if (value === undefined) return this.#find(key) >= 0;
      const only = toText(value);
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] === key && this.#pairs[i + 1] === only) return true;
      }
      return false;
    }
    set(name, value) {
      need(arguments, 2, "set(name, value)");
      this.#set(toText(name), toText(value));
      this.#changed();
    }
    sort() {
      const pairs = list();
      for (let i = 0; i < this.#pairs.length; i += 2) add(pairs, { __proto__: null, name: this.#pairs[i], value: this.#pairs[i + 1] });
      ArrayPrototypeSort(pairs, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
      this.#pairs = list();
      for (let i = 0; i < pairs.length; i++) {
        add(this.#pairs, pairs[i].name);
        add(this.#pairs, pairs[i].value);
      }
      this.#changed();
    }
    forEach(callback, thisArg = undefined) {
      if (typeof callback !== "function") throw new TypeError("forEach takes a function");
      for (let i = 0; i < this.#pairs.length; i += 2) {
        ReflectApply(callback, thisArg, [this.#pairs[i + 1], this.#pairs[i], this]);
      }
    }
    entries() {
      return iterate(this, (pairs, at) => [pairs[at], pairs[at + 1]]);
    }
    keys() {
      return iterate(this, (pairs, at) => pairs[at]);
    }
    values() {
      return iterate(this, (pairs, at) => pairs[at + 1]);
    }
    toString() {
      let text = "";
      for (let i = 0; i < this.#pairs.length; i += 2) {
        text += (i > 0 ? "&" : "") + op_code_mode_encode_query(this.#pairs[i]) + "=" + op_code_mode_encode_query(this.#pairs[i + 1]);
      }
      return text;
    }

    #find(key) {
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] === key) return i;
      }
      return -1;
    }
    #keep(test) {
      const kept = list();
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (!test(this.#pairs[i], this.#pairs[i + 1])) continue;
        add(kept, this.#pairs[i]);
        add(kept, this.#pairs[i + 1]);
      }
      this.#pairs = kept;
    }
    /** The first of the name takes the value, the others go. */
    #set(name, value) {
      const first = this.#find(name);
      if (first < 0) {
        add(this.#pairs, name);
        add(this.#pairs, value);
        return;
      }
      let seen = false;
      this.#keep((n) => n !== name || (!seen && (seen = true)));
      this.#pairs[first + 1] = value;
    }
    #changed() {
      if (this.#url !== null) setSearch(this.#url, this.toString());
    }

    static ofUrl(url) {
      const params = new URLSearchParams();
      params.#url = url;
      return params;
    }
    static pairsOf(params) {
      return params.#pairs;
    }
    static reread(params, search) {
      params.#pairs = parseQuery(StringPrototypeSlice(search, 1));
    }
  }
  const { ofUrl, pairsOf, reread } = URLSearchParams;
  delete URLSearchParams.ofUrl;
  delete URLSearchParams.pairsOf;
  delete URLSearchParams.reread;

  const need = (args, count, form) => {
    if (args.length < count) throw new TypeError("URLSearchParams." + form + " got " + args.length + " of " + count + " arguments");
  };

  const parseQuery = (text) => {
    const parsed = JSONParse(op_code_mode_parse_query(text));
    const pairs = list();
    for (let i = 0; i < parsed.length; i++) add(pairs, parsed[i]);
    return pairs;
  };

  // Like those of Map: live, and with the helpers of all iterators.
  const IteratorPrototype = ObjectCreate(ReflectGetPrototypeOf(MapIteratorPrototype));
  const states = new WeakMap();
  const iterate = (params, item) => {
    pairsOf(params); // Refuses what is none.
    const iterator = ObjectCreate(IteratorPrototype);
    WeakMapPrototypeSet(states, iterator, { __proto__: null, params, item, at: 0 });
    return iterator;
  };
  const next = {
    next() {
      const state = WeakMapPrototypeGet(states, this);
      if (state === undefined) throw new TypeError("next was called on something else than a URLSearchParams iterator");
      const pairs = pairsOf(state.params);
      if (state.at >= pairs.length) return { value: undefined, done: true };
      const value = state.item(pairs, state.at);
      state.at += 2;
      return { value, done: false };
    },
  }.next;
  hideSource(next);
  ObjectDefineProperty(IteratorPrototype, "next", { __proto__: null, value: next, writable: true, configurable: true });
  ObjectDefineProperty(IteratorPrototype, SymbolToStringTag, {
    __proto__: null, value: "URLSearchParams Iterator", configurable: true,
  });

  class URL {
    #parts;
    #params = null;

    constructor(url, base = undefined) {
      if (arguments.length === 0) throw new TypeError("a URL needs its text: new URL(url, base)");
      const text = toText(url);
      const baseText = base === undefined ? undefined : toText(base);
      const lines = parse(text, baseText);
      if (lines === null) throw invalid(text, baseText);
      this.#parts = partsOf(lines);
    }
    static canParse(url, base = undefined) {
      return parse(toText(url), base === undefined ? undefined : toText(base)) !== null;
    }
    static parse(url, base = undefined) {
      const text = toText(url);
      const baseText = base === undefined ? undefined : toText(base);
      try {
        return new URL(text, baseText);
      } catch {
        return null;
      }
    }
    get searchParams() {
      if (this.#params === null) {
        this.#params = ofUrl(this);
        reread(this.#params, this.#parts[SEARCH]);
      }
      return this.#params;
    }
    toString() {
      return this.#parts[HREF];
    }
    toJSON() {
      return this.#parts[HREF];
    }

    static part(url, at) {
      return url.#parts[at];
    }
    static setPart(url, at, value) {
      const lines = op_code_mode_set_url(url.#parts[HREF], at, value);
      if (lines === null) {
        if (at === HREF) throw invalid(value, undefined);
        return; // As the standard has it: an impossible value changes nothing.
      }
      url.#parts = partsOf(lines);
      if (url.#params !== null && (at === HREF || at === SEARCH)) reread(url.#params, url.#parts[SEARCH]);
    }
    static setSearch(url, query) {
      const lines = op_code_mode_set_url(url.#parts[HREF], SEARCH, query);
      if (lines !== null) url.#parts = partsOf(lines);
    }
  }
  const { part, setPart, setSearch } = URL;
  delete URL.part;
  delete URL.setPart;
  delete URL.setSearch;

  for (let at = 0; at < PARTS.length; at++) {
    const name = PARTS[at];
    const accessors = ownDescriptor(
      name === "origin"
        ? { get [name]() { return part(this, at); } }
        : { get [name]() { return part(this, at); }, set [name](value) { setPart(this, at, toText(value)); } },
      name,
    );
    accessors.enumerable = true;
    ObjectDefineProperty(URL.prototype, name, accessors);
  }

  const define = (prototype, key, value) =>
    ObjectDefineProperty(prototype, key, { __proto__: null, value, writable: true, configurable: true });
  define(URLSearchParams.prototype, SymbolIterator, URLSearchParams.prototype.entries);
  define(URLSearchParams.prototype, SymbolToStringTag, "URLSearchParams");
  define(URL.prototype, SymbolToStringTag, "URL");
  hideClass(URL);
  hideClass(URLSearchParams);
  internals.setInspectView(URL.prototype, (url) => {
    const shown = {};
    for (let at = 0; at < PARTS.length; at++) shown[PARTS[at]] = part(url, at);
    return shown;
  });
  internals.setInspectView(URLSearchParams.prototype, (params) => {
    const pairs = pairsOf(params);
    const shown = { __proto__: null };
    for (let i = 0; i < pairs.length; i += 2) shown[pairs[i]] = pairs[i + 1];
    return shown;
  });

  internals.web.URL = URL;
  internals.web.URLSearchParams = URLSearchParams;
})(globalThis.__internals);
