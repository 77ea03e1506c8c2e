"""Movies judged from power-on, in a process that has nothing to do with this one."""

import dataclasses
import os

from nethack_lab import _native, _program


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a replay says of a movie."""

    verdict: str
    """`exact`, `same-play`, `altered`, `desync` or `cannot-judge`."""
    text: str
    """The verdict in words; it names the first input after which play differs."""
    inputs: int
    """How many inputs were replayed."""
    inputs_recorded: int
    """How many the movie has."""
    engine_id: str
    """The engine that the movie names."""
    rom_id: str
    """The ROM that the movie names."""
    ended: str | None
    """How the game ended in the replay."""

    def __bool__(self):
        """True where the play is what the movie says."""
        return self.verdict in ("exact", "same-play")


def verify(movie):
    """Replays a movie (a path, or its bytes) in a sandboxed worker process and judges it."""
    if not isinstance(movie, (bytes, bytearray, memoryview)):
        with open(os.fspath(movie), "rb") as file:
            movie = file.read()
    return Verdict(**_native.verify(bytes(movie), str(_program.path())))
