// Functions of ours that a program holds: their source is not for it to read.
((internals) => {
  "use strict";

  const {
    FunctionPrototype,
    FunctionPrototypeToString,
    ObjectDefineProperty,
    WeakSet,
    WeakSetPrototypeAdd,
    WeakSetPrototypeHas,
    ownDescriptor,
  } = internals.primordials;

  const ours = new WeakSet();

  // Makes `String(f)` say what it says of a built-in.
  internals.hideSource = (f) => WeakSetPrototypeAdd(ours, f);

  const toString = {
    toString() {
      if (typeof this !== "function" || !WeakSetPrototypeHas(ours, this)) return FunctionPrototypeToString(this);
      const name = ownDescriptor(this, "name")?.value;
      return "function " + (typeof name === "string" ? name : "") + "() { [native code] }";
    },
  }.toString;
  internals.hideSource(toString);
  ObjectDefineProperty(FunctionPrototype, "toString", {
    __proto__: null,
    value: toString,
    writable: true,
    configurable: true,
    enumerable: false,
  });
})(globalThis.__internals);
