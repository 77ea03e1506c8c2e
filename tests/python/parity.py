"""NLE and NetHack Lab side by side through Gymnasium: every array, reward and end of every step.

python tests/python/parity.py [--steps 200000] [--seed 1]

Exits with 1 at the first difference, and prints how to meet it again.
"""

import argparse
import logging
import os
import pathlib
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "nle"))

import surroundings  # noqa: E402

EPOCH = 978436800
TASKS = "Score Staircase StaircasePet Oracle Gold Eat Scout Challenge".split()
CHARACTERS = "mon-hum-neu-mal val-dwa-law-fem wiz-elf-cha-mal sam-hum-law-fem tou-hum-neu-mal arc-gno-neu-fem @".split()
LONGEST = 1_000


class Difference(Exception):
    """Where the two part."""


def check(what, theirs, ours):
    if theirs != ours and not (theirs != theirs and ours != ours):
        raise Difference(f"{what}: NLE {theirs!r}, NetHack Lab {ours!r}")


def check_arrays(theirs, ours):
    check("keys", list(theirs), list(ours))
    for key, array in theirs.items():
        if array.dtype != ours[key].dtype or not np.array_equal(array, ours[key]):
            raise Difference(f"{key} differs\n{array}\n{ours[key]}")


def check_step(theirs, ours):
    """All but how an episode ends that is not the game's end, which NLE plays on to its quitting."""
    (their_seen, their_reward, their_end, _, their_info), (seen, reward, terminated, truncated, info) = theirs, ours
    status = int(info["end_status"])
    check("end_status", int(their_info["end_status"]), status)
    check("end", bool(their_end), terminated or truncated)
    check("reward", their_reward, reward)
    check("is_ascended", bool(their_info["is_ascended"]), info["is_ascended"])
    if status in (0, 1):
        check_arrays(their_seen, seen)


def episode(task, character, seeds, policy_seed, steps_max):
    """Plays one episode on both sides; gives its steps."""
    import nethack_lab
    from nle.env import tasks

    kwargs = {"max_episode_steps": 10**9}
    if task != "Challenge":
        kwargs["character"] = character
        kwargs["observation_keys"] = nethack_lab.NetHackEnv.DEFAULT_KEYS + ("misc", "internal", "program_state")
    # Anew each time: NLE shows the scores of earlier games of the same object.
    theirs = getattr(tasks, f"NetHack{task}")(savedir=None, **kwargs)
    ours = getattr(nethack_lab, f"NetHack{task}")(clock=EPOCH, **kwargs)
    type(theirs.nethack).set_initial_seeds(theirs.nethack, *seeds)
    check("actions", [int(action) for action in theirs.actions], [int(action) for action in ours.actions])
    check("action space", theirs.action_space, ours.action_space)
    check("observation space", theirs.observation_space, ours.observation_space)
    check_arrays(theirs.reset()[0], ours.reset(options={"seeds": seeds})[0])
    source = np.random.default_rng(policy_seed)
    moves = [number for number, action in enumerate(ours.actions) if chr(action & 127) in "hjklyubn\rs<>.,"]
    for step in range(steps_max):
        wild = source.random() < 0.3
        action = int(source.integers(len(ours.actions))) if wild else moves[source.integers(len(moves))]
        # What NLE's own process does not survive: ^P in questions.
        if int(ours.actions[action]) == 0x10:
            continue
        one, other = theirs.step(action), ours.step(action)
        try:
            check_step(one, other)
        except Difference as difference:
            raise Difference(f"step {step}, action {action}: {difference}") from None
        if other[2] or other[3]:
            break
    theirs.close()
    return step + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--episode", type=int, default=0, help="begin at this one")
    arguments = parser.parse_args()
    surroundings.enter(pathlib.Path(sys.prefix))
    os.environ["FROZEN_EPOCH"] = str(EPOCH)
    # NLE says at each episode that `internal` is asked for.
    logging.disable(logging.WARNING)
    steps, begun, number = 0, time.monotonic(), arguments.episode
    while steps < arguments.steps:
        source = np.random.default_rng((arguments.seed, number))
        task, character = TASKS[number % len(TASKS)], CHARACTERS[number // len(TASKS) % len(CHARACTERS)]
        core, disp, lgen = source.integers(0, 2**63, size=3).tolist()
        seeds = (core, disp, bool(source.random() < 0.2), lgen if source.random() < 0.3 else None)
        try:
            steps += episode(task, character, seeds, number, min(LONGEST, arguments.steps - steps))
        except Difference as difference:
            print(f"DIFFERENCE in episode {number} ({task}, {character}, seeds {seeds}): {difference}")
            print(f"again: python tests/python/parity.py --seed {arguments.seed} --episode {number} --steps 3000")
            return 1
        number += 1
        if number % 50 == 0:
            print(f"{steps} steps, {number} episodes, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"all arrays, rewards and ends of {steps} steps in {number - arguments.episode} episodes are the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
