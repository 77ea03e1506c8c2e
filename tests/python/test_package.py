"""The package as it is installed."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys

import nethack_lab
import stubs
from nethack_lab import _program

FOLDER = pathlib.Path(nethack_lab.__file__).parent


def test_the_executable_is_inside():
    assert FOLDER in _program.path().parents
    told = subprocess.run([_program.path(), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert told.stdout.split()[0] == "nethack-lab" and told.returncode == 0


def test_executable_and_module_are_of_one_rom():
    told = subprocess.run([_program.path(), "rom"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert nethack_lab.ROM_ID in told.stdout


def test_the_command_is_on_the_path():
    command = pathlib.Path(sys.executable).with_name("nethack-lab")
    if importlib.metadata.packages_distributions().get("nethack_lab"):
        told = subprocess.run([command, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert told.returncode == 0


def test_stubs_are_there_and_up_to_date():
    assert (FOLDER / "py.typed").exists()
    for name, lines in stubs.STUBS.items():
        assert (FOLDER / "nle" / name).read_text() == stubs.text(lines()), f"write {name} anew: see stubs.py"


def test_everything_public_is_named_in_its_stub():
    for module in ("_native", "_states", "_verify", "vector", "env/base", "nle/nethack"):
        stub = (FOLDER / f"{module}.pyi").read_text()
        names = vars(sys.modules["nethack_lab." + module.replace("/", ".")])
        for name, value in names.items():
            if getattr(value, "__module__", "").endswith(module.replace("/", ".")) and not name.startswith("_"):
                assert name in stub, (module, name)
                for method in vars(value) if isinstance(value, type) else ():
                    assert method.startswith("_") or method in stub or "_also" in method, (module, name, method)


def test_importing_it_prints_nothing_and_opens_nothing():
    code = (
        "import nethack_lab, os; print(len(os.listdir('/proc/self/fd')), 'machine' in open('/proc/self/maps').read())"
    )
    plain = "import gymnasium, numpy, os; print(len(os.listdir('/proc/self/fd')), False)"
    told = [
        subprocess.run(
            [sys.executable, "-c", one], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=os.environ
        )
        for one in (code, plain)
    ]
    assert told[0].stdout == told[1].stdout and not told[0].stderr
