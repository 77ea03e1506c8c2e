"""The memory that a vector environment shares with its workers: observations, actions and what came of them."""

import mmap

import numpy as np

from nethack_lab.nle.nethack import OBSERVATION_DESC

_ALIGNMENT = 64


class Batch:
    """Arrays with a row for each environment, over memory that has no name and goes with its last user."""

    def __init__(self, fd, num_envs, keys):
        self._layout, self._bytes = [], 0
        for key in keys:
            self._place(key, num_envs, **OBSERVATION_DESC[key])
        self._place("action", num_envs, (), np.int64)
        self._place("reward", num_envs, (), np.float64)
        for name in ("terminated", "truncated", "is_ascended"):
            self._place(name, num_envs, (), np.bool_)
        self._place("end_status", num_envs, (), np.int64)
        if fd is not None:
            self._map(fd)

    def _place(self, name, num_envs, shape, dtype):
        whole = (num_envs, *shape)
        self._layout.append((name, whole, np.dtype(dtype), self._bytes))
        self._bytes += -(-int(np.prod(whole)) * np.dtype(dtype).itemsize // _ALIGNMENT) * _ALIGNMENT

    @property
    def bytes(self):
        """How much memory it takes."""
        return self._bytes

    def _map(self, fd):
        memory = mmap.mmap(fd, self._bytes)
        self.arrays = {
            name: np.frombuffer(memory, dtype, int(np.prod(shape)), start).reshape(shape)
            for name, shape, dtype, start in self._layout
        }
