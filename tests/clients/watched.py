"""A server whose main machine is watched: whatever is refused must leave it as it is."""

import os

from harness import Server


class Watched:
    """A bare connection to a server with a game, and everything that a refused call must leave as it is."""

    def __init__(self, program, check, directory, *options, **popen):
        self.check, self.directory, self.movies = check, directory, os.path.join(directory, "journals")
        self.server = Server(program, "--movies", self.movies, "--out-dir", directory, *options, **popen)
        self.server.initialize()

    def begin(self):
        """Notes how main is now."""
        self.view = self.server.call("observe")
        self.twin = self.server.call("fork_create")["forks"][0]["id"]
        self.held = self.look()

    def look(self):
        journals = {name: open(os.path.join(self.movies, name), "rb").read() for name in os.listdir(self.movies)}
        forks = self.server.call("fork_list", limit=1000)["total"]
        # The movie ends with the digests of the machine's own memory.
        return journals, sorted(os.listdir(self.directory)), forks, self.server.call("movie_export", inline=True)["sha256"]

    def unchanged(self, what):
        diff = self.server.call("fork_diff", a="main", b=self.twin)
        self.check(f"{what} leaves the image as it was", diff.get("images_same"), diff)
        now = self.server.call("observe")
        self.check(f"{what} leaves the machine as it was", now == self.view, (now, self.view))
        self.check(f"{what} leaves journals, files and forks", self.look() == self.held, self.held[1:])


def changing(revision):
    """Every tool that changes main, with arguments that would be right on its revision."""
    return {
        "press": {"revision": revision, "key": "s"},
        "run": {"revision": revision, "text": "5s"},
        "respond": {"revision": revision, "command": "s"},
        "select_menu": {"revision": revision, "cancel": True},
        "fork_adopt": {"revision": revision, "fork": "f1"},
        "seek": {"revision": revision, "boundary": 1},
        "reset": {"revision": revision, "kind": "same"},
        "state_load": {"revision": revision, "name": "saved", "into": "main"},
        "quit_game": {"revision": revision},
    }
