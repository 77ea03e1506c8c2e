"""PPO by hand, in NumPy, on the vector environment: a small network that learns to find stairs.

python ppo.py --steps 50000
"""

import argparse

import numpy as np

from nethack_lab import NetHackVectorEnv

ENVS, HORIZON, EPOCHS, BATCH = 16, 64, 3, 256
GAMMA, LAMBDA, CLIP, RATE, ENTROPY = 0.99, 0.95, 0.2, 1e-3, 0.01
VIEW, HIDDEN = 4, 64
SYMBOLS = b" .#|-+<>@dfF$"


def features(observation):
    """What lies around the hero, symbol by symbol."""
    chars, status = observation["chars"], observation["blstats"]
    padded = np.pad(chars, ((0, 0), (VIEW, VIEW), (VIEW, VIEW)), constant_values=ord(" "))
    views = np.stack([padded[n, y : y + 2 * VIEW + 1, x : x + 2 * VIEW + 1] for n, (x, y) in enumerate(status[:, :2])])
    return (views[..., None] == np.frombuffer(SYMBOLS, np.uint8)).reshape(len(views), -1).astype(np.float32)


class Network:
    """One hidden layer, a head for actions and one for the value, and Adam."""

    def __init__(self, inputs, actions, source):
        self.parts = {
            "w": source.normal(0, inputs**-0.5, (inputs, HIDDEN)),
            "b": np.zeros(HIDDEN),
            "p": source.normal(0, 0.01, (HIDDEN, actions)),
            "v": source.normal(0, 0.1, (HIDDEN, 1)),
        }
        self.moments = {name: (np.zeros_like(part), np.zeros_like(part)) for name, part in self.parts.items()}
        self.updates = 0

    def forward(self, seen):
        hidden = np.tanh(seen @ self.parts["w"] + self.parts["b"])
        logits = hidden @ self.parts["p"]
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        return hidden, chances / chances.sum(axis=1, keepdims=True), (hidden @ self.parts["v"])[:, 0]

    def update(self, seen, actions, chances_before, advantages, returns):
        """One step down PPO's loss, its gradient written out."""
        rows = np.arange(len(seen))
        hidden, chances, values = self.forward(seen)
        ratio = chances[rows, actions] / chances_before
        moves = ~(((advantages > 0) & (ratio > 1 + CLIP)) | ((advantages < 0) & (ratio < 1 - CLIP)))
        onehot = np.zeros_like(chances)
        onehot[rows, actions] = 1
        logits = -(moves * ratio * advantages)[:, None] * (onehot - chances)
        logs = np.log(chances + 1e-12)
        logits += ENTROPY * chances * (logs - (chances * logs).sum(axis=1, keepdims=True))
        logits /= len(seen)
        value = ((values - returns) / len(seen))[:, None]
        back = (logits @ self.parts["p"].T + value @ self.parts["v"].T) * (1 - hidden**2)
        gradients = {"w": seen.T @ back, "b": back.sum(axis=0), "p": hidden.T @ logits, "v": hidden.T @ value}
        self.updates += 1
        for name, gradient in gradients.items():
            first, second = self.moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            step = (first / (1 - 0.9**self.updates)) / (np.sqrt(second / (1 - 0.999**self.updates)) + 1e-8)
            self.parts[name] -= RATE * step


def advantages_of(rewards, values, last, over):
    """Generalised advantage estimates."""
    result, carried = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    following = last
    for place in reversed(range(len(rewards))):
        goes_on = 1.0 - over[place]
        carried = rewards[place] + GAMMA * following * goes_on - values[place] + GAMMA * LAMBDA * goes_on * carried
        result[place], following = carried, values[place]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    source = np.random.default_rng(arguments.seed)
    keys = ("chars", "blstats")
    vector = NetHackVectorEnv(
        ENVS, "Staircase", observation_keys=keys, max_episode_steps=300, autoreset_mode="SameStep"
    )
    observation, _ = vector.reset(seed=arguments.seed)
    seen = features(observation)
    network = Network(seen.shape[1], int(vector.single_action_space.n), source)
    total, found, ended = 0, [], 0
    while total < arguments.steps:
        kept = {name: [] for name in ("seen", "action", "chance", "value", "reward", "over")}
        for _ in range(HORIZON):
            _, chances, values = network.forward(seen)
            actions = (chances.cumsum(axis=1) > source.random((ENVS, 1))).argmax(axis=1)
            observation, rewards, terminated, truncated, infos = vector.step(actions)
            over = terminated | truncated
            for name, value in zip(kept, (seen, actions, chances[np.arange(ENVS), actions], values, rewards, over)):
                kept[name].append(value)
            if over.any():
                found += [int(status == 2) for status in infos["final_info"]["end_status"][over]]
            seen = features(observation)
            total += ENVS
        arrays = {name: np.stack(values) for name, values in kept.items()}
        gained = advantages_of(
            arrays["reward"], arrays["value"], network.forward(seen)[2], arrays["over"].astype(float)
        )
        returns = (gained + arrays["value"]).ravel()
        flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()}
        scaled = ((gained - gained.mean()) / (gained.std() + 1e-8)).ravel()
        for _ in range(EPOCHS):
            for rows in np.array_split(source.permutation(len(scaled)), len(scaled) // BATCH):
                network.update(
                    flat["seen"][rows], flat["action"][rows], flat["chance"][rows], scaled[rows], returns[rows]
                )
        if total // 10_000 > ended:
            ended = total // 10_000
            print(f"{total} steps: stairs found in {np.mean(found[-100:] or [0]):.0%} of the last episodes", flush=True)
    vector.close()


if __name__ == "__main__":
    main()
