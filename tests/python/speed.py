"""NLE and NetHack Lab side by side, in turns in one run, through Gymnasium.

python tests/python/speed.py [--rounds 7] [--steps 5000] [--vector-steps 1000]

Prints medians and the median of the ratios of each round; the load of the machine is printed, since only ratios mean
anything under it.
"""

import argparse
import os
import statistics
import time

import gymnasium
import nle.env  # noqa: F401
import numpy as np
from nle.env import tasks as their_tasks

import nethack_lab

CHALLENGE = nethack_lab.NetHackChallenge
PART = 50
KEYS = list(nethack_lab.nle.CompassDirection) + [nethack_lab.nle.MiscAction.MORE]


def seeded(env, seed):
    """Begins a game of either side with the same seeds."""
    seeds = (seed, seed + 1, False, None)
    if isinstance(env, gymnasium.vector.VectorEnv):
        return env.reset(seed=seed)
    if hasattr(env, "fork"):
        return env.reset(options={"seeds": seeds})
    # NLE's challenge locks its seeds on the object, not on the class.
    type(env.nethack).set_initial_seeds(env.nethack, *seeds)
    return env.reset()


def steps_per_second(env, actions):
    begun = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return len(actions) / (time.perf_counter() - begun)


def vector_steps_per_second(env, actions):
    begun = time.perf_counter()
    for row in actions:
        env.step(row)
    return actions.size / (time.perf_counter() - begun)


def resets_per_second(env, count):
    begun = time.perf_counter()
    for seed in range(count):
        seeded(env, seed)
    return count / (time.perf_counter() - begun)


def side_by_side(what, rounds, measure):
    """Measures both sides in turns and prints the medians."""
    pairs = [measure(number) for number in range(rounds)]
    theirs, ours = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(our / their for their, our in pairs)
    print(f"{what:<44} NLE {theirs:>9.0f}/s   NetHack Lab {ours:>9.0f}/s   ratio {ratio:.2f}", flush=True)
    return ratio


def single(rounds, count, name, **kwargs):
    theirs = getattr(their_tasks, f"NetHack{name}")(max_episode_steps=10**9, savedir=None, **kwargs)
    kinds = {"fresh arrays": True, "copy=False": False}
    ours = {
        what: getattr(nethack_lab, f"NetHack{name}")(max_episode_steps=10**9, copy=copy, **kwargs)
        for what, copy in kinds.items()
    }
    keys = [theirs.actions.index(key) for key in KEYS if key in theirs.actions]

    for what, env in ours.items():

        def measure(number, env=env):
            actions = np.random.default_rng(number).choice(keys, count).tolist()
            seeded(theirs, number), seeded(env, number)
            return steps_per_second(theirs, actions), steps_per_second(env, actions)

        side_by_side(f"NetHack{name}, one environment, {what}", rounds, measure)
    side_by_side(
        f"NetHack{name}, resets", rounds, lambda _: tuple(resets_per_second(env, 100) for env in (theirs, env))
    )


def forks(rounds, depth):
    env = nethack_lab.NetHackScore(max_episode_steps=10**9, actions=KEYS)
    theirs = their_tasks.NetHackScore(max_episode_steps=10**9, actions=KEYS, savedir=None)

    def line(number):
        """Actions that stay alive for so long: few take a turn, so that nobody starves, which favours a replay; and
        where the hero dies, the line goes back, farther each time."""
        source = np.random.default_rng(number)
        env.reset(seed=number)
        kept, parts, back = [env.save()], [], 1
        while len(parts) * PART < depth:
            moves = source.random(PART) < 0.1
            actions = np.where(moves, source.integers(len(KEYS), size=PART), len(KEYS) - 1).tolist()
            if any(any(env.step(action)[2:4]) for action in actions):
                del parts[max(0, len(parts) - back) :], kept[max(1, len(kept) - back) :]
                env.load(kept[-1])
                back = min(2 * back, 64)
            else:
                parts.append(actions)
                kept.append(env.save())
                back = max(1, back - 1)
        return sum(parts, [])

    def measure(number):
        actions = line(number)
        seeds = env.get_seeds()
        theirs.seed(*seeds)
        theirs.reset()
        begun = time.perf_counter()
        for action in actions:
            theirs.step(action)
        replay = time.perf_counter() - begun
        begun = time.perf_counter()
        for _ in range(100):
            env.fork()
        return 1 / replay, 100 / (time.perf_counter() - begun)

    side_by_side(f"back to step {depth}: NLE's replay, our fork", rounds, measure)


def vectors(rounds, count, num_envs):
    kwargs = {"max_episode_steps": 10**9}
    theirs = gymnasium.vector.AsyncVectorEnv([lambda: their_tasks.NetHackChallenge(savedir=None, **kwargs)] * num_envs)
    ours = nethack_lab.NetHackVectorEnv(num_envs, "Challenge", **kwargs)
    single = CHALLENGE()
    keys = [single.actions.index(key) for key in KEYS]
    theirs.reset(), ours.reset()

    def measure(number):
        actions = np.random.default_rng(number).choice(keys, (count // num_envs, num_envs))
        return vector_steps_per_second(theirs, actions), vector_steps_per_second(ours, actions)

    side_by_side(f"NetHackChallenge, {num_envs} environments", rounds, measure)
    theirs.close(), ours.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=5_000, help="of a round")
    parser.add_argument("--vector-steps", type=int, default=8_000, help="of a round, over all environments")
    parser.add_argument("--depth", type=int, default=10_000, help="of forks")
    parser.add_argument(
        "--parts", nargs="+", choices=("single", "forks", "vectors"), default=("single", "forks", "vectors")
    )
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} cores", flush=True)
    if "single" in arguments.parts:
        single(arguments.rounds, arguments.steps, "Challenge")
        single(arguments.rounds, arguments.steps, "Score")
    if "forks" in arguments.parts:
        forks(min(3, arguments.rounds), arguments.depth)
    for num_envs in (2, 8, 32) if "vectors" in arguments.parts else ():
        vectors(arguments.rounds, arguments.vector_steps, num_envs)


if __name__ == "__main__":
    main()
