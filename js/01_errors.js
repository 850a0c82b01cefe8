// Errors as the program and the model see them: stacks that show the program's
// own positions only, and a description of whatever was thrown.
((internals) => {
  "use strict";

  const {
    ArrayIsArray,
    Error,
    ErrorPrototypeToString,
    FunctionPrototypeSymbolHasInstance,
    NumberIsInteger,
    ObjectDefineProperty,
    ReflectApply,
    ReflectDefineProperty,
    StringPrototypeIncludes,
    StringPrototypeSlice,
    SymbolHasInstance,
    WeakMap,
    WeakMapPrototypeGet,
    WeakMapPrototypeSet,
    ownDescriptor,
  } = internals.primordials;

  const PROGRAM = "program";
  // The wrapper's head stands on a line of its own before the program.
  const WRAPPER_LINES = 1;
  const MAX_FRAMES = 10;
  const MAX_CAUSES = 4;
  const MAX_MEMBERS = 5;
  // Characters of a message that go into a stack, and to the host.
  const MAX_STACK_HEAD = 65536;
  const MAX_HEAD = 1048576;

  // error -> its frames, kept apart from `stack`, which the program may overwrite.
  const framesOf = new WeakMap();
  // ToolCallError -> { tool, message } as they were when the call failed.
  const failureOf = new WeakMap();

  const NO_FRAMES = { __proto__: null, text: "", first: "", line: 0, column: 0 };

  const isObject = (value) =>
    (typeof value === "object" && value !== null) || typeof value === "function";

  const frameName = (site) => {
    const name = site.getFunctionName();
    if (name === null || name === undefined || name === "") return null;
    if (site.isConstructor()) return "new " + name;
    return site.isAsync?.() ? "async " + name : name;
  };

  const frameText = (name, line, column) => {
    const place = NumberIsInteger(column) && column > 0 ? (PROGRAM + ":" + line + ":" + column) : (PROGRAM + ":" + line);
    return name === null ? "\n    at " + place : "\n    at " + name + " (" + place + ")";
  };

  // The program's own frames, innermost first: all as `text`, the innermost as
  // `first` with its place.
  const programFrames = (sites) => {
    const frames = { __proto__: null, text: "", first: "", line: 0, column: 0 };
    let shown = 0;
    for (let i = 0; i < sites.length && shown < MAX_FRAMES; i++) {
      const site = sites[i];
      if (site.getFileName() !== PROGRAM) continue;
      const line = site.getLineNumber() - WRAPPER_LINES;
      // The wrapper's own head is not the program's.
      if (line < 1) continue;
      const column = site.getColumnNumber();
      const text = frameText(frameName(site), line, column);
      frames.text += text;
      if (shown === 0) {
        frames.first = text;
        frames.line = line;
        frames.column = column;
      }
      shown++;
    }
    return frames;
  };

  // `name: message`, whatever the program has done to either.
  const headline = (error, most) => {
    try {
      const text = ErrorPrototypeToString(error);
      if (typeof text === "string") return text.length > most ? StringPrototypeSlice(text, 0, most) + "..." : text;
    } catch {
      // A getter or a coercion of the program threw.
    }
    return "Error";
  };

  // What V8 says when its allocator refuses a buffer.
  const REFUSED_BUFFER = "Array buffer allocation failed";

  // What the host can add to an error that the engine made: the limit that it met, the nearest names of a tool that is
  // not there. Empty for most.
  const hint = (head) => {
    const isKnown = head === "RangeError: " + REFUSED_BUFFER || StringPrototypeIncludes(head, " is not a function");
    return (isKnown && internals.ops.op_code_mode_hint(head)) || "";
  };

  // The same error, with the limit in its message, if it is V8's own for a refused buffer.
  internals.withBufferLimit = (error) => {
    if (isObject(error) && ownDescriptor(error, "message")?.value === REFUSED_BUFFER) {
      const value = REFUSED_BUFFER + hint("RangeError: " + REFUSED_BUFFER);
      ReflectDefineProperty(error, "message", { __proto__: null, value });
    }
    return error;
  };

  // The engine calls this when `stack` is first read; the program's own
  // `Error.prepareStackTrace` is never consulted.
  internals.prepareStackTrace = (error, sites) => {
    let frames = NO_FRAMES;
    try {
      frames = programFrames(sites);
    } catch {
      // Positions are a help, not a reason to fail.
    }
    if (isObject(error)) WeakMapPrototypeSet(framesOf, error, frames);
    const head = headline(error, MAX_STACK_HEAD);
    return head + hint(head) + frames.text;
  };

  internals.toolCallErrorClass = (className, memberName) => {
    // A class of this name, so that `class X extends ToolCallError` and
    // `instanceof` work as in the declarations.
    const Class = {
      [className]: class extends Error {
        constructor(message, member) {
          super(message);
          ObjectDefineProperty(this, "name", { __proto__: null, value: className, enumerable: true });
          ObjectDefineProperty(this, memberName, { __proto__: null, value: member, enumerable: true });
        }
      },
    }[className];
    // `instanceof` must not be redirected by the program.
    ObjectDefineProperty(Class, SymbolHasInstance, {
      __proto__: null,
      value: FunctionPrototypeSymbolHasInstance,
    });
    return Class;
  };

  // A failed call's error. `site` is an error made where the program made the
  // call; this one is made when nothing of the program may be on the stack.
  internals.callFailure = (Class, tool, message, site) => {
    const error = new Class(message, tool);
    void site.stack;
    const frames = WeakMapPrototypeGet(framesOf, site) ?? NO_FRAMES;
    WeakMapPrototypeSet(framesOf, error, frames);
    WeakMapPrototypeSet(failureOf, error, { __proto__: null, tool, message });
    ObjectDefineProperty(error, "stack", {
      __proto__: null,
      value: headline(error, MAX_STACK_HEAD) + frames.text,
      writable: true,
      configurable: true,
      enumerable: false,
    });
    return error;
  };

  const errorFrames = (error) => {
    try {
      void error.stack;
    } catch {
      // A getter of the program threw.
    }
    return WeakMapPrototypeGet(framesOf, error) ?? NO_FRAMES;
  };

  const isError = (value) => {
    try {
      return isObject(value) && ReflectApply(FunctionPrototypeSymbolHasInstance, Error, [value]);
    } catch {
      return false;
    }
  };

  const read = (object, key) => {
    try {
      return object[key];
    } catch {
      return undefined;
    }
  };

  const describeHead = (value) => {
    if (!isError(value)) {
      try {
        return internals.inspect(value);
      } catch {
        return "program threw an unrenderable value";
      }
    }
    const failure = WeakMapPrototypeGet(failureOf, value);
    if (failure !== undefined) {
      const name = read(value, "name");
      return ((typeof name === "string" ? name : "Error") + ": tool \"" + failure.tool + "\" failed: " + failure.message);
    }
    return headline(value, MAX_HEAD);
  };

  const describeCauses = (error) => {
    let text = "";
    let current = error;
    for (let i = 0; i < MAX_CAUSES; i++) {
      if (!isError(current)) break;
      const members = read(current, "errors");
      if (ArrayIsArray(members)) {
        const shown = members.length < MAX_MEMBERS ? members.length : MAX_MEMBERS;
        for (let m = 0; m < shown; m++) text += "\n[error " + m + "]: " + withFrame(read(members, m));
        if (members.length > shown) text += "\n... " + (members.length - shown) + " more errors";
      }
      const cause = read(current, "cause");
      if (cause === undefined) break;
      text += "\n[cause]: " + withFrame(cause);
      current = cause;
    }
    return text;
  };

  const withFrame = (value) => describeHead(value) + (isError(value) ? errorFrames(value).first : "");

  // What the host needs to report an uncaught value. The host adds the code
  // frame, since it holds the program's text. Returned as an array of
  // primitives: [head, frames, causes, line, column, tool].
  internals.describeThrown = (value) => {
    const frames = isError(value) ? errorFrames(value) : NO_FRAMES;
    const failure = isObject(value) ? WeakMapPrototypeGet(failureOf, value) : undefined;
    let causes = "";
    try {
      causes = describeCauses(value);
    } catch {
      // Hostile `cause` chains lose their text, not the failure.
    }
    return [describeHead(value), frames.text, causes, frames.line, frames.column, failure?.tool ?? null];
  };
})(globalThis.__internals);
