"""Saved games of an environment."""

import copy

from nethack_lab import _checks, _native


def trusted_native_state(data):
    """For pickle, which runs what it reads anyhow: takes the image as it is."""
    return _native.State.from_bytes(data, trust=True)


def native_game(made, given, state):
    """For pickle: a game that stands where the pickled one did."""
    game = _native.Game(list(made), list(given))
    if state is not None:
        game.load(state)
    return game


class State:
    """A saved game that can't change: image, the movie that leads to it, and how far the task was.

    It can be pickled, and loaded by any environment of the same ROM as often as wanted. `to_bytes` and `from_bytes` do
    the same without pickle's dangers.
    """

    __slots__ = ("native", "progress")

    def __init__(self, native, progress):
        self.native = native
        self.progress = progress

    @property
    def boundary(self):
        """How many keys lead to it from power-on."""
        return self.native.boundary

    @property
    def turn(self):
        """NetHack's own count of turns."""
        return self.native.turn

    @property
    def done(self):
        """Whether the game has ended there."""
        return self.native.done

    @property
    def image_bytes(self):
        """Bytes of memory that its image takes."""
        return self.native.image_bytes

    def digest(self):
        """What it is: under one ROM, equal digests are equal games to the last byte."""
        return self.native.digest()

    def movie(self):
        """The movie, as bytes, that leads from power-on to it."""
        return self.native.movie()

    def to_bytes(self):
        """The game as bytes; how far the task was stays behind."""
        return self.native.to_bytes()

    @classmethod
    def from_bytes(cls, data, *, trust=False, rebuild=False):
        """Reads what `to_bytes` gave.

        An image holds code pointers, so by default it is made anew: the movie inside is replayed and every check of it
        compared. `trust=True` takes the image as it is; do so with bytes of your own only. A state of another ROM is
        refused with `ForeignRomError`; `rebuild=True` replays its movie on this one.
        """
        data = _checks.content(data, "a state")
        return cls(_native.State.from_bytes(data, trust=bool(trust), rebuild=bool(rebuild)), {})

    @classmethod
    def from_movie(cls, movie):
        """The state at the end of a movie (bytes), which is replayed, every check compared."""
        return cls(_native.State.from_movie(_checks.content(movie, "a movie")), {})

    def __getstate__(self):
        return self.native, self.progress

    def __setstate__(self, parts):
        self.native, self.progress = parts

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return State(self.native, copy.deepcopy(self.progress, memo))

    def __repr__(self):
        return f"<State at boundary {self.boundary}, turn {self.turn}>"
