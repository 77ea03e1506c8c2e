import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nethack_lab import _native
from nethack_lab._states import State

LabState = _native.LabState
Numbers = NDArray[np.int64]

@dataclasses.dataclass(frozen=True)
class Lines:
    keys_used: Numbers
    turns: Numbers
    turn: Numbers
    ended: NDArray[np.bool_]
    stop: list[str]
    end: list[str | None]
    play: list[str]
    inputs: list[bytes]
    states: list[LabState | None]
    chars: NDArray[np.uint8]
    colors: NDArray[np.uint8]
    glyphs: NDArray[np.int16]
    hp: Numbers
    hp_max: Numbers
    depth: Numbers
    gold: Numbers
    score: Numbers
    experience_level: Numbers
    experience: Numbers
    armor_class: Numbers
    no_room: NDArray[np.bool_]
    def __len__(self) -> int: ...

class Lab:
    def __init__(
        self,
        workers: int | None = None,
        *,
        character: str = "mon-hum-neu-mal",
        options: Iterable[str] | None = None,
        wizard: bool = False,
        fix_moon_phase: bool = False,
        clock: int = ...,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Lab: ...
    def __exit__(self, *_: object) -> None: ...
    def begin(
        self, seed: int | None = None, *, seeds: tuple[int, int] | tuple[int, int, bool, int | None] | None = None
    ) -> LabState: ...
    def state_of(self, state: State | bytes) -> LabState: ...
    def movie(self, state: LabState) -> bytes: ...
    def travelling(self, state: LabState) -> State: ...
    def digest(self, state: LabState) -> str | None: ...
    def try_lines(
        self,
        states: LabState | Sequence[LabState],
        keys: NDArray[np.uint8] | Sequence[bytes | str],
        *,
        seeds: Sequence[tuple[int, int]] | None = None,
        keep: bool = False,
        frames: bool = True,
    ) -> Lines: ...
