// Functions of ours that a program holds: their source is not for it to read.
((internals) => {
  "use strict";

  const {
    FunctionPrototype,
    FunctionPrototypeToString,
    ObjectDefineProperty,
    ReflectOwnKeys,
    WeakSet,
    WeakSetPrototypeAdd,
    WeakSetPrototypeHas,
    ownDescriptor,
    uncurryThis,
  } = internals.primordials;

  const ours = new WeakSet();

  // Makes `String(f)` say what it says of a built-in.
  internals.hideSource = (f) => WeakSetPrototypeAdd(ours, f);

  // The same for a class: itself, its methods and its accessors.
  internals.hideClass = (Class) => {
    internals.hideSource(Class);
    const holders = [Class, Class.prototype];
    for (let i = 0; i < holders.length; i++) {
      const keys = ReflectOwnKeys(holders[i]);
      for (let k = 0; k < keys.length; k++) {
        const { get, set, value } = ownDescriptor(holders[i], keys[k]);
        if (get !== undefined) internals.hideSource(get);
        if (set !== undefined) internals.hideSource(set);
        if (typeof value === "function") internals.hideSource(value);
      }
    }
  };

  // A getter as a function of its object, whatever a program makes of the class later.
  internals.getterOf = (Class, name) => uncurryThis(ownDescriptor(Class.prototype, name).get);

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
