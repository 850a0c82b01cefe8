#!/usr/bin/env bash
# Fetches the JSON-Schema-Test-Suite, which the source package of python-jsonschema carries as data,
# into the folder where `cargo test` looks for it (or into $1).
set -euo pipefail

here=$(cd "$(dirname "$0")/../../.." && pwd)
suite=${1:-${CARGO_TARGET_DIR:-$here/target}/tmp/json-schema-test-suite}
if [ -d "$suite/tests" ]; then
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip download --quiet --no-deps --no-binary jsonschema --dest "$work" jsonschema==4.26.0
tar -xzf "$work"/jsonschema-4.26.0.tar.gz -C "$work"
mkdir -p "$suite"
cp -r "$work"/jsonschema-4.26.0/json/tests "$work"/jsonschema-4.26.0/json/remotes "$suite"
