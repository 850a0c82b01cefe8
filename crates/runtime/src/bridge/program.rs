//! The program inside its isolate: installing its globals, starting it, turning
//! its event loop, reading how it ended.
//!
//! Everything here runs on the isolate's thread. Whatever a program throws is
//! described by our own JavaScript and never becomes an error type of
//! deno_core, whose conversion would run code of the program (engine-notes 4).

use std::cell::RefCell;

use deno_core::v8;

use crate::seam::Namespace;
use crate::source::Position;

/// The name of the program's script, as positions show it.
const SCRIPT: &str = "program";
/// Lines of the wrapper before the program's first.
const WRAPPER_LINES: u32 = 1;

/// Our own functions in the isolate.
struct Internals {
    describe_thrown: v8::Global<v8::Function>,
    to_json_text: v8::Global<v8::Function>,
    settle: v8::Global<v8::Function>,
    fire_timer: v8::Global<v8::Function>,
    make_function: v8::Global<v8::Function>,
    prepare_stack_trace: v8::Global<v8::Function>,
    /// Name and error class of each namespace.
    namespaces: Vec<(v8::Global<v8::String>, v8::Global<v8::Value>)>,
    /// Rejected promises that nothing handles, oldest first.
    rejections: Vec<(v8::Global<v8::Promise>, v8::Global<v8::Value>)>,
}

thread_local! {
    /// One isolate lives on a thread, and the engine's callbacks have no other
    /// way to it.
    static INTERNALS: RefCell<Option<Internals>> = const { RefCell::new(None) };
}

/// Takes `read` out of the isolate's internals; None outside a run.
fn internals<T>(read: impl FnOnce(&Internals) -> T) -> Option<T> {
    INTERNALS.with_borrow(|internals| internals.as_ref().map(read))
}

/// Forgets the isolate's internals; to be called before the isolate goes.
pub(crate) fn forget() {
    INTERNALS.set(None);
}

/// Something a program threw, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Thrown {
    /// `name: message`, or the inspected value.
    pub(crate) head: String,
    /// `    at f (program:1:2)` lines.
    pub(crate) frames: String,
    /// Causes and members, each on lines of its own, with a leading line break.
    pub(crate) causes: String,
    /// The innermost place in the program.
    pub(crate) position: Option<Position>,
    /// The tool whose failure it is.
    pub(crate) tool: Option<String>,
}

/// How a program's promise stands.
pub(crate) enum Progress {
    /// Not settled.
    Pending,
    /// Fulfilled with lossless JSON, as text; None for `undefined`.
    Completed(Option<String>),
    /// Fulfilled with something that is no lossless JSON, and why.
    Lossy(String),
    /// Rejected.
    Threw(Thrown),
}

/// A started program.
pub(crate) struct Program {
    promise: v8::Global<v8::Promise>,
}

/// Installs the globals. None if the engine was stopped meanwhile.
pub(crate) fn install(scope: &mut v8::PinScope<'_, '_>, namespaces: &[Namespace]) -> Option<()> {
    let context = scope.get_current_context();
    let global = context.global(scope);
    let object = get(scope, global, "__internals")?.to_object(scope)?;
    let start = function(scope, object, "start")?;
    let install = function(scope, object, "install")?;
    let make_class = function(scope, object, "toolCallErrorClass")?;
    call(scope, start, &[])?;
    let mut classes = Vec::new();
    for namespace in namespaces {
        let name = string(scope, &namespace.error_class.name)?;
        let member = string(scope, &namespace.error_class.member)?;
        let class = call(scope, make_class, &[name.into(), member.into()])?;
        call(scope, install, &[name.into(), class])?;
        let global_name = string(scope, &namespace.global)?;
        classes.push((v8::Global::new(scope, global_name), v8::Global::new(scope, class)));
    }
    let mut own = |name: &str| {
        let function = function(scope, object, name)?;
        Some(v8::Global::new(scope, function))
    };
    let internals = Internals {
        describe_thrown: own("describeThrown")?,
        to_json_text: own("toJsonText")?,
        settle: own("settle")?,
        fire_timer: own("fireTimer")?,
        make_function: own("makeFunction")?,
        prepare_stack_trace: own("prepareStackTrace")?,
        namespaces: classes,
        rejections: Vec::new(),
    };
    INTERNALS.set(Some(internals));
    for (index, namespace) in namespaces.iter().enumerate() {
        let object = namespace_object(scope, index, namespace)?;
        let name = string(scope, &namespace.global)?;
        call(scope, install, &[name.into(), object.into()])?;
    }
    scope.set_promise_reject_callback(on_rejection);
    scope.set_prepare_stack_trace_callback(on_prepare_stack_trace);
    scope.set_host_import_module_dynamically_callback(on_import);
    scope.set_host_import_module_with_phase_dynamically_callback(on_import_with_phase);
    Some(())
}

