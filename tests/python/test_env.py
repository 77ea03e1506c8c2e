"""The environment as Gymnasium and as NLE know it."""

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import nethack_lab
from conftest import equal, walk
from nethack_lab import nle as nethack
from nethack_lab._register import TASKS
from nethack_lab.env.base import DUNGEON_SHAPE

IDS = sorted(TASKS)


@pytest.mark.parametrize("name", IDS)
def test_gymnasium_finds_nothing_wrong(name, recwarn):
    check_env(gymnasium.make(name).unwrapped, skip_render_check=True)
    wrong = [str(one.message) for one in recwarn if "not within the observation space" in str(one.message)]
    assert not wrong


@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
def test_gymnasium_finds_nothing_wrong_with_render_modes(mode):
    env = nethack_lab.NetHackScore(render_mode=mode)
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    if mode == "ansi":
        shown = env.render()
        assert len(shown.replace("\n", "")) == np.prod(DUNGEON_SHAPE)
        assert "@" in shown
    elif mode == "rgb_array":
        picture = env.render()
        assert picture.shape == (384, 640, 3) and picture.dtype == np.uint8 and picture.any()


def test_human_and_full_modes_print(capsys):
    for mode in ("human", "full"):
        env = nethack_lab.NetHackScore(render_mode=mode)
        env.reset(seed=1)
        assert env.render() is None
        assert "@" in capsys.readouterr().out
    with pytest.raises(ValueError, match="pixel"):
        nethack_lab.NetHackScore(render_mode="pixel")


@pytest.mark.parametrize("name", IDS)
def test_steps_are_of_the_right_kinds(name):
    env = gymnasium.make(name)
    observation, info = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    assert info["end_status"] == 0
    for observation, reward, terminated, truncated, info in walk(env, 300, 1):
        assert env.observation_space.contains(observation)
        assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
        assert not info["is_ascended"]
    env.close()


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("lgen", [None, 1])
def test_equal_seeds_play_equal_games(name, lgen):
    one, other = gymnasium.make(name).unwrapped, gymnasium.make(name).unwrapped
    given = one.seed(123456, 789012, False, lgen)
    assert given == (123456, 789012, False, lgen) and one.seed(*given) == other.seed(*given)
    (first, info), (second, _) = one.reset(), other.reset()
    assert info["seeds"] == given == one.get_seeds()
    assert equal(first, second)
    for (a, *one_step), (b, *other_step) in zip(walk(one, 300, 2), walk(other, 300, 2)):
        assert equal(a, b)
        assert one_step == other_step


def test_level_seeds_make_the_same_first_level():
    for core in (1234, 99):
        env = nethack_lab.NetHackScore()
        env.seed(core, 5678, False, 1)
        chars = env.reset()[0]["chars"]
        assert [chr(chars[place]) for place in ((3, 61), (4, 51), (5, 59), (7, 65), (7, 51))] == list("-..|@")


def test_the_hero_stands_where_the_status_says(env):
    observation, _ = env.reset(seed=5)
    x, y = observation["blstats"][:2]
    assert observation["chars"][y, x] == ord("@")
    assert observation["colors"][y, x] == 15


def test_the_monk_carries_what_a_monk_does():
    keys = ("inv_glyphs", "inv_strs", "inv_letters", "inv_oclasses")
    observation, _ = nethack_lab.NetHackScore(observation_keys=keys).reset(seed=1)
    assert tuple(observation) == keys
    texts = [bytes(row).split(b"\0")[0].decode() for row in observation["inv_strs"] if row.any()]
    assert any("spellbook" in text for text in texts) and any("apple" in text for text in texts)
    place = 1 if observation["inv_letters"][0] == ord("$") else 0
    assert observation["inv_letters"][place] == ord("a")
    assert observation["inv_oclasses"][place] == nethack.ARMOR_CLASS


def test_quitting_ends_the_episode(env):
    kick = env.actions.index(nethack.Command.KICK)
    observation, *_ = env.step(kick)
    assert b"In what direction? " in bytes(observation["message"])
    env.step(env.actions.index(nethack.MiscAction.MORE))
    env.nethack.step(nethack.M("q"))
    _, reward, terminated, truncated, info = env.step(env.actions.index(ord("y")))
    assert terminated and not truncated and reward == 0.0
    assert info["end_status"] == env.StepStatus.DEATH
    assert env.nethack.how_done() == nethack.QUIT and info["end"]
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    env.reset()
    env.step(0)


def test_long_episodes_are_cut_off_and_not_ended():
    env = nethack_lab.NetHackScore(max_episode_steps=5)
    env.reset(seed=1)
    wait = env.actions.index(nethack.MiscDirection.WAIT)
    for _ in range(4):
        assert env.step(wait)[2:4] == (False, False)
    *_, terminated, truncated, info = env.step(wait)
    assert truncated and not terminated and info["end_status"] == env.StepStatus.ABORTED


def test_the_challenge_is_cut_off_without_progress():
    env = nethack_lab.NetHackChallenge(no_progress_timeout=20)
    env.reset(seed=1)
    look = env.actions.index(nethack.Command.ESC)
    env.step(look)
    ends = [env.step(look)[3] for _ in range(20)]
    assert ends == [False] * 18 + [True] + ends[19:] or ends == [False] * 19 + [True]


