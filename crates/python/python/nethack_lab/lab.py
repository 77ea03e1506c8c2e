"""A lab: worker processes that try many lines from saved games, told as arrays.

States of a lab are handles to differences in shared memory, so that a million of them fit; a `nethack_lab.State`
travels.
"""

import dataclasses
import os
from typing import Any

import numpy as np

from nethack_lab import _checks, _native, _program, _seeds
from nethack_lab._states import State
from nethack_lab.nle.nethack import options_text

LabState = _native.LabState


@dataclasses.dataclass(frozen=True)
class Lines:
    """What came of lines, in their order: an array with a row for each."""

    keys_used: Any
    """How many keys were pressed."""
    turns: Any
    """The turns that passed."""
    turn: Any
    """The turn counter at the end."""
    ended: Any
    """Whether the game ended."""
    stop: list
    """Why each ended where it did: `done`, `ended`, `lost`, …"""
    end: list
    """How each game ended, in its own words, or None."""
    play: list
    """The play digest at each end: equal ones go on alike."""
    inputs: list
    """The keys that were pressed, as bytes."""
    states: list
    """The state that each leads to, where `keep` asked for it."""
    chars: Any
    """The terminal: n × 24 × 80 characters."""
    colors: Any
    """Its colours."""
    glyphs: Any
    """The map: n × 21 × 79 glyphs."""
    hp: Any
    hp_max: Any
    depth: Any
    gold: Any
    score: Any
    experience_level: Any
    experience: Any
    armor_class: Any
    """The status lines' numbers; -1 where they are not shown."""
    no_room: Any
    """Whether a state was to be kept and memory was full."""

    def __len__(self):
        return len(self.stop)


# More than any host has cores for.
WORKERS_MAX = 1_024


class _Closed:
    """Stands where workers were."""

    def __getattr__(self, name):
        raise RuntimeError("the lab is closed: make another")


def _is_lab_state(state):
    if isinstance(state, State):
        raise TypeError("the state is one that travels: lab.state_of(state) makes it one of this lab")
    if not isinstance(state, LabState):
        raise TypeError(f"a state must be one of this lab, as begin() gives it, not {type(state).__name__}")


def _listed(values, what):
    """What can be gone through as a list."""
    try:
        if isinstance(values, (str, bytes, bytearray)):
            raise TypeError
        return list(values)
    except TypeError:
        raise TypeError(f"{what}, not {type(values).__name__}") from None


def _keys(line):
    """The keys of a line as bytes; text stands for its characters."""
    if isinstance(line, str):
        try:
            return line.encode("ascii")
        except UnicodeEncodeError as error:
            wrong = line[error.start]
            raise ValueError(f"the keys {line!r} hold {wrong!r}, which is no key: give ASCII or bytes") from None
    if not isinstance(line, (bytes, bytearray, memoryview)):
        raise TypeError(f"the keys of a line must be bytes or text, not {type(line).__name__}")
    return bytes(line)


class Lab:
    """Worker processes, as many as processor cores unless `workers` says otherwise.

    Other keywords are those of `NetHackEnv` that fix a game: `character`, `options`, `wizard`, `fix_moon_phase`,
    `clock`.
    """

    def __init__(
        self,
        workers=None,
        *,
        character="mon-hum-neu-mal",
        options=None,
        wizard=False,
        fix_moon_phase=False,
        clock=_native.DEFAULT_CLOCK,
    ):
        options = options_text(options, _checks.playername(character), wizard)
        self._fixed = _checks.fixed(options, wizard, fix_moon_phase, clock)
        if workers is not None:
            workers = _checks.count(workers, "workers", 1, WORKERS_MAX)
        self._pid = os.getpid()
        self._own = _native.Lab(str(_program.path()), workers)

    @property
    def _native(self):
        # A forked process has none of the threads that talk with the workers: it would wait for ever.
        if os.getpid() != self._pid:
            raise RuntimeError("the lab belongs to the process that made it: make one in this process")
        return self._own

    def close(self):
        """Lets the workers go; harmless when repeated. States of the lab are of no use then."""
        self._own = _Closed()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError(
            "a lab can't be copied or pickled: make one in each process; travelling(state) makes states that can"
        )

    def begin(self, seed=None, *, seeds=None):
        """The state at the beginning of a game, of a seed or of NLE's four seeds."""
        if (seed is None) == (seeds is None):
            raise ValueError("give a seed or seeds")
        if seeds is None:
            seed = _seeds.whole(seed)
            seeds = (seed, _seeds.display_seed(seed))
        core, disp, reseed, lgen = _seeds.several(seeds)
        return self._native.begin(dict(self._fixed, core=core, disp=disp, reseed=reseed, lgen=lgen))

    def state_of(self, state):
        """A travelling state, or the end of a movie (bytes), as a state of this lab; its movie is replayed."""
        if isinstance(state, State):
            movie = state.movie()
        else:
            movie = _checks.content(state, "what becomes a state of a lab is a nethack_lab.State or a movie; a movie")
        return self._native.open_movie(movie)

    def movie(self, state):
        """The movie that leads to a state."""
        _is_lab_state(state)
        return self._native.movie(state)

    def travelling(self, state):
        """A state of this lab as one that can be pickled, and loaded by environments; its movie is replayed."""
        return State.from_movie(self.movie(state))

    def digest(self, state):
        """What a state is: equal digests are equal games to the last byte."""
        _is_lab_state(state)
        return self._native.digest(state)

    def try_lines(self, states, keys, *, seeds=None, keep=False, frames=True):
        """Tries lines, each from its own state, on all workers.

        `states` is one state for all lines or one for each; `keys` an array of bytes with a row for each line, or a
        list of bytes (or text) for each line. `seeds` (pairs of core and display seeds) gives lines luck of their own:
        without them a line shows what will happen, with them what may. `keep` keeps the states that they lead to.
        """
        if isinstance(keys, np.ndarray):
            if keys.ndim != 2 or keys.dtype != np.uint8:
                raise ValueError(f"keys must be bytes, a row for each line, not {keys.dtype} of shape {keys.shape}")
            keys = [row.tobytes() for row in keys]
        elif isinstance(keys, (str, bytes, bytearray)):
            raise TypeError(f"keys must be a list with the keys of each line, such as [{keys!r}]")
        keys = [_keys(line) for line in _listed(keys, "keys must be a list with the keys of each line")]
        if isinstance(states, (LabState, State)):
            states = [states] * len(keys)
        states = _listed(states, "states must be one of this lab or a list with one for each line")
        for state in states:
            _is_lab_state(state)
        if seeds is None:
            seeds = [None] * len(keys)
        else:
            seeds = [_seeds.pair(one) for one in _listed(seeds, "seeds must be a list with a pair for each line")]
        if not len(states) == len(keys) == len(seeds):
            raise ValueError(
                f"{len(keys)} lines, {len(states)} states, {len(seeds)} pairs of seeds: give as many of each"
            )
        lines = [(state, line, luck) for state, line, luck in zip(states, keys, seeds)]
        return Lines(**self._native.try_lines(lines, keep, frames))
