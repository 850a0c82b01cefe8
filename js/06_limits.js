// Built-ins that no engine can interrupt while they work through a length.
// Refused here at once, with an error that says what to write instead.
((internals) => {
  "use strict";

  const {
    ArrayBuffer,
    ArrayBufferPrototype,
    ArrayIsArray,
    ArrayPrototype,
    ArrayFrom,
    Array,
    ObjectDefineProperty,
    ObjectGetOwnPropertyDescriptor,
    RangeError,
    ReflectApply,
    ReflectConstruct,
    SymbolIsConcatSpreadable,
    SymbolIterator,
    SymbolSpecies,
    TypeError,
    ownDescriptor,
  } = internals.primordials;

  const MAX_LENGTH = 33554432; // 2^25

  const refuse = (length, name) => {
    throw new RangeError(
      "array of length " + length + " is too long for " + name + " (limit " + MAX_LENGTH + "): " +
        "use a Map or an object for sparse keys, a typed array for many numbers",
    );
  };

  const checkLength = (value, name) => {
    const length = +value.length;
    if (length > MAX_LENGTH) refuse(length, name);
    return length;
  };

  // What a method may walk in place of `value`: itself if its length is checked and
  // stays, else something that reads through to it and has the length that was
  // checked.
  const bounded = (value, name) => {
    if (ArrayIsArray(value)) {
      checkLength(value, name);
      return value;
    }
    if ((typeof value !== "object" || value === null) && typeof value !== "function") return value;
    if (!internals.native.isProxy(value)) {
      const own = ownDescriptor(value, "length");
      if (own !== undefined && typeof own.value === "number") {
        checkLength(value, name);
        return value;
      }
    }
    return { __proto__: value, length: checkLength(value, name) };
  };

  // Puts `wrapper` in the place of `holder[name]`, looking like the original.
  const replace = (holder, name, wrapper) => {
    const { value: original, writable, enumerable, configurable } = ObjectGetOwnPropertyDescriptor(holder, name);
    const define = (key, value) => ObjectDefineProperty(wrapper, key, { __proto__: null, value, configurable: true });
    define("name", original.name);
    define("length", original.length);
    internals.hideSource(wrapper);
    ObjectDefineProperty(holder, name, { __proto__: null, value: wrapper, writable, enumerable, configurable });
  };

  // `find` and its kin are not here: they call back for every index, which can be
  // interrupted.
  const WALKERS = [
    "copyWithin", "every", "fill", "filter", "forEach", "includes", "indexOf", "join", "lastIndexOf",
    "map", "reduce", "reduceRight", "reverse", "shift", "slice", "some", "sort", "splice", "toLocaleString",
    "toReversed", "toSorted", "toSpliced", "toString", "unshift", "with",
  ];
  for (let i = 0; i < WALKERS.length; i++) {
    const name = WALKERS[i];
    const original = ArrayPrototype[name];
    // A method, so that it is no constructor; engines inline this form.
    const wrapper = {
      method() {
        return ReflectApply(original, bounded(this, name), arguments);
      },
    }.method;
    replace(ArrayPrototype, name, wrapper);
  }

  // These walk what they are given as well.
  const { concat, flat, flatMap } = ArrayPrototype;
  const checkNested = (array, depth) => {
    for (let i = 0; i < array.length; i++) {
      const item = array[i];
      if (!ArrayIsArray(item)) continue;
      checkLength(item, "flat");
      if (depth > 1) checkNested(item, depth - 1);
    }
  };
  replace(
    ArrayPrototype,
    "concat",
    {
      method() {
        if (ArrayIsArray(this)) checkLength(this, "concat");
        for (let i = 0; i < arguments.length; i++) {
          const item = arguments[i];
          if (typeof item === "object" && item !== null && (ArrayIsArray(item) || item[SymbolIsConcatSpreadable])) {
            checkLength(item, "concat");
          }
        }
        return ReflectApply(concat, this, arguments);
      },
    }.method,
  );
  replace(
    ArrayPrototype,
    "flat",
    {
      method(depth) {
        const target = bounded(this, "flat");
        if (ArrayIsArray(target)) checkNested(target, depth === undefined ? 1 : +depth);
        return ReflectApply(flat, target, arguments);
      },
    }.method,
  );
  replace(
    ArrayPrototype,
    "flatMap",
    {
      method(callback, thisArg) {
        const target = bounded(this, "flatMap");
        if (typeof callback !== "function") return ReflectApply(flatMap, target, arguments);
        const checked = function () {
          const items = ReflectApply(callback, this, arguments);
          if (ArrayIsArray(items)) checkLength(items, "flatMap");
          return items;
        };
        return ReflectApply(flatMap, target, [checked, thisArg]);
      },
    }.method,
  );
  replace(
    Array,
    "from",
    {
      method(items) {
        if (items !== null && items !== undefined && typeof items !== "string" && items[SymbolIterator] === undefined) {
          arguments[0] = bounded(items, "from");
        }
        return ReflectApply(ArrayFrom, this, arguments);
      },
    }.method,
  );

  // A buffer that can grow is reserved where no limit sees it.
  const Buffer = function ArrayBuffer_(length, options) {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
    if (options !== null && typeof options === "object" && options.maxByteLength !== undefined) {
      throw new RangeError("an ArrayBuffer with maxByteLength is not available: allocate a fixed length");
    }
    return ReflectConstruct(ArrayBuffer, [length], new.target);
  };
  const own = (name, value) => ObjectDefineProperty(Buffer, name, { __proto__: null, value, configurable: true });
  internals.hideSource(Buffer);
  own("name", "ArrayBuffer");
  own("length", 1);
  ObjectDefineProperty(Buffer, "prototype", { __proto__: null, value: ArrayBufferPrototype, writable: false });
  ObjectDefineProperty(Buffer, "isView", ObjectGetOwnPropertyDescriptor(ArrayBuffer, "isView"));
  ObjectDefineProperty(Buffer, SymbolSpecies, ObjectGetOwnPropertyDescriptor(ArrayBuffer, SymbolSpecies));
  ObjectDefineProperty(ArrayBufferPrototype, "constructor", { __proto__: null, value: Buffer });
  ObjectDefineProperty(globalThis, "ArrayBuffer", { __proto__: null, value: Buffer });
})(globalThis.__internals);
