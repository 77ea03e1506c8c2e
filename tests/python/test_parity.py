"""A short run of parity.py, which compares with NLE itself."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("parity.py")


@pytest.mark.skipif(importlib.util.find_spec("nle") is None, reason="NLE is not installed")
def test_the_same_arrays_rewards_and_ends_as_nle():
    command = [sys.executable, SCRIPT, "--steps", "6000"]
    told = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.startswith("all arrays, rewards and ends of 6000 steps")
