import enum
from typing import Any

from nethack_lab.env.base import NetHackEnv

TASK_ACTIONS: tuple[enum.IntEnum, ...]

class NetHackScore(NetHackEnv):
    penalty_mode: str
    penalty_step: float
    penalty_time: float
    def __init__(
        self,
        *args: Any,
        penalty_mode: str = "constant",
        penalty_step: float = -0.01,
        penalty_time: float = -0.0,
        **kwargs: Any,
    ) -> None: ...

class NetHackStaircase(NetHackScore): ...
class NetHackStaircasePet(NetHackStaircase): ...

class NetHackOracle(NetHackStaircase):
    oracle_glyph: int

class NetHackGold(NetHackScore): ...
class NetHackEat(NetHackScore): ...

class NetHackScout(NetHackScore):
    dungeon_explored: dict[tuple[int, int], int]

class NetHackChallenge(NetHackScore):
    no_progress_timeout: int