/// An object without prototype, each of whose functions is made when it is first
/// read: ten thousand tools cost their names.
fn namespace_object<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    index: usize,
    namespace: &Namespace,
) -> Option<v8::Local<'s, v8::Object>> {
    let null = v8::null(scope).into();
    let object = v8::Object::with_prototype_and_properties(scope, null, &[], &[]);
    let fixed = || v8::PropertyAttribute::READ_ONLY | v8::PropertyAttribute::DONT_DELETE;
    for (function, name) in namespace.functions.iter().enumerate() {
        let key = string(scope, name)?;
        if is_index(name) || cfg!(not(feature = "v8")) {
            // V8 keeps indices apart, where nothing is lazy; on QuickJS a lazy
            // property would show as an accessor.
            let made = make_function(scope, index, function, key.into())?;
            object.define_own_property(scope, key.into(), made, fixed())?;
            continue;
        }
        let place = v8::Array::new_with_elements(
            scope,
            &[
                v8::Integer::new_from_unsigned(scope, u32::try_from(index).ok()?).into(),
                v8::Integer::new_from_unsigned(scope, u32::try_from(function).ok()?).into(),
            ],
        );
        object.set_lazy_data_property_with_data(
            scope,
            key.into(),
            on_first_read,
            place.into(),
            fixed(),
            v8::SideEffectType::HasNoSideEffect,
            v8::SideEffectType::HasSideEffect,
        )?;
    }
    Some(object)
}

fn is_index(name: &str) -> bool {
    name.parse::<u32>().is_ok_and(|index| index.to_string() == name)
}

fn on_first_read<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    key: v8::Local<'s, v8::Name>,
    args: v8::PropertyCallbackArguments<'s>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let place = v8::Local::<v8::Array>::try_from(args.data()).ok();
    let part = |at| place?.get_index(scope, at)?.uint32_value(scope);
    if let (Some(namespace), Some(function)) = (part(0), part(1))
        && let Some(made) = make_function(scope, namespace as usize, function as usize, key.into())
    {
        result.set(made);
    }
}

fn make_function<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    namespace: usize,
    function: usize,
    name: v8::Local<'s, v8::Value>,
) -> Option<v8::Local<'s, v8::Value>> {
    let (make, global, class) = internals(|internals| {
        let (global, class) = internals.namespaces.get(namespace)?.clone();
        Some((internals.make_function.clone(), global, class))
    })??;
    let make = v8::Local::new(scope, make);
    let arguments = [
        v8::Local::new(scope, global).into(),
        v8::Integer::new_from_unsigned(scope, u32::try_from(namespace).ok()?).into(),
        v8::Local::new(scope, class),
        name,
        v8::Integer::new_from_unsigned(scope, u32::try_from(function).ok()?).into(),
    ];
    call(scope, make, &arguments)
}

/// Compiles the program and calls it. `Ok(None)` if the engine was stopped.
pub(crate) fn start(
    scope: &mut v8::PinScope<'_, '_>,
    namespaces: &[Namespace],
    body: &str,
) -> Result<Option<Program>, Thrown> {
    v8::tc_scope!(let scope, scope);
    // The globals are parameters too, with defaults: a program that declares one
    // of the names anew gets an early error instead of a tool it cannot reach,
    // and its `arguments` are still empty. A function with defaults may not begin
    // with a directive, hence the semicolon: strict it is already.
    let mut parameters = String::new();
    for name in namespaces
        .iter()
        .flat_map(|namespace| [&*namespace.global, &*namespace.error_class.name])
        .chain(["console"])
    {
        parameters.push_str(&format!("{name} = globalThis.{name}, "));
    }
    let code = format!("\"use strict\";(async function ({parameters}) {{;\n{body}\n}})");
    let Some(function) = compile(scope, &code) else {
        return match scope.exception() {
            Some(exception) if !scope.has_terminated() => {
                let place = scope.message().and_then(|message| place(scope, message));
                Err(early(describe(scope, exception), place))
            }
            _ => Ok(None),
        };
    };
    let undefined = v8::undefined(scope).into();
    let promise =
        function.call(scope, undefined, &[]).and_then(|value| v8::Local::<v8::Promise>::try_from(value).ok());
    Ok(promise.map(|promise| Program { promise: v8::Global::new(scope, promise) }))
}

fn compile<'s>(scope: &mut v8::PinScope<'s, '_>, code: &str) -> Option<v8::Local<'s, v8::Function>> {
    let code = v8::String::new(scope, code)?;
    let name = string(scope, SCRIPT)?.into();
    let origin = v8::ScriptOrigin::new(scope, name, 0, 0, false, -1, None, false, false, false, None);
    let script = v8::Script::compile(scope, code, Some(&origin))?;
    let value = script.run(scope)?;
    v8::Local::<v8::Function>::try_from(value).ok()
}

