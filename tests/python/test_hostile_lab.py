"""Labs that are given what is wrong."""

import copy
import gc
import pickle

import numpy as np
import pytest

from nethack_lab import State
from nethack_lab.lab import Lab
from test_hostile import in_child


@pytest.fixture(scope="module")
def lab():
    return Lab(workers=1)


@pytest.fixture(scope="module")
def start(lab):
    return lab.begin(1)


@pytest.mark.parametrize(
    "wrong, words",
    [
        *(({"workers": workers}, "workers .*from 1 to") for workers in (-1, 0, "x", 1.5, True, 10**6, 2**70)),
        ({"options": "time"}, r"such as \['time'\]"),
        ({"character": 5}, "must be text"),
        ({"clock": "x"}, "clock 'x'"),
        ({"wizard": "yes"}, "wizard must be"),
    ],
)
def test_wrong_settings(wrong, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Lab(**wrong)


@pytest.mark.parametrize(
    "keys, words",
    [
        (None, "keys must be a list"),
        (5, "keys must be a list"),
        ("s", "keys must be a list"),
        ([None], "must be bytes or text"),
        ([[1]], "must be bytes or text"),
        (["é"], "is no key"),
        (np.zeros(3, np.uint8), "a row for each line"),
        (np.zeros((2, 2)), "float64"),
        (np.zeros((2, 2), np.int64), "int64"),
        (np.zeros((1, 1, 1), np.uint8), "a row for each line"),
        ([b"s" * 3_000_000], "at most"),
        ([b""] * 100_000, "limit"),
    ],
)
def test_wrong_keys(lab, start, keys, words):
    with pytest.raises((TypeError, ValueError), match=words):
        lab.try_lines(start, keys)


def test_no_lines_and_no_keys_are_lines_too(lab, start):
    assert len(lab.try_lines(start, [])) == len(lab.try_lines(start, np.zeros((0, 3), np.uint8))) == 0
    assert list(lab.try_lines(start, np.zeros((3, 0), np.uint8)).keys_used) == [0, 0, 0]


def test_wrong_states_and_seeds(lab, start):
    travelling = lab.travelling(start)
    for wrong in (travelling, [travelling]):
        with pytest.raises(TypeError, match=r"lab.state_of\(state\)"):
            lab.try_lines(wrong, [b"s"])
    for wrong in (None, 5, [None], b"x", [5]):
        with pytest.raises(TypeError, match="state"):
            lab.try_lines(wrong, [b"s"])
    for act in (lab.movie, lab.digest, lab.travelling):
        for wrong in (5, None, travelling):
            with pytest.raises(TypeError, match="state"):
                act(wrong)
    for wrong in (5, [5], [(1,)], [(1, 2, 3)], ["ab"], [None], [{1: 2, 3: 4}]):
        with pytest.raises(TypeError, match="pair"):
            lab.try_lines(start, [b"s"], seeds=wrong)
    for wrong in (5, "12", (1,)):
        with pytest.raises(TypeError, match="seeds"):
            lab.begin(seeds=wrong)
    for wrong in (5, 10**12, None, "x", [1, 2], start):
        with pytest.raises(TypeError, match="must be bytes"):
            lab.state_of(wrong)
    with pytest.raises(ValueError, match="not a movie"):
        lab.state_of(b"garbage")
    with Lab(1) as other, pytest.raises(ValueError, match="another lab"):
        other.try_lines(start, [b"s"])


def test_labs_do_not_travel(lab, start):
    for what in (lab, start):
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="travelling"):
                way(what)
    assert isinstance(pickle.loads(pickle.dumps(lab.travelling(start))), State)


def test_a_closed_lab_says_so():
    lab = Lab(1)
    start = lab.begin(1)
    lab.close()
    lab.close()
    for act in (lambda: lab.begin(1), lambda: lab.try_lines(start, [b"s"]), lambda: lab.movie(start)):
        with pytest.raises(RuntimeError, match="closed"):
            act()


def test_a_forked_process_leaves_its_parents_lab_alone():
    held = {"lab": Lab(1)}
    held["start"] = held["lab"].begin(1)
    lab, start = held["lab"], held["start"]
    assert "make one in this process" in in_child(lambda: held["lab"].try_lines(held["start"], [b"s"]))
    del lab, start

    def drop():
        held.clear()
        return gc.collect() is not None

    assert in_child(drop) == "did True"
    assert in_child(lambda: Lab(1).begin(2).boundary) == "did 0"
    assert list(held["lab"].try_lines(held["start"], [b"s"]).keys_used) == [1]
