#!/usr/bin/env bash
# Builds a wheel that brings the module and the program, with maturin.
# Usage: python/build.sh [--binary FILE] [--out FOLDER] [--release]; without a binary, the program is built as for packages.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
binary= out=$folder/../target/packages args=()
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$(realpath "$2"); shift 2 ;;
        --out) out=$(realpath -m "$2"); shift 2 ;;
        *) args+=("$1"); shift ;;
    esac
done
cd "$folder"
if [ -z "$binary" ]; then
    target=$(rustc -vV | sed -n 's/^host: //p')
    cargo build --locked --manifest-path ../Cargo.toml --profile dist --target "$target" --bin schedscope
    binary=../target/$target/dist/schedscope
fi
# What is in this folder becomes a program of the environment.
mkdir -p data/scripts
cp "$binary" data/scripts/schedscope
strip data/scripts/schedscope 2> /dev/null || true
maturin build "${args[@]}" --out "$out"
