from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from nethack_lab import _native
from nethack_lab.nle.constants import game_end_types

DUNGEON_SHAPE: tuple[int, int]
TILE_SHAPE: tuple[int, int, int]
TILE_RENDER_SHAPE: tuple[int, int, int]
BLSTATS_SHAPE: tuple[int]
MESSAGE_SHAPE: tuple[int]
PROGRAM_STATE_SHAPE: tuple[int]
INTERNAL_SHAPE: tuple[int]
MISC_SHAPE: tuple[int]
INV_SIZE: tuple[int]
INV_STRS_SHAPE: tuple[int, int]
TERMINAL_SHAPE: tuple[int, int]
TTYREC_VERSION: int
KEYS: tuple[str, ...]
OBSERVATION_DESC: dict[str, dict[str, Any]]
NETHACKOPTIONS: tuple[str, ...]

Arrays = tuple[NDArray[Any], ...]
Seeds = tuple[int, int, bool, int | None]

def tty_render(
    chars: NDArray[Any], colors: NDArray[Any], cursor: Sequence[int] | NDArray[Any] | None = None
) -> str: ...
def options_text(options: Iterable[str] | None, playername: str, wizard: bool = False) -> list[str]: ...

class Nethack:
    game: _native.Game
    options: list[str]
    def __init__(
        self,
        observation_keys: Sequence[str] = ...,
        playername: str = ...,
        ttyrec: None = None,
        options: Iterable[str] | None = None,
        copy: bool = False,
        wizard: bool = False,
        hackdir: None = None,
        spawn_monsters: bool = True,
        scoreprefix: str = "",
        fix_moon_phase: bool = False,
        clock: int = ...,
    ) -> None: ...
    def power_on(self, seeds: Seeds, known: bool = False) -> None: ...
    def reset(self, new_ttyrec: None = None, options: dict[str, Any] | None = None) -> Arrays: ...
    def step(self, action: int) -> tuple[Arrays, bool]: ...
    def set_initial_seeds(self, core: int, disp: int, reseed: bool = False, lgen: int | None = None) -> None: ...
    def get_current_seeds(self) -> Seeds | None: ...
    def set_current_seeds(
        self, core: int | None = None, disp: int | None = None, reseed: bool = False, lgen: int | None = None
    ) -> Seeds | None: ...
    def in_normal_game(self) -> bool: ...
    def how_done(self) -> game_end_types: ...
    def fork(self) -> Nethack: ...
    def load(self, native: _native.State) -> None: ...
    def still_open(self) -> None: ...
    def movie(self) -> bytes: ...
    def close(self) -> None: ...
