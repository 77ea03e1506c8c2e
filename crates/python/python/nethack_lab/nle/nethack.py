"""The game itself, with the methods of NLE's `Nethack`."""

import copy as copy_module
import operator

import numpy as np

from nethack_lab import _checks, _native, _seeds
from nethack_lab.nle import constants

DUNGEON_SHAPE = (constants.ROWNO, constants.COLNO - 1)
TILE_SHAPE = (constants.TILE_Y, constants.TILE_X, constants.TILE_Z)
TILE_RENDER_SHAPE = (DUNGEON_SHAPE[0] * TILE_SHAPE[0], DUNGEON_SHAPE[1] * TILE_SHAPE[1], TILE_SHAPE[2])
BLSTATS_SHAPE = (constants.NLE_BLSTATS_SIZE,)
MESSAGE_SHAPE = (constants.NLE_MESSAGE_SIZE,)
PROGRAM_STATE_SHAPE = (constants.NLE_PROGRAM_STATE_SIZE,)
INTERNAL_SHAPE = (constants.NLE_INTERNAL_SIZE,)
MISC_SHAPE = (constants.NLE_MISC_SIZE,)
INV_SIZE = (constants.NLE_INVENTORY_SIZE,)
INV_STRS_SHAPE = (constants.NLE_INVENTORY_SIZE, constants.NLE_INVENTORY_STR_LENGTH)
TERMINAL_SHAPE = (constants.NLE_TERM_LI, constants.NLE_TERM_CO)
TTYREC_VERSION = constants.TTYREC_VERSION

KEYS = (
    "glyphs", "chars", "colors", "specials", "blstats", "message", "program_state", "internal", "inv_glyphs",
    "inv_letters", "inv_oclasses", "inv_strs", "tty_chars", "tty_colors", "tty_cursor", "misc",
)  # fmt: skip


def _description(key):
    shape, dtype = _native.array_description(key)
    return {"shape": tuple(shape), "dtype": np.dtype(dtype).type}


OBSERVATION_DESC = {key: _description(key) for key in KEYS}
NETHACKOPTIONS = tuple(_native.NLE_OPTIONS.split(","))


def tty_render(chars, colors, cursor=None):
    """Characters and colours as text with terminal escapes; the cursor's place is underlined."""
    rows = []
    place = (-1, -1) if cursor is None else tuple(int(at) for at in cursor)
    for row, (line, hues) in enumerate(zip(chars.tolist(), colors.tolist())):
        cells = [f"\033[{int(bool(hue & 8))};3{hue & ~8}m{chr(char)}" for char, hue in zip(line, hues)]
        if row == place[0] and 0 <= place[1] < len(cells):
            cells[place[1]] = f"\033[4m{cells[place[1]]}\033[0m"
        rows.append("\n" + "".join(cells))
    return "".join(rows) + "\033[0m"


def options_text(options, playername, wizard=False):
    """The list of options that a game is begun with, as NLE makes it."""
    if not isinstance(playername, str):
        raise TypeError(f"playername {playername!r} is no text")
    options = NETHACKOPTIONS if options is None else _checks.names(options, "options")
    whole = [*options, f"name:{playername}"]
    if playername.split("-", 1)[1:] == ["@"]:
        for key in ("race", "gender", "align"):
            if not any(option.startswith(f"{key}:") for option in whole):
                whole.append(f"{key}:random")
    if wizard:
        whole.append("playmode:debug")
    for option in whole:
        if "," in option:
            raise ValueError(f"option {option!r} holds a comma: give each option for itself")
    return whole


_CLOSED = "the game is closed: make another environment"


class _Closed:
    """Stands where a game was."""

    def __getattr__(self, name):
        raise RuntimeError(_CLOSED)


