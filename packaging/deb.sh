#!/usr/bin/env bash
# Builds the Debian package of a target with cargo-deb, target/packages/*.deb. A static binary needs no library of the system.
# Usage: packaging/deb.sh [TARGET]; without one, the host's.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
cargo build --locked --profile dist --target "$target"
packaging/share.sh "target/$target/dist/schedscope" target/share
mkdir -p target/packages
cargo deb --no-build --profile dist --target "$target" --output target/packages/
