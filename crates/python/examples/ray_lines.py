"""Lines tried over a Ray cluster: a saved game travels as bytes, and each actor plays from it.

pip install ray
python ray_lines.py --actors 2 --lines 64
"""

import argparse
import time

import numpy as np
import ray

import nethack_lab

LENGTH = 20


@ray.remote
class Player:
    """A process with a game of its own."""

    def __init__(self):
        self._env = nethack_lab.NetHackScore(max_episode_steps=10**9)

    def try_lines(self, state, lines):
        """Plays each line from the state; gives the rewards and the best line's end as another state."""
        best, kept, worth = -np.inf, None, []
        for line in lines:
            self._env.load(state)
            total = 0.0
            for action in line.tolist():
                _, reward, terminated, truncated, _ = self._env.step(action)
                total += reward
                if terminated or truncated:
                    total -= 100.0 * terminated
                    break
            worth.append(total)
            if total > best:
                best, kept = total, self._env.save()
        return np.array(worth), kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--lines", type=int, default=64, help="in each round")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    ray.init(num_cpus=arguments.actors, include_dashboard=False, log_to_driver=False)
    players = [Player.remote() for _ in range(arguments.actors)]
    env = nethack_lab.NetHackScore(max_episode_steps=10**9)
    env.reset(seed=arguments.seed)
    state, source, begun = env.save(), np.random.default_rng(arguments.seed), time.monotonic()
    for number in range(arguments.rounds):
        lines = source.integers(env.action_space.n, size=(arguments.lines, LENGTH))
        shared = ray.put(state)
        parts = np.array_split(lines, arguments.actors)
        results = ray.get([player.try_lines.remote(shared, part) for player, part in zip(players, parts)])
        worth, state = max(((worth.max(), kept) for worth, kept in results), key=lambda one: one[0])
        print(f"round {number + 1}: best {worth:.1f}, turn {state.turn}", flush=True)
        if state.done:
            break
    played = arguments.rounds * arguments.lines
    print(f"{played / (time.monotonic() - begun):.0f} lines/s; its movie: {nethack_lab.verify(state.movie()).text}")
    ray.shutdown()


if __name__ == "__main__":
    main()