def test_penalties():
    for mode, expected in (
        ("constant", [-0.5, -0.5, -0.5]),
        ("exp", [-1.0, -2.0, -4.0]),
        ("square", [-0.5, -2.0, -4.5]),
        ("linear", [-0.5, -1.0, -1.5]),
        ("always", [-0.5, -0.5, -0.5]),
    ):
        env = nethack_lab.NetHackScore(penalty_mode=mode, penalty_step=-0.5)
        env.reset(seed=1)
        more = env.actions.index(nethack.MiscAction.MORE)
        assert [env.step(more)[1] for _ in range(3)] == expected, mode
    with pytest.raises(ValueError, match="penalty_mode"):
        nethack_lab.NetHackScore(penalty_mode="none")


def test_debug_mode_goes_where_it_is_told():
    actions = (*nethack.USEFUL_ACTIONS, *nethack.TextCharacters, *nethack.WizardCommand)
    env = nethack_lab.NetHackEnv(wizard=True, actions=actions, allow_all_yn_questions=True, allow_all_modes=True)
    assert "playmode:debug" in env.nethack.options
    env.reset(seed=1)
    env.step(actions.index(nethack.WizardCommand.WIZLEVELPORT))
    for key in b"10\r":
        observation, *_ = env.step(actions.index(key))
    assert observation["blstats"][nethack.NLE_BL_DEPTH] == 10


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"observation_keys": ("screen_descriptions",)}, "look command"),
        ({"observation_keys": ("glyph",)}, "no observation key"),
        ({"spawn_monsters": False}, "not imitated"),
        ({"save_ttyrec_every": 1}, "movie"),
        ({"options": ["time", "nosuchoption"]}, "nosuchoption"),
        ({"options": ["time,color"]}, "comma"),
        ({"clock": -1}, "clock"),
        ({"character": "val-orc-law-fem", "options": ["windowtype:curses"]}, "windowtype"),
    ],
)
def test_what_can_not_be_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        nethack_lab.NetHackScore(**wrong).reset(seed=1)


def test_steps_before_reset_and_actions_out_of_range_are_refused(env):
    with pytest.raises(RuntimeError, match="step called without reset"):
        nethack_lab.NetHackScore().step(0)
    for action in (-1, len(env.actions)):
        with pytest.raises(IndexError):
            env.step(action)
    with pytest.raises(ValueError, match="wizkit"):
        env.reset(options={"wizkit_items": ["apple"]})
    with pytest.raises(ValueError, match="sead"):
        env.reset(options={"sead": 1})


def test_each_episode_counts_from_its_beginning():
    env = nethack_lab.NetHackScore(penalty_mode="linear", penalty_step=-0.5)
    more = env.actions.index(nethack.MiscAction.MORE)
    for _ in range(2):
        env.reset(seed=7)
        assert [env.step(more)[1] for _ in range(3)] == [-0.5, -1.0, -1.5]


def test_a_closed_environment_says_so(env):
    env.close()
    env.close()
    for act in (lambda: env.step(0), env.reset, env.fork, env.save, env.movie):
        with pytest.raises(RuntimeError, match="closed"):
            act()


def test_observations_are_the_players_own(env):
    first, *_ = env.step(1)
    kept = copy.deepcopy(first)
    walk(env, 50)
    assert equal(first, kept)
    for array in first.values():
        array[...] = 0
    env.step(2)


def test_without_copies_an_observation_holds_one_step_longer():
    fresh, shared = nethack_lab.NetHackScore(), nethack_lab.NetHackScore(copy=False)
    fresh.reset(seed=9), shared.reset(seed=9)
    last = last_kept = None
    for number in range(200):
        one, two = fresh.step(number % 16), shared.step(number % 16)
        assert equal(one[0], two[0]) and one[1:] == two[1:]
        if last is not None:
            assert equal(last, last_kept)
        last, last_kept = two[0], copy.deepcopy(two[0])


def test_tasks_of_ones_own():
    class Deep(nethack_lab.NetHackScore):
        """Worth the depth, done at turn 20."""

        progress_fields = (*nethack_lab.NetHackScore.progress_fields, "count")

        def _begin_progress(self):
            super()._begin_progress()
            self.count = 0

        def _is_episode_end(self, observation):
            self.count += 1
            turn = observation[self._blstats_index][nethack.NLE_BL_TIME]
            return self.StepStatus.DEATH if turn >= 20 else self.StepStatus.RUNNING

        def _reward_fn(self, last_observation, action, observation, end_status):
            return observation[self._blstats_index][nethack.NLE_BL_DEPTH]

    env = Deep()
    env.reset(seed=1)
    search = env.actions.index(nethack.Command.SEARCH)
    for _ in range(5):
        assert env.step(search)[1] == 1.0
    state = env.save()
    while not (step := env.step(search))[2]:
        pass
    assert step[0]["blstats"][nethack.NLE_BL_TIME] == 20 and env.count > 5
    env.load(state)
    assert env.count == 5
