"""A game of NLE, played and recorded step by step."""

import dataclasses
import datetime
import gzip
import hashlib
import json
import os

ROLES = {
    "arc": "hum-law hum-neu dwa-law gno-neu",
    "bar": "hum-neu hum-cha orc-cha",
    "cav": "hum-law hum-neu dwa-law gno-neu",
    "hea": "hum-neu gno-neu",
    "kni": "hum-law",
    "mon": "hum-law hum-neu hum-cha",
    "pri": "hum-law hum-neu hum-cha elf-cha",
    "rog": "hum-cha orc-cha",
    "ran": "hum-neu hum-cha elf-cha gno-neu orc-cha",
    "sam": "hum-law",
    "tou": "hum-neu",
    "val": "hum-law hum-neu dwa-law",
    "wiz": "hum-neu hum-cha elf-cha gno-neu orc-cha",
}
KEYS = (
    "glyphs chars colors specials blstats message program_state internal inv_glyphs inv_letters inv_oclasses "
    "inv_strs tty_chars tty_colors tty_cursor misc"
).split()
SCREEN_EVERY = 100


@dataclasses.dataclass(frozen=True)
class Plan:
    """All that decides a recorded game, its policy included."""

    core: int
    disp: int
    lgen: int | None
    reseed: bool
    player: str
    extra_options: tuple
    wizard: bool
    fix_moon_phase: bool
    epoch: int
    policy: str
    policy_seed: int
    steps_max: int

    def arguments(self):
        """The command-line arguments that give this plan again."""
        words = [f"--core={self.core}", f"--disp={self.disp}", f"--player={self.player}", f"--epoch={self.epoch}"]
        words += [f"--policy={self.policy}", f"--policy-seed={self.policy_seed}", f"--steps={self.steps_max}"]
        words += [f"--lgen={self.lgen}"] if self.lgen is not None else []
        words += [f"--{flag}" for flag in ("reseed", "wizard", "fix-moon-phase") if getattr(self, flag.replace("-", "_"))]
        return words + [f"--option={option}" for option in self.extra_options]


def heroes():
    """Every hero that NLE can be asked for by name, and the one that is left to the game."""
    for role, kinds in ROLES.items():
        for kind in kinds.split():
            for gender in ("fem",) if role == "val" else ("mal", "fem"):
                yield f"Agent-{role}-{kind}-{gender}"
    yield "Agent-@"


class Recording:
    """Writes a trajectory: a header, changed arrays as digests, screens now and then, an end."""

    def __init__(self, path, header):
        self._file = gzip.open(path, "wb", compresslevel=4) if path else None
        self._keys = header["observation_keys"]
        self._bytes = {}
        self._steps = -1
        self._write(header)

    def _write(self, line):
        if self._file:
            self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def step(self, key, arrays, done):
        self._steps += 1
        if not self._file:
            return
        changed = {}
        for name in self._keys:
            content = arrays[name].tobytes()
            if self._bytes.get(name) != content:
                self._bytes[name] = content
                changed[name] = hashlib.sha256(content).hexdigest()
        line = {"type": "step", "i": self._steps, "k": key, "h": changed}
        self._write(dict(line, done=True) if done else line)
        if done or self._steps % SCREEN_EVERY == 0:
            self.screen(arrays)

    def screen(self, arrays):
        rows = [bytes(row).decode("latin-1") for row in arrays["tty_chars"]]
        cursor = [int(place) for place in arrays["tty_cursor"]]
        self._write({"type": "screen", "i": self._steps, "tty_chars": rows, "tty_cursor": cursor})

    def close(self, done):
        self._write({"type": "end", "steps": self._steps, "done": done})
        if self._file:
            self._file.close()


def header(game, plan):
    """The header of a recording."""
    options = list(game.options)
    return {
        "type": "header",
        "format": 1,
        "nle": "1.3.0",
        "core": plan.core,
        "disp": plan.disp,
        "lgen": plan.lgen,
        "reseed": plan.reseed,
        "playername": plan.player,
        "nethackoptions": ",".join(options),
        "options_list": options,
        "wizard": plan.wizard,
        "spawn_monsters": True,
        "fix_moon_phase": plan.fix_moon_phase,
        "policy": plan.policy,
        "policy_seed": plan.policy_seed,
        "max_steps": plan.steps_max,
        "clock": {"frozen": True, "epoch": float(plan.epoch), "date": date(plan.epoch)},
        "observation_keys": KEYS,
        "terminal": [24, 80],
    }


def date(epoch):
    return datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def play(plan, path=None):
    """Plays a plan to its end and records it; gives the number of steps and whether the game ended."""
    from nle import nethack

    import policies

    os.environ["FROZEN_EPOCH"] = str(plan.epoch)
    # A game of its own: the list of scores would show in the next one of the same object.
    game = nethack.Nethack(
        observation_keys=KEYS,
        playername=plan.player,
        ttyrec=None,
        options=[*nethack.NETHACKOPTIONS, *plan.extra_options],
        wizard=plan.wizard,
        fix_moon_phase=plan.fix_moon_phase,
    )
    game.set_initial_seeds(plan.core, plan.disp, plan.reseed, plan.lgen)
    policy = policies.POLICIES[plan.policy](plan.policy_seed)
    recording = Recording(path, header(game, plan))
    arrays = dict(zip(KEYS, game.reset()))
    recording.step(None, arrays, False)
    steps, done = 0, False
    while steps < plan.steps_max and not done:
        key = policy.key(arrays)
        done = game.step(key)[1]
        recording.step(key, arrays, done)
        steps += 1
    recording.close(done)
    game.close()
    return steps, done
