"""Random play against a search that looks ahead on forks, from the same seeds and with as many steps.

python fork_search.py --seeds 5 --steps 400
"""

import argparse
import statistics

import numpy as np

import nethack_lab
from nethack_lab.nle import NLE_BL_DEPTH, NLE_BL_HP

LINES, LENGTH = 24, 12


def value(env):
    """What a place is worth: the score, and staying alive."""
    status = env.last_observation[env._made.index("blstats")]
    alive = not env.nethack.game.done
    return float(status[9]) + 50 * float(status[NLE_BL_DEPTH]) + (0.5 * float(status[NLE_BL_HP]) if alive else -200.0)


def lines(source, count):
    """Sequences of actions that keep to a direction for a while, as players do."""
    starts = source.integers(count, size=(LINES, LENGTH))
    keep = source.random((LINES, LENGTH)) < 0.6
    for place in range(1, LENGTH):
        starts[:, place] = np.where(keep[:, place], starts[:, place - 1], starts[:, place])
    return starts.tolist()


def best_line(env, source):
    """The line that leads to the best place."""
    state, best, chosen = env.save(), -np.inf, None
    ahead = env.fork()
    for line in lines(source, env.action_space.n):
        ahead.load(state)
        for action in line:
            if any(ahead.step(action)[2:4]):
                break
        if (worth := value(ahead)) > best:
            best, chosen = worth, line
    return chosen


def play(seed, steps, searches):
    env = nethack_lab.NetHackScore(max_episode_steps=10**9)
    env.reset(seed=seed)
    source = np.random.default_rng(seed)
    done = 0
    while done < steps:
        line = best_line(env, source) if searches else lines(source, env.action_space.n)[0]
        for action in line:
            done += 1
            if any(env.step(action)[2:4]):
                return value(env), env.movie()
    return value(env), env.movie()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    for name, searches in (("random", False), ("search on forks", True)):
        played = [play(seed, arguments.steps, searches) for seed in range(arguments.seeds)]
        worth = [one for one, _ in played]
        print(f"{name:<16} worth {statistics.mean(worth):8.1f}   {[round(one) for one in worth]}")
    print(f"the last game's movie: {nethack_lab.verify(played[-1][1]).text}")


if __name__ == "__main__":
    main()
