#!/usr/bin/env bash
# Lays out the file system of the container image: the static binary, the roots of trust, and a user without rights.
# Usage: packaging/rootfs.sh [TARGET [FOLDER]]; without them, x86_64-unknown-linux-musl and target/packages/rootfs.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-x86_64-unknown-linux-musl}
folder=${2:-target/packages/rootfs}
roots=/etc/ssl/certs/ca-certificates.crt
[ -e "$roots" ] || { echo "$roots is missing: install ca-certificates" >&2; exit 1; }
cargo build --locked --profile dist --target "$target"
rm -rf "$folder"
mkdir -p "$folder/etc/ssl/certs" "$folder/tmp" "$folder/licences"
cp "target/$target/dist/schedscope" "$folder/"
cp "$roots" "$folder/etc/ssl/certs/"
cp LICENSE* "$folder/licences/"
echo "schedscope:x:65532:65532::/:/" > "$folder/etc/passwd"
chmod 1777 "$folder/tmp"
echo "$folder"
