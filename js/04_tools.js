// The namespaces whose functions are calls to the host: `tools`.
((internals) => {
  "use strict";

  const {
    Error,
    JSONStringify,
    Map,
    MapPrototypeDelete,
    MapPrototypeGet,
    MapPrototypeSet,
    Promise,
    RegExpPrototypeExec,
    StringPrototypeCharCodeAt,
    StringPrototypeSlice,
  } = internals.primordials;
  const { op_code_mode_call } = internals.ops;

  const FULFILLED = 43; // "+", the first character of a settlement's text

  // call id -> { resolve, reject, Class, tool, site } of every pending call.
  const pending = new Map();
  let lastCall = 0;

  const settle = (call, settlement) => {
    const text = StringPrototypeSlice(settlement, 1);
    if (StringPrototypeCharCodeAt(settlement, 0) !== FULFILLED) {
      call.reject(internals.callFailure(call.Class, call.tool, text, call.site));
      return;
    }
    let value;
    try {
      value = internals.fromJsonText(text);
    } catch (error) {
      // The engine's own limits: its stack, its memory.
      const message = "the result could not be read: " + internals.describeThrown(error)[0];
      call.reject(internals.callFailure(call.Class, call.tool, message, call.site));
      return;
    }
    call.resolve(value);
  };

  const bareName = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
  const access = (namespace, name) =>
    RegExpPrototypeExec(bareName, name) === null ? (namespace + "[" + JSONStringify(name) + "]") : (namespace + "." + name);

  // One function of a namespace. Made when the program first reads it.
  internals.makeFunction = (namespace, namespaceIndex, Class, name, index) => {
    const shown = access(namespace, name);
    const call = {
      [name](args) {
        // Cheap on both engines until somebody reads its stack.
        const site = new Error();
        return new Promise((resolve, reject) => {
          const entry = { __proto__: null, resolve, reject, Class, tool: name, site };
          if (arguments.length > 1) {
            reject(internals.callFailure(Class, name, arityMessage(shown, arguments), site));
            return;
          }
          let text = "{}";
          if (arguments.length === 1) {
            const guarded = internals.toJsonText(args, "args");
            if (guarded.problem !== undefined) {
              reject(internals.callFailure(Class, name, ("binding arguments must be lossless JSON: " + guarded.problem), site));
              return;
            }
            text = guarded.text;
          }
          const id = ++lastCall;
          const settlement = op_code_mode_call(namespaceIndex, index, id, text);
          if (settlement === null) MapPrototypeSet(pending, id, entry);
          else settle(entry, settlement);
        });
      },
    }[name];
    internals.hideSource(call);
    return call;
  };

  // `ids.map(tools.f)` passes the element, its index and the array.
  const arityMessage = (shown, args) => {
    const head = (shown + " takes one arguments object, but got " + args.length + " arguments");
    return args.length === 3 && typeof args[1] === "number"
      ? (head + ": pass an arrow function, as in ids.map((id) => " + shown + "({ id }))")
      : (head + ": write " + shown + "({ name: value, ... })");
  };

  internals.settle = (id, settlement) => {
    const call = MapPrototypeGet(pending, id);
    if (call === undefined) return;
    MapPrototypeDelete(pending, id);
    settle(call, settlement);
  };
})(globalThis.__internals);
