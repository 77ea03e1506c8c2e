#!/usr/bin/env bash
# Installs the Python package into a venv of its own, as a user would, and runs its tests.
# More arguments go to pytest. NETHACK_LAB_PYTHON names another interpreter than python3.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/../.."
venv=${NETHACK_LAB_VENV:-${TMPDIR:-/tmp}/nethack-lab-python-venv}

if [ ! -x "$venv/bin/python" ]; then
    "${NETHACK_LAB_PYTHON:-python3}" -m venv "$venv"
fi
pip() { "$venv/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
pip install -r tests/python/requirements.txt
# Built where cargo builds the rest, so that a warm target folder is used.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target} pip install --force-reinstall --no-deps ./crates/python
"$venv/bin/python" -m pytest -q -p no:cacheprovider tests/python "$@"
