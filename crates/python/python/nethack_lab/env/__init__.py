"""Environments with the names of `nle.env`."""

from nethack_lab.env import base, tasks
from nethack_lab.env.base import DUNGEON_SHAPE, NLE, NetHackEnv

__all__ = ["DUNGEON_SHAPE", "NLE", "NetHackEnv", "base", "tasks"]
