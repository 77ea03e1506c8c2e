"""Monte Carlo tree search over saved games, down to the next stairs.

python tree_search.py --seed 3 --visits 200 --moves 60

With --fair each rollout has luck of its own, so that the search plans against chance instead of knowing it.
"""

import argparse
import math

import numpy as np

import nethack_lab
from nethack_lab.nle import NLE_BL_DEPTH, NLE_BL_HP, glyph_is_cmap, glyph_to_cmap

ROLLOUT = 15
STAIRS_DOWN = 24


class Node:
    """A saved game with what was found behind it."""

    def __init__(self, state, over, count):
        self.state, self.over = state, over
        self.children = [None] * count
        self.visits, self.worth = 0, 0.0

    def choose(self):
        """The action that promises most; untried ones first."""
        for action, child in enumerate(self.children):
            if child is None:
                return action
        log = math.log(self.visits)
        return max(
            range(len(self.children)),
            key=lambda action: (
                self.children[action].worth / self.children[action].visits
                + 0.7 * math.sqrt(log / self.children[action].visits)
            ),
        )


def value(observation):
    """From 0 to 1: depth, life, what is seen, and how near stairs down are."""
    status, glyphs = observation["blstats"], observation["glyphs"]
    seen = float(np.mean(glyph_is_cmap(glyphs) & (glyph_to_cmap(glyphs) != 0)))
    stairs = np.argwhere(glyph_to_cmap(glyphs) == STAIRS_DOWN)
    near = 0.0
    if len(stairs):
        near = 1 / (1 + np.abs(stairs - status[1::-1]).max(axis=1).min())
    deep = min(1.0, (int(status[NLE_BL_DEPTH]) - 1) / 4)
    return (0.0 if status[NLE_BL_HP] <= 0 else 0.1) + 0.4 * deep + 0.3 * min(1.0, 4 * seen) + 0.2 * near


def search(env, root, visits, source, fair):
    """Grows the tree; gives the action that was tried most."""
    for _ in range(visits):
        node, path = root, [root]
        while not node.over:
            action = node.choose()
            if node.children[action] is None:
                env.load(node.state)
                over = any(env.step(action)[2:4])
                node.children[action] = Node(env.save(), over, len(root.children))
                node = node.children[action]
                path.append(node)
                break
            node = node.children[action]
            path.append(node)
        observation, _ = env.load(node.state)
        if fair and not node.over:
            env.nethack.set_current_seeds(*source.integers(0, 2**63, size=2).tolist())
        for _ in range(ROLLOUT):
            if node.over:
                break
            observation, _, terminated, truncated, _ = env.step(int(source.integers(len(root.children))))
            if terminated or truncated:
                break
        worth = value(observation)
        for node in path:
            node.visits += 1
            node.worth += worth
    return max(range(len(root.children)), key=lambda action: getattr(root.children[action], "visits", 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--visits", type=int, default=200)
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--fair", action="store_true")
    arguments = parser.parse_args()
    actions = (*nethack_lab.nle.CompassDirection, nethack_lab.nle.MiscDirection.DOWN, nethack_lab.nle.Command.SEARCH)
    kwargs = {"character": "val-dwa-law-fem", "actions": actions, "max_episode_steps": 10**9}
    game, ahead = nethack_lab.NetHackScore(**kwargs), nethack_lab.NetHackScore(**kwargs)
    observation, _ = game.reset(seed=arguments.seed)
    ahead.reset(seed=arguments.seed)
    source = np.random.default_rng(arguments.seed)
    for move in range(arguments.moves):
        action = search(ahead, Node(game.save(), False, len(actions)), arguments.visits, source, arguments.fair)
        observation, _, terminated, truncated, _ = game.step(action)
        if move % 10 == 9 or terminated:
            status = observation["blstats"]
            print(
                f"move {move + 1}: worth {value(observation):.2f}, level {status[NLE_BL_DEPTH]}, HP {status[NLE_BL_HP]}"
            )
        if terminated or truncated:
            break
    print(f"its movie: {nethack_lab.verify(game.movie()).text}")


if __name__ == "__main__":
    main()
