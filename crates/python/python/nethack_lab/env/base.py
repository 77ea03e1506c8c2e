"""An environment of Gymnasium over a game that can be forked, saved and proved."""

import copy
import enum
import numbers

import gymnasium
import numpy as np

from nethack_lab import _checks, _native, _seeds, _states
from nethack_lab import nle as nethack
from nethack_lab.nle.nethack import OBSERVATION_DESC, Nethack

DUNGEON_SHAPE = nethack.DUNGEON_SHAPE
FULL_ACTIONS = nethack.USEFUL_ACTIONS

_INT32 = np.iinfo(np.int32)
_RANGES = {
    "glyphs": (0, nethack.MAX_GLYPH),
    "inv_glyphs": (0, nethack.MAX_GLYPH),
    "colors": (0, 15),
    "inv_letters": (0, 127),
    "inv_oclasses": (0, nethack.MAXOCLASSES),
    "tty_colors": (0, 31),
    **dict.fromkeys(("blstats", "program_state", "internal", "misc"), (_INT32.min, _INT32.max)),
}


def _space(key):
    low, high = _RANGES.get(key, (0, 255))
    return gymnasium.spaces.Box(low=low, high=high, **OBSERVATION_DESC[key])


_SPACES = {key: _space(key) for key in OBSERVATION_DESC}
# What tasks look at, whether the player is given it or not.
_NEEDED = ("glyphs", "blstats", "message", "program_state", "internal")


