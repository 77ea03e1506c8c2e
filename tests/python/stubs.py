"""Writes the stubs of modules whose names are made by program: python tests/python/stubs.py FOLDER-OF-NETHACK_LAB."""

import enum
import inspect
import pathlib
import sys

from nethack_lab.nle import actions, constants, glyphs


def _enumerations(module):
    for name, kind in vars(module).items():
        if isinstance(kind, enum.EnumMeta) and not name.startswith("_"):
            yield f"class {name}(enum.IntEnum):"
            yield from (f"    {key} = {int(value)}" for key, value in kind.__members__.items())
            yield ""


def actions_stub():
    yield from ("import enum", "")
    yield from _enumerations(actions)
    yield from (f"{name}: tuple[enum.IntEnum, ...]" for name in ("ACTIONS", "NON_RL_ACTIONS", "USEFUL_ACTIONS"))
    yield from ("", "def M(c: str | int) -> int: ...", "def C(c: str | int) -> int: ...")
    yield "def action_id_to_type(action: int) -> str: ..."


def constants_stub():
    yield from ("import enum", "")
    yield from _enumerations(constants)
    for name, value in vars(constants).items():
        if isinstance(value, enum.Enum):
            yield f"{name} = game_end_types.{name}"
        elif isinstance(value, int) and not name.startswith("_"):
            yield f"{name}: int"


def glyphs_stub():
    yield from ("from typing import Any", "", "from numpy.typing import ArrayLike", "")
    for name, value in vars(glyphs).items():
        if inspect.isfunction(value) and name.startswith("glyph_"):
            yield f"def {name}(glyph: ArrayLike) -> Any: ..."


STUBS = {"actions.pyi": actions_stub, "constants.pyi": constants_stub, "glyphs.pyi": glyphs_stub}


def text(lines):
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name, lines in STUBS.items():
        (pathlib.Path(sys.argv[1]) / "nle" / name).write_text(text(lines()))
