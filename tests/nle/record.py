"""Records one game of NLE: python3 tests/nle/record.py --core 1 --disp 2 --player Agent-val-hum-neu-fem out.traj.gz"""

import argparse
import sys

import surroundings


def parser(description):
    """The arguments that make a plan."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--core", type=int, required=True)
    parser.add_argument("--disp", type=int, required=True)
    parser.add_argument("--lgen", type=int)
    parser.add_argument("--reseed", action="store_true")
    parser.add_argument("--player", default="Agent-mon-hum-neu-mal")
    parser.add_argument("--option", action="append", default=[], help="added to NLE's own options")
    parser.add_argument("--wizard", action="store_true", help="debug mode")
    parser.add_argument("--fix-moon-phase", action="store_true")
    parser.add_argument("--epoch", type=int, default=978436800, help="the clock, seconds since 1970 UTC")
    parser.add_argument("--policy", default="explorer", help="uniform, weighted, explorer, busy or debug")
    parser.add_argument("--policy-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=5000)
    return parser


def plan(arguments):
    import game

    return game.Plan(
        core=arguments.core,
        disp=arguments.disp,
        lgen=arguments.lgen,
        reseed=arguments.reseed,
        player=arguments.player,
        extra_options=tuple(arguments.option),
        wizard=arguments.wizard,
        fix_moon_phase=arguments.fix_moon_phase,
        epoch=arguments.epoch,
        policy=arguments.policy,
        policy_seed=arguments.policy_seed,
        steps_max=arguments.steps,
    )


def main():
    arguments = parser(__doc__)
    arguments.add_argument("out")
    arguments = arguments.parse_args()
    surroundings.enter()
    import game

    steps, done = game.play(plan(arguments), arguments.out)
    print(f"{arguments.out}: {steps} steps, {'the game ended' if done else 'cut off'}", file=sys.stderr)


if __name__ == "__main__":
    main()
