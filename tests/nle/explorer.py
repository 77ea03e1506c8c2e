"""A player that sees the map: walks where it has not been, opens doors, fights, searches, descends."""

import collections
import random

STEPS = {"h": (-1, 0), "j": (0, 1), "k": (0, -1), "l": (1, 0), "y": (-1, -1), "u": (1, -1), "b": (-1, 1), "n": (1, 1)}
WALKABLE = frozenset(".#<>{_\\%*$()[!?/=+\"'`^|-")
THINGS = frozenset("%*$()[!?/=\"")
# NetHack's glyphs: monsters and pets come first, then bodies and objects, then the parts of the map.
MONSTERS_END, PETS_END = 381, 762
MAP_FIRST = 2359
STONE, DOORS = 2359, range(2372, 2376)
WALLS = range(2360, 2371)


class Explorer:
    def __init__(self, seed):
        self._random = random.Random(seed)
        self._visits = collections.Counter()
        self._blocked = set()
        self._step = None
        self._level = None
        self._searched = 0
        self._patience = self._random.choice((60, 150, 400))
        self._queue = []
        self._route = []

    def key(self, arrays):
        """The next key."""
        if self._queue:
            return ord(self._queue.pop(0))
        in_question, in_text, waits = arrays["misc"]
        if waits:
            return ord(self._random.choice("\r\r\r \x1b"))
        if in_text:
            return ord(self._random.choice("ab\r\r\x1b"))
        if in_question:
            return ord(self._answer(bytes(arrays["message"]).split(b"\0")[0].decode("latin-1")))
        return ord(self._command(arrays))

    def _answer(self, question):
        letters = question.rpartition("[")[2].partition("]")[0]
        if "direction" in question:
            return self._random.choice("hjklyubn.<>s")
        choices = [letter for letter in letters.split(" or ")[0] if letter.isalnum() or letter == "$"]
        if "eally" in question or "ontinue" in question:
            return self._random.choice("yn\x1b")
        return self._random.choice(choices or ["\x1b", "y", "n", "\r"])

    def _command(self, arrays):
        status = arrays["blstats"]
        here = (int(status[0]), int(status[1]))
        level = (int(status[23]), int(status[24]))
        if level != self._level:
            self._level, self._searched = level, 0
            self._visits.clear()
            self._blocked.clear()
        if self._step and self._step[0] == here:
            self._blocked.add(self._step)
            self._route = []
        self._step = None
        self._visits[here] += 1
        glyphs, chars = arrays["glyphs"], arrays["chars"]
        return self._need(status) or self._fight(here, glyphs) or self._whim(here, chars) or self._go(here, glyphs, chars)

    def _need(self, status):
        hit_points, most, turn, hunger = int(status[10]), int(status[11]), int(status[20]), int(status[21])
        if hit_points * 4 < most and turn > 300 and self._random.random() < 0.2:
            self._queue = list("y\r\r\r")
            return chr(0x80 | ord("p"))
        if hunger >= 2 and self._random.random() < 0.5:
            return "e"
        return None

    def _fight(self, here, glyphs):
        for letter, place in self._neighbours(here):
            glyph = int(glyphs[place[1], place[0]])
            if glyph < MONSTERS_END and place != here and self._random.random() < 0.8:
                self._queue = [letter]
                return "F"
        return None

    def _whim(self, here, chars):
        draw = self._random.random()
        if draw > 0.06:
            return None
        if draw < 0.02:
            return self._random.choice(",:iosE@")
        return self._random.choice(list("qrzwWTPRadtfxZ^;\\`XA,") + ["\x04", "\x18", "\x0f", "\x12"])

    def _go(self, here, glyphs, chars):
        if self._route and self._route[0][0] == here:
            return self._walk(here)
        self._route = self._search(here, glyphs.ravel().tolist(), chars.tobytes())
        if self._route:
            return self._walk(here)
        self._searched += 1
        if self._searched > self._patience:
            self._searched = 0
            self._visits.clear()
            self._blocked.clear()
        return self._random.choice("sss>") if self._random.random() < 0.8 else self._random.choice("hjklyubn")

    def _walk(self, here):
        letter = self._route.pop(0)[1]
        if letter != ">":
            self._step = (here, letter)
        return letter

    def _neighbours(self, place):
        for letter, (across, down) in STEPS.items():
            column, row = place[0] + across, place[1] + down
            if 0 <= column < 79 and 1 <= row < 21:
                yield letter, (column, row)

    def _value(self, place, glyphs, chars):
        """How much a place draws: stairs down, things, and the edge of what is known."""
        symbol = chr(chars[place[1] * 79 + place[0]])
        if symbol == ">":
            return self._random.random() < 0.7
        if self._visits[place]:
            return False
        return symbol in THINGS or sum(glyphs[y * 79 + x] == STONE for _, (x, y) in self._neighbours(place)) > 2

    def _search(self, here, glyphs, chars):
        """The shortest way to a place that draws: places with the letters that lead on."""
        came = {here: None}
        queue = collections.deque([here])
        while queue:
            place = queue.popleft()
            if place != here and self._value(place, glyphs, chars):
                return self._way(place, came, chars)
            at_door = glyphs[place[1] * 79 + place[0]] in DOORS
            for letter, beside in self._neighbours(place):
                at = beside[1] * 79 + beside[0]
                glyph = glyphs[at]
                if beside in came or glyph in WALLS or glyph == STONE or (place, letter) in self._blocked:
                    continue
                if letter in "yubn" and (at_door or glyph in DOORS):
                    continue
                if glyph < MAP_FIRST or chr(chars[at]) in WALKABLE:
                    came[beside] = (place, letter)
                    queue.append(beside)
        return []

    def _way(self, place, came, chars):
        way = [(place, ">")] if chr(chars[place[1] * 79 + place[0]]) == ">" else []
        while came[place]:
            way.insert(0, came[place])
            place = came[place][0]
        return way
