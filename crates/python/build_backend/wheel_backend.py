"""Builds the wheel: maturin's work, after cargo has built the worker executable that goes into it.

Runs from a checkout of the repository, which holds the sources of both.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from maturin import (  # noqa: F401
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)
import maturin

CRATE = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = CRATE / "python" / "nethack_lab" / "bin" / "nethack-lab"


def _cargo(*arguments, **options):
    cargo = os.environ.get("CARGO", "cargo")
    try:
        return subprocess.run([cargo, *arguments], cwd=CRATE, check=True, stdin=subprocess.DEVNULL, **options)
    except FileNotFoundError:
        sys.exit("nethack-lab is built from source: install Rust (cargo), gcc and binutils first")


def _place_program():
    _cargo("build", "--release", "--locked", "--package", "nethack-lab")
    known = _cargo("metadata", "--format-version=1", "--no-deps", "--offline", capture_output=True)
    built = pathlib.Path(json.loads(known.stdout)["target_directory"]) / "release" / "nethack-lab"
    PROGRAM.parent.mkdir(exist_ok=True)
    # A new file, so that a running program keeps its own.
    fresh = PROGRAM.with_suffix(".new")
    shutil.copy2(built, fresh)
    subprocess.run(["strip", "--strip-debug", fresh], check=False)
    fresh.replace(PROGRAM)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _place_program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _place_program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("there is no source distribution: build from a checkout of the repository")
