"""What happens to processes: started in every way, interrupted, killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import gymnasium
import pytest

import nethack_lab
from conftest import runs


def _play(seed, pipe):
    env = nethack_lab.NetHackScore()
    env.reset(seed=seed)
    for step in range(100):
        env.step(step % 16)
    pipe.send(env.nethack.game.digest())
    env.fork().step(1)
    pipe.send(nethack_lab.verify(env.movie()).verdict)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_start_methods(method, env):
    """Also while this process plays a game of its own."""
    context = multiprocessing.get_context(method)
    pipes = []
    for seed in (7, 7):
        ours, theirs = context.Pipe(False)
        process = context.Process(target=_play, args=(seed, theirs))
        process.start()
        theirs.close()
        pipes.append((process, ours))
    told = [[pipe.recv(), pipe.recv()] for _, pipe in pipes]
    for process, _ in pipes:
        process.join()
        assert process.exitcode == 0
    assert told[0] == told[1] and told[0][1] == "exact"
    env.step(1)


def test_a_forked_child_goes_on_with_the_games_of_its_parent(env):
    env.step(1)
    child_pipe, parent_pipe = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            env.step(2)
            os.write(parent_pipe, env.nethack.game.digest().encode())
        finally:
            os._exit(0)
    os.close(parent_pipe)
    with os.fdopen(child_pipe, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(pid, 0)
    env.step(2)
    assert told == env.nethack.game.digest()


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_gymnasiums_processes(context):
    vector = gymnasium.vector.AsyncVectorEnv([nethack_lab.NetHackScore] * 2, context=context)
    vector.reset(seed=1)
    vector.step([1, 2])
    vector.close()


PLAYING = """
    import os, sys
    import nethack_lab
    if __name__ == "__main__":
        vector = nethack_lab.NetHackVectorEnv(4, workers=2) if sys.argv[1] != "single" else None
        if sys.argv[1] == "held" and os.fork() == 0:
            # Holds the parent's descriptors until the test lets go.
            sys.stdin.read()
            os._exit(0)
        env = vector or nethack_lab.NetHackScore()
        env.reset(seed=1)
        workers = [process.pid for process in vector._workers.processes] if vector else []
        action = [1] * 4 if vector else 1
        try:
            print(*workers, flush=True)
            while True:
                step = env.step(action)
                if not vector and (step[2] or step[3]):
                    env.reset()
        except KeyboardInterrupt:
            # What was interrupted can be gone on with.
            env.step(action) if vector else env.reset()
            print("interrupted", flush=True)
"""


@pytest.fixture
def player(tmp_path):
    script = tmp_path / "kept"
    script.write_text(textwrap.dedent(PLAYING))
    started = []

    def start(kind):
        process = subprocess.Popen(
            [sys.executable, script, kind], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, [int(pid) for pid in process.stdout.readline().split()]

    yield start
    for process in started:
        process.stdin.close()
        process.stdout.close()
        if process.poll() is None:
            process.kill()
            process.wait()


def gone(pids, seconds=20):
    """Whether all of them end within that time."""
    until = time.monotonic() + seconds
    while any(map(runs, pids)):
        if time.monotonic() > until:
            return False
        os.sched_yield()
    return True


@pytest.mark.parametrize("kind", ["single", "vector"])
def test_an_interrupt_arrives_and_costs_nothing(player, kind):
    process, workers = player(kind)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.wait(20) == 0
    assert gone(workers)


def test_workers_leave_interrupts_to_their_parent():
    vector = nethack_lab.NetHackVectorEnv(2, workers=2)
    vector.reset(seed=1)
    for process in vector._workers.processes:
        process.send_signal(signal.SIGINT)
    for _ in range(20):
        vector.step([1, 2])
    vector.close()


@pytest.mark.parametrize("kind", ["single", "vector", "held"])
def test_a_killed_parent_leaves_nothing(player, kind):
    """Also where another process holds the parent's sockets."""
    process, workers = player(kind)
    assert len(workers) == (0 if kind == "single" else 2) and all(map(runs, workers))
    process.kill()
    process.wait()
    assert gone(workers)


def test_signals_of_pythons_own_arrive_while_a_game_runs(env):
    told = []
    before = signal.signal(signal.SIGALRM, lambda *_: told.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        for step in range(3000):
            if env.step(step % 16)[2]:
                env.reset()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert told
    assert nethack_lab.verify(env.movie()).verdict == "exact"
