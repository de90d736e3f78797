#!/usr/bin/env bash
# Runs every test of the Rust code, in two streams side by side. The tests of drumfire's `it` wait most of
# their time, for servers, timeouts and schedules; the others compute. One after the other they leave a
# third of a machine with two cores idle.
#
# The lints run while the tests are compiled, if clippy is here.
#
# TEST_THREADS is how many of the tests that wait run side by side: more than there are cores. Of those
# that compute, one more than there are cores: others would only stand in each other's way. The lines of
# the second stream come as they are printed, and those of the first at its end.
#
#     tools/run-tests.sh                     compiles and runs the tests
#     tools/run-tests.sh compile             only compiles them
#     tools/run-tests.sh beside COMMAND ...  runs a command that computes behind the second stream
set -euo pipefail
cd "$(dirname "$0")/.."

threads=${TEST_THREADS:-6}
if command -v clippy-driver >/dev/null && clippy-driver --version >/dev/null 2>&1; then
  LINT_LEVEL=$(tools/lint-level.sh)
  export LINT_LEVEL RUSTC_WORKSPACE_WRAPPER=$PWD/tools/compile-linted.sh
fi
# Always the whole workspace, whose features differ from those of a part of it.
tests=(cargo test --workspace --locked --no-fail-fast)
"${tests[@]}" --no-run
[ "${1:-}" != compile ] || exit 0

# What the second stream holds; a test that needs the machine for itself waits for it.
work=$(mktemp -d)
: >"$work/machine"
export DRUMFIRE_TEST_MACHINE=$work/machine

beside=()
[ "${1:-}" != beside ] || beside=("${@:2}")

# What cargo starts the programs with: those of the other stream do not run.
cat >"$work/runner" <<'SH'
#!/bin/sh
case $CARGO_PKG_NAME/${1##*/} in
  drumfire/it-????????????????) stream=waiting ;;
  *) stream=computing ;;
esac
[ "$stream" != "$STREAM" ] || exec "$@"
SH
chmod +x "$work/runner"
tests+=(--config "target.'cfg(all())'.runner = '$work/runner'")

# Beside those that run are threads for the tests that wait until they have the machine alone. The
# stream has a group of processes of its own, so that all of it ends with this script.
set -m
STREAM=waiting DRUMFIRE_TEST_SHARES=$threads RUST_TEST_THREADS=$((threads + 16)) \
  "${tests[@]}" --test it >"$work/waiting" 2>&1 </dev/null &
waiting=$!
set +m
trap 'kill -INT -- "-$waiting" 2>/dev/null || true; rm -r "$work"' EXIT
trap 'exit 130' INT TERM

hold=()
! command -v flock >/dev/null || hold=(flock --shared --close "$work/machine")
status=0
# They leave the cores to tests whose bounds are times.
STREAM=computing RUST_TEST_THREADS=$(($(getconf _NPROCESSORS_ONLN) + 1)) nice -n 5 \
  "${hold[@]}" "${tests[@]}" || status=$?
if [ "${#beside[@]}" -gt 0 ]; then
  nice -n 5 "${hold[@]}" "${beside[@]}" || status=$?
fi
wait "$waiting" || status=$?
cat "$work/waiting"
exit "$status"
