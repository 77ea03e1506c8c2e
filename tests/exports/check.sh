#!/bin/sh
# Opens exports with programs that others wrote. Usage: tests/exports/check.sh [EXECUTABLE]
# Needs Debian's ttyrec and libterm-ttyrec-plus-perl; readers from PyPI go to target/exports-venv.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${1:-$root/target/release/nethack-lab}
if [ ! -x "$program" ]; then
    echo "no executable at $program: build one, or give its path" >&2
    exit 2
fi
if ! command -v ttyplay >/dev/null || ! perl -MTerm::TtyRec::Plus -e 1 2>/dev/null; then
    echo "install ttyrec and libterm-ttyrec-plus-perl first" >&2
    exit 2
fi
venv=${CARGO_TARGET_DIR:-$root/target}/exports-venv
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec "$venv/bin/python" "$here/check.py" "$program"