class Nethack:
    """A game that takes keys and shows arrays.

    As in NLE, the arrays of one object are written again at each step unless `copy` is true. A game that was not
    seeded draws its seeds from the operating system; `get_current_seeds` tells them.
    """

    def __init__(
        self,
        observation_keys=KEYS,
        playername="Agent-mon-hum-neu-mal",
        ttyrec=None,
        options=None,
        copy=False,
        wizard=False,
        hackdir=None,
        spawn_monsters=True,
        scoreprefix="",
        fix_moon_phase=False,
        clock=_native.DEFAULT_CLOCK,
    ):
        if ttyrec is not None or scoreprefix:
            raise ValueError("no ttyrec or score file is written: keep movie() and export it with `nethack-lab movie`")
        if hackdir is not None:
            raise ValueError("hackdir must be None: the game's data is part of the ROM")
        if not spawn_monsters:
            raise ValueError("spawn_monsters=False is not imitated: it is a patch to NetHack's source")
        self.options = options_text(options, playername, wizard)
        self._keys = _checks.observation_keys(observation_keys)
        self.game = _native.Game(list(self._keys), list(self._keys))
        self._copy = copy
        self._fixed = _checks.fixed(self.options, wizard, fix_moon_phase, clock)
        self._next_seeds = self._seeds = None
        self._shared = ()
        if not copy:
            self._share()

    def _share(self):
        """Makes the arrays that are written again at each step."""
        self._shared = tuple(np.zeros(**OBSERVATION_DESC[key]) for key in self._keys)
        self.game.bind([list(self._shared)])

    def _seen(self):
        if self._copy:
            return self.game.observe()[0]
        self.game.fill()
        return self._shared

    def power_on(self, seeds, known=False):
        """Begins a game with these four seeds; with `known` also passes what stands before the first command."""
        core, disp, reseed, lgen = seeds
        self.game.power_on(dict(self._fixed, core=core, disp=disp, reseed=reseed, lgen=lgen), known)
        self._seeds = seeds

    def load(self, native):
        """Goes to a saved game, given as `State.native`."""
        self.game.load(native)
        self._seeds = self.game.current_seeds

    def reset(self, new_ttyrec=None, options=None):
        """Begins a game, with the seeds that were set for it or with the operating system's."""
        if new_ttyrec is not None:
            raise ValueError("no ttyrec is written: keep movie() and export it with `nethack-lab movie`")
        if options:
            raise ValueError(f"options {sorted(options)} are not known here")
        seeds, self._next_seeds = self._next_seeds, None
        if seeds is None:
            core, disp = np.random.SeedSequence().generate_state(2, np.uint64).tolist()
            seeds = (core, disp, False, None)
        self.power_on(seeds)
        return self._seen()

    def step(self, action):
        """Presses a key; -1 and 0 are ESC as in NLE."""
        try:
            key = operator.index(action)
        except TypeError:
            raise TypeError(f"{action!r} is no key: keys are the bytes 1 to 255") from None
        if key in (-1, 0):
            key = 27
        if not 0 < key < 256:
            raise ValueError(f"{key} is no key: keys are the bytes 1 to 255")
        if self._copy:
            seen, _, done = self.game.step(key, False, True, False)
            return seen, done
        done = self.game.step_into(key, False, True, False)
        return self._shared, done

    def set_initial_seeds(self, core, disp, reseed=False, lgen=None):
        """Sets the seeds of the next game only."""
        self._next_seeds = _seeds.all_seeds(core, disp, reseed, lgen)

    def get_current_seeds(self):
        """The seeds that the game was given last: core, disp, reseed, lgen."""
        return self._seeds

    def set_current_seeds(self, core=None, disp=None, reseed=False, lgen=None):
        """Gives the running game's generators new seeds; the movie holds it."""
        if lgen is not None or reseed:
            raise ValueError("a running game takes new core and disp seeds only")
        if core is None and disp is None:
            return self._seeds
        if core is None or disp is None:
            raise ValueError("give both core and disp: their present states are no seeds")
        core, disp = _seeds.whole(core, "core"), _seeds.whole(disp, "disp")
        self.game.reseed(core, disp)
        self._seeds = (core, disp, *self._seeds[2:])
        return self._seeds

    def in_normal_game(self):
        """Whether there is a hero: not before the game has begun, not once it is over."""
        return self.game.in_normal_game

    def how_done(self):
        """How the game ended, of `game_end_types`."""
        return constants.game_end_types(self.game.how)

    def fork(self):
        """Another game that stands where this one does."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.game = self.game.fork()
        if not self._copy:
            other._share()
        return other

    __copy__ = fork

    def __deepcopy__(self, memo):
        other = memo[id(self)] = self.fork()
        return other

    def __getstate__(self):
        self.still_open()
        return dict(self.__dict__, _shared=())

    def __setstate__(self, fields):
        self.__dict__.update(fields)
        if not self._copy:
            self._share()

    def still_open(self):
        """Refuses a game that is closed."""
        if isinstance(self.game, _Closed):
            raise RuntimeError(_CLOSED)

    def movie(self):
        """The movie, as bytes, from power-on to here."""
        return self.game.movie()

    def close(self):
        """Lets the game go."""
        self.game = _Closed()
