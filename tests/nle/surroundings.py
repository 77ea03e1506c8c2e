"""What NLE runs in: a venv of its own, a clock that stands still, UTC."""

import os
import pathlib
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
DEFAULT_VENV = pathlib.Path(tempfile.gettempdir()) / "nethack-lab-nle-venv"


def prepare(folder=DEFAULT_VENV):
    """Makes the venv and the preloaded clock where they are missing; gives the venv's python and the clock."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    known = subprocess.run([python, "-c", "import nle"], stdin=subprocess.DEVNULL, capture_output=True)
    if known.returncode:
        install = [python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]
        subprocess.run(install, check=True, stdout=sys.stderr)
    clock = folder / "frozen_clock.so"
    source = HERE / "frozen_clock.c"
    if not clock.exists() or clock.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-shared", "-fPIC", "-O", "-o", clock, source], check=True)
    return python, clock


def enter(folder=DEFAULT_VENV):
    """Goes on in the venv's python with the clock preloaded; returns there at once."""
    if os.environ.get("NETHACK_LAB_NLE") == "ready":
        return
    python, clock = prepare(folder)
    surroundings = dict(os.environ, NETHACK_LAB_NLE="ready", LD_PRELOAD=str(clock), TZ="UTC", FROZEN_EPOCH="0")
    os.execve(python, [str(python), *sys.argv], surroundings)
