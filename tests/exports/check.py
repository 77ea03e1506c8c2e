"""Exports of golden movies, opened by programs and libraries that others wrote.

ttyrec: Debian's ttyplay and ttytime, Perl's Term::TtyRec::Plus; asciicast: asciinema; both through pyte, a terminal
emulator; PNG: Pillow. Frame counts and last screens must be what `movie info` and `movie show` say.

Usage: check.py EXECUTABLE
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pyte
from asciinema import asciicast
from PIL import Image

TOP = Path(__file__).resolve().parents[2]
MOVIES = ["samurai", "wizard", "healer"]
COLUMNS, ROWS = 80, 24
# What pyte calls the terminal's sixteen colours, in their order.
COLORS = ["black", "red", "green", "brown", "blue", "magenta", "cyan", "white"]
COLORS += ["bright" + name for name in COLORS]
COUNT_FRAMES = """
my $recording = Term::TtyRec::Plus->new(infile => $ARGV[0]);
my ($frames, $last) = (0, 0);
while (my $frame = eval { $recording->next_frame }) { $frames++; $last = $frame->{timestamp} }
print "$frames $last\n";
"""


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def lab(*arguments):
    return run(PROGRAM, *arguments).decode()


def perl_frames(path):
    frames, last = run("perl", "-MTerm::TtyRec::Plus", "-e", COUNT_FRAMES, path).split()
    return int(frames), float(last)


def terminal(data):
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    stream.feed(data)
    return screen


def rows(screen):
    return [row.rstrip() for row in screen.display]


def payloads(data):
    """The frames of a ttyrec, as the format has them."""
    found, at = [], 0
    while at < len(data):
        _, _, length = struct.unpack_from("<III", data, at)
        found.append(data[at + 12 : at + 12 + length])
        at += 12 + length
    return found


def cast_events(path, kind):
    with asciicast.open_from_url(str(path)) as recording:
        yield from recording.events(kind)


def hex_color(text):
    return tuple(int(text[at : at + 2], 16) for at in (1, 3, 5))


class Exports(unittest.TestCase):
    """All exports of three movies, made once."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.made = {}
        for name in MOVIES:
            out = Path(cls.folder.name) / name
            movie = TOP / "movies" / f"{name}.movie"
            paths = {kind: f"{out}.{kind}" for kind in ("ttyrec", "cast", "png", "text")}
            lab("movie", "export", movie, *(part for kind in paths for part in (f"--{kind}", paths[kind])), "--keys")
            lab("movie", "export", movie, "--png", f"{out}.small.png", "--scale", "1")
            inputs = json.loads(lab("movie", "info", movie, "--json"))["inputs"]
            shown = lab("movie", "show", movie).split("\n")[1 : ROWS + 1]
            cls.made[name] = {"inputs": inputs, "shown": shown, "small": f"{out}.small.png", **paths}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def each(self):
        for name, made in self.made.items():
            with self.subTest(movie=name):
                yield made

    def test_a_ttyrec_has_a_frame_for_each_boundary_and_lasts_as_long_as_it_says(self):
        for made in self.each():
            frames, last = perl_frames(made["ttyrec"])
            self.assertEqual(frames, made["inputs"] + 1)
            self.assertAlmostEqual(last, made["inputs"] / 10, places=5)
            self.assertEqual(int(run("ttytime", made["ttyrec"]).split()[0]), made["inputs"] // 10)

    def test_a_ttyrec_player_ends_at_the_last_screen(self):
        for made in self.each():
            self.assertEqual(rows(terminal(run("ttyplay", "-n", made["ttyrec"]))), made["shown"])

    def test_a_cast_has_a_frame_for_each_boundary_and_its_keys(self):
        for made in self.each():
            events = list(cast_events(made["cast"], "o"))
            self.assertEqual(len(events), made["inputs"] + 1)
            self.assertEqual([event[0] for event in events], [number / 10 for number in range(len(events))])
            self.assertEqual(len(list(cast_events(made["cast"], "i"))), made["inputs"])

    def test_asciinema_ends_at_the_last_screen(self):
        for made in self.each():
            shown = terminal(run(sys.executable, "-m", "asciinema", "cat", made["cast"]))
            self.assertEqual(rows(shown), made["shown"])

    def test_both_recordings_show_the_same_cells_on_the_way(self):
        for made in self.each():
            first, second = (pyte.Screen(COLUMNS, ROWS) for _ in range(2))
            one, other = pyte.ByteStream(first), pyte.Stream(second)
            frames = payloads(Path(made["ttyrec"]).read_bytes())
            for number, (frame, event) in enumerate(zip(frames, cast_events(made["cast"], "o"), strict=True)):
                one.feed(frame)
                other.feed(event[2])
                self.assertEqual(first.buffer, second.buffer, f"frame {number}")
                self.assertEqual((first.cursor.y, first.cursor.x), (second.cursor.y, second.cursor.x))

    def test_text_is_the_last_screen(self):
        for made in self.each():
            self.assertEqual(Path(made["text"]).read_text().split("\n")[:-1], made["shown"])

    def test_each_cell_of_a_picture_has_the_colours_of_the_terminal(self):
        for made in self.each():
            theme = json.loads(Path(made["cast"]).read_text().split("\n", 1)[0])["theme"]
            screen = terminal(run("ttyplay", "-n", made["ttyrec"]))
            for path, cell in ((made["small"], (8, 16)), (made["png"], (16, 32))):
                with Image.open(path) as picture:
                    picture.load()
                    self.assertEqual(picture.size, (COLUMNS * cell[0], ROWS * cell[1]))
                    self.check_cells(picture.convert("RGB"), cell, screen, theme)

    def check_cells(self, picture, cell, screen, theme):
        under, palette = hex_color(theme["bg"]), [hex_color(color) for color in theme["palette"].split(":")]
        width, height = cell
        for row in range(ROWS):
            for column in range(COLUMNS):
                box = (column * width, row * height, (column + 1) * width, (row + 1) * height)
                inks = {color for _, color in picture.crop(box).getcolors()}
                shown = screen.buffer[row][column]
                where = f"row {row}, column {column}: {shown}"
                if (row, column) == (screen.cursor.y, screen.cursor.x):
                    self.assertFalse(inks & {*palette[1:], hex_color(theme["fg"])}, f"the cursor, {where}")
                    continue
                plain = shown.fg == "default"
                ink = hex_color(theme["fg"]) if plain else palette[COLORS.index(shown.fg)]
                expected = {under} if shown.data == " " and not shown.reverse else {under, ink}
                self.assertEqual(inks, expected, where)

    def test_what_is_cut_short_plays_up_to_the_cut(self):
        """At each byte of the last frame."""
        made = self.made["samurai"]
        data = Path(made["ttyrec"]).read_bytes()
        *before, last = payloads(data)
        before = b"".join(before)
        cut = Path(self.folder.name) / "cut"
        for length in range(len(data) - len(last) - 12, len(data)):
            cut.write_bytes(data[:length])
            self.assertTrue(run("ttyplay", "-n", cut, status=None).startswith(before), f"ttyplay, {length} bytes")
            self.assertGreaterEqual(perl_frames(cut)[0], made["inputs"], f"Term::TtyRec::Plus, {length} bytes")
        self.check_cut_cast(made, cut)

    def check_cut_cast(self, made, cut):
        data = Path(made["cast"]).read_bytes()
        start = data.rstrip(b"\n").rindex(b"\n") + 1
        before = "".join(event[2] for event in list(cast_events(made["cast"], "o"))[:-1])
        for length in range(start, len(data)):
            cut.write_bytes(data[:length])
            played = []
            try:
                played.extend(event[2] for event in cast_events(cut, "o"))
            except ValueError:
                pass  # It says that the last line is no JSON, after all the others.
            self.assertTrue("".join(played).startswith(before), f"asciinema's reader, {length} bytes")
        cut.write_bytes(data[: start + 10])
        played = run(sys.executable, "-m", "asciinema", "cat", cut, status=None).decode()
        self.assertTrue(played.startswith(before), "asciinema itself")

    def test_the_pictures_in_the_documents_are_what_is_drawn(self):
        for name, boundary in (("map", 2426), ("menu", 7944)):
            pictured = TOP / "docs" / "images" / f"{name}.png"
            self.assertLess(pictured.stat().st_size, 60_000)
            drawn = Path(self.folder.name) / f"{name}.again.png"
            lab("movie", "export", TOP / "movies" / "long.movie", "--png", drawn, "--at", boundary)
            with Image.open(pictured) as old, Image.open(drawn) as new:
                self.assertEqual(old.convert("RGB").tobytes(), new.convert("RGB").tobytes(), name)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(0 if result.wasSuccessful() else 1)
