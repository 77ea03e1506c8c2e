"""What `cells` says that a glyph shows, held against what the game itself says when it is asked with `;`."""

import sys
import traceback

from harness import Checks, Server

PROGRAM = sys.argv[1]
check = Checks("cells")

# Heroes of several kinds, so that pets, a steed and rooms of different shapes are seen.
GAMES = [("valkyrie", 3), ("samurai", 17), ("wizard", 5), ("tourist", 8), ("knight", 11), ("healer", 29)]

# What is laid on the floor: something of each class, known and unknown.
WISHES = [
    "long sword", "elven dagger", "helm of brilliance", "speed boots", "ring of conflict", "amulet of life saving",
    "bag of holding", "magic lamp", "lichen corpse", "food ration", "potion of gain level", "potion of water",
    "scroll of fire", "blank scroll", "spellbook of sleep", "blank spellbook", "wand of striking", "gold piece",
    "ruby", "worthless piece of red glass", "luckstone", "boulder", "statue of a newt", "iron chain",
]  # fmt: skip
MONSTERS = ["newt", "grid bug", "lichen", "floating eye", "gnome lord", "hill orc"]


def begin(server, role, seed):
    server.call("quit_game")
    state = server.call("new_game", seed=str(seed), role=role, options="!autopickup")
    while state["pending"]["kind"] == "more":
        state = server.call("respond", revision=state["revision"], acknowledge=True)
    return state


def cells(server):
    found, offset = [], 0
    while offset is not None:
        page = server.call("observe", layers=["cells"], limit=2000, offset=offset)["cells"]
        found += page["items"]
        offset = page.get("next_offset")
    return found


def told(server, cell):
    """What the game says of a place, in a fork that goes away again."""
    fork = server.call("fork_create")["forks"][0]
    name = fork["id"]
    state = server.call("press", machine=name, revision=fork["revision"], key=";")
    at = {"row": cell["row"], "column": cell["column"]}
    state = server.call("respond", machine=name, revision=state["revision"], position=at)
    if not check("the place can be picked", "error" not in state, (cell, state)):
        return ""
    texts = [message["text"] for message in state["messages"]]
    server.call("fork_delete", fork=name)
    return " ".join(texts)


def agrees(cell, text):
    """Whether the game's words have ours. It tells of the hero by name, and calls one thing or another of a symbol."""
    words = cell["description"]
    if words.startswith("you ("):
        return "called Agent" in text and words.removeprefix("you (").removesuffix(")") in text
    text, words = text.lower(), words.removeprefix("tame ").lower()
    # Of what was only seen from afar, the game's words have the class alone, though its glyph has the looks.
    return words in text or f" a {words.split()[-1]} (" in text


def hold_against_the_game(server, what):
    """Asks for one place of each kind that is shown; gives how many there were."""
    found = cells(server)
    kinds = {}
    for cell in found:
        if "description" in cell:
            kinds.setdefault((cell["glyph"], cell["description"]), cell)
    check(f"{what}: cells have descriptions", len(kinds) >= 3, found[:3])
    for cell in kinds.values():
        text = told(server, cell)
        check(f"{what}: {cell}", agrees(cell, text), text)
    elsewhere = [cell for cell in found if cell["row"] in (0, 22, 23)]
    check(f"{what}: nothing is said of other lines", all("description" not in cell for cell in elsewhere), elsewhere)
    return len(kinds)


def in_the_games_words(server):
    kinds = 0
    for role, seed in GAMES:
        begin(server, role, seed)
        kinds += hold_against_the_game(server, f"{role} {seed}")
    check("there were many kinds", kinds >= 30, kinds)


def floor_around(server):
    hero = server.call("debug_read", what="hero")["hero"]
    level = server.call("debug_read", what="level")["level"]
    places = [
        {"row": row, "column": column}
        for row, text in enumerate(level["rows"], 1)
        for column, what in enumerate(text)
        if what == "." and (row, column) != (hero["row"], hero["column"])
    ]
    return sorted(places, key=lambda at: max(abs(at["row"] - hero["row"]), abs(at["column"] - hero["column"])))


def things_of_all_classes(server):
    state = begin(server, "valkyrie", 29)
    places = floor_around(server)
    check("there is room", len(places) >= len(WISHES) + len(MONSTERS), len(places))
    for wish in WISHES:
        state = server.call("debug_edit", revision=state["revision"], item={"wish": wish, **places.pop(0)})
        check(f"wish {wish}", "error" not in state, state)
        state = server.call("observe")
    for kind in MONSTERS:
        made = server.call("debug_edit", revision=state["revision"], monster={"kind": kind, "mood": "asleep", **places.pop(0)})
        check(f"monster {kind}", "error" not in made, made)
        state = server.call("observe")
    before = cells(server)
    kinds = hold_against_the_game(server, "by looks")
    check("most of what was laid is seen", kinds >= 20, kinds)
    unknown = {cell["description"] for cell in before if "description" in cell}
    for name in ["potion of gain level", "scroll of fire", "ring of conflict", "speed boots", "amulet of life saving"]:
        check(f"no {name} before it is known", name not in unknown, unknown)
    # One beside the hero, whose looks it can tell.
    near = floor_around(server)[0]
    server.call("debug_edit", revision=state["revision"], item={"wish": "potion of gain level", **near})
    there = lambda: next(cell for cell in cells(server) if (cell["row"], cell["column"]) == (near["row"], near["column"]))
    potion = there()
    looks = potion.get("description", "")
    check("its looks", looks.endswith(" potion") and "gain level" not in looks, potion)
    state = server.call("debug_edit", revision=server.call("observe")["revision"], item={"wish": "potion of gain level"})
    state = server.call("debug_edit", revision=state["revision"], identify=True)
    after = there()
    check("the hero knows it now", (after["glyph"], after["description"]) == (potion["glyph"], "potion of gain level"), after)
    past = server.call("history", **{"from": 0}, layers=["cells"])["frame"]["cells"]["items"]
    check("earlier frames have words, too", any("description" in cell for cell in past), past[:3])
    quit_now = server.call("quit_game")
    check("quit", "error" not in quit_now, quit_now)
    kept = cells(server)
    check("cells of a game that is over stay", {cell["glyph"] for cell in kept if "glyph" in cell} >= {potion["glyph"]}, kept[:3])


def main():
    with Server(PROGRAM, "--allow-debug") as server:
        server.initialize()
        try:
            in_the_games_words(server)
            things_of_all_classes(server)
        except Exception:
            check("no surprise", False, traceback.format_exc())
    check.finish()


main()
