//! The JavaScript of the runtime, in load order. Shared with the build script.

use deno_core::{ExtensionFileSource, FastStaticString};

macro_rules! sources {
    ($($file:literal),* $(,)?) => {
        vec![$(ExtensionFileSource::new(
            concat!("ext:code_mode/", $file),
            {
                const CODE: FastStaticString = deno_core::ascii_str_include!(concat!("../../../../js/", $file));
                CODE
            },
        )),*]
    };
}

/// The files for a start-up snapshot: all of them, and one that makes use of
/// them, because what has run is in the snapshot as compiled code.
#[cfg(feature = "v8")]
pub(crate) fn snapshot_sources() -> Vec<ExtensionFileSource> {
    let mut files = sources();
    files.extend(sources!["warmup.js"]);
    files
}

/// The files of `js/`, evaluated in this order before any program.
pub(crate) fn sources() -> Vec<ExtensionFileSource> {
    sources![
        "00_primordials.js",
        "01_errors.js",
        "02_values.js",
        "02_read.js",
        "02_text.js",
        "03_console.js",
        "03_console_kinds.js",
        "03_functions.js",
        "04_tools.js",
        "05_timers.js",
        "06_lengths.js",
        "06_limits.js",
        "06_buffers.js",
        "07_web_abort.js",
        "07_web_text.js",
        "07_web_url.js",
        "07_web_clone.js",
        "99_main.js",
    ]
}
