#!/usr/bin/env bash
# Puts the licenses of all that is linked into the program for a system into a folder:
#
#     tools/licenses.sh SYSTEM FOLDER
#
# SYSTEM is named as the compiler names it. THIRD-PARTY-LICENSES has those of crates and libraries;
# what the Rust standard library took from others stands in a page of the compiler's.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# != 2 ]; then
  echo "licenses: usage: tools/licenses.sh SYSTEM FOLDER" >&2
  exit 1
fi
system=$1 folder=$2
cargo run --quiet --locked --package xtask licenses "$system" >"$folder/THIRD-PARTY-LICENSES"
page=$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html
if [ ! -f "$page" ]; then
  echo "licenses: this compiler has no $page; use a compiler from rustup" >&2
  exit 1
fi
install -m 644 "$page" "$folder/RUST-LIBRARY-LICENSES.html"
chmod 644 "$folder/THIRD-PARTY-LICENSES"
