#!/usr/bin/env bash
# Builds the archive of one target, target/packages/schedscope-vVERSION-TARGET.tar.gz, and its checksum.
# Usage: packaging/archive.sh [TARGET]; without one, the host's.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
name=schedscope-v$version-$target
cargo build --locked --profile dist --target "$target"
binary=target/$target/dist/schedscope
[ -e "$binary" ] || binary=$binary.exe
folder=target/packages/$name
rm -rf "$folder"
mkdir -p "$folder"
cp "$binary" LICENSE* README.md CHANGELOG.md "$folder/"
cp -r packaging/k9s "$folder/"
# A foreign binary cannot be run here; completions and man pages are then left out.
if "$binary" --version > /dev/null 2>&1; then packaging/share.sh "$binary" "$folder"; fi
tar -C target/packages --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "target/packages/$name.tar.gz" "$name" 2> /dev/null ||
    tar -C target/packages -czf "target/packages/$name.tar.gz" "$name"
cd target/packages
if command -v sha256sum > /dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi > "$name.tar.gz.sha256"
echo "target/packages/$name.tar.gz"
