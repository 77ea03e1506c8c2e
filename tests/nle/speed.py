"""How fast NLE and our machine replay the same recordings, with the arrays of the Challenge task, in turns.

python3 tests/nle/speed.py --ours 'target/release/examples/speed challenge' FILE…
"""

import argparse
import gzip
import json
import os
import shlex
import statistics
import subprocess
import time

import surroundings

CHALLENGE = (
    "glyphs chars colors specials blstats message inv_glyphs inv_letters inv_oclasses inv_strs "
    "tty_chars tty_colors tty_cursor misc"
).split()


def recording(path):
    with gzip.open(path) as file:
        lines = [json.loads(line) for line in file]
    return lines[0], [line["k"] for line in lines if line["type"] == "step" and line["k"] is not None]


def theirs(header, keys):
    """Seconds that NLE takes for the keys, its start excluded."""
    from nle import nethack

    os.environ["FROZEN_EPOCH"] = str(int(header["clock"]["epoch"]))
    hero = header["options_list"].index("name:" + header["playername"])
    game = nethack.Nethack(
        observation_keys=CHALLENGE,
        playername=header["playername"],
        ttyrec=None,
        options=header["options_list"][:hero],
        wizard=header["wizard"],
        fix_moon_phase=header["fix_moon_phase"],
    )
    game.set_initial_seeds(header["core"], header["disp"], header["reseed"], header["lgen"])
    game.reset()
    step = game._pynethack.step
    begun = time.perf_counter()
    for key in keys:
        step(key)
    seconds = time.perf_counter() - begun
    game.close()
    return seconds


def ours(command, path):
    output = subprocess.run([*command, path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
    return float(output.split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="the command of our side, which is given a file")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    surroundings.enter()
    command = shlex.split(arguments.ours)
    all_steps, all_theirs, all_ours = 0, 0.0, 0.0
    for path in arguments.files:
        header, keys = recording(path)
        pairs = [(theirs(header, keys), ours(command, path)) for _ in range(arguments.rounds)]
        slow, fast = (statistics.median(side) for side in zip(*pairs))
        ratio = statistics.median(one / other for one, other in pairs)
        print(f"{os.path.basename(path)}: NLE {len(keys) / slow:.0f}, ours {len(keys) / fast:.0f} steps/s, ratio {ratio:.2f}")
        all_steps, all_theirs, all_ours = all_steps + len(keys), all_theirs + slow, all_ours + fast
    print(f"all: NLE {all_steps / all_theirs:.0f}, ours {all_steps / all_ours:.0f} steps/s, ratio {all_theirs / all_ours:.2f}")


if __name__ == "__main__":
    main()
