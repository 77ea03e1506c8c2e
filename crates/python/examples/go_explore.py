"""Go-Explore: an archive of saved games, one for each cell of the dungeon, explored from where it is thin.

python go_explore.py --steps 50000 --seed 4
"""

import argparse
import dataclasses

import numpy as np

import nethack_lab
from nethack_lab.nle import NLE_BL_DEPTH, NLE_BL_DLEVEL, NLE_BL_DNUM, NLE_BL_HP

LENGTH = 40


@dataclasses.dataclass
class Cell:
    """The best way to a cell, and how often it was set out from."""

    state: nethack_lab.State
    steps: int
    tries: int = 0


def cell_of(status):
    """Places near each other on one level are one cell."""
    return int(status[NLE_BL_DNUM]), int(status[NLE_BL_DLEVEL]), int(status[0]) // 5, int(status[1]) // 3


def choose(archive, source):
    """Cells that were tried little, and deep ones, are likelier."""
    keys = list(archive)
    weights = np.array([(1 + key[1]) / (1 + archive[key].tries) for key in keys])
    return archive[keys[source.choice(len(keys), p=weights / weights.sum())]]


def explore(env, archive, cell, source):
    """Walks from a cell and keeps what is new or reached in fewer steps; gives the steps."""
    env.load(cell.state)
    cell.tries += 1
    action = int(source.integers(env.action_space.n))
    for walked in range(LENGTH):
        if source.random() < 0.3:
            action = int(source.integers(env.action_space.n))
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return walked + 1
        status = observation["blstats"]
        key, steps = cell_of(status), cell.steps + walked + 1
        if status[NLE_BL_HP] > 3 and (key not in archive or archive[key].steps > steps):
            tries = archive[key].tries if key in archive else 0
            archive[key] = Cell(env.save(), steps, tries)
    return LENGTH


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=4)
    arguments = parser.parse_args()
    env = nethack_lab.NetHackScore(character="val-dwa-law-fem", max_episode_steps=10**9)
    observation, _ = env.reset(seed=arguments.seed)
    source = np.random.default_rng(arguments.seed)
    archive = {cell_of(observation["blstats"]): Cell(env.save(), 0)}
    steps, told = 0, 0
    while steps < arguments.steps:
        steps += explore(env, archive, choose(archive, source), source)
        if steps >= told:
            told += arguments.steps // 5
            print(f"{steps} steps: {len(archive)} cells on {len({key[:2] for key in archive})} levels", flush=True)
    deepest = max(archive.values(), key=lambda cell: (env.load(cell.state)[0]["blstats"][NLE_BL_DEPTH], -cell.steps))
    observation, _ = env.load(deepest.state)
    verdict = nethack_lab.verify(env.movie())
    print(f"deepest: level {observation['blstats'][NLE_BL_DEPTH]} in {deepest.steps} steps; its movie: {verdict.text}")


if __name__ == "__main__":
    main()