/// Where an error that was found before the program ran is.
fn place(scope: &v8::PinScope<'_, '_>, message: v8::Local<'_, v8::Message>) -> Option<Position> {
    let line = u32::try_from(message.get_line_number(scope)?).ok()?.checked_sub(WRAPPER_LINES)?;
    let column = u32::try_from(message.get_start_column()).ok()? + 1;
    (line > 0).then_some(Position { line, column })
}

/// An early error has no frames, only the place that the engine reports.
fn early(thrown: Option<Thrown>, place: Option<Position>) -> Thrown {
    let mut thrown = thrown.unwrap_or_else(unrenderable);
    if thrown.position.is_none()
        && let Some(position) = place
    {
        thrown.frames = format!("    at {position}");
        thrown.position = Some(position);
    }
    thrown
}

impl Program {
    /// Runs the jobs that are ready and looks at the program's promise. None if
    /// the engine was stopped meanwhile.
    pub(crate) fn turn(&self, scope: &mut v8::PinScope<'_, '_>) -> Option<Progress> {
        v8::tc_scope!(let scope, scope);
        scope.perform_microtask_checkpoint();
        if scope.has_terminated() {
            return None;
        }
        let promise = v8::Local::new(scope, &self.promise);
        match promise.state() {
            v8::PromiseState::Pending => Some(Progress::Pending),
            v8::PromiseState::Fulfilled => {
                let value = promise.result(scope);
                completed(scope, value)
            }
            v8::PromiseState::Rejected => {
                let value = promise.result(scope);
                Some(Progress::Threw(describe(scope, value)?))
            }
        }
    }

    /// The oldest rejection that nothing handles, other than the program's own.
    pub(crate) fn unhandled(&self, scope: &mut v8::PinScope<'_, '_>) -> Option<Thrown> {
        v8::tc_scope!(let scope, scope);
        let value = internals(|internals| {
            internals
                .rejections
                .iter()
                .find(|(promise, _)| *promise != self.promise)
                .map(|(_, value)| value.clone())
        })??;
        let value = v8::Local::new(scope, value);
        Some(describe(scope, value).unwrap_or_else(unrenderable))
    }
}

/// Hands the program the answer to a call.
pub(crate) fn settle(scope: &mut v8::PinScope<'_, '_>, id: u32, settlement: &str) -> Option<()> {
    v8::tc_scope!(let scope, scope);
    let settle = internals(|internals| internals.settle.clone())?;
    let settle = v8::Local::new(scope, settle);
    let id = v8::Integer::new_from_unsigned(scope, id).into();
    let text = v8::String::new(scope, settlement)?.into();
    call(scope, settle, &[id, text]).map(|_| ())
}

/// Runs a timer's callback; what it throws, if it does.
pub(crate) fn fire_timer(scope: &mut v8::PinScope<'_, '_>, id: u32) -> Option<Thrown> {
    v8::tc_scope!(let scope, scope);
    let fire = internals(|internals| internals.fire_timer.clone())?;
    let fire = v8::Local::new(scope, fire);
    let id = v8::Integer::new_from_unsigned(scope, id).into();
    if call(scope, fire, &[id]).is_some() || scope.has_terminated() {
        return None;
    }
    let exception = scope.exception()?;
    scope.reset();
    Some(describe(scope, exception).unwrap_or_else(unrenderable))
}

