#!/usr/bin/env bash
# Writes the completions and the man pages of a binary: FOLDER/complete and FOLDER/man.
# Usage: packaging/share.sh BINARY FOLDER
set -euo pipefail
rm -rf "$2/complete" "$2/man"
mkdir -p "$2/complete" "$2/man"
for shell in bash zsh fish; do "$1" completions "$shell" > "$2/complete/schedscope.$shell"; done
"$1" man "$2/man"
