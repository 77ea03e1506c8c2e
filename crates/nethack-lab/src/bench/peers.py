"""What the peers do in the same run: one JSON object on standard output, with null for whatever is not installed."""

import json
import pickle
import statistics
import sys
import time

ROUNDS = 5


def per_repetition_us(repetitions, work):
    """Median over rounds of the time that one repetition takes."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(repetitions):
            work()
        times.append((time.perf_counter() - begun) / repetitions * 1e6)
    return statistics.median(times)


def ale():
    """The Arcade Learning Environment: restoring a cloned state, alone and with a frame played on."""
    import ale_py
    from ale_py import roms

    console = ale_py.ALEInterface()
    console.setInt("random_seed", 1)
    console.loadROM(str(roms.get_rom_path("breakout")))
    actions = console.getMinimalActionSet()
    for index in range(200):
        console.act(actions[index % len(actions)])
    state = console.cloneState()

    def restore_and_act():
        console.restoreState(state)
        console.act(actions[0])

    return {
        "version": ale_py.__version__,
        "restore_us": per_repetition_us(2000, lambda: console.restoreState(state)),
        "restore_act_us": per_repetition_us(500, restore_and_act),
        "clone_us": per_repetition_us(2000, console.cloneState),
        "state_bytes": len(pickle.dumps(state)),
    }


def nle():
    """NLE, whose only way back to an earlier point is to play there again from the start."""
    import nle
    from nle import nethack

    challenge = (
        "glyphs chars colors specials blstats message inv_glyphs inv_letters inv_oclasses inv_strs "
        "tty_chars tty_colors tty_cursor misc"
    ).split()
    game = nethack.Nethack(observation_keys=challenge, ttyrec=None)
    moves = [ord(key) for key in "hjklyubn"] + [13, 27]

    def reset():
        game.set_initial_seeds(1, 1, False)
        game.reset()

    def replay(depth):
        reset()
        step = game._pynethack.step
        number, played = 1, 0
        for _ in range(depth):
            number = number * 6364136223846793005 % 2**64 + 1442695040888963407
            step(moves[(number >> 33) % len(moves)])
            played += 1
            if game._pynethack.done():
                break
        return played

    reset()
    depth, times = 1000, []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        played = replay(depth)
        times.append((time.perf_counter() - begun) * 1e6)
    figures = {
        "version": nle.__version__,
        "depth": played,
        "replay_us": statistics.median(times),
        "reset_us": per_repetition_us(20, reset),
    }
    figures["steps_per_s"] = played / (figures["replay_us"] - figures["reset_us"]) * 1e6
    game.close()
    return figures


def main():
    figures = {}
    for peer in (ale, nle):
        try:
            figures[peer.__name__] = peer()
        except ImportError as error:
            print(f"{peer.__name__} is not installed: {error}", file=sys.stderr)
            figures[peer.__name__] = None
    json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main()
