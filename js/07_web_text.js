// Text and bytes: TextEncoder, TextDecoder, atob, btoa; and what is read from the host: crypto, performance.
((internals) => {
  "use strict";

  const {
    ArrayBufferIsView, ArrayBufferPrototypeGetByteLength, DataViewPrototypeGetBuffer, DataViewPrototypeGetByteLength,
    DataViewPrototypeGetByteOffset, NumberPrototypeToString, ObjectDefineProperty, RangeError, String,
    StringPrototypePadStart, StringPrototypeToWellFormed, SymbolToStringTag, TypeError,
    TypedArrayPrototypeGetBuffer, TypedArrayPrototypeGetByteLength, TypedArrayPrototypeGetByteOffset,
    TypedArrayPrototypeGetSymbolToStringTag, Uint8Array,
  } = internals.primordials;
  const {
    op_code_mode_atob, op_code_mode_btoa, op_code_mode_decode, op_code_mode_encode, op_code_mode_encoding,
    op_code_mode_fill_random, op_code_mode_now, op_code_mode_utf8_length,
  } = internals.ops;
  const { DOMException, getterOf, hideClass, hideSource } = internals;

  /** A string without lone surrogates, as Rust has them; what is no string is converted as everywhere. */
  const toText = (value) => {
    if (typeof value === "symbol") throw new TypeError("a Symbol cannot be converted to a string");
    return StringPrototypeToWellFormed(String(value));
  };

  /** The bytes of an ArrayBuffer, a typed array or a DataView, without a copy. */
  const bytesOf = (source) => {
    if (ArrayBufferIsView(source)) {
      return TypedArrayPrototypeGetSymbolToStringTag(source) === undefined
        ? new Uint8Array(
          DataViewPrototypeGetBuffer(source),
          DataViewPrototypeGetByteOffset(source),
          DataViewPrototypeGetByteLength(source),
        )
        : new Uint8Array(
          TypedArrayPrototypeGetBuffer(source),
          TypedArrayPrototypeGetByteOffset(source),
          TypedArrayPrototypeGetByteLength(source),
        );
    }
    try {
      ArrayBufferPrototypeGetByteLength(source);
    } catch {
      throw new TypeError("the bytes must be an ArrayBuffer, a typed array or a DataView");
    }
    return new Uint8Array(source);
  };

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(input = "") {
      const text = toText(input);
      const bytes = new Uint8Array(op_code_mode_utf8_length(text));
      op_code_mode_encode(text, bytes);
      return bytes;
    }
    encodeInto(source, destination) {
      if (TypedArrayPrototypeGetSymbolToStringTag(destination) !== "Uint8Array") {
        throw new TypeError("encodeInto writes into a Uint8Array");
      }
      const done = op_code_mode_encode(toText(source), bytesOf(destination));
      return { read: done[0], written: done[1] };
    }
  }

  const FATAL = 1;
  const KEEP_BOM = 2;
  const MORE_FOLLOWS = 4;
  // Decoders that wait for the rest of their text; the host keeps their state.
  const MAX_OPEN = 1000;
  let openDecoders = 0;
  let lastDecoder = 0;

  class TextDecoder {
    #encoding;
    #flags;
    #open = 0;
    constructor(label = "utf-8", options = {}) {
      this.#encoding = op_code_mode_encoding(toText(label));
      if (this.#encoding === null) throw new RangeError("no encoding is called " + internals.inspect(toText(label)));
      this.#flags = (options?.fatal ? FATAL : 0) | (options?.ignoreBOM ? KEEP_BOM : 0);
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return (this.#flags & FATAL) !== 0;
    }
    get ignoreBOM() {
      return (this.#flags & KEEP_BOM) !== 0;
    }
    decode(input, options) {
      const bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
      const follows = options?.stream ? MORE_FOLLOWS : 0;
      if (follows !== 0 && this.#open === 0) {
        if (openDecoders === MAX_OPEN) {
          throw new RangeError("more than " + MAX_OPEN + " decoders wait for more bytes: end a text with decode() without `stream`");
        }
        openDecoders++;
        this.#open = ++lastDecoder;
      }
      const text = op_code_mode_decode(this.#open, this.#encoding, this.#flags | follows, bytes);
      if (this.#open !== 0 && (follows === 0 || text === null)) {
        openDecoders--;
        this.#open = 0;
      }
      if (text === null) throw new TypeError("the bytes are not valid " + this.#encoding);
      return text;
    }
  }

  const atob = {
    atob(data) {
      if (arguments.length === 0) throw new TypeError("atob takes the text to decode");
      const text = op_code_mode_atob(toText(data));
      if (text === null) throw new DOMException("The string to be decoded is not correctly encoded", "InvalidCharacterError");
      return text;
    },
  }.atob;
  const btoa = {
    btoa(data) {
      if (arguments.length === 0) throw new TypeError("btoa takes the text to encode");
      const text = op_code_mode_btoa(toText(data));
      if (text === null) {
        throw new DOMException(
          "The string to be encoded has characters beyond U+00FF: encode new TextEncoder().encode(text) byte by byte",
          "InvalidCharacterError",
        );
      }
      return text;
    },
  }.btoa;

  const INTEGERS = [
    "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
    "BigInt64Array", "BigUint64Array",
  ];
  const MAX_RANDOM_BYTES = 65536;
  const fill = (bytes) => {
    if (!op_code_mode_fill_random(bytes)) throw new DOMException("no random numbers are to be had", "OperationError");
  };
  const hex = (bytes, from, to) => {
    let text = "";
    for (let i = from; i < to; i++) text += StringPrototypePadStart(NumberPrototypeToString(bytes[i], 16), 2, "0");
    return text;
  };

  const crypto = {
    getRandomValues(array) {
      const tag = TypedArrayPrototypeGetSymbolToStringTag(array);
      let known = false;
      for (let i = 0; i < INTEGERS.length; i++) known ||= INTEGERS[i] === tag;
      if (!known) throw new DOMException("getRandomValues fills a typed array of integers", "TypeMismatchError");
      const bytes = bytesOf(array);
      const size = TypedArrayPrototypeGetByteLength(bytes);
      if (size > MAX_RANDOM_BYTES) {
        throw new DOMException("getRandomValues fills at most 65536 bytes, not " + size, "QuotaExceededError");
      }
      fill(bytes);
      return array;
    },
    randomUUID() {
      const bytes = new Uint8Array(16);
      fill(bytes);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      return hex(bytes, 0, 4) + "-" + hex(bytes, 4, 6) + "-" + hex(bytes, 6, 8) + "-" + hex(bytes, 8, 10) + "-" + hex(bytes, 10, 16);
    },
  };
  const performance = {
    now() {
      return op_code_mode_now();
    },
  };

  const tag = (object, name) =>
    ObjectDefineProperty(object, SymbolToStringTag, { __proto__: null, value: name, configurable: true });
  hideClass(TextEncoder);
  hideClass(TextDecoder);
  const functions = [atob, btoa, crypto.getRandomValues, crypto.randomUUID, performance.now];
  for (let i = 0; i < functions.length; i++) hideSource(functions[i]);
  tag(TextEncoder.prototype, "TextEncoder");
  tag(TextDecoder.prototype, "TextDecoder");
  tag(crypto, "Crypto");
  tag(performance, "Performance");
  internals.setInspectView(TextEncoder.prototype, () => ({ encoding: "utf-8" }));
  const encodingOf = getterOf(TextDecoder, "encoding");
  const isFatal = getterOf(TextDecoder, "fatal");
  const keepsBom = getterOf(TextDecoder, "ignoreBOM");
  internals.setInspectView(TextDecoder.prototype, (decoder) => (
    { encoding: encodingOf(decoder), fatal: isFatal(decoder), ignoreBOM: keepsBom(decoder) }
  ));

  internals.toText = toText;
  internals.web.TextEncoder = TextEncoder;
  internals.web.TextDecoder = TextDecoder;
  internals.web.atob = atob;
  internals.web.btoa = btoa;
  internals.web.crypto = crypto;
  internals.web.performance = performance;
})(globalThis.__internals);