fn completed(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Progress> {
    if value.is_undefined() {
        return Some(Progress::Completed(None));
    }
    let guard = internals(|internals| internals.to_json_text.clone())?;
    let guard = v8::Local::new(scope, guard);
    let value = v8::Local::new(scope, value);
    let root = string(scope, "value")?.into();
    let guarded = call(scope, guard, &[value, root])?.to_object(scope)?;
    let text = get(scope, guarded, "text")?;
    Some(if text.is_string() {
        Progress::Completed(Some(text.to_rust_string_lossy(scope)))
    } else {
        Progress::Lossy(get(scope, guarded, "problem")?.to_rust_string_lossy(scope))
    })
}

/// Describes something thrown. None if the engine was stopped meanwhile.
fn describe(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Thrown> {
    let describe = internals(|internals| internals.describe_thrown.clone())?;
    let describe = v8::Local::new(scope, describe);
    let value = v8::Local::new(scope, value);
    let parts = v8::Local::<v8::Array>::try_from(call(scope, describe, &[value])?).ok()?;
    let text = |at| Some(parts.get_index(scope, at)?.to_rust_string_lossy(scope));
    let (head, frames, causes) = (text(0)?, text(1)?, text(2)?);
    let tool = parts.get_index(scope, 5).filter(|tool| tool.is_string());
    let tool = tool.map(|tool| tool.to_rust_string_lossy(scope));
    let number = |at| parts.get_index(scope, at)?.uint32_value(scope);
    let (line, column) = (number(3)?, number(4)?);
    if line == 0
        && let Some(position) = made_at(scope, value)
    {
        // The program has overwritten the error's stack; the engine still knows where it was made.
        return Some(Thrown {
            head,
            frames: format!("    at {position}"),
            causes,
            position: Some(position),
            tool,
        });
    }
    Some(Thrown {
        head,
        frames: frames.trim_start_matches('\n').to_owned(),
        causes,
        position: (line > 0).then_some(Position { line, column }),
        tool,
    })
}

/// Where the program made an error, by the engine's own record.
#[cfg(feature = "v8")]
fn made_at(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Position> {
    if !value.is_native_error() {
        return None;
    }
    let trace = v8::Exception::get_stack_trace(scope, value)?;
    (0..trace.get_frame_count()).find_map(|at| {
        let frame = trace.get_frame(scope, at)?;
        let is_program = frame.get_script_name(scope)?.to_rust_string_lossy(scope) == SCRIPT;
        let line = u32::try_from(frame.get_line_number()).ok()?.checked_sub(WRAPPER_LINES)?;
        let column = u32::try_from(frame.get_column()).ok()?;
        (is_program && line > 0).then_some(Position { line, column })
    })
}

/// QuickJS keeps no record beside the stack.
#[cfg(not(feature = "v8"))]
fn made_at(_: &mut v8::PinScope<'_, '_>, _: v8::Local<'_, v8::Value>) -> Option<Position> {
    None
}

fn unrenderable() -> Thrown {
    Thrown { head: "program threw an unrenderable value".to_owned(), ..Thrown::default() }
}

extern "C" fn on_rejection(message: v8::PromiseRejectMessage<'_>) {
    // SAFETY: the message is the engine's, for this very callback.
    v8::callback_scope!(unsafe scope, &message);
    let promise = v8::Global::new(scope, message.get_promise());
    match message.get_event() {
        v8::PromiseRejectEvent::PromiseRejectWithNoHandler => {
            let value = message.get_value().unwrap_or_else(|| v8::undefined(scope).into());
            let value = v8::Global::new(scope, value);
            INTERNALS.with_borrow_mut(|internals| {
                if let Some(internals) = internals {
                    internals.rejections.push((promise, value));
                }
            });
        }
        v8::PromiseRejectEvent::PromiseHandlerAddedAfterReject => INTERNALS.with_borrow_mut(|internals| {
            if let Some(internals) = internals {
                // Handled late is mostly handled soon: the newest first.
                if let Some(at) = internals.rejections.iter().rposition(|(rejected, _)| *rejected == promise)
                {
                    internals.rejections.remove(at);
                }
            }
        }),
        // Settling a settled promise again changes nothing.
        _ => {}
    }
}

fn on_prepare_stack_trace<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Value>,
    sites: v8::Local<'s, v8::Array>,
) -> v8::Local<'s, v8::Value> {
    let prepared = internals(|internals| internals.prepare_stack_trace.clone()).and_then(|prepare| {
        let prepare = v8::Local::new(scope, prepare);
        call(scope, prepare, &[error, sites.into()])
    });
    prepared.unwrap_or_else(|| v8::String::empty(scope).into())
}

fn on_import<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    _options: v8::Local<'s, v8::Data>,
    _referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    _attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    let specifier = specifier.to_rust_string_lossy(scope);
    let message =
        format!("cannot import {specifier:?}: programs have no modules, call the functions of `tools`");
    let message = v8::String::new(scope, &message)?;
    let error = v8::Exception::error(scope, message);
    let resolver = v8::PromiseResolver::new(scope)?;
    resolver.reject(scope, error)?;
    Some(resolver.get_promise(scope))
}

fn on_import_with_phase<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    options: v8::Local<'s, v8::Data>,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    _phase: v8::ModuleImportPhase,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    on_import(scope, options, referrer, specifier, attributes)
}

fn call<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    function: v8::Local<'s, v8::Function>,
    arguments: &[v8::Local<'s, v8::Value>],
) -> Option<v8::Local<'s, v8::Value>> {
    let undefined = v8::undefined(scope).into();
    function.call(scope, undefined, arguments)
}

fn get<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
    name: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    let key = string(scope, name)?.into();
    object.get(scope, key)
}

fn function<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
    name: &str,
) -> Option<v8::Local<'s, v8::Function>> {
    v8::Local::<v8::Function>::try_from(get(scope, object, name)?).ok()
}

fn string<'s>(scope: &mut v8::PinScope<'s, '_>, text: &str) -> Option<v8::Local<'s, v8::String>> {
    v8::String::new(scope, text)
}
