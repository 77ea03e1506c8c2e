"""Seeds: taken exactly or refused, and told."""

import numpy as np
import pytest

import nethack_lab
from conftest import equal

EXACT = [0, 1, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1, np.int64(7), np.uint64(2**64 - 1)]
REFUSED = [
    (-1, ValueError),
    (2**64, ValueError),
    ("42", TypeError),
    (42.0, TypeError),
    (True, TypeError),
    (np.float64(1), TypeError),
    ([1], TypeError),
]


@pytest.mark.parametrize("seed", EXACT)
def test_seeds_are_taken_exactly(seed):
    env, other = nethack_lab.NetHackScore(), nethack_lab.NetHackScore()
    first, info = env.reset(seed=seed)
    assert info["seeds"][0] == int(seed) and env.get_seeds() == info["seeds"]
    # NLE's way of seeding plays the same.
    other.seed(*info["seeds"])
    assert equal(first, other.reset()[0])


@pytest.mark.parametrize("seed, error", REFUSED)
def test_other_seeds_are_refused_and_nothing_happens(seed, error, env):
    before = env.nethack.game.digest()
    with pytest.raises(error, match="2\\*\\*64 - 1"):
        env.reset(seed=seed)
    with pytest.raises(error):
        env.seed(seed, 1)
    with pytest.raises(error):
        env.reset(options={"seeds": (1, seed)})
    assert env.nethack.game.digest() == before


def test_neighbouring_seeds_are_other_games():
    seen = set()
    for seed in (0, 1, 2**31, 2**32, 2**63, 2**64 - 1):
        env = nethack_lab.NetHackScore()
        env.reset(seed=seed)
        seen.add(env.nethack.game.digest())
    assert len(seen) == 6


def test_a_seeded_environment_goes_on_the_same_way():
    env, other = nethack_lab.NetHackScore(), nethack_lab.NetHackScore()
    runs = []
    for one in (env, other):
        one.reset(seed=5)
        runs.append([one.reset()[1]["seeds"] for _ in range(3)])
    assert runs[0] == runs[1] and len(set(runs[0])) == 3


def test_unseeded_games_differ_and_can_be_had_again():
    env, other = nethack_lab.NetHackScore(), nethack_lab.NetHackScore()
    (first, info), (_, other_info) = env.reset(), other.reset()
    assert info["seeds"] != other_info["seeds"]
    assert equal(first, other.reset(options={"seeds": info["seeds"]})[0])


def test_seeds_of_nle_count_for_one_episode():
    env = nethack_lab.NetHackScore()
    env.seed(1, 2)
    assert env.reset()[1]["seeds"] == (1, 2, False, None)
    assert env.reset()[1]["seeds"] != (1, 2, False, None)