class NetHackEnv(gymnasium.Env):
    """NetHack as NLE's environment: its keys, spaces, actions and rewards, over a game that can be forked.

    `fork()`, `save()`, `load(state)` and `copy.deepcopy` cost tens of microseconds at any depth; `movie()` proves the
    game from power-on. Arrays are fresh at each step. With `copy=False` there are two sets of them that take turns, so
    that an observation holds until the step after the next.
    """

    metadata = {"render_modes": ["human", "ansi", "full", "rgb_array"], "render_fps": 42}

    class StepStatus(enum.IntEnum):
        """How an episode stands; tasks may add to it."""

        ABORTED = -1
        RUNNING = 0
        DEATH = 1

    DEFAULT_KEYS = (
        "glyphs", "chars", "colors", "specials", "blstats", "message", "inv_glyphs", "inv_strs", "inv_letters",
        "inv_oclasses", "tty_chars", "tty_colors", "tty_cursor",
    )  # fmt: skip
    # How far the task is: what a saved game holds beside the game. Tasks add their own.
    progress_fields = ("_steps", "_over", "_seeds")
    # What forks share, since nobody changes it.
    _shared_fields = frozenset(
        (
            "observation_space action_space actions spec render_mode character _keys _made _given _observation_keys "
            "_original_observation_keys"
        ).split()
    )

    def __init__(
        self,
        save_ttyrec_every=0,
        savedir=None,
        character="mon-hum-neu-mal",
        max_episode_steps=5000,
        observation_keys=DEFAULT_KEYS,
        actions=None,
        options=None,
        wizard=False,
        allow_all_yn_questions=False,
        allow_all_modes=False,
        spawn_monsters=True,
        render_mode=None,
        fix_moon_phase=False,
        clock=_native.DEFAULT_CLOCK,
        copy=True,
    ):
        if save_ttyrec_every or savedir:
            raise ValueError("no ttyrecs are written: keep movie() and export it with `nethack-lab movie`")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode {render_mode!r} is none of {self.metadata['render_modes']}")
        self.character = character
        self.render_mode = render_mode
        steps = max_episode_steps
        if isinstance(steps, bool) or not isinstance(steps, numbers.Real) or steps < 1:
            raise ValueError(f"max_episode_steps {max_episode_steps!r} is no number from 1 on")
        self._max_episode_steps = max_episode_steps
        self._allow_all_yn_questions = allow_all_yn_questions
        self._allow_all_modes = allow_all_modes
        self._keys = _checks.keys_of(FULL_ACTIONS if actions is None else actions)
        self.actions = FULL_ACTIONS if actions is None else tuple(actions)

        self._given = _checks.observation_keys(observation_keys)
        self._made = self._given + tuple(key for key in _NEEDED if key not in self._given)
        self._original_observation_keys = self._given
        self._observation_keys = list(self._made)
        for key in _NEEDED:
            setattr(self, f"_{key.removesuffix('s') if key == 'glyphs' else key}_index", self._made.index(key))
        self._copy = copy
        # One object for the game, so that tasks and users find NLE's methods there.
        self.nethack = Nethack(
            observation_keys=self._made,
            playername=_checks.playername(character),
            options=options,
            copy=True,
            wizard=wizard,
            spawn_monsters=spawn_monsters,
            fix_moon_phase=fix_moon_phase,
            clock=clock,
        )
        self.nethack.game = _native.Game(list(self._made), list(self._given))
        self._sets, self._set = (), 0
        if not copy:
            self._make_sets()
        self._episode = -1
        self._next_seeds = self._seeds = None
        self._steps, self._over = 0, False
        self.last_observation = ()
        self.observation_space = gymnasium.spaces.Dict({key: _SPACES[key] for key in self._given})
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))

    def _make_sets(self):
        """Two sets of arrays that take turns."""
        sets = [tuple(np.zeros(**OBSERVATION_DESC[key]) for key in self._made) for _ in range(2)]
        given = [dict(zip(self._given, arrays)) for arrays in sets]
        self._sets = tuple(zip(sets, given))
        self._bind(*sets)

    def _bind(self, *sets):
        self.nethack.game.bind([list(arrays) for arrays in sets])

    def bind_also(self, arrays):
        """For vector environments: arrays that `fill_also` writes, beside the two sets of an environment of its own."""
        self._bind(*(own for own, _ in self._sets), arrays)

    def fill_also(self):
        """Writes what was seen last into the arrays of `bind_also`."""
        self.nethack.game.fill(2)

    def _observe(self):
        """Takes what was seen last for the latest observation, and gives the player's part of it."""
        if self._copy:
            self.last_observation, given = self.nethack.game.observe()
            return given
        self._set ^= 1
        self.nethack.game.fill(self._set)
        self.last_observation, given = self._sets[self._set]
        return given

    # Episodes

    def reset(self, *, seed=None, options=None):
        """Begins an episode: of a seed, of seeds, of a saved game, or of seeds that the environment draws.

        `seed` seeds the environment as Gymnasium has it and is the game's core seed; later resets without one draw on
        from there. `options` may hold `seeds`, NLE's (core, disp, reseed, lgen), or `state`, a saved game. An
        environment that was never seeded draws from the operating system. `info["seeds"]` says what was used.
        """
        if seed is not None:
            seed = _seeds.whole(seed)
        options = _checks.mapping(options, "'seeds' and 'state'")
        state, seeds = options.pop("state", None), options.pop("seeds", None)
        if "wizkit_items" in options:
            raise ValueError("wizkit_items is not imitated: wish for things in debug mode (wizard=True)")
        if options:
            raise ValueError(f"options {list(options)} are not known: there are 'seeds' and 'state'")
        if state is not None:
            if seeds is not None:
                raise ValueError("give a state or seeds, not both: a saved game has its seeds")
            _checks.is_state(state)
            super().reset(seed=seed)
            return self.load(state)
        used = self._seeds_to_use(seed, seeds)
        self.nethack.power_on(used, known=True)
        super().reset(seed=seed)
        self._seeds, self._next_seeds = used, None
        self._episode += 1
        self._begin_progress()
        given = self._observe()
        return given, self._info(self.StepStatus.RUNNING, seeds=self._seeds)

    def _seeds_to_use(self, seed, seeds):
        if seeds is not None:
            return _seeds.several(seeds)
        if seed is not None:
            return seed, _seeds.display_seed(seed), False, None
        if self._next_seeds is not None:
            return self._next_seeds
        core, disp = self.np_random.integers(0, 2**64, size=2, dtype=np.uint64).tolist()
        return core, disp, False, None

    def _begin_progress(self):
        """Puts the task to its beginning."""
        self._steps, self._over = 0, False

    def seed(self, core=None, disp=None, reseed=False, lgen=None):
        """Sets the seeds of the next episode, as in NLE; those left out are drawn. Gives all four."""
        if core is None:
            core = int(self.np_random.integers(0, 2**63, dtype=np.uint64))
        if disp is None:
            disp = int(self.np_random.integers(0, 2**63, dtype=np.uint64))
        self._next_seeds = _seeds.all_seeds(core, disp, reseed, lgen)
        return self._next_seeds

    def get_seeds(self):
        """The seeds of the running episode: core, disp, reseed, lgen."""
        return self._seeds

    # Steps

    def step(self, action):
        """Presses a key of the action set; see Gymnasium for what comes back."""
        if self._over:
            raise RuntimeError("the episode is over: reset() begins another")
        try:
            key = self._keys[action]
            if action < 0:
                raise IndexError
        except (TypeError, IndexError):
            raise _checks.wrong_action(action, len(self._keys)) from None
        last = self.last_observation
        if not last:
            raise RuntimeError("step called without reset(): call reset() first")
        game = self.nethack.game
        known = not self._allow_all_modes
        if self._copy:
            seen, given, done = game.step(key, known, self._allow_all_yn_questions, True)
        else:
            self._set ^= 1
            done = game.step_into(key, known, self._allow_all_yn_questions, True, self._set)
            seen, given = self._sets[self._set]
        self._steps += 1
        self.last_observation = seen
        status = self._get_end_status(seen, done)
        reward = float(self._reward_fn(last, action, seen, status))
        if not status:
            return given, reward, False, False, {"end_status": status, "is_ascended": False}
        # What ended it, so that a saved game tells it too.
        self._over = int(status)
        truncated = status == self.StepStatus.ABORTED
        return given, reward, not truncated, truncated, self._info(status)

    def _info(self, status, **more):
        game = self.nethack.game
        info = {"end_status": status, "is_ascended": game.done and game.how == nethack.ASCENDED, **more}
        if game.done:
            info["end"] = game.end
        return info

    def _get_end_status(self, observation, done):
        if done:
            return self.StepStatus.DEATH
        if self._check_abort(observation):
            return self.StepStatus.ABORTED
        return self._is_episode_end(observation) or self.StepStatus.RUNNING

    def _check_abort(self, observation):
        """Whether the episode is to be cut off here."""
        return self._steps >= self._max_episode_steps

    def _is_episode_end(self, observation):
        """What of StepStatus this observation is; tasks say when they are done."""
        return self.StepStatus.RUNNING

    def _reward_fn(self, last_observation, action, observation, end_status):
        """How much the score grew."""
        if not self.nethack.game.in_normal_game:
            # The status is blank then.
            return 0.0
        place = self._blstats_index
        return observation[place][nethack.NLE_BL_SCORE] - last_observation[place][nethack.NLE_BL_SCORE]

    # Forks and saved games

    def fork(self):
        """Another environment that stands where this one does and goes its own way."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo):
        fork = type(self).__new__(type(self))
        memo[id(self)] = fork
        for name, value in self.__dict__.items():
            if name in self._shared_fields:
                fork.__dict__[name] = value
            elif name == "nethack":
                fork.nethack = value.fork()
            elif name not in ("last_observation", "_sets"):
                fork.__dict__[name] = copy.deepcopy(value, memo)
        fork._sets, fork.last_observation = (), ()
        if not fork._copy:
            fork._make_sets()
        if self.last_observation:
            fork._observe()
        return fork

    def save(self):
        """A copy of the game, and of how far the task is, that can't change."""
        progress = {name: copy.deepcopy(self.__dict__[name]) for name in self.progress_fields if name in self.__dict__}
        return _states.State(self.nethack.game.save(), {"task": self._task(), **progress})

    def load(self, state):
        """Makes this environment what the saved one was; gives the observation and info as `reset` does."""
        _checks.is_state(state)
        self.nethack.load(state.native)
        self._begin_progress()
        if state.progress.get("task") == self._task():
            self.__dict__.update(copy.deepcopy({k: v for k, v in state.progress.items() if k in self.progress_fields}))
        self._seeds = self.nethack.game.seeds
        if self.nethack.game.done:
            self._over = self._over or int(self.StepStatus.DEATH)
        given = self._observe()
        return given, self._info(self._get_resumed_status(), seeds=self._seeds)

    def _get_resumed_status(self):
        return self.StepStatus(self._over)

    def _task(self):
        """Whose counts a saved game holds."""
        return f"{type(self).__module__}.{type(self).__qualname__}"

    def movie(self):
        """The movie, as bytes, from power-on to here; `nethack-lab movie verify` proves it."""
        return self.nethack.game.movie()

    # A copy that shared the game would press its keys.
    __copy__ = fork

    def __getstate__(self):
        self.nethack.still_open()
        fields = dict(self.__dict__)
        fields["last_observation"], fields["_sets"] = bool(self.last_observation), ()
        return fields

    def __setstate__(self, fields):
        self.__dict__.update(fields)
        has_seen, self.last_observation = self.last_observation, ()
        if not self._copy:
            self._make_sets()
        if has_seen:
            self._observe()

    # Looks

    def render(self):
        """Shows the terminal: printed (human), as a picture (rgb_array); the map alone as text (ansi)."""
        mode = self.render_mode
        if mode is None:
            gymnasium.logger.warn("render() without a render_mode: give one to make()")
            return None
        game = self.nethack.game
        if mode == "rgb_array":
            return game.picture()
        chars, colors, cursor = game.terminal()
        if mode == "human":
            print(nethack.tty_render(chars, colors, cursor))
            return None
        if mode == "full":
            print(bytes(self.last_observation[self._message_index]).partition(b"\0")[0].decode("latin-1"))
            print(nethack.tty_render(chars, colors))
            return None
        return "\n".join(bytes(row[: DUNGEON_SHAPE[1]]).decode("latin-1") for row in chars[1 : 1 + DUNGEON_SHAPE[0]])

    def print_action_meanings(self):
        """Prints each action's number and key."""
        for number, action in enumerate(self.actions):
            print(number, action)

    def close(self):
        """Lets the game go."""
        self.nethack.close()
        super().close()

    def __repr__(self):
        return f"<{type(self).__name__}>"


NLE = NetHackEnv
