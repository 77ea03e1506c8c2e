"""The names of `nle.nethack`, held against NLE's own."""

import enum

import numpy as np
import pytest

from nethack_lab import nle as ours

theirs = pytest.importorskip("nle.nethack")

# What Python's import machinery and NLE's loops leave in its module, and tiles, which are not drawn here.
LEFT_OUT = {"action", "actions", "enum", "enum_class", "nethack", "glyph2tile"}
NAMES = sorted(name for name in dir(theirs) if not name.startswith("_") and name not in LEFT_OUT)
VALUES = [name for name in NAMES if isinstance(getattr(theirs, name), (int, tuple)) and name != "OBSERVATION_DESC"]
GLYPHS = np.arange(-10, ours.MAX_GLYPH + 100)


def test_every_name_is_there():
    assert len(NAMES) > 180
    assert [name for name in NAMES if not hasattr(ours, name)] == []


def plain(value):
    if isinstance(value, enum.Enum):
        return type(value).__name__, value.name, int(value)
    if isinstance(value, tuple):
        return tuple(plain(one) for one in value)
    return value


@pytest.mark.parametrize("name", VALUES)
def test_values_are_the_same(name):
    assert plain(getattr(ours, name)) == plain(getattr(theirs, name))


def test_enumerations_are_the_same():
    kinds = [name for name in NAMES if isinstance(getattr(theirs, name), enum.EnumMeta)]
    assert len(kinds) == 12
    for name in kinds:
        one, other = getattr(ours, name).__members__, getattr(theirs, name).__members__
        assert [(key, int(value)) for key, value in one.items()] == [(key, int(value)) for key, value in other.items()]
    for name, value in ours.game_end_types.__members__.items():
        assert int(getattr(theirs, name)) == value == getattr(ours, name)
    for key in set(ours.ACTIONS):
        assert ours.action_id_to_type(key) == theirs.action_id_to_type(key)
    assert (ours.M("a"), ours.C("a"), ours.M(97)) == (theirs.M("a"), theirs.C("a"), theirs.M(97))


def test_observations_are_described_the_same():
    described = {name: dict(value) for name, value in theirs.OBSERVATION_DESC.items() if name != "screen_descriptions"}
    assert {name: dict(value) for name, value in ours.OBSERVATION_DESC.items()} == described


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(("glyph_is_", "glyph_to_"))])
def test_glyphs_are_read_the_same(name):
    one, other = getattr(ours, name), getattr(theirs, name)
    assert np.array_equal(one(GLYPHS), other(GLYPHS))
    for glyph in (0, 400, 800, 2359, 2400, 5900, 5976):
        assert one(glyph) == other(glyph) and type(one(glyph)) is type(other(glyph))
    table = GLYPHS[:6000].reshape(60, 100)
    assert one(table).shape == table.shape


@pytest.mark.parametrize(
    "kind, count",
    [("permonst", ours.NUMMONS), ("objclass", ours.NUM_OBJECTS), ("objdescr", ours.NUM_OBJECTS), ("symdef", 87)],
)
def test_tables_are_the_same(kind, count):
    def made(module, index):
        found = getattr(module, kind)
        return (found.from_idx if hasattr(found, "from_idx") else found)(index)

    fields = [name for name in dir(made(theirs, 0)) if not name.startswith("_") and name != "from_idx"]
    assert len(fields) > 1
    for index in range(count):
        one, other = made(ours, index), made(theirs, index)
        for field in fields:
            assert getattr(one, field) == getattr(other, field), (kind, index, field)
    for index in (-1, 10_000):
        with pytest.raises((IndexError, ValueError, TypeError)):
            made(ours, index)


def test_names_and_looks_of_things():
    for index in range(ours.NUM_OBJECTS):
        for name in ("OBJ_NAME", "OBJ_DESCR"):
            one, other = (getattr(module, name)(module.objclass(index)) for module in (ours, theirs))
            assert one == other


def test_classes():
    for letter in range(1, ours.MAXMCLASSES):
        one, other = (module.class_sym.from_mlet(chr(letter)) for module in (ours, theirs))
        assert (one.sym, one.name, one.explain) == (other.sym, other.name, other.explain)
    for letter in range(1, ours.MAXOCLASSES):
        one, other = (module.class_sym.from_oc_class(chr(letter)) for module in (ours, theirs))
        assert (one.sym, one.name, one.explain) == (other.sym, other.name, other.explain)


def test_terminals_are_rendered_the_same():
    source = np.random.default_rng(1)
    chars = source.integers(32, 127, (24, 80)).astype(np.uint8)
    colors = source.integers(0, 32, (24, 80)).astype(np.int8)
    for cursor in (None, (3, 7), np.array([23, 79], np.uint8)):
        assert ours.tty_render(chars, colors, cursor) == theirs.tty_render(chars, colors, cursor)
