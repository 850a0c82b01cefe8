//! The ops: everything JavaScript can ask of Rust, in one list.
//!
//! This file is compiled twice: into the crate and into its build script, which
//! makes the start-up snapshot. A snapshot refers to ops by position, so both
//! must see the very same list; that is why the ops know nothing but the
//! [`Guest`] trait and this file names nothing else of the crate.

use std::borrow::Cow;
use std::rc::Rc;

use deno_core::{Extension, OpDecl, OpState, op2, v8};

/// What one run offers its program. Lives on the isolate's thread.
///
/// An implementer must not call back into JavaScript from any of these.
pub(crate) trait Guest {
    /// Starts a call of function `function` of namespace `namespace` and names it
    /// `call` for its later settlement. `arguments` is JSON text made by the
    /// guard. Returns the settlement when it is there at once.
    fn call(&self, namespace: u32, function: u32, call: u32, arguments: String) -> Option<String>;

    /// Appends one entry to the log.
    fn log(&self, entry: String);

    /// Starts timer `id`, due in `delay_ms` milliseconds.
    fn start_timer(&self, id: u32, delay_ms: f64);

    /// Forgets timer `id`, if it has not fired.
    fn cancel_timer(&self, id: u32);

    /// Milliseconds since the run began.
    fn now_ms(&self) -> f64;

    /// Fills `bytes` from the operating system's random source; false if it has none.
    fn fill_random(&self, bytes: &mut [u8]) -> bool;

    /// What the host can add to an error of the engine with this `name: message`.
    fn hint(&self, head: &str) -> Option<String>;

    /// What stands behind the globals of the web.
    fn web(&self) -> &dyn Web;
}

/// The globals of the web, as far as they are Rust.
pub(crate) trait Web {
    /// The parts of a URL as lines, in the order of `PARTS` in `js/07_web_url.js`; None if it is invalid.
    fn parse_url(&self, url: &str, base: Option<&str>) -> Option<String>;

    /// The same after part `part` of the valid URL `href` was set; None if the value is impossible.
    fn set_url(&self, href: &str, part: u32, value: &str) -> Option<String>;

    /// The names and values of a query as a JSON array of strings.
    fn parse_query(&self, query: &str) -> String;

    /// A name or value as a query has it.
    fn encode_query(&self, text: &str) -> String;

    /// The name of the encoding with this label.
    fn encoding(&self, label: &str) -> Option<String>;

    /// Decodes bytes; None if they are invalid and `FATAL` is among the flags (those of `js/07_web_text.js`).
    /// `stream` is the number of the text that is decoded piece by piece, 0 for one that is whole.
    fn decode(&self, stream: u32, encoding: &str, flags: u32, bytes: &[u8]) -> Option<String>;

    /// Decodes Base64 to characters below U+0100.
    fn atob(&self, text: &str) -> Option<String>;

    /// Encodes characters below U+0100 as Base64.
    fn btoa(&self, text: &str) -> Option<String>;
}

/// The slot of [`OpState`] that holds the run's [`Guest`].
pub(crate) struct GuestSlot(pub(crate) Rc<dyn Guest>);

/// The extension with all ops and, where `js` is not empty, the JavaScript to
/// evaluate. A runtime that starts from a snapshot passes no JavaScript.
pub(crate) fn extension(js: Vec<deno_core::ExtensionFileSource>) -> Extension {
    const OPS: &[OpDecl] = &[
        op_code_mode_call(),
        op_code_mode_log(),
        op_code_mode_start_timer(),
        op_code_mode_cancel_timer(),
        op_code_mode_now(),
        op_code_mode_fill_random(),
        op_code_mode_hint(),
        op_code_mode_parse_url(),
        op_code_mode_set_url(),
        op_code_mode_parse_query(),
        op_code_mode_encode_query(),
        op_code_mode_encoding(),
        op_code_mode_decode(),
        op_code_mode_utf8_length(),
        op_code_mode_encode(),
        op_code_mode_atob(),
        op_code_mode_btoa(),
        op_code_mode_promise_details(),
        op_code_mode_proxy_details(),
        op_code_mode_is_proxy(),
    ];
    Extension { name: "code_mode", ops: Cow::Borrowed(OPS), js_files: Cow::Owned(js), ..Default::default() }
}

fn guest(state: &OpState) -> Rc<dyn Guest> {
    Rc::clone(&state.borrow::<GuestSlot>().0)
}

/// Starts a call; the settlement text, or null while it is pending.
#[op2]
#[string]
fn op_code_mode_call(
    state: &OpState,
    #[smi] namespace: u32,
    #[smi] function: u32,
    #[smi] call: u32,
    #[string] arguments: String,
) -> Option<String> {
    guest(state).call(namespace, function, call, arguments)
}

#[op2(fast)]
fn op_code_mode_log(state: &OpState, #[string] entry: String) {
    guest(state).log(entry);
}

