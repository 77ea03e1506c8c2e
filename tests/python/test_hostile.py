"""What is wrong is refused with a sentence that says what was wrong and what would do, and nothing has happened."""

import copy
import os
import pickle
import signal
import threading

import numpy as np
import pytest

import nethack_lab
from conftest import walk
from nethack_lab import NetHackVectorEnv, State
from nethack_lab.nle import Nethack

NO_WHOLE_NUMBERS = (None, 1.5, "1", b"a", float("nan"), [3], np.array([3]), np.float32(2), slice(0, 1))


def digest(env):
    return env.nethack.game.digest()


def in_child(act, seconds=60):
    """What a forked child prints of an act; a child that hangs is killed and says nothing."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        try:
            told = f"did {act()}"
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(theirs, told.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(pid, 0)
    return told


@pytest.mark.parametrize("shared", [False, True])
def test_wrong_actions(shared):
    env = nethack_lab.NetHackScore(copy=not shared)
    env.reset(seed=42)
    before = digest(env)
    for action in NO_WHOLE_NUMBERS:
        with pytest.raises(TypeError, match="action .* is no whole number: give one from 0 to 22"):
            env.step(action)
    for action in (23, 999, -1, np.int64(-1), 2**70, -(2**70)):
        with pytest.raises(IndexError, match=f"action {action} is none: there are 0 to 22"):
            env.step(action)
    assert digest(env) == before and env._steps == 0
    for action in (np.int64(3), np.uint8(3), np.array(3), np.int8(0)):
        env.step(action)
    assert env._steps == 4


def test_nothing_is_to_be_had_before_a_reset():
    env = nethack_lab.NetHackScore(render_mode="ansi")
    for act in (env.save, env.movie, env.render, lambda: env.step(0), lambda: env.nethack.set_current_seeds(1, 2)):
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            act()
    for other in (env.fork(), pickle.loads(pickle.dumps(env)), env):
        assert other.reset(seed=1)[1]["seeds"][0] == 1


@pytest.mark.parametrize(
    "wrong, words",
    [
        (5, "must be a dict"),
        ("x", "must be a dict"),
        ([1], "must be a dict"),
        ({"seeds": 5}, r"give \(core, disp\)"),
        ({"seeds": (1,)}, r"give \(core, disp\)"),
        ({"seeds": "12"}, r"give \(core, disp\)"),
        ({"seeds": (1, 2, 3, 4, 5)}, r"give \(core, disp\)"),
        ({"seeds": (1, 2, "x")}, "reseed 'x'"),
        ({"seeds": (1, 2, False, -1)}, "lgen -1"),
        ({1: 2, "a": 3}, "not known: there are"),
        ({"state": b"x"}, "State.from_bytes"),
        ({"state": 5}, "must be a nethack_lab.State"),
    ],
)
def test_wrong_options_of_a_reset(env, wrong, words):
    before, seeds = digest(env), env.get_seeds()
    source = copy.deepcopy(env.np_random.bit_generator.state)
    with pytest.raises((TypeError, ValueError), match=words):
        env.reset(seed=5, options=wrong)
    assert digest(env) == before and env.get_seeds() == seeds
    assert env.np_random.bit_generator.state == source


def test_a_game_that_can_not_begin_leaves_the_one_that_runs(env):
    wrong = nethack_lab.NetHackScore(options=["nosuch"])
    for seed in (1, None):
        with pytest.raises(ValueError, match="nosuch"):
            wrong.reset(seed=seed)
    assert wrong.get_seeds() is None
    env.step(1)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"max_episode_steps": "x"}, "max_episode_steps 'x'"),
        ({"max_episode_steps": 0}, "from 1 on"),
        ({"character": 5}, "must be text"),
        ({"options": "time"}, r"such as \['time'\]"),
        ({"options": [5]}, "5 is none"),
        ({"options": 5}, "list of text"),
        ({"observation_keys": "glyphs"}, r"such as \['glyphs'\]"),
        ({"observation_keys": ("chars", "chars")}, "more than once"),
        ({"observation_keys": 5}, "observation_keys"),
        ({"actions": ()}, "a key at least"),
        ({"actions": (999,)}, "999 is out of range"),
        ({"actions": ("a",)}, "key of an action 'a'"),
        ({"actions": (1.5,)}, "key of an action 1.5"),
        ({"actions": 5}, "list of keys"),
        ({"clock": "x"}, "clock 'x'"),
        ({"clock": 1.5}, "clock 1.5"),
        ({"clock": 2**70}, "clock .* out of range"),
        ({"wizard": 5}, "wizard must be True or False"),
        ({"fix_moon_phase": 2}, "fix_moon_phase must be True or False"),
        ({"penalty_step": "x"}, "penalty_step 'x' is no number"),
    ],
)
def test_wrong_settings(wrong, words):
    with pytest.raises((TypeError, ValueError), match=words):
        nethack_lab.NetHackScore(**wrong)


def test_wrong_states(env):
    before, state = digest(env), env.save()
    for wrong in (5, None, b"x", "path", env, state.native):
        with pytest.raises(TypeError, match="must be a nethack_lab.State"):
            env.load(wrong)
    for read, what in ((State.from_bytes, "a state"), (State.from_movie, "a movie")):
        for wrong in ("x", None, 5, [1]):
            with pytest.raises(TypeError, match=f"{what} must be bytes"):
                read(wrong)
        for wrong in (b"", b"garbage" * 20):
            with pytest.raises(nethack_lab.StateError):
                read(wrong)
    for kind in (bytearray, memoryview):
        assert State.from_bytes(kind(state.to_bytes())).digest() == before
        assert State.from_movie(kind(state.movie())).digest() == before
    assert digest(env) == before


def test_pickles_that_are_cut_or_flipped(env):
    for what in (env.save(), env, env.nethack):
        whole = pickle.dumps(what)
        for length in (0, 1, len(whole) // 2, len(whole) - 1):
            with pytest.raises((pickle.UnpicklingError, EOFError)):
                pickle.loads(whole[:length])
        flipped = bytearray(whole)
        flipped[whole.index(b"NHLABPYS") + 10_000] ^= 4
        with pytest.raises(nethack_lab.StateError, match="damaged"):
            pickle.loads(bytes(flipped))


def test_a_movie_of_another_engine_says_which():
    env = nethack_lab.NetHackScore()
    env.reset(seed=1)
    walk(env, 20)
    movie = env.movie().replace(nethack_lab.ENGINE_ID.encode(), b"0" * 64)
    # Where play is the same it will do.
    assert State.from_movie(movie).digest() == digest(env)
    head, _, rest = movie.partition(b'"core_seed":"1"')
    words = f"engine 0{{64}} and this package plays engine {nethack_lab.ENGINE_ID}"
    with pytest.raises(nethack_lab.StateError, match=words):
        State.from_movie(head + b'"core_seed":"2"' + rest)


def test_wrong_movies_to_verify(tmp_path):
    for wrong in (5, None, 1.5):
        with pytest.raises(TypeError):
            nethack_lab.verify(wrong)
    with pytest.raises(FileNotFoundError):
        nethack_lab.verify("missing")
    with pytest.raises(IsADirectoryError):
        nethack_lab.verify(tmp_path)
    for wrong in (b"", b"garbage", bytearray(b"x")):
        with pytest.raises(ValueError, match="not a movie"):
            nethack_lab.verify(wrong)


def test_a_loaded_state_brings_its_seeds(env):
    other = nethack_lab.NetHackScore()
    other.seed(7, 8, False, 9)
    other.reset()
    other.step(1)
    state = State.from_bytes(other.save().to_bytes())
    assert env.load(state)[1]["seeds"] == env.get_seeds() == (7, 8, False, 9)
    assert env.nethack.get_current_seeds() == (7, 8, False, 9)
    other.nethack.set_current_seeds(1, 2)
    assert env.load(other.save())[1]["seeds"] == (7, 8, False, 9)
    assert env.nethack.get_current_seeds() == (1, 2, False, 9)


def test_a_state_of_another_task_begins_its_own_counts():
    score, challenge = nethack_lab.NetHackScore(max_episode_steps=3), nethack_lab.NetHackChallenge()
    score.reset(seed=1)
    for _ in range(3):
        score.step(1)
    state = score.save()
    # The same task is over there too, and says how.
    assert score.load(state)[1]["end_status"] == score.StepStatus.ABORTED
    with pytest.raises(RuntimeError, match="over"):
        score.step(1)
    _, info = challenge.load(state)
    assert info["end_status"] == 0 and info["seeds"] == score.get_seeds() and challenge._steps == 0
    challenge.step(1)


def test_copies_share_no_game(env):
    for way in (copy.copy, copy.deepcopy):
        other = way(env)
        other.step(1)
        assert digest(other) != digest(env)
    game = Nethack()
    game.reset()
    before = game.game.digest()
    for way in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        other = way(game)
        seen, _ = other.step(ord("s"))
        assert seen is other._shared and not np.shares_memory(seen[0], game._shared[0])
        assert other.game.digest() != before
    assert game.game.digest() == before


def test_a_closed_game_can_not_be_copied(env):
    fork = env.fork()
    env.close()
    for act in (env.fork, lambda: copy.copy(env), lambda: pickle.dumps(env), lambda: env.load(fork.save()), env.reset):
        with pytest.raises(RuntimeError, match="closed: make another"):
            act()
    fork.fork().step(1)


def test_wrong_keys_of_the_bare_game():
    game = Nethack()
    with pytest.raises(RuntimeError, match="reset"):
        game.step(5)
    game.reset()
    before = game.game.digest()
    for wrong in (None, 1.5, "5", b"5", [5]):
        with pytest.raises(TypeError, match="is no key"):
            game.step(wrong)
    for wrong in (256, -5, 2**70):
        with pytest.raises(ValueError, match="is no key"):
            game.step(wrong)
    assert game.game.digest() == before


# Vector environments


@pytest.fixture(scope="module")
def vector():
    made = NetHackVectorEnv(3, workers=2)
    yield made
    made.close()


@pytest.mark.parametrize("wrong", [0, -1, "x", 1.5, True, None, 10**9])
def test_wrong_numbers_of_environments_and_workers(wrong):
    with pytest.raises((TypeError, ValueError), match="num_envs .*give a whole number from 1"):
        NetHackVectorEnv(wrong)
    if wrong is not None:
        with pytest.raises((TypeError, ValueError), match="workers .*give a whole number from 1"):
            NetHackVectorEnv(2, workers=wrong)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_was_never_made_closes_in_silence():
    for act in (lambda: NetHackVectorEnv(2, int), lambda: NetHackVectorEnv(0), lambda: NetHackVectorEnv(1, 2, 3, 4)):
        with pytest.raises((TypeError, ValueError)):
            act()


def test_wrong_actions_step_no_environment(vector):
    vector.reset(seed=1)
    before = [state.digest() for state in vector.save()]
    for wrong in ([1.5, 1, 1], [float("nan")] * 3, [True] * 3, ["1"] * 3, [None] * 3, [2**70, 1, 1], np.ones(3)):
        with pytest.raises(TypeError, match="whole numbers"):
            vector.step(wrong)
    for wrong in ([1, 2, -1], [1, 2, 23], np.array([1, 1, 2**64 - 1], np.uint64)):
        with pytest.raises(IndexError, match="of environment 2 is none: there are 0 to 22"):
            vector.step(wrong)
    for wrong in (None, 5, [1, 2], [[1, 1, 1]], "abc"):
        with pytest.raises(ValueError, match="3 actions"):
            vector.step(wrong)
    with pytest.raises(RuntimeError, match="step_async"):
        vector.step_wait()
    assert [state.digest() for state in vector.save()] == before
    for kind in (np.int8, np.uint64, np.int32):
        vector.step(np.ones(3, kind))


def test_wrong_states_reset_no_environment(vector):
    vector.reset(seed=1)
    states = vector.save()
    before = [state.digest() for state in states]
    for wrong in (5, states[0], "abc", {}, [1, 2, 3], [b"x"] * 3, [None, None, 5]):
        with pytest.raises(TypeError, match="State|list of 3 states"):
            vector.reset(options={"states": wrong})
    with pytest.raises(ValueError, match="give 3 states"):
        vector.reset(options={"states": states[:2]})
    for wrong in (5, "x"):
        with pytest.raises(TypeError, match="must be a dict"):
            vector.reset(options=wrong)
    with pytest.raises(ValueError, match="not known"):
        vector.reset(options={"zz": 1})
    assert [state.digest() for state in vector.save()] == before


def test_a_forked_process_leaves_its_parents_workers_alone(vector):
    vector.reset(seed=1)
    before = [state.digest() for state in vector.save()]
    assert "make one in this process" in in_child(lambda: vector.step([1] * 3))
    assert in_child(vector.close) == "did None"
    assert [state.digest() for state in vector.save()] == before
    for way in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="states that can"):
            way(vector)


def test_a_process_forked_beside_the_games_thread_is_told(env):
    told = []
    thread = threading.Thread(target=lambda: told.append(in_child(lambda: nethack_lab.NetHackScore().reset(seed=1))))
    thread.start()
    thread.join()
    assert "spawn" in told[0] and "release()" in told[0]
    env.step(1)


def test_interrupts_lose_no_step(vector):
    """Wherever an interrupt strikes, what was told arrives whole: environments stay in step with each other."""

    def raising(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, raising)
    source = np.random.default_rng(3)
    came = 0
    try:
        for _ in range(200):
            vector.reset(seed=9)
            timer = threading.Timer(float(source.uniform(0, 0.002)), os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                while True:
                    vector.step([18] * 3)
            except KeyboardInterrupt:
                came += 1
            timer.join()
            counts = vector.get_attr("_steps")
            assert len(set(counts)) == 1, counts
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == 200


def test_a_thread_that_has_ended_gives_the_machine_back(env):
    nethack_lab.release()
    for seed in range(50):
        thread = threading.Thread(target=lambda: nethack_lab.NetHackScore().reset(seed=seed))
        thread.start()
        thread.join()
        env.step(18)
        nethack_lab.release()


@pytest.mark.parametrize("change", ["frozen", "resized"])
def test_arrays_that_were_changed_are_refused(change):
    env = nethack_lab.NetHackScore(copy=False)
    glyphs = env.reset(seed=1)[0]["glyphs"]
    if change == "frozen":
        glyphs.flags.writeable = False
    else:
        glyphs.resize((1, 1), refcheck=False)
    env.step(18)
    with pytest.raises(ValueError, match="read-only or resized"):
        env.step(18)
