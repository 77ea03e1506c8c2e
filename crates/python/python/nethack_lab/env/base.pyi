import enum
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from typing_extensions import Self

import gymnasium
from numpy.typing import NDArray

from nethack_lab._states import State
from nethack_lab.nle.nethack import Nethack

DUNGEON_SHAPE: tuple[int, int]
FULL_ACTIONS: tuple[enum.IntEnum, ...]

Seeds = tuple[int, int, bool, int | None]
Observation = dict[str, NDArray[Any]]

class NetHackEnv(gymnasium.Env[Observation, int]):
    class StepStatus(enum.IntEnum):
        ABORTED = -1
        RUNNING = 0
        DEATH = 1

    metadata: dict[str, Any]
    DEFAULT_KEYS: ClassVar[tuple[str, ...]]
    progress_fields: ClassVar[tuple[str, ...]]
    character: str
    actions: tuple[int, ...]
    nethack: Nethack
    last_observation: tuple[NDArray[Any], ...]

    def __init__(
        self,
        save_ttyrec_every: int = 0,
        savedir: str | None = None,
        character: str = "mon-hum-neu-mal",
        max_episode_steps: float = 5000,
        observation_keys: Sequence[str] = ...,
        actions: Iterable[int] | None = None,
        options: Iterable[str] | None = None,
        wizard: bool = False,
        allow_all_yn_questions: bool = False,
        allow_all_modes: bool = False,
        spawn_monsters: bool = True,
        render_mode: str | None = None,
        fix_moon_phase: bool = False,
        clock: int = ...,
        copy: bool = True,
    ) -> None: ...
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]: ...
    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]: ...
    def seed(
        self, core: int | None = None, disp: int | None = None, reseed: bool = False, lgen: int | None = None
    ) -> Seeds: ...
    def get_seeds(self) -> Seeds | None: ...
    def fork(self) -> Self: ...
    def save(self) -> State: ...
    def load(self, state: State) -> tuple[Observation, dict[str, Any]]: ...
    def movie(self) -> bytes: ...
    def render(self) -> Any: ...
    def print_action_meanings(self) -> None: ...
    def close(self) -> None: ...

NLE = NetHackEnv
