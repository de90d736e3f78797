#!/usr/bin/env bash
# Checks what stands in contrib for other programs: the Helm chart by helm's own lint, everything
# that it can be rendered to by the schemas of the oldest Kubernetes that it names and of a newer
# one, the plain manifests by what the chart renders to, its plan by drumfire, and the unit by
# systemd where that is there.
#
#   helm                 from Go's module proxy             helm.sh/helm/v3
#   kubernetes-validate  with the schemas, from PyPI
#
# They are put into the folder that DRUMFIRE_SUITES names, or else into target/suites. With
# `--write` the plain manifests are made anew.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=${DRUMFIRE_SUITES:-$PWD/target/suites}
helm_version=v3.22.0
validate_version=1.37.0
oldest=1.29 newer=1.37
chart=contrib/helm/drumfire
plain=contrib/kubernetes/drumfire.yaml
go=$(tools/install-go.sh)
PATH="$go:$PATH"

mkdir -p "$suites"
if [ "$(cat "$suites/helm.version" 2>/dev/null)" != $helm_version ]; then
  echo "manifests: installing helm $helm_version"
  GOBIN=$suites go install "helm.sh/helm/v3/cmd/helm@$helm_version"
  echo $helm_version >"$suites/helm.version"
fi
if [ "$(cat "$suites/validate.version" 2>/dev/null)" != $validate_version ]; then
  echo "manifests: installing kubernetes-validate $validate_version"
  python3 -m venv "$suites/validate"
  "$suites/validate/bin/pip" --quiet install "kubernetes-validate==$validate_version"
  echo $validate_version >"$suites/validate.version"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Renders the chart for a version of Kubernetes, with further values.
render() {
  local version=$1
  shift
  "$suites/helm" template drumfire "$chart" --kube-version "$version" --namespace default "$@" |
    sed '/^# Source: /d'
}

# Renders it, and validates each resource strictly.
validate() {
  local version=$1
  render "$@" >"$work/rendered.yaml"
  "$suites/validate/bin/kubernetes-validate" --kubernetes-version "$version.0" --strict --quiet \
    "$work/rendered.yaml"
  echo "manifests: $(grep -c '^kind:' "$work/rendered.yaml") resources are valid for $*"
}

"$suites/helm" lint --quiet "$chart"
for version in $oldest $newer; do
  validate $version
  validate $version --set coordinator.onLoss=abort,coordinator.claim=runs,keepSeconds=60 \
    --set nats.deploy=false,nats.url=tls://nats.test,nats.credentials=nats \
    --set 'coordinator.args={--strict}' --set 'agents.envFrom[0].secretRef.name=shop' \
    --set agents.nodeSelector.load=yes --set agents.spread=DoNotSchedule
done
if render $newer --set agents.allow=null >/dev/null 2>&1; then
  echo "manifests: a chart without a list of allowed targets must not be rendered" >&2
  exit 1
fi

case ${1:-} in
  --write) { echo "# Rendered from $chart by tools/check-manifests.sh --write."; render $newer; } >$plain ;;
esac
{ echo "# Rendered from $chart by tools/check-manifests.sh --write."; render $newer; } |
  diff -u $plain - || {
  echo "manifests: $plain is not what the chart renders to; run tools/check-manifests.sh --write" >&2
  exit 1
}

# The plan is the text below its key in the map.
sed -n '/^  plan.yaml: |$/,/^---$/p' $plain | sed -e 1d -e '/^---$/d' -e 's/^    //' >"$work/plan.yaml"
"${DRUMFIRE:-target/debug/drumfire}" check "$work/plan.yaml" >/dev/null
echo "manifests: the plan is one"

if command -v systemd-analyze >/dev/null; then
  # A program that is not installed here is no defect of the unit.
  sed 's#^ExecStart=/usr/bin/drumfire#ExecStart=/bin/true#' contrib/systemd/drumfire-agent.service \
    >"$work/drumfire-agent.service"
  systemd-analyze verify --man=no "$work/drumfire-agent.service"
  echo "manifests: the unit is one"
fi
