#!/bin/sh
# Checks that this machine can build drumfire, before anything compiles: cargo from `rust-version` in
# Cargo.toml on, and a C compiler. Otherwise prints what is missing and how to get it, one line each.
cd "$(dirname "$0")/.." || exit 1
oldest=$(tools/rust-version.sh)
missing=0
need() {
  echo "drumfire: $1" >&2
  missing=1
}

if ! command -v cargo >/dev/null; then
  need "cargo not found; install Rust $oldest or newer: https://rustup.rs"
elif ! found=$(rustc --version 2>&1); then
  need "rustc does not run ($(echo "$found" | head -n 1)); to install a toolchain, run \`rustup toolchain install stable\`"
else
  # The lower of both versions is the oldest one that works, if rustc is new enough.
  version=$(echo "$found" | cut -d ' ' -f 2)
  lower=$(printf '%s\n%s\n' "$oldest" "${version%%-*}" | sort -t . -k 1,1n -k 2,2n | head -n 1)
  if [ "$lower" != "$oldest" ]; then
    if command -v rustup >/dev/null; then how="run \`rustup update stable\`"; else how="install it with https://rustup.rs"; fi
    need "Rust $oldest or newer is required, and this machine has Rust $version; $how"
  fi
fi

compiler=${CC:-cc}
# CC may hold options after the name of the compiler.
if ! command -v "${compiler%% *}" >/dev/null; then
  need "no C compiler (\`$compiler\` not found); install gcc or clang, on Debian: apt-get install gcc libc6-dev"
fi
exit "$missing"
