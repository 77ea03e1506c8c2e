"""Ways to choose keys. Each depends only on its seed and on what it sees, so a plan plays the same game again."""

import random

from explorer import Explorer

MOVES = b"hjklyubn"
SAFE = b"\r \x1b"


def meta(letter):
    return 0x80 | ord(letter)


class Uniform:
    """Any byte with the same chance: most of the keyboard's dark corners, little play."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def key(self, _arrays):
        return self._random.randrange(256)


class Weighted:
    """Moves for the most part, then commands, letters that answer questions, and now and then any byte."""

    COMMANDS = b"aAcCdDeEfFiIkmopPqQrRsStTvVwWxXzZ<>,:;_\\/?$*+^#.&"
    COUNTS = b"0123456789"

    def __init__(self, seed):
        self._random = random.Random(seed)

    def key(self, _arrays):
        draw = self._random.random()
        choose = self._random.choice
        if draw < 0.50:
            return choose(MOVES)
        if draw < 0.56:
            return choose(MOVES.upper())
        if draw < 0.70:
            return choose(self.COMMANDS)
        if draw < 0.78:
            return choose(SAFE)
        if draw < 0.88:
            return choose(b"abcdefghijklmnopqrstuvwxyzABCDEFG$-,yn")
        if draw < 0.91:
            return choose(self.COUNTS)
        if draw < 0.95:
            return self._random.randrange(1, 32)
        if draw < 0.98:
            return meta(chr(self._random.randrange(33, 127)))
        return self._random.randrange(256)


class Busy:
    """An explorer that loses patience: a burst of weighted keys now and then."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._explorer = Explorer(seed + 1)
        self._weighted = Weighted(seed + 2)
        self._burst = 0

    def key(self, arrays):
        if self._burst == 0 and self._random.random() < 0.02:
            self._burst = self._random.randrange(2, 25)
        if self._burst:
            self._burst -= 1
            return self._weighted.key(arrays)
        return self._explorer.key(arrays)


class Debug:
    """Debug mode: jumps between levels, wishes, makes monsters, changes shape, and plays on between."""

    CREATURES = "owlbear soldier ant cockatrice floating eye gelatinous cube leprechaun nymph black pudding lich".split()
    THINGS = (
        "3 cursed scrolls of teleportation", "blessed greased +3 gray dragon scale mail", "2 potions of hallucination",
        "wand of digging", "figurine of an archon", "tin of spinach", "egg", "bag of holding", "saddle", "magic marker",
        "7 candles", "blessed tinning kit", "spellbook of magic mapping", "statue of a wizard", "potion of blindness",
        "wand of create monster", "crystal ball", "cursed potion of levitation", "ring of polymorph", "lit oil lamp",
    )

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._busy = Busy(seed + 1)
        self._keys = []

    def _script(self):
        pick = self._random.choice
        return pick(
            [
                lambda: b"\x16" + str(self._random.randrange(-3, 52)).encode() + b"\r",
                lambda: b"\x17" + pick(self.THINGS).encode() + b"\r",
                lambda: b"\x07" + pick(self.CREATURES).encode() + b"\r",
                lambda: b"\x06",
                lambda: b"\x05",
                lambda: b"\x09\r",
                lambda: b"\x14",
                lambda: b"#levelchange\r" + str(self._random.randrange(1, 31)).encode() + b"\r",
                lambda: b"#polyself\r" + pick(("xorn", "vampire lord", "green slime", "hill orc")).encode() + b"\r",
                lambda: b"\x0f",
            ]
        )()

    def key(self, arrays):
        if not self._keys and self._random.random() < 0.03:
            self._keys = list(self._script())
        if arrays["misc"][2] and self._random.random() < 0.9:
            return ord("\r")
        return self._keys.pop(0) if self._keys else self._busy.key(arrays)


POLICIES = {"uniform": Uniform, "weighted": Weighted, "explorer": Explorer, "busy": Busy, "debug": Debug}
