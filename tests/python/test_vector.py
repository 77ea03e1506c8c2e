"""Vector environments."""

import os
import pickle
import signal

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import nethack_lab
from conftest import runs
from nethack_lab import NetHackVectorEnv

MODES = list(AutoresetMode)


def same(one, other):
    """Whether two answers are the same, arrays and all."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return all(same(a, b) for a, b in zip(one, other))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other))
    return bool(np.all(np.asarray(one) == np.asarray(other)))


@pytest.mark.parametrize("mode", MODES)
def test_it_is_what_gymnasiums_own_is(mode):
    """Side by side with SyncVectorEnv over the same environments: short episodes, so that many end."""
    kwargs = {"max_episode_steps": 7}
    count = 5
    ours = NetHackVectorEnv(count, "Score", workers=2, autoreset_mode=mode, **kwargs)
    theirs = SyncVectorEnv([lambda: nethack_lab.NetHackScore(**kwargs)] * count, autoreset_mode=mode)
    with_seeds = {"seed": 17}
    assert same(ours.reset(**with_seeds), theirs.reset(**with_seeds))
    source = np.random.default_rng(1)
    ended = 0
    for _ in range(60):
        actions = source.integers(ours.single_action_space.n, size=count)
        one, other = ours.step(actions), theirs.step(actions)
        assert same(one, other)
        over = one[2] | one[3]
        ended += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            assert same(
                ours.reset(options={"reset_mask": over.copy()}), theirs.reset(options={"reset_mask": over.copy()})
            )
    assert ended > 20
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    ours.close()


def test_final_observations_are_those_of_the_end():
    vector = NetHackVectorEnv(2, "Score", max_episode_steps=4, autoreset_mode=AutoresetMode.SAME_STEP)
    single = nethack_lab.NetHackScore(max_episode_steps=4)
    vector.reset(seed=3)
    single.reset(seed=4)
    for _ in range(4):
        observations, _, _, truncated, infos = vector.step([1, 2])
        last, *_ = single.step(2)
    assert truncated.all()
    assert same(infos["final_obs"][1], last) and not same(observations["glyphs"][1], last["glyphs"])
    assert list(infos["final_info"]["end_status"]) == [-1, -1]
    vector.close()


def test_each_environment_can_begin_at_a_saved_game():
    vector = NetHackVectorEnv(4, "Score", workers=2)
    vector.reset(seed=1)
    for step in range(30):
        vector.step(np.full(4, step % 16))
    states = vector.save()
    after = [vector.step(np.full(4, step % 16))[:2] for step in range(20)]
    vector.reset(options={"states": list(states)})
    again = [vector.step(np.full(4, step % 16))[:2] for step in range(20)]
    assert same(after, again)
    vector.reset(options={"states": [states[0]] * 4})
    glyphs = vector.step(np.full(4, 3))[0]["glyphs"]
    assert all(np.array_equal(glyphs[0], other) for other in glyphs)
    single = nethack_lab.NetHackScore()
    single.load(states[2])
    assert nethack_lab.verify(vector.movies()[0]).verdict == "exact"
    observations, infos = vector.reset(seed=8, options={"states": [None, states[2], None, None]})
    assert infos["seeds"][0][0] == 8 and infos["seeds"][1] == single.get_seeds()
    assert np.array_equal(observations["tty_chars"][1], single.last_observation[single._made.index("tty_chars")])
    vector.close()


def test_seeds_are_each_environments_own():
    one, other = NetHackVectorEnv(6, workers=1), NetHackVectorEnv(6, workers=3)
    for given in (5, [1, 2, 3, 4, 5, 2**64 - 1]):
        assert same(one.reset(seed=given), other.reset(seed=given))
        for step in range(20):
            assert same(one.step(np.full(6, step % 16)), other.step(np.full(6, step % 16)))
    for wrong in (-1, "1", [1, 2], [1.0] * 6, 2**64 - 3):
        with pytest.raises((TypeError, ValueError)):
            one.reset(seed=wrong)
    one.close(), other.close()


def test_gymnasium_makes_one():
    vector = gymnasium.make_vec("NetHackLab-Challenge-v0", num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(vector.unwrapped, NetHackVectorEnv) and vector.num_envs == 3
    vector.reset(seed=1)
    assert vector.observation_space.contains(vector.step(vector.action_space.sample())[0])
    vector.close()


def test_copies_and_the_shared_memory_itself():
    copies, shared = NetHackVectorEnv(2, copy=True), NetHackVectorEnv(2, copy=False)
    first, also = copies.reset(seed=1)[0], shared.reset(seed=1)[0]
    kept = {key: array.copy() for key, array in first.items()}
    assert same(first, also)
    moved = [copies.step([1, 1])[0], shared.step([1, 1])[0]]
    assert same(*moved) and same(first, kept)
    assert all(np.shares_memory(moved[1][key], also[key]) for key in also)
    copies.close(), shared.close()


def test_mistakes_are_told_and_cost_nothing():
    vector = NetHackVectorEnv(3, workers=2, autoreset_mode=AutoresetMode.DISABLED, max_episode_steps=2)
    vector.reset(seed=1)
    with pytest.raises(ValueError, match="3 actions"):
        vector.step([1, 2])
    with pytest.raises(IndexError):
        vector.step([1, 2, 1000])
    vector.reset(seed=1)
    vector.step([1, 1, 1])
    vector.step([1, 1, 1])
    with pytest.raises(RuntimeError, match="reset"):
        vector.step([1, 1, 1])
    vector.reset(seed=1)
    assert vector.call("get_seeds")[1][0] == 2
    with pytest.raises(AttributeError):
        vector.call("no_such_method")
    vector.set_attr("_max_episode_steps", [5, 6, 7])
    assert vector.get_attr("_max_episode_steps") == (5, 6, 7)
    with pytest.raises(ValueError, match="unknown"):
        NetHackVectorEnv(1, "Scores")
    with pytest.raises(ValueError, match="nosuch"):
        broken = NetHackVectorEnv(1, options=["nosuch"])
        broken.reset()
    vector.close()
    with pytest.raises(RuntimeError, match="closed"):
        vector.step([1, 1, 1])


def test_a_lost_worker_is_named_and_nothing_hangs():
    vector = NetHackVectorEnv(4, workers=2)
    vector.reset(seed=1)
    workers = [process.pid for process in vector._workers.processes]
    os.kill(vector._workers.processes[1].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="environments 2 to 3"):
        for _ in range(3):
            vector.step([1] * 4)
    assert not any(runs(worker) for worker in workers)
    with pytest.raises(RuntimeError, match="closed"):
        vector.step([1] * 4)


def test_workers_go_when_it_is_dropped():
    vector = NetHackVectorEnv(4, workers=2)
    workers = [process.pid for process in vector._workers.processes]
    assert all(map(runs, workers))
    del vector
    assert not any(map(runs, workers))


def test_states_of_one_are_good_in_the_other(env):
    vector = NetHackVectorEnv(2)
    env.step(1)
    vector.reset(options={"states": [env.save(), pickle.loads(pickle.dumps(env.save()))]})
    env.load(vector.save()[1])
    vector.close()
