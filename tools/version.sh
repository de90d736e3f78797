#!/usr/bin/env bash
# Prints the version, and behind it the commit and its date, as `drumfire --version` shows them:
#
#     0.1.0 (8c83c68e5f01 2026-11-27)
#
# Outside of a git checkout of this project it is the version alone. `tools/version.sh epoch` prints the
# time of the commit in seconds since 1970, or 0.
set -euo pipefail
cd "$(dirname "$0")/.."

# An archive of the sources may lie in another project's checkout.
is_checkout() {
  [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] && git rev-parse --verify --quiet HEAD >/dev/null
}

if [ "${1:-}" = epoch ]; then
  if is_checkout; then git log -1 --format=%ct; else echo 0; fi
  exit
fi

version=$(sed -n '/^\[workspace\.package\]/,/^\[workspace\.dep/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
if is_checkout; then
  commit=$(git rev-parse --short=12 HEAD)
  git diff --quiet HEAD -- || commit=$commit-modified
  version="$version ($commit $(TZ=UTC git log -1 --date=format-local:%Y-%m-%d --format=%cd))"
fi
echo "$version"