#[op2(fast)]
fn op_code_mode_start_timer(state: &OpState, #[smi] id: u32, delay_ms: f64) {
    guest(state).start_timer(id, delay_ms);
}

#[op2(fast)]
fn op_code_mode_cancel_timer(state: &OpState, #[smi] id: u32) {
    guest(state).cancel_timer(id);
}

#[op2(fast)]
fn op_code_mode_now(state: &OpState) -> f64 {
    guest(state).now_ms()
}

#[op2(fast)]
fn op_code_mode_fill_random(state: &OpState, #[buffer] bytes: &mut [u8]) -> bool {
    guest(state).fill_random(bytes)
}

/// What belongs after an error's `name: message`, or null.
#[op2]
#[string]
fn op_code_mode_hint(state: &OpState, #[string] head: &str) -> Option<String> {
    guest(state).hint(head)
}

#[op2]
#[string]
fn op_code_mode_parse_url(
    state: &OpState,
    #[string] url: String,
    has_base: bool,
    #[string] base: String,
) -> Option<String> {
    guest(state).web().parse_url(&url, has_base.then_some(&base))
}

#[op2]
#[string]
fn op_code_mode_set_url(
    state: &OpState,
    #[string] href: String,
    #[smi] part: u32,
    #[string] value: String,
) -> Option<String> {
    guest(state).web().set_url(&href, part, &value)
}

#[op2]
#[string]
fn op_code_mode_parse_query(state: &OpState, #[string] query: String) -> String {
    guest(state).web().parse_query(&query)
}

#[op2]
#[string]
fn op_code_mode_encode_query(state: &OpState, #[string] text: String) -> String {
    guest(state).web().encode_query(&text)
}

#[op2]
#[string]
fn op_code_mode_encoding(state: &OpState, #[string] label: String) -> Option<String> {
    guest(state).web().encoding(&label)
}

#[op2]
#[string]
fn op_code_mode_decode(
    state: &OpState,
    #[smi] stream: u32,
    #[string] encoding: String,
    #[smi] flags: u32,
    #[buffer] bytes: &[u8],
) -> Option<String> {
    guest(state).web().decode(stream, &encoding, flags, bytes)
}

/// How many bytes `op_code_mode_encode` needs for a text.
#[op2(fast)]
fn op_code_mode_utf8_length(#[string] text: &str) -> f64 {
    text.len() as f64
}

/// Writes the whole characters of a text that fit, as UTF-8; `[UTF-16 units read, bytes written]`.
#[op2]
fn op_code_mode_encode<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    #[string] text: String,
    #[buffer] bytes: &mut [u8],
) -> v8::Local<'s, v8::Value> {
    let written = text.floor_char_boundary(bytes.len());
    let fitting = &text[..written];
    bytes[..written].copy_from_slice(fitting.as_bytes());
    let read = fitting.chars().map(char::len_utf16).sum::<usize>();
    let numbers = [read, written].map(|number| v8::Number::new(scope, number as f64).into());
    v8::Array::new_with_elements(scope, &numbers).into()
}

#[op2]
#[string]
fn op_code_mode_atob(state: &OpState, #[string] text: String) -> Option<String> {
    guest(state).web().atob(&text)
}

#[op2]
#[string]
fn op_code_mode_btoa(state: &OpState, #[string] text: String) -> Option<String> {
    guest(state).web().btoa(&text)
}

/// `[state, result]` of a promise without running any of its code; state is
/// 0 pending, 1 fulfilled, 2 rejected. Undefined for anything else.
#[op2]
fn op_code_mode_promise_details<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    value: v8::Local<'s, v8::Value>,
) -> v8::Local<'s, v8::Value> {
    let Ok(promise) = v8::Local::<v8::Promise>::try_from(value) else {
        return v8::undefined(scope).into();
    };
    let (state, result) = match promise.state() {
        v8::PromiseState::Pending => (0, v8::undefined(scope).into()),
        v8::PromiseState::Fulfilled => (1, promise.result(scope)),
        v8::PromiseState::Rejected => (2, promise.result(scope)),
    };
    let state = v8::Integer::new(scope, state).into();
    v8::Array::new_with_elements(scope, &[state, result]).into()
}

/// `[target, handler]` of a proxy without running its traps. Undefined for
/// anything else.
#[op2]
fn op_code_mode_proxy_details<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    value: v8::Local<'s, v8::Value>,
) -> v8::Local<'s, v8::Value> {
    let Ok(proxy) = v8::Local::<v8::Proxy>::try_from(value) else {
        return v8::undefined(scope).into();
    };
    let details = [proxy.get_target(scope), proxy.get_handler(scope)];
    v8::Array::new_with_elements(scope, &details).into()
}

#[op2(fast)]
fn op_code_mode_is_proxy(value: v8::Local<'_, v8::Value>) -> bool {
    value.is_proxy()
}
