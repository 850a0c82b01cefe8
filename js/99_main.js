// Last: what the host calls, and the globals that a program finds.
((internals) => {
  "use strict";

  const { ObjectDefineProperty, ReflectDeleteProperty } = internals.primordials;
  const { op_code_mode_log } = internals.ops;

  // Nothing here may be reachable from a program: the embedding's own objects,
  // and built-ins that block the thread or hold memory that no limit sees.
  const HIDDEN = ["Deno", "__bootstrap", "__internals", "WebAssembly", "SharedArrayBuffer"];

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
    for (let i = 0; i < HIDDEN.length; i++) ReflectDeleteProperty(globalThis, HIDDEN[i]);
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
