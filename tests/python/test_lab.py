"""Labs from Python: lines on all workers, told as arrays."""

import subprocess
import sys

import numpy as np
import pytest

import nethack_lab
from conftest import walk
from nethack_lab import _seeds
from nethack_lab.lab import Lab


@pytest.fixture(scope="module")
def lab():
    return Lab(workers=2)


def test_lines_are_what_an_environment_plays(lab):
    start = lab.begin(42)
    source = np.random.default_rng(1)
    keys = source.choice(np.frombuffer(b"hjklyubns", np.uint8), (40, 12))
    lines = lab.try_lines(start, keys, keep=True)
    assert len(lines) == 40 and lines.chars.shape == (40, 24, 80) and lines.glyphs.shape == (40, 21, 79)
    game = nethack_lab.nle.Nethack(copy=True)
    for number in (0, 17, 39):
        game.set_initial_seeds(42, _seeds.display_seed(42))
        game.reset()
        for key in keys[number]:
            seen, _ = game.step(key)
        arrays = dict(zip(game._keys, seen))
        assert np.array_equal(lines.chars[number], arrays["tty_chars"])
        assert lines.turn[number] == arrays["blstats"][20] and lines.hp[number] == arrays["blstats"][10]
        assert lab.digest(lines.states[number]) == game.game.digest()
        assert lines.inputs[number] == keys[number].tobytes()


def test_lines_of_all_lengths_and_luck_of_their_own(lab):
    start = lab.begin(3)
    lines = lab.try_lines([start] * 3, [b"20s", b"", b"jjj"], frames=False)
    assert list(lines.keys_used) == [3, 0, 3] and 10 <= lines.turns[0] <= 20
    same = lab.try_lines(start, [b"20s20s20s"] * 4)
    other = lab.try_lines(start, [b"20s20s20s"] * 4, seeds=[(n, n + 1) for n in range(4)])
    assert len(set(same.play)) == 1 and len(set(other.play)) == 4
    with pytest.raises(ValueError):
        lab.try_lines(start, [b"j"], seeds=[])
    with pytest.raises(ValueError):
        lab.try_lines([start], np.zeros((2, 3), np.uint8))


def test_states_go_to_and_fro(lab):
    kept = lab.try_lines(lab.begin(5), [b"20s"], keep=True).states[0]
    travelling = lab.travelling(kept)
    env = nethack_lab.NetHackScore()
    env.load(travelling)
    walk(env, 20)
    back = lab.state_of(env.save())
    assert lab.digest(back) == env.nethack.game.digest() and back.boundary == env.nethack.game.boundary
    assert nethack_lab.verify(lab.movie(back)).verdict == "exact"


def test_an_interrupt_stops_it():
    code = """
import os, signal, threading
from nethack_lab.lab import Lab
lab = Lab(2)
start = lab.begin(1)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(10_000):
        lab.try_lines(start, [b"20s" * 30] * 4000, frames=False)
except KeyboardInterrupt:
    print("interrupted", *lab.try_lines(start, [b"20s"]).keys_used)
"""
    told = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert told.stdout == "interrupted 3\n", told.stderr


def test_text_is_keys_and_one_line_alone_is_refused(lab):
    start = lab.begin(3)
    assert lab.try_lines(start, ["20s", b"20s"]).inputs == [b"20s", b"20s"]
    for wrong in (b"20s", "20s", [1, 2], [[b"s"]]):
        with pytest.raises(TypeError, match="keys"):
            lab.try_lines(start, wrong)
