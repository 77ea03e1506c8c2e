"""NetHack 3.6.7 as a deterministic, forkable machine, with Gymnasium's API and NLE's observations.

>>> import gymnasium, nethack_lab
>>> env = gymnasium.make("NetHackLab-Score-v0")
>>> observation, info = env.reset(seed=42)
>>> fork = env.unwrapped.fork()

`docs/python.md` in the repository tells the rest.
"""

import os as _os

from nethack_lab import _native
from nethack_lab._native import ENGINE_ID, ROM_ID, EngineError, ForeignRomError, StateError, release
from nethack_lab._states import State
from nethack_lab._verify import Verdict, verify
from nethack_lab.env.base import NetHackEnv
from nethack_lab.env.tasks import (
    NetHackChallenge,
    NetHackEat,
    NetHackGold,
    NetHackOracle,
    NetHackScore,
    NetHackScout,
    NetHackStaircase,
    NetHackStaircasePet,
)
from nethack_lab._register import register as _register
from nethack_lab.vector import NetHackVectorEnv

__all__ = [
    "ENGINE_ID",
    "EngineError",
    "ForeignRomError",
    "NetHackChallenge",
    "NetHackEat",
    "NetHackEnv",
    "NetHackGold",
    "NetHackOracle",
    "NetHackScore",
    "NetHackScout",
    "NetHackStaircase",
    "NetHackStaircasePet",
    "NetHackVectorEnv",
    "ROM_ID",
    "State",
    "StateError",
    "Verdict",
    "release",
    "verify",
]

_register()
# A forked child has no watchdog, which counts its parent's time; the machine that it opens anew brings one.
_os.register_at_fork(after_in_child=_native.release)
