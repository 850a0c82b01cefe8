// Lengths that no engine should walk in native code, where nothing can interrupt it, and what stands for an object
// whose length may change between two looks.
((internals) => {
  "use strict";

  const {
    ArrayBufferIsView,
    ArrayIsArray,
    FunctionPrototypeBind,
    ObjectDefineProperty,
    ObjectGetOwnPropertyDescriptor,
    Proxy,
    RangeError,
    ReflectApply,
    ReflectGet,
    ReflectGetPrototypeOf,
    ReflectSet,
    TypedArrayPrototype,
    TypedArrayPrototypeGetSymbolToStringTag,
    TypeError,
    ownDescriptor,
  } = internals.primordials;

  const MAX_LENGTH = 33554432; // 2^25
  const typedArrayLength = ownDescriptor(TypedArrayPrototype, "length").get;

  const refuse = (length, name) => {
    throw new RangeError(
      "array of length " + length + " is too long for " + name + " (limit " + MAX_LENGTH + "): " +
        "use a Map or an object for sparse keys, a typed array for many numbers",
    );
  };

  // The length, unless it is too long. A string or the like is converted as the method would.
  const checked = (length, name) => {
    const number = +length;
    if (number > MAX_LENGTH) refuse(number, name);
    return number;
  };

  // Whether the program has made a proxy: only then need anybody ask the engine for one.
  let hasProxies = false;
  const isProxy = (value) => hasProxies && internals.native.isProxy(value);

  // Whether the object's length, once read, is the same when a method reads it again.
  const keepsLength = (value) => {
    if (isProxy(value)) return false;
    // With its prototype, as taking that away is slow: what a program has put there can only make this false, or a
    // length that is undefined true.
    const own = ObjectGetOwnPropertyDescriptor(value, "length");
    if (own !== undefined) return own.get === undefined && typeof own.value === "number";
    if (!ArrayBufferIsView(value) || TypedArrayPrototypeGetSymbolToStringTag(value) === undefined) return false;
    // A typed array, unless the program has put another length between it and its last prototype.
    let prototype = ReflectGetPrototypeOf(value);
    while (prototype !== null && !isProxy(prototype)) {
      const inherited = ownDescriptor(prototype, "length");
      if (inherited !== undefined) return inherited.get === typedArrayLength;
      prototype = ReflectGetPrototypeOf(prototype);
    }
    return false;
  };

  // What a method may walk in place of `value`: itself if its length is checked and stays, else a view of it.
  const bounded = (value, name) => {
    if (ArrayIsArray(value) && !isProxy(value)) {
      checked(value.length, name);
      return value;
    }
    if ((typeof value !== "object" || value === null) && typeof value !== "function") return value;
    if (!keepsLength(value)) return viewOf(value, name);
    checked(value.length, name);
    return value;
  };

  // The object itself, but for its length: that is read when a method first asks, and is what was checked ever after.
  const viewOf = (value, name) => {
    let length;
    let isRead = false;
    const view = new Proxy(value, {
      __proto__: null,
      get(_, key, receiver) {
        if (key !== "length") return ReflectGet(value, key, receiver === view ? value : receiver);
        if (!isRead) {
          length = ReflectGet(value, key);
          const number = checked(length, name);
          // Of a value that is no object the conversion can be made again.
          if (typeof length === "object" || typeof length === "function") length = number;
          isRead = true;
        }
        return length;
      },
      set: (_, key, to, receiver) => ReflectSet(value, key, to, receiver === view ? value : receiver),
    });
    return view;
  };

  // Calls a method on a view, which neither the caller nor a callback shall see.
  const throughView = (original, value, view, args, takesCallback) => {
    const callback = args[0];
    if (takesCallback && typeof callback === "function") {
      args[0] = function () {
        const last = arguments.length - 1;
        if (arguments[last] === view) arguments[last] = value;
        return ReflectApply(callback, this, arguments);
      };
    }
    const result = ReflectApply(original, view, args);
    return result === view ? value : result;
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

  // Makes it known that there are proxies, which alone may change their length unseen. Bound, as the built-in has no
  // `prototype` either.
  const BoundProxy = FunctionPrototypeBind(
    function (target, handler) {
      if (new.target === undefined) throw new TypeError("Constructor Proxy requires 'new'");
      hasProxies = true;
      return new Proxy(target, handler);
    },
    undefined,
  );
  const { revocable } = Proxy;
  internals.hideSource(BoundProxy);
  ObjectDefineProperty(BoundProxy, "name", { __proto__: null, value: "Proxy", configurable: true });
  ObjectDefineProperty(BoundProxy, "length", { __proto__: null, value: 2, configurable: true });
  ObjectDefineProperty(BoundProxy, "revocable", ObjectGetOwnPropertyDescriptor(Proxy, "revocable"));
  replace(
    BoundProxy,
    "revocable",
    {
      method() {
        hasProxies = true;
        return ReflectApply(revocable, Proxy, arguments);
      },
    }.method,
  );
  ObjectDefineProperty(globalThis, "Proxy", { __proto__: null, value: BoundProxy });

  internals.lengths = { __proto__: null, bounded, checked, isProxy, replace, throughView };
})(globalThis.__internals);
