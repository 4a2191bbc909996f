#!/usr/bin/env bash
# Builds what a release consists of from the current commit: wheel, bill of materials, checksums and their signature.
#
#   tools/release.sh PYTHON OUT [KEY]
#
# PYTHON has setuptools and cyclonedx-bom; OUT is a new folder; KEY is a private key of ssh for the signature.
# The wheel has the same bytes wherever it is built: times are the commit's, modes do not depend on the umask.
set -euo pipefail
python=$1 out=$2 key=${3:-}
root=$(cd "$(dirname "$0")/.." && pwd)
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
umask 022
mkdir "$out"
out=$(cd "$out" && pwd)
git -C "$root" archive HEAD | tar -x -C "$source"
chmod -R u=rwX,go=rX "$source"
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH PYTHONHASHSEED=0
cd "$source"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$out" .
cat requirements-torch.lock requirements.lock |
    "$python" -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible --of JSON -o "$out/qa-bot.cdx.json" -
cd "$out"
sha256sum -- * >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
if [ -n "$key" ]; then
    ssh-keygen -q -Y sign -n qa-bot -f "$key" SHA256SUMS
fi
