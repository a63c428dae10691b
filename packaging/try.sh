#!/usr/bin/env bash
# Builds the packages that this machine can build and tries each: the crate, archives, the Debian package, the container's file system
# and kubectl's way of calling a plugin. What cannot be tried here is said, and is no failure.
# Usage: packaging/try.sh [crate|archives|deb|container|kubectl]...; without a name, all. SCHEDSCOPE_TARGETS names other targets for archives.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
host=$(rustc -vV | sed -n 's/^host: //p')
musl=x86_64-unknown-linux-musl
skip() { echo "skipped: $*"; }
has_musl() { rustc --print target-libdir --target "$musl" 2> /dev/null | xargs -r test -d && command -v musl-gcc > /dev/null; }
# The decision of a demo, by a program: it fits on no node, and preemption helps.
decides() {
    local code=0
    "$@" explain payments -n shop --demo payments > "$work/answer" || code=$?
    [ "$code" = 1 ] && grep -q "worker-a2 is nominated" "$work/answer" || { cat "$work/answer"; echo "failed: $*" >&2; exit 1; }
}

crate() {
    cargo package --no-verify --allow-dirty > /dev/null 2>&1
    local file=target/package/schedscope-$version.crate size
    size=$(wc -c < "$file")
    [ "$size" -lt 2000000 ] || { echo "$file has $size bytes" >&2; exit 1; }
    tar -C "$work" -xzf "$file"
    # In a folder of its own, with the dependencies that are built already: the program, the examples, and those of the documentation.
    local alone=(--locked --manifest-path "$work/schedscope-$version/Cargo.toml")
    CARGO_TARGET_DIR=$PWD/target cargo check "${alone[@]}" --bins --examples
    CARGO_TARGET_DIR=$PWD/target cargo test "${alone[@]}" --doc
    echo "crate: $size bytes"
}

archives() {
    local target file
    for target in ${SCHEDSCOPE_TARGETS:-"$host" "$musl"}; do
        if [ "$target" = "$musl" ] && ! has_musl; then skip "$musl (rustup target add $musl, apt-get install musl-tools)"; continue; fi
        file=$(packaging/archive.sh "$target" | tail -1)
        (cd target/packages && sha256sum --quiet -c "$(basename "$file").sha256")
        tar -C "$work" -xzf "$file"
        local folder=$work/schedscope-v$version-$target part
        for part in schedscope LICENSE LICENSE-THIRD-PARTY.md README.md CHANGELOG.md complete/schedscope.bash complete/schedscope.zsh \
            complete/schedscope.fish man/schedscope.1 man/schedscope-explain.1 k9s/plugins.yaml; do
            [ -s "$folder/$part" ] || { echo "$file: no $part" >&2; exit 1; }
        done
        decides "$folder/schedscope"
        if [ "$target" = "$musl" ] && ! ldd "$folder/schedscope" 2>&1 | grep -Eq "statically linked|not a dynamic"; then
            echo "$file is not static" >&2
            exit 1
        fi
        echo "archive: $file, $(wc -c < "$file") bytes"
    done
}

deb() {
    command -v dpkg-deb > /dev/null || { skip "the Debian package: no dpkg-deb"; return; }
    has_musl || { skip "the Debian package: no $musl"; return; }
    local file
    file=$(packaging/deb.sh | tail -1)
    dpkg-deb --contents "$file" | grep "usr/share/man/man1/schedscope-explain.1.gz" > /dev/null
    if [ "$(id -u)" = 0 ]; then
        dpkg -i "$file" > /dev/null
        decides /usr/bin/schedscope
        dpkg --remove schedscope > /dev/null
        [ ! -e /usr/bin/schedscope ]
    else
        skip "dpkg -i: not root"
    fi
    echo "deb: $file, $(wc -c < "$file") bytes"
}

container() {
    has_musl || { skip "the container: no $musl"; return; }
    local folder
    folder=$(packaging/rootfs.sh | tail -1)
    if [ "$(id -u)" = 0 ]; then
        decides env -i SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt HOME=/tmp "$(command -v chroot)" --userspec=65532:65532 "$folder" /schedscope
    else
        skip "chroot: not root"
    fi
    grep -q '^USER [0-9]*:[0-9]*$' packaging/container/Containerfile
    echo "container: $(du -sk "$folder" | cut -f1) KiB"
}

kubectl() {
    local binary target=$host
    has_musl && target=$musl
    binary=target/$target/dist/schedscope
    [ -e "$binary" ] || cargo build --locked --profile dist --target "$target"
    ln -s "$PWD/$binary" "$work/kubectl-schedscope"
    ln -s "$PWD/$binary" "$work/kubectl_complete-schedscope"
    "$work/kubectl_complete-schedscope" expl | grep -q "^explain	"
    [ "$("$work/kubectl_complete-schedscope" expl | tail -1)" = ":4" ]
    "$work/kubectl-schedscope" explain --help | grep -q "Usage: kubectl schedscope explain"
    decides "$work/kubectl-schedscope"
    echo "kubectl: completion in $( { time -p "$work/kubectl_complete-schedscope" live --context '' > /dev/null; } 2>&1 | sed -n 's/^real //p') s"
}

for part in ${@:-crate archives deb container kubectl}; do "$part"; done
