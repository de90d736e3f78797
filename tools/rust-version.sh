#!/bin/sh
# Prints the oldest version of Rust that builds drumfire, which is also the version that the lints and
# the formatting are written for: `rust-version` in Cargo.toml.
sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml"
