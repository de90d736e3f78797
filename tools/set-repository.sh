#!/bin/sh
# Writes the address of the repository into the workspace's Cargo.toml, for crates that are about to be
# published: crates.io shows it, and cargo binstall finds a release's archives by it. The sources name no
# address, since a fork's packages must lead to the fork.
#
#     tools/set-repository.sh https://HOST/OWNER/drumfire
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
  https://*) ;;
  *)
    echo "set-repository: give the address of the repository, such as https://HOST/OWNER/drumfire" >&2
    exit 2
    ;;
esac
sed -i "s|^license = \"Apache-2.0 OR MIT\"\$|&\nrepository = \"$1\"|" Cargo.toml
sed -i 's|^license.workspace = true$|&\nrepository.workspace = true|' crates/*/*/Cargo.toml
