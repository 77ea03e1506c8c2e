"""Plays games of NLE drawn anew and compares each with our own play, array by array.

python3 tests/nle/live.py --games 300 --seed 7 --compare 'nethack-lab nle compare'

A difference is printed with the command that records the same game again.
"""

import argparse
import itertools
import pathlib
import random
import secrets
import shlex
import subprocess
import sys
import tempfile
import time

import surroundings

# Days that matter to the game: none, full moon, new moon, a Friday 13th, night, midnight.
EPOCHS = (978436800, 979070400, 980294400, 987163200, 978480000, 978393600, 1796040000)
OPTIONS = (
    (), (), (), ("!autopickup",), ("number_pad:1",), ("!verbose",), ("pettype:none",), ("menustyle:traditional",),
    ("menustyle:combination",), ("menustyle:partial",), ("showrace",), ("!color",), ("perm_invent",), ("hilite_pet",),
    ("use_darkgray",), ("hitpointbar",), ("lit_corridor", "dark_room"), ("msg_window:full",),
    ("msg_window:reversed",), ("boulder:0",), ("!sortpack",), ("pushweapon", "!confirm"), ("legacy",), ("splash_screen",),
    ("statushilites:5",), ("mention_walls", "!implicit_uncursed"), ("fruit:slime mold pie", "rest_on_space"),
    ("!cmdassist", "extmenu"), ("suppress_alert:3.3.1", "whatis_coord:compass"), ("menu_overlay", "menu_headings:bold"),
    ("tombstone",), ("hilite_pile", "standout"),
)
POLICIES = ("uniform", "weighted", "weighted", "explorer", "explorer", "explorer", "busy", "busy")
STEPS = {"uniform": 3000, "weighted": 8000, "explorer": 15000, "busy": 15000, "debug": 8000}


def draw(source, player):
    """A plan drawn from a random source."""
    import game

    debug = source.random() < 0.12
    policy = "debug" if debug else source.choice(POLICIES)

    def seed():
        return source.choice((source.getrandbits(64), source.getrandbits(31), source.getrandbits(8)))

    return game.Plan(
        core=seed(),
        disp=seed(),
        lgen=seed() if source.random() < 0.4 else None,
        reseed=source.random() < 0.25,
        player=player,
        extra_options=source.choice(OPTIONS),
        wizard=debug,
        fix_moon_phase=source.random() < 0.1,
        epoch=source.choice(EPOCHS) + source.randrange(0, 3600),
        policy=policy,
        policy_seed=source.getrandbits(32),
        steps_max=STEPS[policy],
    )


class Live:
    """Runs games in processes of their own, since some of NLE's end with a crash."""

    def __init__(self, arguments):
        self._compare = shlex.split(arguments.compare)
        self._keep = pathlib.Path(arguments.keep) if arguments.keep else None
        self._folder = tempfile.TemporaryDirectory(prefix="nethack-lab-nle-")
        self.steps = self.games = self.crashes = self.differences = 0

    def run(self, plan):
        """Records and compares one game."""
        path = pathlib.Path(self._folder.name) / "game.traj.gz"
        path.unlink(missing_ok=True)
        record = [sys.executable, str(surroundings.HERE / "record.py"), *plan.arguments(), str(path)]
        recorded = subprocess.run(record, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        command = shlex.join(["python3", "tests/nle/record.py", *plan.arguments(), "game.traj.gz"])
        if recorded.returncode:
            self.crashes += 1
            print(f"NLE failed ({recorded.returncode}): {command}\n{recorded.stderr[-300:]}", flush=True)
            return
        compared = subprocess.run([*self._compare, str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.games += 1
        self.steps += int(recorded.stderr.rpartition(": ")[2].split()[0])
        if compared.returncode:
            self.differences += 1
            print(f"DIFFERENCE\n{compared.stdout}{compared.stderr}record it again with\n  {command}", flush=True)
            if self._keep:
                self._keep.mkdir(parents=True, exist_ok=True)
                path.rename(self._keep / f"difference-{plan.core}-{plan.policy_seed}.traj.gz")

    def told(self):
        return f"{self.games} games, {self.steps} steps, {self.differences} differences, {self.crashes} failures of NLE"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=26)
    parser.add_argument("--steps", type=int, default=0, help="go on until that many steps too")
    parser.add_argument("--seed", type=int, help="of this run; drawn and printed if absent")
    parser.add_argument("--compare", default="nethack-lab nle compare", help="the command that is given a file")
    parser.add_argument("--keep", help="a folder for the recordings that differ")
    arguments = parser.parse_args()
    surroundings.enter()
    import game

    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    print(f"run seed {seed}", flush=True)
    source = random.Random(seed)
    players = list(game.heroes())
    source.shuffle(players)
    live, begun = Live(arguments), time.monotonic()
    for number, player in enumerate(itertools.cycle(players)):
        if number >= arguments.games and live.steps >= arguments.steps:
            break
        live.run(draw(source, player))
        if number % 10 == 9:
            print(f"{live.told()}, {time.monotonic() - begun:.0f} s", flush=True)
    print(live.told())
    return 1 if live.differences else 0


if __name__ == "__main__":
    sys.exit(main())
