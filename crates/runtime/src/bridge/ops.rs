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
