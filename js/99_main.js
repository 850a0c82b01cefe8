// Last: what the host calls, and the globals that a program finds.
((internals) => {
  "use strict";

  const { ObjectDefineProperty, ReflectDeleteProperty, ReflectOwnKeys, Set, SetPrototypeHas } = internals.primordials;
  const { op_code_mode_log } = internals.ops;

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
    "queueMicrotask", "undefined", "unescape",
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
    const names = ReflectOwnKeys(globalThis);
    for (let i = 0; i < names.length; i++) {
      if (typeof names[i] === "string" && !SetPrototypeHas(GLOBALS, names[i])) ReflectDeleteProperty(globalThis, names[i]);
    }
    ReflectDeleteProperty(Atomics, "wait");
    ReflectDeleteProperty(Atomics, "waitAsync");
    define("console", internals.makeConsole(op_code_mode_log), false);
    const { setTimeout, clearTimeout, setInterval, clearInterval } = internals.timers;
    define("setTimeout", setTimeout, false);
    define("clearTimeout", clearTimeout, false);
    define("setInterval", setInterval, false);
    define("clearInterval", clearInterval, false);
  };

  // A namespace and its error class become globals that cannot be replaced.
  internals.install = (name, value) => define(name, value, true);
})(globalThis.__internals);
