#!/usr/bin/env bash
# Builds the Debian package of a target, target/packages/schedscope_VERSION_ARCHITECTURE.deb, with dpkg-deb alone. The static binary needs no
# library of the system, so that it installs on every release of Debian and Ubuntu.
# Usage: packaging/deb.sh [TARGET]; without one, x86_64-unknown-linux-musl.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-x86_64-unknown-linux-musl}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
case $target in
    x86_64-*) architecture=amd64 ;;
    aarch64-*) architecture=arm64 ;;
    *) echo "$target is not a target of Debian packages" >&2; exit 1 ;;
esac
case $target in
    *-musl) depends= ;;
    *) depends="Depends: libc6, libgcc-s1" ;;
esac
cargo build --locked --profile dist --target "$target"
folder=target/packages/deb
share=$folder/usr/share
rm -rf "$folder"
mkdir -p "$folder/DEBIAN" "$folder/usr/bin" "$share/man/man1" "$share/doc/schedscope" "$share/bash-completion/completions" \
    "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
cp "target/$target/dist/schedscope" "$folder/usr/bin/"
packaging/share.sh "$folder/usr/bin/schedscope" target/share
for page in target/share/man/*.1; do gzip -9nc "$page" > "$share/man/man1/$(basename "$page").gz"; done
cp target/share/complete/schedscope.bash "$share/bash-completion/completions/schedscope"
cp target/share/complete/schedscope.zsh "$share/zsh/vendor-completions/_schedscope"
cp target/share/complete/schedscope.fish "$share/fish/vendor_completions.d/"
cp README.md CHANGELOG.md LICENSE-THIRD-PARTY.md "$share/doc/schedscope/"
cp LICENSE "$share/doc/schedscope/copyright"
cat > "$folder/DEBIAN/control" <<CONTROL
Package: schedscope
Version: $version
Architecture: $architecture
Maintainer: The maintainers of schedscope <maintainers@users.noreply.github.com>
Section: admin
Priority: optional
Installed-Size: $(du -sk "$folder/usr" | cut -f1)${depends:+
$depends}
Homepage: https://github.com/schedscope/schedscope
Description: explorer of Kubernetes scheduling
 Opens a dump of a Kubernetes cluster, or a live one, in the terminal and
 repeats kube-scheduler's decisions step by step: which plugin rejected which
 node, where preemption would make room, and which change would let the pod in.
 It never changes the cluster.
CONTROL
file=target/packages/schedscope_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$folder" "$file" > /dev/null
echo "$file"
