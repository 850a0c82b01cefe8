// DOMException, AbortController and AbortSignal, and the event target that a signal is.
//
// A program finds the last two as globals; the others it meets only through them.
((internals) => {
  "use strict";

  const {
    Error, Map, MapPrototypeGet, MapPrototypeSet, ObjectDefineProperty, PromiseReject, ReflectApply, String, SymbolToStringTag,
    TypeError, list, uncurryThis,
  } = internals.primordials;
  const { add } = internals.text;
  const { getterOf, hideClass } = internals;

  const CODES = new Map();
  const NAMES = [
    "IndexSizeError", 1, "HierarchyRequestError", 3, "WrongDocumentError", 4, "InvalidCharacterError", 5,
    "NotFoundError", 8, "NotSupportedError", 9, "InvalidStateError", 11, "SyntaxError", 12, "NamespaceError", 14,
    "InvalidAccessError", 15, "SecurityError", 18, "NetworkError", 19, "AbortError", 20, "QuotaExceededError", 22,
    "TimeoutError", 23, "DataCloneError", 25,
  ];
  for (let i = 0; i < NAMES.length; i += 2) MapPrototypeSet(CODES, NAMES[i], NAMES[i + 1]);

  class DOMException extends Error {
    #name;
    constructor(message = "", name = "Error") {
      super(String(message));
      this.#name = String(name);
    }
    get name() {
      return this.#name;
    }
    get code() {
      return MapPrototypeGet(CODES, this.#name) ?? 0;
    }
  }

  class Event {
    #state;
    constructor(type, options = {}) {
      if (arguments.length === 0) throw new TypeError("an event needs its type: new Event(type)");
      const cancelable = options?.cancelable === true;
      this.#state = { __proto__: null, type: String(type), cancelable, canceled: false, target: null, stopped: false };
    }
    get type() {
      return this.#state.type;
    }
    get target() {
      return this.#state.target;
    }
    get currentTarget() {
      return this.#state.target;
    }
    get cancelable() {
      return this.#state.cancelable;
    }
    get defaultPrevented() {
      return this.#state.canceled;
    }
    preventDefault() {
      if (this.#state.cancelable) this.#state.canceled = true;
    }
    // There is no tree of targets to propagate through.
    stopPropagation() {}
    stopImmediatePropagation() {
      this.#state.stopped = true;
    }
    static stateOf(event) {
      if (event === null || typeof event !== "object" || !(#state in event)) {
        throw new TypeError("dispatchEvent takes an Event");
      }
      return event.#state;
    }
  }
  const { stateOf } = Event;
  delete Event.stateOf;

  class EventTarget {
    // Records { type, callback, once, removed }, replaced and not changed, so that a dispatch walks the list as it was.
    #listeners = list();

    addEventListener(type, callback, options) {
      if (callback === null || callback === undefined) return;
      if (typeof callback !== "function" && typeof callback !== "object") {
        throw new TypeError("a listener must be a function or an object with handleEvent");
      }
      const signal = typeof options === "object" && options !== null ? options.signal : undefined;
      if (signal?.aborted === true) return;
      const name = String(type);
      const before = this.#listeners;
      const after = list();
      for (let i = 0; i < before.length; i++) {
        if (before[i].type === name && before[i].callback === callback) return;
        add(after, before[i]);
      }
      const once = typeof options === "object" && options !== null && options.once === true;
      add(after, { __proto__: null, type: name, callback, once, removed: false });
      this.#listeners = after;
      signal?.addEventListener("abort", () => this.#remove(name, callback));
    }
    removeEventListener(type, callback) {
      this.#remove(String(type), callback);
    }
    dispatchEvent(event) {
      const state = stateOf(event);
      const { type } = state;
      state.target = this;
      state.stopped = false;
      const listeners = this.#listeners;
      for (let i = 0; i < listeners.length && !state.stopped; i++) {
        const listener = listeners[i];
        if (listener.type !== type || listener.removed) continue;
        if (listener.once) this.#remove(type, listener.callback);
        try {
          const { callback } = listener;
          if (typeof callback === "function") ReflectApply(callback, this, [event]);
          else callback.handleEvent(event);
        } catch (error) {
          // What a listener throws is nobody's to catch: it is reported like a
          // rejection that nothing handles.
          PromiseReject(error);
        }
      }
      return !state.canceled;
    }
    #remove(type, callback) {
      const before = this.#listeners;
      const after = list();
      for (let i = 0; i < before.length; i++) {
        if (before[i].type === type && before[i].callback === callback) before[i].removed = true;
        else add(after, before[i]);
      }
      this.#listeners = after;
    }
  }

  const OURS = { __proto__: null };

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    #onabort = null;
    #followers = list();

    constructor(key) {
      if (key !== OURS) throw new TypeError("AbortSignal has no constructor: use new AbortController().signal");
      super();
    }
    static abort(reason) {
      const signal = new AbortSignal(OURS);
      signal.#aborted = true;
      signal.#reason = reason === undefined ? aborted() : reason;
      return signal;
    }
    static timeout(milliseconds) {
      const signal = new AbortSignal(OURS);
      const fire = () => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError"));
      internals.timers.setTimeout(fire, milliseconds);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(OURS);
      for (const source of signals) {
        if (source === null || typeof source !== "object" || !(#aborted in source)) {
          throw new TypeError("AbortSignal.any takes a list of AbortSignals");
        }
        if (source.#aborted && !signal.#aborted) {
          signal.#aborted = true;
          signal.#reason = source.#reason;
        }
        add(source.#followers, signal);
      }
      return signal;
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    get onabort() {
      return this.#onabort;
    }
    set onabort(handler) {
      const isFirst = this.#onabort === null;
      this.#onabort = typeof handler === "function" ? handler : null;
      if (isFirst && this.#onabort !== null) {
        super.addEventListener("abort", (event) => {
          if (this.#onabort !== null) ReflectApply(this.#onabort, this, [event]);
        });
      }
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    // Aborts a signal and those made of it by `any`, all before any listener runs.
    static abortSignal(signal, reason) {
      const all = list();
      const mark = (one) => {
        if (one.#aborted) return;
        one.#aborted = true;
        one.#reason = reason === undefined ? aborted() : reason;
        add(all, one);
      };
      mark(signal);
      for (let i = 0; i < all.length; i++) {
        reason = all[0].#reason;
        const followers = all[i].#followers;
        for (let f = 0; f < followers.length; f++) mark(followers[f]);
      }
      for (let i = 0; i < all.length; i++) dispatch(all[i], new Event("abort"));
    }
  }
  const abort = AbortSignal.abortSignal;
  delete AbortSignal.abortSignal;
  const dispatch = uncurryThis(EventTarget.prototype.dispatchEvent);

  const aborted = () => new DOMException("This operation was aborted", "AbortError");

  class AbortController {
    #signal = new AbortSignal(OURS);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      abort(this.#signal, reason);
    }
  }

  const classes = [DOMException, Event, EventTarget, AbortSignal, AbortController];
  const names = ["DOMException", "Event", "EventTarget", "AbortSignal", "AbortController"];
  for (let i = 0; i < classes.length; i++) {
    hideClass(classes[i]);
    if (i > 0) ObjectDefineProperty(classes[i].prototype, SymbolToStringTag, { __proto__: null, value: names[i], configurable: true });
  }
  const isAborted = getterOf(AbortSignal, "aborted");
  const reasonOf = getterOf(AbortSignal, "reason");
  const signalOf = getterOf(AbortController, "signal");
  internals.setInspectView(AbortSignal.prototype, (signal) =>
    isAborted(signal) ? { aborted: true, reason: reasonOf(signal) } : { aborted: false });
  internals.setInspectView(AbortController.prototype, (controller) => ({ signal: signalOf(controller) }));

  internals.DOMException = DOMException;
  internals.web = { __proto__: null, AbortController, AbortSignal };
})(globalThis.__internals);
