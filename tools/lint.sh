#!/usr/bin/env bash
# Checks formatting and lints:
#
#     tools/lint.sh format    cargo fmt --check
#     tools/lint.sh clippy    cargo clippy
#
# Another version of Rust has other lints and another formatting. Findings are therefore errors only with
# the version that tools/rust-version.sh prints; with another version they are printed, and the script
# succeeds. Outside CI, a machine without rustfmt or clippy skips them.
set -euo pipefail
cd "$(dirname "$0")/.."

read -r -a level < <(tools/lint-level.sh)
case "${1:-}" in
  format) component=fmt package=rustfmt ;;
  clippy) component=clippy package=clippy ;;
  *)
    echo "lint: unknown step \`${1:-}\`; use format or clippy" >&2
    exit 2
    ;;
esac
if ! cargo "$component" --version >/dev/null 2>&1; then
  echo "lint: skipped $1: cargo $component is missing; to install it, run \`rustup component add $package\`" >&2
  [ "${CI:-}" != true ]
  exit
fi
if [ "${level[0]}" != -D ]; then
  echo "lint: findings of $1 are errors only with Rust $(tools/rust-version.sh); this is $(rustc --version)" >&2
fi

if [ "$1" = format ]; then
  cargo fmt --all -- --check || [ "${level[0]}" != -D ]
else
  cargo clippy --workspace --all-targets --locked -- "${level[@]}"
  cargo clippy --package drumfire --no-default-features --features ring --locked -- "${level[@]}"
fi
