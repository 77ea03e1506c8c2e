"""Seeds: whole numbers of 64 bits, taken as they are or refused."""

import operator

import numpy as np

SEED_MAX = 2**64 - 1
# Told apart from the core seed as everywhere in NetHack Lab.
_DISPLAY_MARK = 0x9E3779B97F4A7C15


def whole(seed, what="seed"):
    """A seed as an int; refuses what is no whole number from 0 to 2**64 - 1."""
    if isinstance(seed, bool):
        raise TypeError(f"{what} {seed!r} is no number: give a whole number from 0 to 2**64 - 1")
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(f"{what} {seed!r} is no whole number: give one from 0 to 2**64 - 1") from None
    if not 0 <= number <= SEED_MAX:
        raise ValueError(f"{what} {number} is out of range: give a whole number from 0 to 2**64 - 1")
    return number


def display_seed(core):
    """The display seed that goes with a core seed when none is given."""
    return core ^ _DISPLAY_MARK


def several(seeds):
    """The two to four of NLE as they stand in a list, checked."""
    if isinstance(seeds, (str, bytes, dict)) or not hasattr(seeds, "__len__") or not 2 <= len(seeds) <= 4:
        raise TypeError(
            f"seeds {seeds!r} are none: give (core, disp), (core, disp, reseed) or (core, disp, reseed, lgen)"
        )
    return all_seeds(*seeds)


def pair(seeds):
    """A core and a display seed, checked."""
    if isinstance(seeds, (str, bytes, dict)) or not hasattr(seeds, "__len__") or len(seeds) != 2:
        raise TypeError(f"seeds {seeds!r} are none: give a pair (core, disp)")
    return whole(seeds[0], "core"), whole(seeds[1], "disp")


def all_seeds(core, disp, reseed=False, lgen=None):
    """The four of NLE, checked."""
    if not isinstance(reseed, (bool, int, np.bool_)):
        raise TypeError(f"reseed {reseed!r} is neither True nor False")
    return whole(core, "core"), whole(disp, "disp"), bool(reseed), None if lgen is None else whole(lgen, "lgen")
