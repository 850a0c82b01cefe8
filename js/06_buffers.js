// Array buffers: refused with the limit that refused them, and never of a kind that no limit sees.
((internals) => {
  "use strict";

  const {
    ArrayBuffer,
    ArrayBufferPrototype,
    ObjectDefineProperty,
    ObjectGetOwnPropertyDescriptor,
    RangeError,
    ReflectApply,
    ReflectConstruct,
    SymbolSpecies,
    TypeError,
  } = internals.primordials;
  const { replace } = internals.lengths;

  // A refused buffer is told with the limit that refused it. Only here: typed arrays with constructors of ours would
  // lose the engine's short way to views of a buffer, which then take four times as long. Their errors name the limit
  // in `stack`, and where nothing catches them.
  const allocating = (allocate, target, args, newTarget) => {
    try {
      return newTarget === undefined ? ReflectApply(allocate, target, args) : ReflectConstruct(allocate, args, newTarget);
    } catch (error) {
      throw internals.withBufferLimit(error);
    }
  };
  const COPIERS = ["slice", "transfer", "transferToFixedLength"];
  for (let i = 0; i < COPIERS.length; i++) {
    const original = ArrayBufferPrototype[COPIERS[i]];
    if (original === undefined) continue;
    replace(
      ArrayBufferPrototype,
      COPIERS[i],
      {
        method() {
          return allocating(original, this, arguments, undefined);
        },
      }.method,
    );
  }

  // A buffer that can grow is reserved where no limit sees it.
  const Buffer = function ArrayBuffer_(length, options) {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
    if (options !== null && typeof options === "object" && options.maxByteLength !== undefined) {
      throw new RangeError("an ArrayBuffer with maxByteLength is not available: allocate a fixed length");
    }
    return allocating(ArrayBuffer, undefined, [length], new.target);
  };
  const own = (name, value) => ObjectDefineProperty(Buffer, name, { __proto__: null, value, configurable: true });
  internals.hideSource(Buffer);
  own("name", "ArrayBuffer");
  own("length", 1);
  ObjectDefineProperty(Buffer, "prototype", { __proto__: null, value: ArrayBufferPrototype, writable: false });
  ObjectDefineProperty(Buffer, "isView", ObjectGetOwnPropertyDescriptor(ArrayBuffer, "isView"));
  ObjectDefineProperty(Buffer, SymbolSpecies, ObjectGetOwnPropertyDescriptor(ArrayBuffer, SymbolSpecies));
  ObjectDefineProperty(ArrayBufferPrototype, "constructor", { __proto__: null, value: Buffer });
  ObjectDefineProperty(globalThis, "ArrayBuffer", { __proto__: null, value: Buffer });
})(globalThis.__internals);
