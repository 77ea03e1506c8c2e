"""What a glyph is, for one glyph or an array of them."""

import numpy as np

from nethack_lab.nle.constants import (
    GLYPH_BODY_OFF,
    GLYPH_CMAP_OFF,
    GLYPH_DETECT_OFF,
    GLYPH_INVISIBLE,
    GLYPH_MON_OFF,
    GLYPH_OBJ_OFF,
    GLYPH_PET_OFF,
    GLYPH_RIDDEN_OFF,
    GLYPH_STATUE_OFF,
    GLYPH_SWALLOW_OFF,
    GLYPH_WARNING_OFF,
    MAXPCHARS,
    NO_GLYPH,
    NUM_OBJECTS,
    NUMMONS,
    WARNCOUNT,
)
from nethack_lab.nle.tables import thing_named

_CORPSE, _STATUE = thing_named("corpse"), thing_named("statue")
_FIRST_TRAP, _TRAPS = GLYPH_CMAP_OFF + 42, 24


def _whole(numbers):
    return np.asarray(numbers, dtype=np.int32)


def _given(result):
    """An array as it is, a single value as Python's own."""
    return result if np.ndim(result) else np.asarray(result).item()


def _group(start, count, what):
    def is_one(glyph):
        glyph = _whole(glyph)
        return _given((glyph >= start) & (glyph < start + count))

    is_one.__doc__ = f"Whether a glyph shows {what}."
    return is_one


glyph_is_normal_monster = _group(GLYPH_MON_OFF, NUMMONS, "a monster that is no pet, not ridden, not only sensed")
glyph_is_pet = _group(GLYPH_PET_OFF, NUMMONS, "a pet")
glyph_is_invisible = _group(GLYPH_INVISIBLE, 1, "a remembered unseen monster")
glyph_is_detected_monster = _group(GLYPH_DETECT_OFF, NUMMONS, "a detected monster")
glyph_is_body = _group(GLYPH_BODY_OFF, NUMMONS, "a corpse")
glyph_is_ridden_monster = _group(GLYPH_RIDDEN_OFF, NUMMONS, "a ridden monster")
glyph_is_normal_object = _group(GLYPH_OBJ_OFF, NUM_OBJECTS, "a thing that is neither corpse nor statue")
glyph_is_cmap = _group(GLYPH_CMAP_OFF, MAXPCHARS, "a feature of the dungeon")
glyph_is_trap = _group(_FIRST_TRAP, _TRAPS, "a trap")
glyph_is_swallow = _group(GLYPH_SWALLOW_OFF, 8 * NUMMONS, "the inside of a monster")
glyph_is_warning = _group(GLYPH_WARNING_OFF, WARNCOUNT, "a warning")
glyph_is_statue = _group(GLYPH_STATUE_OFF, NUMMONS, "a statue")


def _any_of(kinds, what):
    def is_one(glyph):
        return _given(np.logical_or.reduce([np.asarray(kind(glyph)) for kind in kinds]))

    is_one.__doc__ = f"Whether a glyph shows {what}."
    return is_one


glyph_is_monster = _any_of(
    (glyph_is_normal_monster, glyph_is_pet, glyph_is_ridden_monster, glyph_is_detected_monster), "a monster"
)
glyph_is_object = _any_of((glyph_is_normal_object, glyph_is_statue, glyph_is_body), "a thing")


def _to(cases, otherwise, what):
    def value(glyph):
        glyph = _whole(glyph)
        conditions = [np.asarray(kind(glyph)) for kind, _ in cases]
        return _given(np.select(conditions, [made(glyph) for _, made in cases], otherwise).astype(np.int32))

    value.__doc__ = f"The number of {what} that a glyph shows; {otherwise} where it shows none."
    return value


glyph_to_mon = _to(
    (
        (glyph_is_normal_monster, lambda glyph: glyph - GLYPH_MON_OFF),
        (glyph_is_pet, lambda glyph: glyph - GLYPH_PET_OFF),
        (glyph_is_detected_monster, lambda glyph: glyph - GLYPH_DETECT_OFF),
        (glyph_is_ridden_monster, lambda glyph: glyph - GLYPH_RIDDEN_OFF),
        (glyph_is_statue, lambda glyph: glyph - GLYPH_STATUE_OFF),
    ),
    NO_GLYPH,
    "the monster",
)
glyph_to_obj = _to(
    (
        (glyph_is_body, lambda glyph: np.full_like(glyph, _CORPSE)),
        (glyph_is_statue, lambda glyph: np.full_like(glyph, _STATUE)),
        (glyph_is_normal_object, lambda glyph: glyph - GLYPH_OBJ_OFF),
    ),
    NO_GLYPH,
    "the thing",
)
glyph_to_trap = _to(((glyph_is_trap, lambda glyph: glyph - _FIRST_TRAP + 1),), NO_GLYPH, "the trap")
glyph_to_cmap = _to(((glyph_is_cmap, lambda glyph: glyph - GLYPH_CMAP_OFF),), NO_GLYPH, "the dungeon's feature")
glyph_to_swallow = _to(
    ((glyph_is_swallow, lambda glyph: (glyph - GLYPH_SWALLOW_OFF) & 7),), 0, "the part of the inside"
)
glyph_to_warning = _to(((glyph_is_warning, lambda glyph: glyph - GLYPH_WARNING_OFF),), NO_GLYPH, "the warning")
