#!/usr/bin/env bash
# Checks what we depend on against deny.toml: licenses, kept versions, where crates come from; with
# `advisories` as the argument, RustSec's database as well, which is fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo-deny >/dev/null; then
  echo "dependencies: not checked; cargo install --locked cargo-deny" >&2
  exit 0
fi
cargo deny --log-level error check --hide-inclusion-graph "$@" licenses bans sources
