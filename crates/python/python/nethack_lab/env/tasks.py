"""NLE's tasks: what an episode is for, and what it is worth."""

import enum
import numbers

import numpy as np

from nethack_lab import nle as nethack
from nethack_lab.env import base
from nethack_lab.nle.constants import (
    GLYPH_CMAP_OFF,
    NLE_BL_DLEVEL,
    NLE_BL_DNUM,
    NLE_BL_GOLD,
    NLE_BL_TIME,
)

TASK_ACTIONS = (
    nethack.MiscAction.MORE,
    *nethack.CompassDirection,
    *nethack.CompassDirectionLonger,
    *nethack.MiscDirection,
    nethack.Command.KICK,
    nethack.Command.EAT,
    nethack.Command.SEARCH,
)
# Places in `internal`.
_ON_STAIRS_DOWN, _NUTRITION = 4, 7


class NetHackScore(base.NetHackEnv):
    """How much the score grows, less a penalty for steps in which the game's time stands still.

    `penalty_mode` says how the penalty grows with the steps in a row without a turn: `constant`, `exp`, `square`,
    `linear`, or `always` the same; `penalty_step` is its factor, and `penalty_time` is added for each turn.
    """

    progress_fields = (*base.NetHackEnv.progress_fields, "_frozen_steps")

    def __init__(self, *args, penalty_mode="constant", penalty_step=-0.01, penalty_time=-0.0, **kwargs):
        if penalty_mode not in ("constant", "exp", "square", "linear", "always"):
            raise ValueError(f"penalty_mode {penalty_mode!r} is none of constant, exp, square, linear, always")
        for what, value in (("penalty_step", penalty_step), ("penalty_time", penalty_time)):
            if not isinstance(value, numbers.Real):
                raise TypeError(f"{what} {value!r} is no number")
        self.penalty_mode = penalty_mode
        self.penalty_step = penalty_step
        self.penalty_time = penalty_time
        self._frozen_steps = 0
        super().__init__(*args, actions=kwargs.pop("actions", TASK_ACTIONS), **kwargs)

    def _begin_progress(self):
        super()._begin_progress()
        self._frozen_steps = 0

    def _get_time_penalty(self, last_observation, observation):
        place = self._blstats_index
        turns = int(observation[place][NLE_BL_TIME]) - int(last_observation[place][NLE_BL_TIME])
        self._frozen_steps = frozen = 0 if turns else self._frozen_steps + 1
        mode = self.penalty_mode
        if mode == "constant":
            factor = 1 if frozen else 0
        elif mode == "exp":
            factor = 2**frozen
        elif mode == "square":
            factor = frozen**2
        else:
            factor = frozen if mode == "linear" else 1
        return factor * self.penalty_step + turns * self.penalty_time

    def _reward_fn(self, last_observation, action, observation, end_status):
        gained = super()._reward_fn(last_observation, action, observation, end_status)
        return gained + self._get_time_penalty(last_observation, observation)


class NetHackStaircase(NetHackScore):
    """1 for standing on stairs down, which ends the episode; the penalty of NetHackScore."""

    class StepStatus(enum.IntEnum):
        """How an episode stands."""

        ABORTED = -1
        RUNNING = 0
        DEATH = 1
        TASK_SUCCESSFUL = 2

    def _is_episode_end(self, observation):
        there = observation[self._internal_index][_ON_STAIRS_DOWN]
        return self.StepStatus.TASK_SUCCESSFUL if there else self.StepStatus.RUNNING

    def _reward_fn(self, last_observation, action, observation, end_status):
        penalty = self._get_time_penalty(last_observation, observation)
        return (1 if end_status == self.StepStatus.TASK_SUCCESSFUL else 0) + penalty

    def _neighbours(self, observation):
        x, y = observation[self._blstats_index][:2]
        return observation[self._glyph_index][y - 1 : y + 2, x - 1 : x + 2]


class NetHackStaircasePet(NetHackStaircase):
    """As NetHackStaircase, but the pet must stand beside."""

    def _is_episode_end(self, observation):
        status = super()._is_episode_end(observation)
        if status and not np.any(nethack.glyph_is_pet(self._neighbours(observation))):
            return self.StepStatus.RUNNING
        return status


