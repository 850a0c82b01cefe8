// setTimeout, clearTimeout, setInterval, clearInterval, for which the host keeps
// the clock and calls `fireTimer`, while the callbacks stay here; queueMicrotask.
((internals) => {
  "use strict";

  const {
    Map,
    MapPrototypeDelete,
    MapPrototypeGet,
    MapPrototypeSet,
    NumberIsFinite,
    ObjectDefineProperty,
    PromisePrototypeThen,
    PromiseResolve,
    ReflectApply,
    TypeError,
  } = internals.primordials;
  const { op_code_mode_start_timer, op_code_mode_cancel_timer } = internals.ops;

  const timers = new Map();
  let lastTimer = 0;

  const start = (callback, delay, args, repeat) => {
    if (typeof callback !== "function") throw new TypeError("the callback of a timer must be a function");
    const number = +delay;
    const ms = NumberIsFinite(number) && number > 0 ? number : 0;
    const id = ++lastTimer;
    MapPrototypeSet(timers, id, { __proto__: null, callback, args, ms, repeat });
    op_code_mode_start_timer(id, ms);
    return id;
  };

  const clear = (id) => {
    if (MapPrototypeDelete(timers, id)) op_code_mode_cancel_timer(id);
  };

  internals.fireTimer = (id) => {
    const timer = MapPrototypeGet(timers, id);
    if (timer === undefined) return;
    // Started again before the callback runs, so that it can clear itself. An
    // interval of 0 would leave the program no time for anything else.
    if (timer.repeat) op_code_mode_start_timer(id, timer.ms < 1 ? 1 : timer.ms);
    else MapPrototypeDelete(timers, id);
    ReflectApply(timer.callback, undefined, timer.args);
  };

  // Settled from the start. Without a class of its own, so that `then` asks
  // nothing that a program could have replaced.
  const settled = ObjectDefineProperty(PromiseResolve(), "constructor", { __proto__: null, value: undefined });

  internals.timers = {
    __proto__: null,
    setTimeout(callback, delay, ...args) {
      return start(callback, delay, args, false);
    },
    setInterval(callback, delay, ...args) {
      return start(callback, delay, args, true);
    },
    clearTimeout(id) {
      clear(id);
    },
    clearInterval(id) {
      clear(id);
    },
    // The engine's own loses what the callback throws. Here it becomes a
    // rejection that nothing handles, and the program hears of it.
    queueMicrotask(callback) {
      if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
      PromisePrototypeThen(settled, () => {
        ReflectApply(callback, undefined, []);
      });
    },
  };
})(globalThis.__internals);
