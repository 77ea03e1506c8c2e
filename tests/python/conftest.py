"""What the tests share."""

import os
import pathlib
import signal

import numpy as np
import pytest

import nethack_lab

# Whoever runs the tests in the background of a shell passes on that interrupts are ignored; those who are started here
# must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SCREENS = ("tty_chars", "tty_colors", "tty_cursor")


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    """Runs each test in an empty folder and with an empty place for temporary files, which stay empty."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.chdir(tmp_path)
    shared = set(os.listdir("/dev/shm"))
    yield
    assert not list(temporary.iterdir())
    assert [path.name for path in tmp_path.iterdir() if path != temporary] in ([], ["kept"])
    assert not {name for name in set(os.listdir("/dev/shm")) - shared if "nethack" in name}


@pytest.fixture
def env():
    """A Score environment at the beginning of a game."""
    made = nethack_lab.NetHackScore()
    made.reset(seed=42)
    yield made
    made.close()


def equal(one, other):
    """Whether two observations hold the same bytes."""
    return one.keys() == other.keys() and all(
        one[key].dtype == other[key].dtype and np.array_equal(one[key], other[key]) for key in one
    )


def walk(env, steps, seed=0):
    """Steps with seeded actions; gives all that came back and begins anew where a game ends."""
    source = np.random.default_rng(seed)
    seen = []
    for _ in range(steps):
        step = env.step(int(source.integers(env.action_space.n)))
        seen.append(step)
        if step[2] or step[3]:
            env.reset()
    return seen


def runs(pid):
    """Whether a process runs: not gone, and no corpse."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False
