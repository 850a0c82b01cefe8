// Evaluated once, when the start-up snapshot is made: what has run is in the
// snapshot as compiled code. Leaves no state behind.
((internals) => {
  "use strict";

  const Class = internals.toolCallErrorClass("ToolCallError", "toolName");
  internals.makeFunction("tools", 0, Class, "a", 0);
  internals.makeFunction("tools", 0, Class, "a-b", 0);
  internals.settle(0, "+null");
  internals.fireTimer(0);
  internals.toJsonText({ a: [1, "b", true, null, { c: -1.5 }], "d-e": [[]] }, "value");
  internals.toJsonText({ a: [undefined] }, "value");
  internals.formatLog(["a", 1, { b: [true, null], c: { d: new Map([["e", 1]]) } }, [1, "f"]]);
  const error = new Error("a");
  internals.prepareStackTrace(error, []);
  internals.describeThrown(internals.callFailure(Class, "a", "b", error));
  internals.describeThrown({ a: 1 });
})(globalThis.__internals);