class NetHackOracle(NetHackStaircase):
    """1 for standing beside the Oracle."""

    oracle_glyph = nethack.GLYPH_MON_OFF + next(
        number for number in range(nethack.NUMMONS) if nethack.permonst(number).mname == "Oracle"
    )

    def _is_episode_end(self, observation):
        there = np.any(self._neighbours(observation) == self.oracle_glyph)
        return self.StepStatus.TASK_SUCCESSFUL if there else self.StepStatus.RUNNING


class NetHackGold(NetHackScore):
    """How much gold is picked up; walking over it is enough."""

    def __init__(self, *args, options=None, **kwargs):
        if options is None:
            options = [
                "pickup_types:$" if option.startswith("pickup_types") else option for option in nethack.NETHACKOPTIONS
            ]
        super().__init__(*args, options=options, **kwargs)

    def _reward_fn(self, last_observation, action, observation, end_status):
        if not self.nethack.game.in_normal_game:
            return 0.0
        place = self._blstats_index
        gained = observation[place][NLE_BL_GOLD] - last_observation[place][NLE_BL_GOLD]
        return gained + self._get_time_penalty(last_observation, observation)


class NetHackEat(NetHackScore):
    """How much food is eaten."""

    def _reward_fn(self, last_observation, action, observation, end_status):
        if not self.nethack.game.in_normal_game:
            return 0.0
        place = self._internal_index
        eaten = max(0, observation[place][_NUTRITION] - last_observation[place][_NUTRITION])
        return eaten + self._get_time_penalty(last_observation, observation)


class NetHackScout(NetHackScore):
    """How much of the map is seen."""

    progress_fields = (*NetHackScore.progress_fields, "dungeon_explored")

    def _begin_progress(self):
        super()._begin_progress()
        self.dungeon_explored = {}

    def _reward_fn(self, last_observation, action, observation, end_status):
        if not self.nethack.game.in_normal_game:
            return 0.0
        status = observation[self._blstats_index]
        level = (int(status[NLE_BL_DNUM]), int(status[NLE_BL_DLEVEL]))
        explored = int(np.count_nonzero(observation[self._glyph_index] != GLYPH_CMAP_OFF))
        gained = explored - self.dungeon_explored.get(level, 0)
        self.dungeon_explored[level] = explored
        return gained + self._get_time_penalty(last_observation, observation)


class NetHackChallenge(NetHackScore):
    """The NetHack Challenge: any hero, the whole keyboard, nothing is answered by itself.

    An episode is cut off when the game's time stands still for `no_progress_timeout` steps.
    """

    progress_fields = (*NetHackScore.progress_fields, "_turns", "_no_progress_count")

    def __init__(
        self,
        *args,
        character="@",
        allow_all_yn_questions=True,
        allow_all_modes=True,
        penalty_mode="constant",
        penalty_step=-0.0,
        penalty_time=-0.0,
        max_episode_steps=1e6,
        observation_keys=(
            "glyphs", "chars", "colors", "specials", "blstats", "message", "inv_glyphs", "inv_strs", "inv_letters",
            "inv_oclasses", "tty_chars", "tty_colors", "tty_cursor", "misc",
        ),
        no_progress_timeout=10_000,
        **kwargs,
    ):  # fmt: skip
        kwargs["wizard"] = False
        self.no_progress_timeout = no_progress_timeout
        super().__init__(
            *args,
            actions=nethack.ACTIONS,
            character=character,
            allow_all_yn_questions=allow_all_yn_questions,
            allow_all_modes=allow_all_modes,
            penalty_mode=penalty_mode,
            penalty_step=penalty_step,
            penalty_time=penalty_time,
            max_episode_steps=max_episode_steps,
            observation_keys=observation_keys,
            **kwargs,
        )

    def _begin_progress(self):
        super()._begin_progress()
        self._turns, self._no_progress_count = None, 0

    def _check_abort(self, observation):
        turns = observation[self._blstats_index][NLE_BL_TIME]
        if turns == self._turns:
            self._no_progress_count += 1
        else:
            self._turns, self._no_progress_count = turns, 0
        return self._steps >= self._max_episode_steps or self._no_progress_count >= self.no_progress_timeout
