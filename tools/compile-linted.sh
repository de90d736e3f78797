#!/usr/bin/env bash
# Compiles a crate with clippy, as cargo's RUSTC_WORKSPACE_WRAPPER: lints and tests need the same code
# compiled, and so it is compiled once, a third less work. LINT_LEVEL holds the options of
# tools/lint-level.sh. The programs are for tests alone, since clippy leaves optimisations out.
# dash would drop the variables of cargo that have a hyphen in their names.
read -r -a level <<<"$LINT_LEVEL"
exec clippy-driver "$@" "${level[@]}"
