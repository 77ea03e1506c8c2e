"""The keyboard, by the names that NLE gives its keys.

Each list below reads NAME, blank, key; `^x` is a control key, `M-x` one with the meta bit, SPACE and CR are themselves.
"""

import enum


def M(c):
    """The key with its meta bit."""
    return 0x80 | (ord(c) if isinstance(c, str) else c)


def C(c):
    """The key with Control."""
    return 0x1F & (ord(c) if isinstance(c, str) else c)


def _key(text):
    if text in ("SPACE", "CR"):
        return {"SPACE": 0x20, "CR": 0x0D}[text]
    if text.startswith("M-"):
        return M(text[2:])
    if len(text) == 2 and text[0] == "^":
        return C(text[1])
    return ord(text)


def _keys(name, *lists):
    words = " ".join(lists).split()
    return enum.IntEnum(name, dict(zip(words[::2], map(_key, words[1::2]))), module=__name__)


_CARDINAL, _DIAGONAL = "N k E l S j W h", "NE u SE n SW b NW y"
_CARDINAL_LONGER, _DIAGONAL_LONGER = "N K E L S J W H", "NE U SE N SW B NW Y"

CompassCardinalDirection = _keys("CompassCardinalDirection", _CARDINAL)
CompassIntercardinalDirection = _keys("CompassIntercardinalDirection", _DIAGONAL)
CompassDirection = _keys("CompassDirection", _CARDINAL, _DIAGONAL)
CompassCardinalDirectionLonger = _keys("CompassCardinalDirectionLonger", _CARDINAL_LONGER)
CompassIntercardinalDirectionLonger = _keys("CompassIntercardinalDirectionLonger", _DIAGONAL_LONGER)
CompassDirectionLonger = _keys("CompassDirectionLonger", _CARDINAL_LONGER, _DIAGONAL_LONGER)
MiscDirection = _keys("MiscDirection", "UP < DOWN > WAIT .")
MiscAction = _keys("MiscAction", "MORE CR")
UnsafeActions = _keys("UnsafeActions", "HELP ? PREVMSG ^p")
TextCharacters = _keys(
    "TextCharacters",
    """PLUS + MINUS - SPACE SPACE APOS ' QUOTE " """,
    " ".join(f"NUM_{digit} {digit}" for digit in range(10)),
    "DOLLAR $",
)
Command = _keys(
    "Command",
    "EXTCMD # EXTLIST M-? ADJUST M-a ANNOTATE M-A APPLY a ATTRIBUTES ^x AUTOPICKUP @ CALL C CAST Z CHAT M-c CLOSE c",
    "CONDUCT M-C DIP M-d DROP d DROPTYPE D EAT e ENGRAVE E ENHANCE M-e ESC ^[ FIGHT F FIRE f FORCE M-f GLANCE ;",
    "HISTORY V INVENTORY i INVENTTYPE I INVOKE M-i JUMP M-j KICK ^d KNOWN \\ KNOWNCLASS ` LOOK : LOOT M-l",
    "MONSTER M-m MOVE m MOVEFAR M OFFER M-o OPEN o OPTIONS O OVERVIEW ^o PAY p PICKUP , PRAY M-p PUTON P QUAFF q",
    "QUIT M-q QUIVER Q READ r REDRAW ^r REMOVE R RIDE M-R RUB M-r RUSH g RUSH2 G SAVE S SEARCH s SEEALL *",
    """SEEAMULET " SEEARMOR [ SEEGOLD $ SEERINGS = SEESPELLS + SEETOOLS ( SEETRAP ^ SEEWEAPON ) SHELL ! SIT M-s""",
    "SWAP x TAKEOFF T TAKEOFFALL A TELEPORT ^t THROW t TIP M-T TRAVEL _ TURN M-t TWOWEAPON X UNTRAP M-u",
    "VERSION M-v VERSIONSHORT v WEAR W WHATDOES & WHATIS / WIELD w WIPE M-w ZAP z",
)
WizardCommand = _keys(
    "WizardCommand",
    "WIZDETECT ^e WIZGENESIS ^g WIZIDENTIFY ^i WIZLEVELPORT ^v WIZMAP ^f WIZWHERE ^o WIZWISH ^w",
)

ACTIONS = (
    *CompassDirection,
    *CompassDirectionLonger,
    *MiscDirection,
    *MiscAction,
    *Command,
    *TextCharacters,
)

NON_RL_ACTIONS = tuple(
    Command[name]
    for name in (
        "ANNOTATE AUTOPICKUP CONDUCT EXTCMD EXTLIST GLANCE HISTORY KNOWN KNOWNCLASS OPTIONS OVERVIEW TELEPORT QUIT "
        "REDRAW SAVE SEEALL TRAVEL VERSION WHATDOES WHATIS"
    ).split()
)


def _useful():
    left_out = {*NON_RL_ACTIONS, *TextCharacters}
    actions = list(ACTIONS)
    # A key that has two names is left out once for each.
    for action in (*NON_RL_ACTIONS, *TextCharacters):
        if action in left_out:
            actions.remove(action)
    return (*actions, TextCharacters.SPACE)


USEFUL_ACTIONS = _useful()

_NAMES = {}
for _kind in (
    CompassDirection,
    CompassDirectionLonger,
    MiscDirection,
    MiscAction,
    Command,
    UnsafeActions,
    TextCharacters,
):
    for _action in _kind:
        _NAMES.setdefault(_action.value, f"{_kind.__name__}.{_action.name}")


def action_id_to_type(action):
    """The name of a key, as `Kind.NAME`."""
    return _NAMES[action]
