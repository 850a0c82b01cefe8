//! Makes the start-up snapshot that every isolate of a V8 build starts from.
//!
//! It is made here and not in the running process because making one switches
//! V8 to predictable random numbers for as long as the process lives. QuickJS
//! has no snapshots and evaluates the same JavaScript at each start.

#[cfg(feature = "v8")]
#[path = "src/bridge/ops.rs"]
#[allow(dead_code, reason = "the build script needs the list of ops, not what they do")]
mod ops;

#[cfg(feature = "v8")]
#[path = "src/bridge/js.rs"]
mod js;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/bridge/ops.rs");
    println!("cargo:rerun-if-changed=src/bridge/js.rs");
    println!("cargo:rerun-if-changed=../../js");
    #[cfg(feature = "v8")]
    make_snapshot();
}

#[cfg(feature = "v8")]
fn make_snapshot() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let snapshot = deno_core::snapshot::create_snapshot(
        deno_core::snapshot::CreateSnapshotOptions {
            cargo_manifest_dir: env!("CARGO_MANIFEST_DIR"),
            startup_snapshot: None,
            skip_op_registration: false,
            extensions: vec![ops::extension(js::snapshot_sources())],
            extension_transpiler: None,
            with_runtime_cb: None,
        },
        None,
    )
    .expect("the JavaScript of the runtime evaluates");
    std::fs::write(out.join("code_mode.snapshot"), snapshot.output).expect("OUT_DIR is writable");
}
