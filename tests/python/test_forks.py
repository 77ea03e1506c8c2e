"""Forks, saved games and movies."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import nethack_lab
from conftest import equal, walk
from nethack_lab import _program


def digest(env):
    return env.nethack.game.digest()


def deep(steps=2000, seed=11, **kwargs):
    env = nethack_lab.NetHackScore(max_episode_steps=10**9, **kwargs)
    env.reset(seed=seed)
    walk(env, steps, seed)
    return env


@pytest.mark.parametrize("way", [lambda env: env.fork(), copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("shared", [False, True])
def test_a_fork_stands_where_the_game_does_and_goes_its_own_way(way, shared):
    env = deep(copy=not shared)
    fork = way(env)
    assert type(fork) is type(env) and digest(fork) == digest(env) and fork.get_seeds() == env.get_seeds()
    same = way(env)
    for (a, *one), (b, *other) in zip(walk(fork, 200, 1), walk(same, 200, 1)):
        assert one == other and (shared or equal(a, b))
    before = digest(env)
    assert digest(fork) != before
    walk(fork, 20)
    assert digest(env) == before
    # The game itself goes on as its forks did.
    walk(env, 200, 1)
    assert digest(env) == digest(same)


def test_the_task_is_saved_with_the_game():
    env = nethack_lab.NetHackScout(penalty_mode="linear")
    env.reset(seed=3)
    walk(env, 100)
    state = env.save()
    first = [step[1] for step in walk(env, 50, 5)]
    env.load(state)
    assert [step[1] for step in walk(env, 50, 5)] == first
    other = nethack_lab.NetHackScout(penalty_mode="linear")
    observation, info = other.reset(options={"state": state})
    assert info["seeds"] == env.get_seeds()
    assert [step[1] for step in walk(other, 50, 5)] == first


def test_forks_and_states_share_nothing_that_changes():
    env = nethack_lab.NetHackScout()
    env.reset(seed=3)
    walk(env, 30)
    fork, state = env.fork(), env.save()
    before = dict(env.dungeon_explored)
    for one in (fork, env):
        one.dungeon_explored[9, 9] = 1
    assert before == state.progress["dungeon_explored"]
    fork.dungeon_explored.clear()
    assert env.dungeon_explored == {**before, (9, 9): 1}
    env.load(state)
    env.dungeon_explored.clear()
    env.load(state)
    assert env.dungeon_explored == before
    assert fork.np_random is not env.np_random and fork.np_random.random() == env.np_random.random()


def test_states_survive_pickle_and_bytes():
    env = deep()
    state = env.save()
    assert state.boundary == env.nethack.game.boundary and not state.done
    again = pickle.loads(pickle.dumps(state))
    assert again.digest() == state.digest() == digest(env)
    for trust in (False, True):
        made = nethack_lab.State.from_bytes(state.to_bytes(), trust=trust)
        assert made.digest() == state.digest() and made.movie() == state.movie()
    assert nethack_lab.State.from_movie(state.movie()).digest() == state.digest()
    other = nethack_lab.NetHackScore(max_episode_steps=10**9)
    other.load(again)
    assert [step[1:] for step in walk(other, 100, 8)] == [step[1:] for step in walk(env, 100, 8)]
    assert digest(other) == digest(env)


def test_an_ended_game_keeps_its_last_arrays():
    env = nethack_lab.NetHackScore(allow_all_yn_questions=True, actions=nethack_lab.nle.ACTIONS)
    env.reset(seed=1)
    env.step(env.actions.index(nethack_lab.nle.Command.QUIT))
    last, _, terminated, *_ = env.step(env.actions.index(ord("y")))
    assert terminated
    for state in (env.save(), pickle.loads(pickle.dumps(env.save()))):
        assert state.done
        observation, info = nethack_lab.NetHackScore().load(state)
        assert equal(observation, last) and info["end_status"] == 1 and info["end"] == "quit"
    assert nethack_lab.State.from_bytes(state.to_bytes()).done


def test_damaged_and_foreign_states_are_refused_by_name():
    data = deep(300).save().to_bytes()
    env = nethack_lab.NetHackScore()
    env.reset(seed=1)
    before = digest(env)
    source = np.random.default_rng(1)
    for place in [*range(0, 60, 7), *source.integers(len(data), size=40).tolist()]:
        wrong = bytearray(data)
        wrong[place] ^= 1 << int(source.integers(8))
        for trust in (False, True):
            with pytest.raises(nethack_lab.StateError):
                nethack_lab.State.from_bytes(bytes(wrong), trust=trust)
    for length in (0, 7, 40, len(data) // 2, len(data) - 1):
        with pytest.raises(nethack_lab.StateError):
            nethack_lab.State.from_bytes(data[:length], trust=True)
    assert digest(env) == before


def test_movies_prove_themselves(tmp_path):
    env = deep(1500)
    movie = env.fork().movie()
    assert movie == env.movie()
    verdict = nethack_lab.verify(movie)
    assert verdict and verdict.verdict == "exact" and verdict.inputs == env.nethack.game.boundary
    kept = tmp_path / "kept"
    kept.write_bytes(movie)
    assert nethack_lab.verify(kept).verdict == "exact"
    judged = subprocess.run([_program.path(), "movie", "verify", kept], stdin=subprocess.DEVNULL, capture_output=True)
    assert judged.returncode == 0, judged.stdout
    wrong = bytearray(movie)
    place = movie.index(b'"checks":"') + len(b'"checks":"')
    wrong[place] = ord("0") if wrong[place] != ord("0") else ord("1")
    assert not _agrees(bytes(wrong))


def _agrees(movie):
    try:
        return bool(nethack_lab.verify(movie))
    except ValueError:
        return False


def test_new_seeds_for_a_running_game_stand_in_its_movie():
    env = deep(100)
    fork = env.fork()
    fork.nethack.set_current_seeds(1, 2)
    walk(fork, 300, 3)
    walk(env, 300, 3)
    assert digest(fork) != digest(env)
    assert nethack_lab.verify(fork.movie()).verdict == "exact"
    assert nethack_lab.State.from_bytes(fork.save().to_bytes()).digest() == digest(fork)


def test_64_games_take_turns():
    envs = []
    for seed in range(64):
        env = nethack_lab.NetHackScore()
        env.reset(seed=seed)
        envs.append(env)
    alone = nethack_lab.NetHackScore()
    over = set()
    for step in range(30):
        for seed, env in enumerate(envs):
            if seed not in over and any(env.step(step % 16)[2:4]):
                over.add(seed)
    assert len(over) < 10
    for seed in {0, 31, 63} - over:
        alone.reset(seed=seed)
        for step in range(30):
            alone.step(step % 16)
        assert digest(alone) == digest(envs[seed])


def _bytes_in_use():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize("what", ["resets", "forks", "states"])
def test_10_000_of_them_leave_nothing(what):
    env = nethack_lab.NetHackScore()
    env.reset(seed=1)
    state = env.save()

    def once(number):
        if what == "resets":
            env.reset(seed=number)
        elif what == "forks":
            env.fork().step(number % 16)
        else:
            env.load(state)
            env.step(number % 16)
            env.save()

    for number in range(500):
        once(number)
    before = _bytes_in_use()
    for number in range(10_000):
        once(number)
    assert _bytes_in_use() - before < 32 << 20


def test_another_thread_is_told_and_can_take_over(env):
    told = []

    def play():
        try:
            env.step(0)
            nethack_lab.release()
            told.append(None)
        except RuntimeError as error:
            told.append(str(error))

    def in_thread():
        thread = threading.Thread(target=play)
        thread.start()
        thread.join()
        return told[-1]

    assert "release()" in in_thread()
    before = digest(env)
    nethack_lab.release()
    assert in_thread() is None
    assert digest(env) != before
    walk(env, 20)


def test_forks_are_dear_nowhere():
    """A fork costs the same at any depth, to a small factor; the figures stand in docs/python.md."""
    import time

    shallow, far = deep(10), deep(10_000)

    def cost(env):
        begun = time.perf_counter()
        for _ in range(200):
            env.fork()
        return time.perf_counter() - begun

    cost(shallow)
    assert min(cost(far) for _ in range(3)) < 20 * min(cost(shallow) for _ in range(3))
    assert sys.getrefcount(far) < 10
