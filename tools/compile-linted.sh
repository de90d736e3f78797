#!/usr/bin/env bash
# Compiles a crate with every warning of rustc and clippy as an error: cargo's RUSTC_WORKSPACE_WRAPPER
# where nothing is compiled yet. The programs are for tests alone, since clippy leaves optimisations out.
# dash would drop the variables of cargo that have a hyphen in their names.
exec clippy-driver "$@" -D warnings
