#!/usr/bin/env bash
# Builds a runtime image: a base image with PaddlePaddle, this package, and a trainer package.
#
#   tools/build_docker.sh SRC DEST BASE RUNTIME
#   tools/build_docker.sh ./example /example paddlepaddle/paddle:latest paddlepaddle/paddle_job      (the defaults)
#
# SRC is a folder here, DEST where it will be in the image. Uses docker, podman or buildah, the first that works, or the
# one that ENGINE names.
set -euo pipefail

fail() {
  echo "build_docker.sh: $*" >&2
  exit 2
}

if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0"
  exit 0
fi
[[ $# -le 4 ]] || fail "too many words: write SRC DEST BASE RUNTIME"

source=${1:-./example}
destination=${2:-/example}
base=${3:-paddlepaddle/paddle:latest}
runtime=${4:-paddlepaddle/paddle_job}
root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && cd .. && pwd)

[[ -d $source ]] || fail "there is no folder $source: the first word is the folder with the trainer package"
[[ $destination == /* ]] || fail "$destination is not an absolute path: the second word is the package's place in the image"
[[ $destination != *[\"\\]* ]] || fail "$destination has characters that a Dockerfile cannot hold"

works() {
  # A docker client without its daemon is of no use.
  command -v "$1" >/dev/null && "$1" info >/dev/null 2>&1
}

engine=
for one in ${ENGINE:-docker podman buildah}; do
  if works "$one"; then
    engine=$one
    break
  fi
done
if [[ -z $engine ]]; then
  fail "none of ${ENGINE:-docker, podman, buildah} works here: install one, or start its service, and try again" \
    "(without an image: PaddleJob.from_function, or submit(local=True))"
fi

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir "$context/package" "$context/paddle-operator"
cp -R "$source/." "$context/package"
for one in pyproject.toml README.md LICENSE src; do
  cp -R "$root/$one" "$context/paddle-operator"
done
cat >"$context/Dockerfile" <<END
FROM $base
COPY paddle-operator /tmp/paddle-operator
RUN python3 -m pip install --no-cache-dir /tmp/paddle-operator && rm -rf /tmp/paddle-operator
COPY ["package/", "$destination/"]
WORKDIR $destination
END

echo "building $runtime from $base with $engine"
case $engine in
  buildah) buildah bud --tag "$runtime" "$context" ;;
  *) "$engine" build --tag "$runtime" "$context" ;;
esac
echo "built $runtime; push it with: $engine push $runtime"
