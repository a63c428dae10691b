#!/usr/bin/env bash
# Builds the archive of one target, target/dist/schedscope-vVERSION-TARGET.tar.gz, and its checksum.
# Usage: packaging/archive.sh [TARGET]; without one, the host's.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
name=schedscope-v$version-$target
profile=release
grep -q '^\[profile.dist\]' Cargo.toml && profile=dist
cargo build --locked --profile "$profile" --target "$target"
binary=target/$target/$profile/schedscope
[ -e "$binary" ] || binary=$binary.exe
folder=target/dist/$name
rm -rf "$folder"
mkdir -p "$folder/complete"
cp "$binary" LICENSE* README.md CHANGELOG.md "$folder/"
# A foreign binary cannot be run here; the host's completions are the same.
if "$binary" --version > /dev/null 2>&1; then
    for shell in bash zsh fish; do "$binary" completions "$shell" > "$folder/complete/schedscope.$shell"; done
fi
tar -C target/dist --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "target/dist/$name.tar.gz" "$name" 2> /dev/null ||
    tar -C target/dist -czf "target/dist/$name.tar.gz" "$name"
cd target/dist
if command -v sha256sum > /dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi > "$name.tar.gz.sha256"
echo "target/dist/$name.tar.gz"
