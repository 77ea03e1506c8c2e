"""Many environments at once, in processes that share their observations' memory."""

import os
import socket
import subprocess
import sys
import weakref

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from nethack_lab import _channel, _checks, _seeds
from nethack_lab._batch import Batch
from nethack_lab._interrupts import PutOff
from nethack_lab._register import TASKS
from nethack_lab.env.base import NetHackEnv

# Each has a machine's memory of its own when it is not the one that plays.
NUM_ENVS_MAX = 65_536
_TOLD = ("end_status", "is_ascended")


def _entry_point(task):
    """Where a task's class is: of a class, an environment's id, or a task's bare name."""
    if isinstance(task, type):
        if not issubclass(task, NetHackEnv):
            raise TypeError(f"task {task.__name__} is no NetHackEnv: derive it from one")
        return f"{task.__module__}:{task.__qualname__}"
    for name in (task, f"NetHackLab-{task}-v0"):
        if name in TASKS:
            return TASKS[name]
    raise ValueError(f"task {task!r} is unknown: give a class or one of {sorted(TASKS)}")


def _class_of(entry_point):
    module, _, name = entry_point.partition(":")
    return getattr(__import__(module, fromlist=[name]), name)


class _Workers:
    """The processes and sockets, ended together and by whoever made them only."""

    def __init__(self, count, memory):
        self.pid = os.getpid()
        self.processes, self.sockets = [], []
        paths = os.pathsep.join(path for path in sys.path if path)
        surroundings = dict(os.environ, PYTHONPATH=paths)
        for _ in range(count):
            ours, theirs = socket.socketpair()
            self.sockets.append(ours)
            with theirs:
                command = [sys.executable, "-m", "nethack_lab._vector_worker"]
                numbers = [str(theirs.fileno()), str(memory), str(self.pid)]
                self.processes.append(
                    subprocess.Popen(
                        command + numbers,
                        stdin=subprocess.DEVNULL,
                        pass_fds=(theirs.fileno(), memory),
                        env=surroundings,
                        # The terminal's interrupt is for the parent.
                        start_new_session=True,
                    )
                )

    def end(self):
        for sock in self.sockets:
            sock.close()
        if os.getpid() != self.pid:
            return
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class NetHackVectorEnv(gymnasium.vector.VectorEnv):
    """`num_envs` environments of one task in `workers` processes.

    `task` is a task's name (`Score`, `Challenge`, …), an environment's id, or a class that workers can import; other
    keywords go to it. Observations are fresh arrays; with `copy=False` they are the shared memory itself, which the
    next step writes. `reset(options={"states": [...]})` begins at saved games, one for each environment or None;
    `options={"reset_mask": mask}` resets some. As many workers as processor cores unless `workers` says otherwise.
    """

    # Until there are workers there is nothing to close.
    _finalizer = None
    closed = True

    def __init__(
        self,
        num_envs=1,
        task="Score",
        *,
        workers=None,
        autoreset_mode=AutoresetMode.NEXT_STEP,
        copy=True,
        **kwargs,
    ):
        num_envs = _checks.count(num_envs, "num_envs", 1, NUM_ENVS_MAX)
        if workers is not None:
            workers = _checks.count(workers, "workers", 1, NUM_ENVS_MAX)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.copy = copy
        entry_point = _entry_point(task)
        single = _class_of(entry_point)(**kwargs)
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = single.render_mode
        self.metadata = dict(single.metadata, autoreset_mode=self.autoreset_mode)
        self._keys = single._given
        single.close()

        cores = len(os.sched_getaffinity(0))
        count = min(num_envs, cores if workers is None else workers)
        bounds = [num_envs * number // count for number in range(count + 1)]
        self._ranges = list(zip(bounds, bounds[1:]))
        memory = os.memfd_create("nethack-lab", os.MFD_CLOEXEC)
        try:
            os.ftruncate(memory, Batch(None, num_envs, self._keys).bytes)
            self._batch = Batch(memory, num_envs, self._keys).arrays
            self._workers = _Workers(count, memory)
        finally:
            os.close(memory)
        self._finalizer = weakref.finalize(self, self._workers.end)
        self._owed = []
        self._stepping = False
        self.closed = False
        setup = {
            "task": entry_point,
            "num_envs": num_envs,
            "keys": self._keys,
            "kwargs": kwargs,
            "autoreset_mode": self.autoreset_mode.value,
        }
        for sock, (first, last) in zip(self._workers.sockets, self._ranges):
            self._order(sock, b"B", dict(setup, first=first, count=last - first))
        self._collect()

    # Orders and answers

    def _order(self, sock, tag, content=None):
        try:
            _channel.send(sock, tag, content)
        except _channel.Closed:
            self._lost(sock)
        self._owed.append(sock)

    def _order_all(self, orders):
        """Orders that an interrupt leaves all given or none."""
        with PutOff():
            for order in orders:
                self._order(*order)

    def _collect(self):
        """Takes an answer of each worker that owes one; the first failure is raised once all have answered."""
        told, failure = [], None
        while self._owed:
            # It stays owed while it is waited for, so that an interrupt leaves no answer lying about.
            sock = self._owed[0]
            try:
                tag = sock.recv(1, socket.MSG_PEEK)
            except ConnectionResetError:
                tag = b""
            if not tag:
                self._lost(sock)
            with PutOff():
                tag, content = self._take(sock)
                self._owed.pop(0)
            if tag == b"E":
                failure = failure or content
            elif content is not None:
                told.append(content)
        if failure is not None:
            error, text = failure
            if hasattr(error, "add_note"):
                error.add_note(f"in a worker:\n{text}")
            raise error
        return told

    def _take(self, sock):
        """An answer that has begun to arrive."""
        try:
            tag = sock.recv(1)
            return tag, _channel.content(sock) if tag.isupper() else None
        except (_channel.Closed, ConnectionResetError):
            self._lost(sock)
        except Exception as error:
            # It is here whole, but of a kind that this process does not know.
            return b"E", (error, "an answer that can't be read")

    def _lost(self, sock):
        number = self._workers.sockets.index(sock)
        process = self._workers.processes[number]
        first, last = self._ranges[number]
        self.close()
        raise RuntimeError(
            f"the worker of environments {first} to {last - 1} is gone (exit status {process.returncode}); "
            "the vector environment is closed"
        )

    def _open(self):
        if self.closed:
            raise RuntimeError("the vector environment is closed")
        if os.getpid() != self._workers.pid:
            raise RuntimeError("the vector environment belongs to the process that made it: make one in this process")

    def _ready(self):
        self._open()
        self._stepping = False
        if self._owed:
            # What an interrupted call did not wait for; its step has happened.
            self._collect()

    # Gymnasium

    def reset(self, *, seed=None, options=None):
        """Resets all environments, or those of `reset_mask`; a single seed gives environment i the seed + i."""
        self._ready()
        options = _checks.mapping(options, "'states', 'reset_mask', 'seeds' and 'state'")
        mask = options.pop("reset_mask", None)
        states = options.pop("states", None)
        seeds = self._seeds_of(seed)
        if mask is not None:
            mask = np.asarray(mask)
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ValueError(f"reset_mask must be {self.num_envs} booleans, some of them true")
        if states is not None:
            if not isinstance(states, (list, tuple, np.ndarray)):
                raise TypeError(
                    f"states must be a list of {self.num_envs} states (None for some), not {type(states).__name__}"
                )
            if len(states) != self.num_envs:
                raise ValueError(f"give {self.num_envs} states (None for some), not {len(states)}")
            for state in states:
                if state is not None:
                    _checks.is_state(state)
        everyone = []
        for sock, (first, last) in zip(self._workers.sockets, self._ranges):
            orders = []
            for place in range(first, last):
                if mask is None or mask[place]:
                    own = dict(options)
                    if states is not None and states[place] is not None:
                        own["state"] = states[place]
                    orders.append((place - first, seeds[place], own or None))
            if orders:
                everyone.append((sock, b"R", orders))
        self._order_all(everyone)
        told = self._collect()
        return self._observations(), self._infos(told, mask)

    def _seeds_of(self, seed):
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (list, tuple, np.ndarray)):
            if len(seed) != self.num_envs:
                raise ValueError(f"give one seed or {self.num_envs}, not {len(seed)}")
            return [None if one is None else _seeds.whole(one) for one in seed]
        first = _seeds.whole(seed)
        return [_seeds.whole(first + place) for place in range(self.num_envs)]

    def step(self, actions):
        """Steps all environments; see Gymnasium for what comes back and for the autoreset modes."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions):
        """Lets all environments begin a step."""
        self._ready()
        self._batch["action"][:] = self._checked(actions)
        self._stepping = True
        self._order_all([(sock, b"s") for sock in self._workers.sockets])

    def _checked(self, actions):
        """Actions as an array of whole numbers in range, so that all environments step or none."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"give {self.num_envs} actions, not an array of shape {actions.shape}")
        if actions.dtype.kind not in "iu":
            raise TypeError(f"actions must be whole numbers, not {actions.dtype}")
        among = int(self.single_action_space.n)
        wrong = np.flatnonzero((actions < 0) | (actions >= among))
        if wrong.size:
            place = int(wrong[0])
            raise IndexError(f"action {actions[place]} of environment {place} is none: there are 0 to {among - 1}")
        return actions

    def step_wait(self):
        """Waits for the step that `step_async` began."""
        self._open()
        if not self._stepping:
            raise RuntimeError("no step was begun: call step_async(actions) first")
        try:
            told = self._collect()
        except Exception:
            self._stepping = False
            raise
        self._stepping = False
        batch = self._batch
        return (
            self._observations(),
            batch["reward"].copy(),
            batch["terminated"].copy(),
            batch["truncated"].copy(),
            self._infos(told, None),
        )

    def _observations(self):
        if not self.copy:
            return {key: self._batch[key] for key in self._keys}
        return {key: self._batch[key].copy() for key in self._keys}

    def _infos(self, told, mask):
        infos = {}
        shown = np.ones(self.num_envs, np.bool_) if mask is None else mask.copy()
        for name in _TOLD:
            infos[name] = np.where(shown, self._batch[name], 0).astype(self._batch[name].dtype)
            infos["_" + name] = shown.copy()
        for place, more, final in (one for worker in told for one in worker):
            if final:
                infos = self._add_info(infos, final, place)
            infos = self._add_info(infos, more, place)
        return infos

    def call(self, name, *args, **kwargs):
        """What a method of each environment gives, or an attribute of each."""
        self._ready()
        everyone = zip(self._workers.sockets, self._ranges)
        self._order_all(
            [
                (sock, b"A", [(index, name, args, kwargs) for index in range(last - first)])
                for sock, (first, last) in everyone
            ]
        )
        return tuple(value for worker in self._collect() for value in worker)

    def get_attr(self, name):
        """An attribute of each environment."""
        return self.call(name)

    def set_attr(self, name, values):
        """Sets an attribute of each environment: one value for all, or a list with one for each."""
        self._ready()
        if not isinstance(values, (list, tuple)):
            values = [values] * self.num_envs
        if len(values) != self.num_envs:
            raise ValueError(f"give {self.num_envs} values, not {len(values)}")
        everyone = zip(self._workers.sockets, self._ranges)
        self._order_all(
            [
                (sock, b"S", [(place - first, name, values[place]) for place in range(first, last)])
                for sock, (first, last) in everyone
            ]
        )
        self._collect()

    def save(self):
        """A saved game of each environment, for `reset(options={"states": …})`."""
        return self.call("save")

    def movies(self):
        """The movie of each environment's running game."""
        return self.call("movie")

    def render(self):
        """What each environment renders."""
        return self.call("render")

    def __reduce__(self):
        raise TypeError("a vector environment can't be copied or pickled: save() gives states that can")

    def close_extras(self, **kwargs):
        """Ends the workers."""
        if self._finalizer is not None:
            self._finalizer()

    def close(self, **kwargs):
        """Ends the workers; harmless when repeated."""
        if self.closed:
            return
        self.closed = True
        self.close_extras(**kwargs)


def make(entry_point, num_envs=1, **kwargs):
    """For `gymnasium.make_vec`."""
    return NetHackVectorEnv(num_envs, _class_of(entry_point), **kwargs)
