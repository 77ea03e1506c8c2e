"""NetHack's own tables of monsters, things and symbols, read from the ROM."""

import functools
import struct

from nethack_lab import _native


def _text(address):
    """The text at an address of the ROM."""
    if address == 0:
        return None
    length = 16
    while True:
        text, end, _ = _native.rom_read(address, length).partition(b"\0")
        if end:
            return text.decode("latin-1")
        length += 16


class _Table:
    """The entries of a table of structs."""

    def __init__(self, symbol, layout, named):
        self._symbol = symbol
        self._struct = struct.Struct(layout)
        self._fields = named.split()

    @functools.cached_property
    def entries(self):
        address, size = _native.rom_symbol(self._symbol)
        content = _native.rom_read(address, size - size % self._struct.size)
        return [dict(zip(self._fields, values)) for values in self._struct.iter_unpack(content)]


# Pads are single `x`, so that the fields stand where x86-64's C puts them; attacks are skipped.
_MONSTERS = _Table(
    "mons",
    "<QcbbbbbH24xHHBBBBQQHBBxxxx",
    "mname mlet mlevel mmove ac mr maligntyp geno cwt cnutrit msound msize mresists mconveys mflags1 mflags2 mflags3 "
    "difficulty mcolor",
)
_THINGS = _Table(
    "objects",
    "<hhxxxxQ3xbBcbBhHhbbbbHxxxx",
    "oc_name_idx oc_descr_idx oc_uname oc_subtyp oc_oprop oc_class oc_delay oc_color oc_prob oc_weight oc_cost "
    "oc_wsdam oc_wldam oc_oc1 oc_oc2 oc_nutrition",
)
_NAMES = _Table("obj_descr", "<QQ", "oc_name oc_descr")
_SYMBOLS = _Table("defsyms", "<B7xQB7x", "sym explanation color")
_MONSTER_CLASSES = _Table("def_monsyms", "<c7xQQ", "sym name explain")
_THING_CLASSES = _Table("def_oc_syms", "<c7xQQ", "sym name explain")


def _entry(table, index, count=None):
    entries = table.entries if count is None else table.entries[:count]
    if not 0 <= index < len(entries):
        raise IndexError(f"should be between 0 and {len(entries)} but got {index}")
    return entries[index]


class _Entry:
    """An entry of a table; equal ones are the same."""

    _texts = ()
    _characters = ()

    def _take(self, fields):
        for name, value in fields.items():
            if name in self._texts:
                value = _text(value)
            elif name in self._characters:
                value = value.decode("latin-1")
            setattr(self, name, value)


class permonst(_Entry):
    """A kind of monster."""

    _texts = ("mname",)
    _characters = ("mlet",)

    def __init__(self, index):
        # The table's last entry only ends it.
        self._take(_entry(_MONSTERS, index, len(_MONSTERS.entries) - 1))


class objclass(_Entry):
    """A kind of thing."""

    _characters = ("oc_class",)

    def __init__(self, index):
        self._take(_entry(_THINGS, index, len(_THINGS.entries) - 1))
        # The game numbers them when it begins.
        self.oc_name_idx = self.oc_descr_idx = index


class objdescr(_Entry):
    """Name and looks of a kind of thing."""

    _texts = ("oc_name", "oc_descr")

    @classmethod
    def from_idx(cls, index):
        made = cls.__new__(cls)
        made._take(_entry(_NAMES, index, len(_THINGS.entries) - 1))
        return made


class symdef(_Entry):
    """A symbol of the map."""

    _texts = ("explanation",)

    @classmethod
    def from_idx(cls, index):
        made = cls.__new__(cls)
        made._take(_entry(_SYMBOLS, index))
        return made


class class_sym(_Entry):
    """A class of monsters or things."""

    _texts = ("name", "explain")
    _characters = ("sym",)

    @classmethod
    def from_mlet(cls, letter):
        made = cls.__new__(cls)
        made._take(_entry(_MONSTER_CLASSES, ord(letter)))
        return made

    @classmethod
    def from_oc_class(cls, letter):
        made = cls.__new__(cls)
        made._take(_entry(_THING_CLASSES, ord(letter)))
        return made


def OBJ_NAME(thing):
    """What a kind of thing is called once it is known."""
    return objdescr.from_idx(thing.oc_name_idx).oc_name


def OBJ_DESCR(thing):
    """What a kind of thing looks like."""
    return objdescr.from_idx(thing.oc_descr_idx).oc_descr


def thing_named(name):
    """The number of the first kind of thing of that name."""
    return next(index for index in range(NUM_OBJECTS) if objdescr.from_idx(index).oc_name == name)


NUMMONS = len(_MONSTERS.entries) - 1
NUM_OBJECTS = len(_THINGS.entries) - 1
MAXOCLASSES = len(_THING_CLASSES.entries)
MAXMCLASSES = len(_MONSTER_CLASSES.entries)
