// Last: what the host calls, and the globals that a program finds.
((internals) => {
  "use strict";

  const { ObjectDefineProperty, ObjectKeys, ReflectDeleteProperty, ReflectOwnKeys, Set, SetPrototypeHas } = internals.primordials;
  const { op_code_mode_log } = internals.ops;
  const { web } = internals;

  // All that a program finds, besides what is installed below. Not here: the
  // embedding's own objects, and built-ins that block the thread or hold memory
  // that no limit sees.
  const GLOBALS = new Set([
    "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "Atomics", "BigInt", "BigInt64Array",
    "BigUint64Array", "Boolean", "DataView", "Date", "DisposableStack", "Error", "EvalError",
    "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "Function", "Infinity", "Int16Array",
    "Int32Array", "Int8Array", "InternalError", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number", "Object", "Promise",
    "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "String", "SuppressedError", "Symbol",
    "SyntaxError", "Temporal", "TypeError", "URIError", "Uint16Array", "Uint32Array", "Uint8Array",
    "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "decodeURI", "decodeURIComponent", "encodeURI",
    "encodeURIComponent", "escape", "eval", "globalThis", "isFinite", "isNaN", "parseFloat", "parseInt",
    "undefined", "unescape",
  ]);

  const define = (name, value, fixed) =>
    ObjectDefineProperty(globalThis, name, {
      __proto__: null,
      value,
      writable: !fixed,
      configurable: !fixed,
      enumerable: false,
    });

  // Called once per run, before the program is compiled.
  internals.start = () => {
    const found = ReflectOwnKeys(globalThis);
    for (let i = 0; i < found.length; i++) {
      if (typeof found[i] === "string" && !SetPrototypeHas(GLOBALS, found[i])) ReflectDeleteProperty(globalThis, found[i]);
    }
    ReflectDeleteProperty(Atomics, "wait");
    ReflectDeleteProperty(Atomics, "waitAsync");
    define("console", internals.makeConsole(op_code_mode_log), false);
    const { setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask } = internals.timers;
    define("setTimeout", setTimeout, false);
    define("clearTimeout", clearTimeout, false);
    define("setInterval", setInterval, false);
    define("clearInterval", clearInterval, false);
    define("queueMicrotask", queueMicrotask, false);
    const names = ObjectKeys(web);
    for (let i = 0; i < names.length; i++) define(names[i], web[names[i]], false);
  };

  // A namespace and its error class become globals that cannot be replaced.
  internals.install = (name, value) => define(name, value, true);
})(globalThis.__internals);
