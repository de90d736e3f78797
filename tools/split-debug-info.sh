#!/usr/bin/env bash
# Moves a program's line tables and symbols into PROGRAM.debug beside it, and leaves a link to that
# file (.gnu_debuglink) in the program. gdb, perf, addr2line and the backtrace of a panic follow the
# link to the same folder, so both files must be moved together.
set -euo pipefail

program=$1
objcopy=${OBJCOPY:-objcopy}
if ! command -v "$objcopy" >/dev/null || ! head -c 4 "$program" | grep -q ELF; then
  echo "split-debug-info: $program keeps its line tables: it is not an ELF file, or $objcopy is not installed" >&2
  exit 0
fi
# A second pass over a stripped program would replace its line tables by none.
if readelf --section-headers --wide "$program" | grep -q ' \.gnu_debuglink '; then
  exit 0
fi
folder=$(cd "$(dirname "$program")" && pwd)
name=$(basename "$program")

# The link holds the other file's bare name, which objcopy takes from the path it is given. All
# output goes to other names first, so that an interruption leaves a program that runs.
cd "$folder"
trap 'rm -f "$name.stripped"' EXIT
"$objcopy" --only-keep-debug "$name" "$name.debug"
chmod a-x "$name.debug"
"$objcopy" --strip-all --add-gnu-debuglink="$name.debug" "$name" "$name.stripped"
mv "$name.stripped" "$name"
