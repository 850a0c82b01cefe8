// The guard between the program and the host: a value crosses only as lossless
// JSON (contract 3.4). The text is written while walking, with one read per
// slot, so that a getter or a proxy that would answer differently the second
// time is never asked twice, and what was checked is what is sent. The walk has
// its own stack of frames: depth costs memory, not recursion.
((internals) => {
  "use strict";

  const {
    ArrayIsArray,
    ArrayPrototype,
    JSONStringify,
    NumberIsFinite,
    ObjectGetPrototypeOf,
    ObjectKeys,
    ObjectPrototype,
    PromisePrototype,
    ReflectOwnKeys,
    RegExpPrototypeExec,
    Set,
    SetPrototypeAdd,
    SetPrototypeDelete,
    SetPrototypeHas,
    StringPrototypeIsWellFormed,
    ownDescriptor,
  } = internals.primordials;

  // Up to this depth a cycle is looked for by walking up; below it a set of the
  // ancestors is kept as well.
  const SHALLOW = 24;

  class Lossy {
    constructor(path, reason) {
      this.path = path;
      this.reason = reason;
    }
  }

  const bareKey = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

  const keyPath = (key) =>
    RegExpPrototypeExec(bareKey, key) === null ? ("[" + JSONStringify(key) + "]") : ("." + key);

  const pathOf = (root, frame) => {
    let path = "";
    for (let f = frame; f !== null; f = f.parent) {
      path = (f.keys === null ? ("[" + f.index + "]") : keyPath(f.keys[f.index])) + path;
    }
    return root + path;
  };

  const wellFormed = StringPrototypeIsWellFormed ?? ((text) => RegExpPrototypeExec(/\p{Surrogate}/u, text) === null);

  // What to write instead of a value of a well-known class.
  const advice = {
    __proto__: null,
    Date: "use .toISOString()",
    Map: "use Object.fromEntries(map) or [...map]",
    Set: "use [...set]",
    RegExp: "use .source",
    Error: "use .message",
    Uint8Array: "use Array.from(bytes)",
  };

  const className = (value) => {
    try {
      const proto = ObjectGetPrototypeOf(value);
      const name = ownDescriptor(ownDescriptor(proto, "constructor").value, "name").value;
      if (typeof name === "string" && name !== "") return name;
    } catch {
      // A proxy of the program threw; the name is only a help.
    }
    return undefined;
  };

  const classReason = (value) => {
    for (let p = value; p !== null; p = ObjectGetPrototypeOf(p)) {
      if (p === PromisePrototype) return "is a Promise: await it first";
    }
    const name = className(value);
    if (name === undefined) return "is not a plain object";
    const instead = advice[name];
    const article = RegExpPrototypeExec(/^[AEIOU]/, name) === null ? "a" : "an";
    return instead === undefined ? ("is " + article + " " + name + ", not a plain object") : ("is " + article + " " + name + ": " + instead);
  };

  const frameFor = (value, parent, depth) => {
    const array = ArrayIsArray(value);
    const proto = ObjectGetPrototypeOf(value);
    if (array ? proto !== ArrayPrototype : proto !== ObjectPrototype && proto !== null) {
      throw new Lossy(parent, array ? "is an instance of an Array subclass" : classReason(value));
    }
    let keys = null;
    let length;
    if (array) {
      length = value.length;
    } else {
      keys = ObjectKeys(value);
      length = keys.length;
      const own = ReflectOwnKeys(value);
      if (own.length !== length) throw new Lossy(parent, hiddenKeyReason(value, own));
    }
    return { __proto__: null, value, keys, index: 0, length, parent, depth };
  };

  const hiddenKeyReason = (value, own) => {
    for (let i = 0; i < own.length; i++) {
      const key = own[i];
      if (typeof key === "symbol") return "has a symbol key";
      const descriptor = ownDescriptor(value, key);
      if (descriptor !== undefined && !descriptor.enumerable) return "has a non-enumerable property " + JSONStringify(key);
    }
    return "has hidden properties";
  };

  // A dense array owns its indices and `length` and nothing else.
  const checkArrayKeys = (frame) => {
    const own = ReflectOwnKeys(frame.value);
    if (own.length === frame.length + 1) return;
    throw new Lossy(frame.parent, own.length > frame.length ? "is an array with extra properties" : "is a sparse array");
  };

  const isAncestor = (value, frame, seen) => {
    if (frame.depth > SHALLOW) return SetPrototypeHas(seen, value);
    for (let f = frame; f !== null; f = f.parent) if (f.value === value) return true;
    return false;
  };

  // The primitive's JSON text, or undefined for an object. `at` is the frame
  // whose current slot holds the value, null for the root.
  const scalarText = (value, at) => {
    switch (typeof value) {
      case "string":
        if (!wellFormed(value)) throw new Lossy(at, "holds a lone surrogate, which is not valid Unicode text");
        return JSONStringify(value);
      case "number":
        if (!NumberIsFinite(value)) throw new Lossy(at, ("is " + value));
        if (value === 0 && 1 / value < 0) throw new Lossy(at, "is -0");
        return "" + value;
      case "boolean":
        return value ? "true" : "false";
      case "undefined":
        throw new Lossy(at, "is undefined");
      case "bigint":
        throw new Lossy(at, "is a BigInt: use Number(x) or String(x)");
      case "symbol":
        throw new Lossy(at, "is a symbol");
      case "function":
        throw new Lossy(at, "is a function");
      default:
        return value === null ? "null" : undefined;
    }
  };

  const keyText = (key, frame) => {
    if (!wellFormed(key)) throw new Lossy(frame, "has a key with a lone surrogate");
    return JSONStringify(key);
  };

  // The container whose slot is being read: where a getter of the program throws.
  let reading = null;

  const walk = (root) => {
    reading = null;
    const scalar = scalarText(root, null);
    if (scalar !== undefined) return scalar;
    let seen;
    let frame = frameFor(root, null, 1);
    let text = frame.keys === null ? "[" : "{";
    for (;;) {
      if (frame.index === frame.length) {
        if (frame.keys === null) checkArrayKeys(frame);
        text += frame.keys === null ? "]" : "}";
        if (frame.depth > SHALLOW) SetPrototypeDelete(seen, frame.value);
        frame = frame.parent;
        if (frame === null) return text;
        frame.index++;
        continue;
      }
      if (frame.index > 0) text += ",";
      let value;
      reading = frame;
      if (frame.keys === null) {
        value = frame.value[frame.index];
        // A hole reads as undefined, or as what the prototype was given.
        if (value === undefined && ownDescriptor(frame.value, ("" + frame.index)) === undefined) {
          throw new Lossy(frame, "is a hole in a sparse array");
        }
      } else {
        const key = frame.keys[frame.index];
        text += keyText(key, frame) + ":";
        value = frame.value[key];
      }
      const scalarValue = scalarText(value, frame);
      if (scalarValue !== undefined) {
        text += scalarValue;
        frame.index++;
        continue;
      }
      if (isAncestor(value, frame, seen)) throw new Lossy(frame, "refers back to a value that holds it (a cycle)");
      const inner = frameFor(value, frame, frame.depth + 1);
      if (inner.depth > SHALLOW) {
        if (seen === undefined) {
          seen = new Set();
          for (let f = frame; f !== null; f = f.parent) SetPrototypeAdd(seen, f.value);
        }
        SetPrototypeAdd(seen, value);
      }
      text += inner.keys === null ? "[" : "{";
      frame = inner;
    }
  };

  // [text, undefined] or [undefined, "args.items[3] is undefined"]. `root` names
  // the value in the message.
  internals.toJsonText = (value, root) => {
    try {
      return { __proto__: null, text: walk(value), problem: undefined };
    } catch (error) {
      if (error instanceof Lossy) {
        return { __proto__: null, text: undefined, problem: (pathOf(root, error.path) + " " + error.reason) };
      }
      // A getter or a trap of the program threw.
      return { __proto__: null, text: undefined, problem: (pathOf(root, reading) + " could not be read: " + internals.describeThrown(error)[0]) };
    }
  };
})(globalThis.__internals);
