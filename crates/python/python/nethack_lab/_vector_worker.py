"""The process behind some of a vector environment's environments.

It has one socket to its parent and ends when that closes, or when its parent is another one.
"""

import importlib
import os
import pickle
import signal
import socket
import struct
import sys
import traceback

import numpy as np
from gymnasium.vector import AutoresetMode

from nethack_lab import _channel
from nethack_lab._batch import Batch
from nethack_lab.nle.nethack import OBSERVATION_DESC

# How long an idle worker waits before it looks whether its parent still lives.
_LOOK_EVERY = struct.pack("ll", 1, 0)


class Group:
    """Environments of a batch, from one number on."""

    def __init__(self, setup, batch):
        module, name = setup["task"].split(":")
        kind = getattr(importlib.import_module(module), name)
        self.mode = AutoresetMode(setup["autoreset_mode"])
        self.first = setup["first"]
        self.batch = batch.arrays
        self.envs = [kind(**dict(setup["kwargs"], copy=False)) for _ in range(setup["count"])]
        self._ended = [False] * len(self.envs)
        for place, env in enumerate(self.envs, self.first):
            row = [
                self.batch[key][place] if key in self.batch else np.zeros(**OBSERVATION_DESC[key]) for key in env._made
            ]
            env.bind_also(row)

    def _tell(self, env, place, info):
        """Writes what the batch holds of an environment, and gives what it does not hold."""
        env.fill_also()
        self.batch["end_status"][place] = info.pop("end_status")
        self.batch["is_ascended"][place] = info.pop("is_ascended")
        return info

    def reset(self, orders):
        """Resets environments, each an (index, seed, options); gives what there is to tell of each."""
        told = []
        for index, seed, options in orders:
            env, place = self.envs[index], self.first + index
            _, info = env.reset(seed=seed, options=options)
            self._ended[index] = False
            self.batch["terminated"][place] = self.batch["truncated"][place] = False
            told.append((place, self._tell(env, place, info), None))
        return told

    def _reset_again(self, index):
        return self.envs[index].reset()[1]

    def step(self):
        """Steps all environments; gives what there is to tell that the batch does not hold."""
        told = []
        batch = self.batch
        actions = batch["action"].tolist()
        for index, env in enumerate(self.envs):
            place = self.first + index
            if self._ended[index] and self.mode == AutoresetMode.NEXT_STEP:
                reward, terminated, truncated, info = 0.0, False, False, self._reset_again(index)
            else:
                given, reward, terminated, truncated, info = env.step(actions[place])
            self._ended[index] = ended = terminated or truncated
            final = None
            if ended and self.mode == AutoresetMode.SAME_STEP:
                final = {"final_obs": {key: array.copy() for key, array in given.items()}, "final_info": info}
                info = self._reset_again(index)
                self._ended[index] = False
            batch["reward"][place] = reward
            batch["terminated"][place] = terminated
            batch["truncated"][place] = truncated
            more = self._tell(env, place, info)
            if more or final:
                told.append((place, more, final))
        return told

    def call(self, index, name, arguments, keywords):
        """An attribute of an environment, or what its method gives."""
        value = getattr(self.envs[index], name)
        return value(*arguments, **keywords) if callable(value) else value

    def set(self, index, name, value):
        """Sets an attribute."""
        setattr(self.envs[index], name, value)


def _answer(group, sock, tag):
    if tag == b"s":
        told = group.step()
        if told:
            _channel.send(sock, b"T", told)
        else:
            _channel.send(sock, b"t")
        return
    order = _channel.content(sock)
    if tag == b"R":
        _channel.send(sock, b"T", group.reset(order))
    elif tag == b"A":
        _channel.send(sock, b"T", [group.call(*one) for one in order])
    else:
        for one in order:
            group.set(*one)
        _channel.send(sock, b"t")


def _next_tag(sock, parent):
    while True:
        try:
            tag = sock.recv(1)
        except BlockingIOError:
            if os.getppid() != parent:
                return b""
            continue
        except ConnectionResetError:
            return b""
        return tag


def _failed(sock, error):
    text = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(repr(error))
    _channel.send(sock, b"E", (error, text))


def main():
    """Serves until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = int(sys.argv[3])
    sock = socket.socket(fileno=int(sys.argv[1]))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _LOOK_EVERY)
    group = None
    try:
        while tag := _next_tag(sock, parent):
            try:
                if group is None:
                    setup = _channel.content(sock)
                    batch = Batch(int(sys.argv[2]), setup["num_envs"], setup["keys"])
                    os.close(int(sys.argv[2]))
                    group = Group(setup, batch)
                    _channel.send(sock, b"t")
                else:
                    _answer(group, sock, tag)
            except _channel.Closed:
                raise
            except Exception as error:
                _failed(sock, error)
    except _channel.Closed:
        pass
    # Nothing here needs an orderly end, and a parent may be waiting.
    os._exit(0)


if __name__ == "__main__":
    main()
