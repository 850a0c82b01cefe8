// Built-ins that no engine can interrupt while they work through a length.
// Refused here at once, with an error that says what to write instead.
((internals) => {
  "use strict";

  const {
    Array,
    ArrayFrom,
    ArrayIsArray,
    ArrayPrototype,
    FunctionPrototype,
    ObjectDefineProperty,
    Reflect,
    ReflectApply,
    ReflectConstruct,
    ReflectHas,
    String,
    SymbolIsConcatSpreadable,
    SymbolIterator,
    TypeError,
  } = internals.primordials;
  const { bounded, checked, isProxy, replace, throughView } = internals.lengths;

  // `find` and its kin are not here: they call back for every index, which can be
  // interrupted.
  const WALKERS = [
    "copyWithin", "fill", "includes", "indexOf", "join", "lastIndexOf", "reverse", "shift", "slice", "sort", "splice",
    "toLocaleString", "toReversed", "toSorted", "toSpliced", "toString", "unshift", "with",
  ];
  // Those of them that call back with the array as the last argument.
  const CALLERS = ["every", "filter", "forEach", "map", "reduce", "reduceRight", "some"];
  const guard = (name, takesCallback) => {
    const original = ArrayPrototype[name];
    // A method, so that it is no constructor; engines inline this form.
    const wrapper = {
      method() {
        const target = bounded(this, name);
        if (target === this) return ReflectApply(original, target, arguments);
        return throughView(original, this, target, arguments, takesCallback);
      },
    }.method;
    replace(ArrayPrototype, name, wrapper);
  };
  for (let i = 0; i < WALKERS.length; i++) guard(WALKERS[i], false);
  for (let i = 0; i < CALLERS.length; i++) guard(CALLERS[i], true);

  // These walk what they are given as well.
  const { concat, flat, flatMap, slice } = ArrayPrototype;
  // Checks the arrays in an array; true if a proxy of one is among them, which may answer otherwise the next time.
  const hasProxyWithin = (array, depth) => {
    let found = false;
    for (let i = 0; i < array.length; i++) {
      const item = array[i];
      if (!ArrayIsArray(item)) continue;
      if (isProxy(item)) {
        found = true;
        continue;
      }
      checked(item.length, "flat");
      if (depth > 1 && hasProxyWithin(item, depth - 1)) found = true;
    }
    return found;
  };
  // What flat does, in JavaScript: slower, but it can be interrupted. Gives the next free index.
  const flatten = (into, at, source, depth) => {
    const length = checked(source.length, "flat");
    for (let i = 0; i < length; i++) {
      if (!ReflectHas(source, i)) continue;
      const value = source[i];
      if (depth >= 1 && ArrayIsArray(value)) at = flatten(into, at, value, depth - 1);
      else ObjectDefineProperty(into, at++, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    }
    return at;
  };
  // What concat may walk in place of `item`, or the item where it is added as it is.
  const spread = (item) => {
    if (ArrayIsArray(item) ? !isProxy(item) : typeof item !== "object" || item === null) {
      if (typeof item === "object" && item !== null) checked(item.length, "concat");
      return item;
    }
    const isSpread = item[SymbolIsConcatSpreadable];
    return (isSpread === undefined ? ArrayIsArray(item) : isSpread) ? bounded(item, "concat") : item;
  };
  replace(
    ArrayPrototype,
    "concat",
    {
      method() {
        for (let i = 0; i < arguments.length; i++) arguments[i] = spread(arguments[i]);
        return ReflectApply(concat, spread(this), arguments);
      },
    }.method,
  );
  replace(
    ArrayPrototype,
    "flat",
    {
      method(depth) {
        const target = bounded(this, "flat");
        const levels = depth === undefined ? 1 : +depth;
        if (!ArrayIsArray(target) || !hasProxyWithin(target, levels)) return ReflectApply(flat, target, arguments);
        // Empty, and of the kind that `flat` would have made.
        const into = ReflectApply(slice, target, [0, 0]);
        flatten(into, 0, target, levels);
        return into;
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
        const calling = function () {
          const items = ReflectApply(callback, this, arguments);
          if (!ArrayIsArray(items)) return items;
          if (!isProxy(items)) {
            checked(items.length, "flatMap");
            return items;
          }
          const copy = [];
          flatten(copy, 0, items, 0);
          return copy;
        };
        return throughView(flatMap, this, target, [calling, thisArg], true);
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

  // These make a list of arguments of what they are given, and walk it in full before the call. On V8 most lists that
  // long do not fit the stack; that is found out at the end.
  const { apply } = FunctionPrototype;
  // Said here, as the engine would name the function of ours that it was called by.
  const checkCallable = (value) => {
    if (typeof value !== "function") throw new TypeError("apply was called on a value of type " + typeof value + ", which is not callable");
  };
  replace(
    FunctionPrototype,
    "apply",
    {
      method(thisArg, args) {
        checkCallable(this);
        if (args === null || args === undefined) return ReflectApply(apply, this, arguments);
        return ReflectApply(this, thisArg, bounded(args, "apply"));
      },
    }.method,
  );
  replace(
    Reflect,
    "apply",
    {
      method(target, thisArg, args) {
        checkCallable(target);
        return ReflectApply(target, thisArg, bounded(args, "apply"));
      },
    }.method,
  );
  replace(
    Reflect,
    "construct",
    {
      method(target, args) {
        arguments[1] = bounded(args, "construct");
        return ReflectApply(ReflectConstruct, undefined, arguments);
      },
    }.method,
  );

  // Walks what it is given like a method of arrays.
  const { raw } = String;
  replace(
    String,
    "raw",
    {
      method(template) {
        if (template === null || template === undefined) return ReflectApply(raw, this, arguments);
        arguments[0] = { __proto__: null, raw: bounded(template.raw, "raw") };
        return ReflectApply(raw, this, arguments);
      },
    }.method,
  );
})(globalThis.__internals);
