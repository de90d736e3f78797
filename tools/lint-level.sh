#!/bin/sh
# Prints the options that decide what a finding of a lint is: an error with the version of Rust that
# tools/rust-version.sh prints, for which the lints are written, and a warning with any other version.
case "$(rustc --version)" in
  "rustc $("$(dirname "$0")/rust-version.sh")."*) echo "-D warnings" ;;
  *) echo "--cap-lints warn" ;;
esac
