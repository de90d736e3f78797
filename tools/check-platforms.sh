#!/usr/bin/env bash
# Checks the crates that are also made for other systems against those systems, without their C
# compilers, headers or machines: types and borrows, not behaviour. The reasons are in
# docs/design/03-exchanges-and-wires.md#kernel-interfaces.
#
# Checking Rust code links nothing. The C parts of dependencies are therefore "compiled" by a
# stand-in that makes empty files of the right names.
set -euo pipefail
cd "$(dirname "$0")/.."

platforms=(x86_64-unknown-freebsd aarch64-apple-darwin)
rooms=(--package drumfire-net --package drumfire-engine --package drumfire-target)

if ! command -v rustup >/dev/null; then
  echo "platforms: skipped: rustup, which installs other systems' libraries, is missing" >&2
  exit 0
fi
if ! cargo clippy --version >/dev/null 2>&1; then
  echo "platforms: skipped: cargo clippy is missing" >&2
  exit 0
fi

stand_in=$(mktemp -d)
trap 'rm -rf "$stand_in"' EXIT
# Asked what it is (-E), it answers as the machine's own compiler does.
cat >"$stand_in/cc" <<'SH'
#!/bin/sh
for word in "$@"; do
  [ "$word" = -E ] && exec cc "$@"
  [ "${before:-}" = -o ] && : >"$word"
  before=$word
done
SH
# ar cq LIBRARY OBJECT…
cat >"$stand_in/ar" <<'SH'
#!/bin/sh
: >"$2"
SH
chmod +x "$stand_in/cc" "$stand_in/ar"

# Both in one command: what one waits for leaves time to the other.
targets=()
for platform in "${platforms[@]}"; do
  if ! rustup target add "$platform" >/dev/null 2>&1; then
    echo "platforms: $platform not checked: rustup can't fetch its library" >&2
    continue
  fi
  targets+=("--target=$platform")
  name=${platform//-/_}
  export "CC_$name=$stand_in/cc" "CXX_$name=$stand_in/cc" "AR_$name=$stand_in/ar"
done
[ "${#targets[@]}" -gt 0 ] || exit 0
read -r -a level < <(tools/lint-level.sh)
cargo clippy --locked "${targets[@]}" "${rooms[@]}" -- "${level[@]}"
printf 'platforms: %s is well\n' "${targets[@]#--target=}"
