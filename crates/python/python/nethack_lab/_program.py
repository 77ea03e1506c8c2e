"""The executable that the wheel brings along: the command line, and the worker of labs."""

import os
import pathlib
import sys


def path():
    """Where the executable is."""
    found = pathlib.Path(__file__).resolve().parent / "bin" / "nethack-lab"
    if not found.exists():
        raise FileNotFoundError(f"{found} is missing: install the package with pip, which builds it")
    return found


def main():
    """Becomes the executable, with the same arguments."""
    program = path()
    os.execv(program, [str(program), *sys.argv[1:]])
