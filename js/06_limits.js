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
    Reflect,
    ReflectApply,
    ReflectConstruct,
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
  const { concat, flat, flatMap } = ArrayPrototype;
  const checkNested = (array, depth) => {
    for (let i = 0; i < array.length; i++) {
      const item = array[i];
      if (!ArrayIsArray(item)) continue;
      checked(item.length, "flat");
      if (depth > 1) checkNested(item, depth - 1);
    }
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
        const calling = function () {
          const items = ReflectApply(callback, this, arguments);
          if (ArrayIsArray(items)) checked(items.length, "flatMap");
          return items;
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
