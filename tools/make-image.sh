#!/usr/bin/env bash
# Makes a container image from scratch, without a daemon and without root: the static program, its
# licenses and those of what is linked into it, the authorities of certificates, and /tmp.
#
#     tools/make-image.sh ARCHITECTURE PROGRAM IMAGE.tar
#
# ARCHITECTURE is x86_64 or aarch64. The file is an archive of an OCI image layout
# (github.com/opencontainers/image-spec, v1.1): `skopeo copy oci-archive:IMAGE.tar …`, `podman load` and
# `docker load` take it. DRUMFIRE_CERTIFICATES names the bundle of authorities, by default that of this
# machine; empty, the image has none. It is a layer of its own, since it changes for other reasons than the
# program. The bytes of the image follow from those of the files, from the version and from
# SOURCE_DATE_EPOCH.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# != 3 ]; then
  echo "image: usage: tools/make-image.sh ARCHITECTURE PROGRAM IMAGE.tar" >&2
  exit 1
fi
architecture=$1 program=$2 image=$(realpath -m "$3")
system=$architecture-unknown-linux-musl
case "$architecture" in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *)
    echo "image: unknown architecture $architecture; use x86_64 or aarch64" >&2
    exit 1
    ;;
esac
certificates=${DRUMFIRE_CERTIFICATES-/etc/ssl/certs/ca-certificates.crt}
DRUMFIRE_VERSION=${DRUMFIRE_VERSION:-$(tools/version.sh)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/version.sh epoch)}
export LC_ALL=C TZ=UTC
umask 022
version=${DRUMFIRE_VERSION%% *}
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
# The commit, where the version has one.
revision=$(sed -n 's/^[^ ]* (\([^ ]*\) .*/\1/p' <<<"$DRUMFIRE_VERSION")
# The user of the image, and of the manifests in contrib: it is nobody else's on any system.
user=65532

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
layout=$work/layout
mkdir -p "$layout/blobs/sha256" "$(dirname "$image")"

# All files of a folder as a tar, the same bytes wherever it is made.
archive() {
  local folder=$1
  shift
  tar --create --directory "$folder" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" "$@"
}

sum() {
  sha256sum "$1" | cut -d ' ' -f 1
}

# Puts a file among the blobs, under its digest; its descriptor, of this type.
blob() {
  local file=$1 type=$2 digest
  digest=$(sum "$file")
  printf '{"mediaType":"%s","digest":"sha256:%s","size":%s}' "$type" "$digest" "$(stat -c %s "$file")"
  mv "$file" "$layout/blobs/sha256/$digest"
}

layers=() unpacked=()
# Makes a layer of a folder.
layer() {
  archive "$1" . >"$work/layer.tar"
  unpacked+=("\"sha256:$(sum "$work/layer.tar")\"")
  gzip -9n "$work/layer.tar"
  layers+=("$(blob "$work/layer.tar.gz" application/vnd.oci.image.layer.v1.tar+gzip)")
}

joined() {
  local IFS=,
  echo "$*"
}

if [ -n "$certificates" ]; then
  if [ ! -s "$certificates" ]; then
    echo "image: no certificates in $certificates; set DRUMFIRE_CERTIFICATES to a bundle, or to nothing for an image without one" >&2
    exit 1
  fi
  install -D -m 644 "$certificates" "$work/authorities/etc/ssl/certs/ca-certificates.crt"
  layer "$work/authorities"
fi
install -D -m 755 "$program" "$work/root/bin/drumfire"
install -D -m 644 -t "$work/root/usr/share/doc/drumfire" LICENSE-APACHE LICENSE-MIT
tools/licenses.sh "$system" "$work/root/usr/share/doc/drumfire"
mkdir -m 1777 "$work/root/tmp"
layer "$work/root"

cat >"$work/config" <<JSON
{"created":"$created","architecture":"$architecture","os":"linux","config":{"User":"$user:$user","Entrypoint":["/bin/drumfire"],"Cmd":["--help"],"Env":["PATH=/bin"],"WorkingDir":"/tmp","StopSignal":"SIGINT","Labels":{"org.opencontainers.image.title":"drumfire","org.opencontainers.image.description":"Load generator for HTTP, gRPC, WebSocket and LLM services","org.opencontainers.image.licenses":"Apache-2.0 OR MIT","org.opencontainers.image.version":"$version","org.opencontainers.image.revision":"$revision"}},"rootfs":{"type":"layers","diff_ids":[$(joined "${unpacked[@]}")]}}
JSON
config=$(blob "$work/config" application/vnd.oci.image.config.v1+json)
cat >"$work/manifest" <<JSON
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":$config,"layers":[$(joined "${layers[@]}")]}
JSON
manifest=$(blob "$work/manifest" application/vnd.oci.image.manifest.v1+json)
# The name by which loaders know it, and the platform that they look for.
named="${manifest%\}},\"platform\":{\"architecture\":\"$architecture\",\"os\":\"linux\"},\"annotations\":{\"org.opencontainers.image.ref.name\":\"$version\",\"io.containerd.image.name\":\"docker.io/library/drumfire:$version\"}}"
cat >"$layout/index.json" <<JSON
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[$named]}
JSON
printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
archive "$layout" blobs index.json oci-layout >"$image"
