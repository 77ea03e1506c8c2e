"""A lab: worker processes that try many lines from saved games, told as arrays.

States of a lab are handles to differences in shared memory, so that a million of them fit; a `nethack_lab.State`
travels.
"""

import dataclasses
from typing import Any

import numpy as np

from nethack_lab import _native, _program, _seeds
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


def _keys(line):
    """The keys of a line as bytes; text stands for its characters."""
    if isinstance(line, str):
        return line.encode("ascii")
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
        self._native = _native.Lab(str(_program.path()), workers)
        self._fixed = {
            "options": ",".join(options_text(options, f"Agent-{character}", wizard)),
            "wizard": wizard,
            "fix_moon_phase": fix_moon_phase,
            "clock": clock,
        }

    def begin(self, seed=None, *, seeds=None):
        """The state at the beginning of a game, of a seed or of NLE's four seeds."""
        if (seed is None) == (seeds is None):
            raise ValueError("give a seed or seeds")
        if seeds is None:
            seed = _seeds.whole(seed)
            seeds = (seed, _seeds.display_seed(seed))
        core, disp, reseed, lgen = _seeds.all_seeds(*seeds)
        return self._native.begin(dict(self._fixed, core=core, disp=disp, reseed=reseed, lgen=lgen))

    def state_of(self, state):
        """A travelling state, or the end of a movie (bytes), as a state of this lab; its movie is replayed."""
        return self._native.open_movie(state.movie() if isinstance(state, State) else bytes(state))

    def movie(self, state):
        """The movie that leads to a state."""
        return self._native.movie(state)

    def travelling(self, state):
        """A state of this lab as one that can be pickled, and loaded by environments; its movie is replayed."""
        return State.from_movie(self.movie(state))

    def digest(self, state):
        """What a state is: equal digests are equal games to the last byte."""
        return self._native.digest(state)

    def try_lines(self, states, keys, *, seeds=None, keep=False, frames=True):
        """Tries lines, each from its own state, on all workers.

        `states` is one state for all lines or one for each; `keys` an array of bytes with a row for each line, or a
        list of bytes (or text) for each line. `seeds` (pairs of core and display seeds) gives lines luck of their own: without them a line
        shows what will happen, with them what may. `keep` keeps the states that they lead to.
        """
        if isinstance(keys, np.ndarray):
            if keys.ndim != 2 or keys.dtype != np.uint8:
                raise ValueError(f"keys must be bytes, a row for each line, not {keys.dtype} of shape {keys.shape}")
            keys = [row.tobytes() for row in keys]
        elif isinstance(keys, (str, bytes, bytearray)):
            raise TypeError(f"keys must be a list with the keys of each line, such as [{keys!r}]")
        keys = [_keys(line) for line in keys]
        states = [states] * len(keys) if isinstance(states, LabState) else list(states)
        if seeds is None:
            seeds = [None] * len(keys)
        else:
            seeds = [(_seeds.whole(core, "core"), _seeds.whole(disp, "disp")) for core, disp in seeds]
        if not len(states) == len(keys) == len(seeds):
            raise ValueError(
                f"{len(keys)} lines, {len(states)} states, {len(seeds)} pairs of seeds: give as many of each"
            )
        lines = [(state, line, luck) for state, line, luck in zip(states, keys, seeds)]
        return Lines(**self._native.try_lines(lines, keep, frames))
