#!/bin/sh
# Tests the MCP server with clients from PyPI. Usage: tests/clients/run.sh [EXECUTABLE]
# The clients go to target/clients-venv; nothing is written to the tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${1:-$root/target/release/nethack-lab}
if [ ! -x "$program" ]; then
    echo "no executable at $program: build one, or give its path" >&2
    exit 2
fi
# Some tests start it from another folder.
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
venv=${CARGO_TARGET_DIR:-$root/target}/clients-venv
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
status=0
for test in "$here"/*_test.py; do
    "$venv/bin/python" "$test" "$program" || status=1
done
exit $status
