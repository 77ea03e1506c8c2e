"""The situations that the walk goes through, by what the game waits for. The hero of most is a wizard in debug mode,
seed 7, who wishes for what is needed."""

from walk import (Right, Situation, Wrong, both, carries, gone, invalid, letters, pick, says, shows, status, turns,
                  waits)

PAD = "hykulnjb><"


def choice(prompt, answers="yn", default="n", **more):
    told = {"kind": "choice", "prompt": prompt, "answers": answers, **more}
    return {**told, "default": default} if default else told


def item(prompt, answers=None):
    told = {"kind": "item", "prompt": prompt}
    return {**told, "answers": answers} if answers else told


def text(prompt, typed=None, **more):
    told = {"kind": "text", "prompt": prompt, "capacity": 80, **more}
    return {**told, "typed": typed} if typed else told


def position(prompt, goal):
    return {"kind": "position", "prompt": prompt, "goal": goal, "answers": PAD}


def direction(prompt, answers=PAD + ".s"):
    return {"kind": "direction", "prompt": prompt, "answers": answers}


def extended(typed=None):
    told = {"kind": "extended", "prompt": "#", "capacity": 80}
    return {**told, "typed": typed} if typed else told


def where(goal):
    return position(f"where is {goal}?", goal)


def press(proof, key):
    return Right(proof, tool="press", key=key)


def count(typed):
    return {"kind": "count", "typed": typed}


# What is made of the main game, by keys: the name of the base, its keys, and the base before.
BASES = [
    ("pack", ["{CTRL_W}unlocked large box\n", "do", "{CTRL_W}7 darts\n", "{CTRL_W}2 potions of booze\n",
              "{CTRL_W}blessed sack\n", "{CTRL_W}lizard corpse\n"], "main"),
    ("rich", ["{CTRL_W}100 gold pieces\n"], "main"),
    ("floor", ["ds"], "pack"),
    ("fountain", ["{CTRL_W}fountain\n"], "main"),
    ("altar", ["{CTRL_W}altar\n"], "floor"),
    ("fifth", ["#levelchange\n10\n", "{ESC}{ESC}{ESC}{ESC}"], "main"),
    ("harp", ["{CTRL_W}wooden harp\n"], "main"),
    ("locked", ["{CTRL_W}locked large box\n", "do"], "main"),
    ("genocide", ["{CTRL_W}scroll of genocide\n"], "main"),
    ("shop", ["{CTRL_V}?\n>w{ESC}{ESC}", "{CTRL_W}2 oil lamps\n{CTRL_W}500 gold pieces\n", "{CTRL_T}",
              {"position": {"row": 15, "column": 60}}, "\n"], "main"),
]

COMMANDS = [
    Situation(
        "", "command",
        Right(turns(1), command="s"),
        Right(turns(5), command="s", count=6),
        Right(waits("window"), extended="conduct"),
        Right(waits("window"), extended="#conduct"),
        Wrong("INVALID_KEY", command="search"),
        invalid(command="s", count=0), invalid(command="s", count=32_768),
        invalid(extended=""), invalid(extended="Pray"), invalid(extended="pray\r"), invalid(extended="a" * 33),
        Wrong("INVALID_ARGUMENT"), Wrong("INVALID_ARGUMENT", command="s", extended="pray"),
        Wrong("INVALID_ARGUMENT", extended="pray", count=2),
    ),
    Situation("20", count("20"), press(turns(5), "s"), press(waits("command"), "ESC")),
    Situation("12{BACKSPACE}", count("1"), press(turns(1), "s")),
    Situation("n20", count("20"), press(turns(5), "s")),
    Situation("F", "direction", Right(turns(1), direction="north"), Right(turns(1), direction="k")),
    Situation("m,", "command"),
    Situation(
        "{CTRL_D}", direction("In what direction?"),
        Right(says("Ouch!"), direction="south"), Right(waits("command"), direction="up"),
        invalid(direction="left"), invalid(direction="L"), invalid(direction="n"), invalid(direction="s"),
        invalid(direction="4"), invalid(direction=""), invalid(direction="ESC"), invalid(direction="?"),
    ),
    Situation("{CTRL_D}L", "window", Right(waits("command"), acknowledge=True)),
    Situation("zc", direction("In what direction?"), Right(turns(1), direction="self")),
    Situation("Za", direction("In what direction?"), Right(status("energy", 3), direction="east")),
    Situation("#chat\n", direction("Talk to whom? (in what direction)"), Right(waits("command"), direction="northwest")),
    Situation("#ride\n", direction("In what direction?"), Right(waits("choice"), direction="south")),
    Situation("{CTRL_G}tame saddled pony\n#ride\n", direction("In what direction?")),
    Situation("#loot\n", direction("Loot in what direction?"), Right(says("loot"), direction="south")),
    Situation("#", extended(), Right(waits("window"), extended="conduct"), invalid(extended="#")),
    Situation("#pr", extended("pray"), Right(waits("window"), extended="conduct"), invalid(extended="pray!")),
    Situation("#pr{ESC}", extended(), press(waits("command"), "ESC")),
    Situation("#co{BACKSPACE}", extended("c"), Right(waits("choice"), extended="pray")),
    Situation("#?\n", "menu", pick(waits("menu"), "Show all"), menu={"title": "Extended Commands List", "pick": "one"},
              after="extended"),
    Situation("#?\n:", text("Extended command list search phrase?"), Right(waits("menu"), text="pray"), after="extended"),
    Situation("&{ESC}", {"kind": "key", "prompt": "What command?"}, press(says("search"), "s")),
    Situation("!", "command"), Situation("{CTRL_Z}", "command"), Situation("{CTRL_C}", "command"),
]

ITEMS = [
    Situation(
        "d", item("What do you want to drop? [a-np-s or ?*]", "abcdefghijklmnpqrs"),
        Right(gone("c"), item="c"), Right(gone("p"), item="p"), Right(carries("4 darts"), item="p", count=3),
        Right(waits("menu"), item="?"), Right(waits("menu"), item="*"),
        Right(waits("more"), answered=False, item="p", count=9),
        invalid(item="Z"), invalid(item="ab"), invalid(item="-"), invalid(item=","), invalid(item="$"),
        invalid(item="5"), invalid(item="ESC"), invalid(item=""), invalid(item="p", count=0),
        base="pack",
    ),
    Situation("d3", count("3"), press(carries("4 darts"), "p"), base="pack"),
    Situation("dZ", "more", Right(waits("item"), acknowledge=True), after="item"),
    Situation("d", item("What do you want to drop? [$a-n or ?*]", "$abcdefghijklmn"), Right(gone("$"), item="$"),
              Right(status("gold", 70), item="$", count=30), base="rich"),
    Situation("t", item("What do you want to throw? [a or ?*]", "a"), Right(waits("direction"), item="c"),
              Right(waits("direction"), item="a")),
    Situation("W", item("What do you want to wear? [*]"), Right(waits("menu"), item="*"),
              Right(waits("command"), item="b")),
    Situation("E", item("What do you want to write with? [- acden or ?*]", "-acden"),
              Right(waits("more"), item="-"), Right(waits("more"), item="a")),
    Situation("a", item("What do you want to use or apply? [cn or ?*]", "cn"), Right(waits("item"), item="n")),
    Situation("an", item("What do you want to write on? [*]"), Right(says("blank"), item="i")),
    Situation("z", item("What do you want to zap? [c or ?*]", "c"), Right(waits("direction"), item="c")),
    Situation("#dip\n", item("What do you want to dip? [a-n or ?*]", "abcdefghijklmn"), Right(waits("item"), item="a")),
    Situation("#dip\na", item("What do you want to dip a blessed +1 quarterstaff (weapon in hands) into? [fgh or ?*]", "fgh"),
              Right(says("Interesting"), item="f")),
    Situation("#adjust\n", item("What do you want to adjust? [a-n or ?*]", "abcdefghijklmn"), Right(waits("key"), item="a")),
    Situation("#adjust\na", {"kind": "key", "prompt": "Adjust letter to what [ao-zA-Z] (? see used letters)?"},
              press(both(gone("a"), lambda before, after: "quarterstaff" in letters(after)["Z"]), "Z")),
    Situation("#tip\n", choice("There is a large box here, tip it?", "ynq", "q"), base="pack"),
    Situation("#name\ni", item("What do you want to name? [a-n or ?*]", "abcdefghijklmn"), Right(waits("text"), item="a")),
    Situation("#name\no", item("What do you want to call? [b-m or ?*]", "bcdefghijklm"), Right(waits("command"), item="a")),
    Situation("d?", "menu", pick(gone("c"), "wand of"), pick(gone("p"), "darts"), pick(carries("5 darts"), "darts", count=2),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["Weapons"]),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["wand of", "darts"]),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["darts", "darts"]),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=[]),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["no such thing"]),
              menu={"pick": "one", "page": 1, "pages": 2}, base="pack"),
    Situation("d?>", "menu", pick(gone("p"), "darts"), pick(gone("n"), "magic marker"), menu={"page": 2, "pages": 2}, base="pack"),
]

QUESTIONS = [
    Situation("S", choice("Really save?"), Right(waits("command"), choice="n"),
              Right(lambda before, after: after["ended"]["kind"] == "saved", choice="y"),
              invalid(choice="x"), invalid(choice="yn"), invalid(choice="Y"), invalid(choice="ESC"), invalid(choice=""),
              Wrong("WRONG_PENDING", tool="press", key="ENTER"), invalid(choice="#", count=2)),
    Situation("#quit\n", choice("Really quit?"), Right(waits("command"), choice="n"), Right(waits("choice"), choice="y")),
    Situation("#quit\ny", choice("Dump core?", "ynq", "q"), Right(waits("menu"), choice="n"), after="end"),
    Situation("#pray\n", choice("Are you sure you want to pray?"), Right(waits("command"), choice="n"),
              Right(says("You begin praying"), choice="y")),
    Situation("q", choice("Drink from the fountain?"), Right(says("draught"), choice="y"), Right(waits("item"), choice="n"),
              base="fountain", after="item"),
    Situation("#dip\na", choice("Dip a blessed +1 quarterstaff (weapon in hands) into the fountain?"), Right(turns(1), choice="y"), Right(waits("item"), choice="n"),
              base="fountain", after="item"),
    Situation("e", choice("There is a lizard corpse here; eat it?", "ynq", "n"), Right(turns(1), choice="y"),
              Right(waits("command"), choice="n"), base="floor"),
    Situation("#offer\n", choice("There is a lizard corpse here; sacrifice it?", "ynq", "n"), Right(says("consumed"), choice="y"),
              base="altar"),
    Situation("#loot\n", choice("There is a large box here, loot it?", "ynq", "q"), Right(says("You carefully open"), choice="y"),
              Right(waits("direction"), choice="n"), base="pack"),
    Situation("#force\n", choice("There is a large box here; force its lock?", "ynq", "q"), Right(turns(1), choice="y"),
              base="locked"),
    Situation("ao", choice("Improvise?", "ynq", "q"), Right(waits("text"), choice="n"), Right(turns(1), choice="y"), base="harp"),
    Situation("#enhance\n", choice("Advance skills without practice?"), Right(waits("menu"), choice="n"),
              Right(waits("menu"), choice="y"), base="fifth", after="menu"),
    Situation("E-\nab\nE-", choice("Do you want to add to the current engraving?", "ynq", "y"),
              Right(waits("more"), choice="y"), Right(waits("more"), choice="n")),
]

TEXTS = [
    Situation("E-\n", text("What do you want to write in the dust here?"), Right(turns(1), text="Elbereth"),
              Right(turns(1), text="x" * 80), Right(waits("command"), text=""), invalid(text="x" * 81),
              invalid(text="caf\u00e9"), invalid(text="a\n"), invalid(text="\u001b")),
    Situation("E-\nElb", text("What do you want to write in the dust here?", "Elb"), Right(turns(1), text="fly"),
              press(lambda before, after: "typed" not in after["pending"], "ESC"),
              press(lambda before, after: after["pending"]["typed"] == "El", "BACKSPACE"),
              press(lambda before, after: "typed" not in after["pending"], "CTRL_U")),
    Situation("E-\nElb{ESC}", text("What do you want to write in the dust here?"), press(waits("command"), "ESC")),
    Situation("{CTRL_W}", text("For what do you wish?"), Right(carries("3 daggers named a"), text="3 daggers named a"),
              Right(says("Nothing fitting"), text="xyzzy")),
    Situation("{CTRL_V}", text("To what level do you want to teleport?"), Right(status("depth", 5), text="5"),
              Right(waits("menu"), text="?")),
    Situation("{CTRL_G}", text("Create what kind of monster? [type the name or symbol]"), Right(turns(0), text="newt"),
              Right(shows("F"), text="lichen")),
    Situation("#levelchange\n", text("To what experience level do you want to be set?"),
              Right(status("experience_level", 2), text="2")),
    Situation("#annotate\n", text("What do you want to call this dungeon level?"), Right(waits("command"), text="home")),
    Situation("#name\nia", text("What do you want to name this quarterstaff?"), Right(carries("named Stick"), text="Stick")),
    Situation("#name\noq", text("Call a smoky potion:"), Right(carries("called fizz"), text="fizz"), base="pack"),
    Situation("aon", text("What tune are you playing? [5 notes, A-G]"), Right(turns(1), text="ABCDE"), base="harp"),
    Situation("ro", "more", Right(shows("You have found a scroll of genocide!"), acknowledge=True), base="genocide",
              after="text"),
    Situation("/?", text("Specify what? (type the word)"), Right(waits("window"), text="newt")),
    Situation("Da\n:", text("Search for:"), Right(both(waits("menu"), lambda before, after: any(
        entry.get("selected") for entry in after["menu"]["entries"] if "darts" in entry["text"])), text="darts"),
        base="pack", after="menu"),
]

MENUS = [
    Situation("i", "menu", Right(waits("command"), acknowledge=True), pick(waits("command")),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["quarterstaff"]), menu={"pick": "none"}),
    Situation("i>", "menu", Right(waits("command"), acknowledge=True), menu={"pick": "none", "page": 2, "pages": 2},
              base="pack"),
    Situation("D", "menu", pick(waits("menu"), "All types"), pick(waits("command")),
              menu={"title": "Drop what type of items?", "pick": "any"}, base="pack"),
    Situation("Da\n", "menu", pick(says("drop a wand"), "wand of", "magic marker"),
              pick(both(gone("c"), carries("5 darts")), "darts", "wand of", count=2), pick(waits("command")),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["darts"], count=0),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["darts", "darts"]),
              Wrong("INVALID_SELECTION", tool="select_menu", picks=["Weapons"]),
              menu={"title": "What would you like to drop?", "pick": "any", "page": 1, "pages": 2}, base="pack"),
    Situation("Da\n>", "menu", pick(both(gone("p"), gone("n")), "darts", "magic marker"), menu={"page": 2}, base="pack"),
    Situation("Da\n3", {"kind": "menu", "typed": "3"}, pick(carries("6 darts"), "darts", count=1), base="pack"),
    Situation("Da\n3p", "menu", pick(both(gone("c"), carries("7 darts")), "wand of"), pick(carries("5 darts"), "darts", count=2), pick(gone("p"), "darts"),
              pick(waits("command")), base="pack"),
    Situation("Da\n,", "menu", pick(both(gone("c"), carries("quarterstaff")), "wand of"), base="pack"),
    Situation("Da\n@", "menu", pick(both(gone("n"), carries("quarterstaff")), "magic marker"), base="pack"),
    Situation("Z", "menu", pick(waits("direction"), "force bolt"), menu={"title": "Choose which spell to cast", "pick": "one"}),
    Situation("+", "menu", pick(waits("menu"), "charm monster"), pick(waits("menu"), "[sort spells]"), menu={"pick": "one"}),
    Situation("#enhance\nn", "menu", Right(waits("command"), acknowledge=True), menu={"pick": "none"}),
    Situation("#enhance\ny", "menu", pick(says("more skilled"), "quarterstaff"), menu={"pick": "one"}, base="fifth"),
    Situation("C", "menu", pick(waits("item"), "a particular object"), pick(waits("position"), "a monster"),
              menu={"title": "What do you want to name?", "pick": "one"}),
    Situation("O", "menu", pick(waits("command"), "autoquiver"), pick(waits("text"), "fruit"), pick(waits("command")),
              menu={"title": "Set what options?", "pick": "any", "pages": 6}),
    Situation("O>>", "menu", pick(waits("text"), "fruit"), menu={"page": 3}),
    Situation("{CTRL_V}?\n", "menu", pick(status("depth", 15), "rogue"), pick(status("depth", 43), "fakewiz1"),
              menu={"title": "Level teleport to where:", "pick": "one", "page": 1, "pages": 3}),
    Situation("#loot\ny\n", "menu", pick(waits("menu"), "put something in"), menu={"title": "Do what with the large box?", "pick": "one"},
              base="pack"),
    Situation("#loot\ny\nia\n", "menu", pick(both(gone("c"), carries("6 darts")), "darts", "wand of", count=1),
              menu={"pick": "any"}, base="pack"),
    Situation("#terrain\n", "menu", pick(waits("position"), "known map without monsters, objects"),
              pick(waits("position"), "known map without monsters and objects"), menu={"title": "View which?", "pick": "one"}),
    Situation("_!m", "menu", pick(waits("position"), "tame kitten"), after="position"),
    Situation("`", "menu", pick(waits("window"), "armor")),
    Situation("?", "menu", pick(waits("window"), "About NetHack")),
    Situation("I", "menu", pick(waits("menu"), "Wands")),
]

READING = [
    Situation("E-", "more", Right(waits("text"), acknowledge=True), after="text"),
    Situation("\\", "window", Right(waits("command"), acknowledge=True)),
    Situation("\\>", "window", Right(waits("command"), acknowledge=True)),
    Situation("#conduct\n", "window", Right(waits("command"), acknowledge=True)),
    Situation("{CTRL_X}", "menu", Right(waits("command"), acknowledge=True), menu={"pick": "none"}),
    Situation("?b", "window", Right(waits("window"), acknowledge=True)),
    Situation("_?", "window", Right(waits("position"), acknowledge=True), after="position"),
    Situation("//", "more", Right(waits("position"), acknowledge=True), after="position"),
]

PLACES = [
    Situation("_", position("Where do you want to travel to?", "the desired destination"),
              Right(lambda before, after: after["cursor"] == {"row": 17, "column": 54}, position={"row": 17, "column": 54}),
              invalid(position={"row": 0, "column": 3}),
              invalid(position={"row": 3, "column": 79}),
              Wrong("INVALID_ARGUMENT", position={"row": 3})),
    Situation("_<", where("the desired destination"), press(waits("command"), ".")),
    Situation("_@", where("the desired destination"), press(waits("command"), ",")),
    Situation("_{CTRL_A}", where("the desired destination")),
    Situation("_m", where("the desired destination"), screen="kitten"),
    Situation("_#", "more", after="position"), Situation("_#\n", position("Move cursor to the desired destination:", "the desired destination")),
    Situation(";", position("Pick an object.", "an unknown object"),
              Right(says("tame kitten"), position={"row": 18, "column": 53}),
              Right(says("wizard"), position={"row": 19, "column": 54})),
    Situation(";HHH", where("an unknown object"), Right(says("tame kitten"), position={"row": 18, "column": 53})),
    Situation("Cm", where("the monster you want to name"), Right(waits("text"), position={"row": 18, "column": 53})),
    Situation("{CTRL_T}", position("Where do you want to be teleported?", "the desired position"),
              Right(lambda before, after: after["cursor"] == {"row": 15, "column": 54}, position={"row": 15, "column": 54})),
    Situation("#terrain\na", position("Showing known terrain only...", "anything of interest")),
]

TRADE = [
    Situation(",", "more", Right(shows("a tinning kit (unpaid, 40 zorkmids)"), acknowledge=True), base="shop"),
    Situation(",\np", choice("A tinning kit for 40 zorkmids.  Pay?"), Right(status("gold", 460), choice="y"),
              Right(status("gold", 500), choice="n"), base="shop"),
    Situation("do\n", choice("AlliWar Wickson offers 5 gold pieces for your lamp.  Sell it?", "ynaq", "y"),
              Right(status("gold", 505), choice="y"), Right(status("gold", 505), choice="a"),
              Right(both(status("gold", 500), shows("Sell it?")), choice="n"), base="shop"),
]


def ended(kind):
    return lambda before, after: after.get("ended", {}).get("kind") == kind


def ending(prompt):
    return choice(prompt, "ynq", "y", stage="ending")


VALKYRIE = ["--seed", "1", "--role", "valkyrie", "--race", "human"]
SAMURAI = ["--seed", "1", "--role", "samurai"]

# Games with other options: the server's arguments, and situations.
OTHERS = [
    ([*VALKYRIE, "--options", "disclose:yi ya yv yg yc yo"], [
        Situation("#quit\ny", ending("Do you want your possessions identified?"), Right(waits("menu"), choice="y"),
                  Right(waits("choice"), choice="n"), Right(ended("quit"), choice="q"), after="end"),
        Situation("#quit\nyy", {"kind": "menu", "stage": "ending"}, menu={"pick": "one"}, after="choice"),
        Situation("#quit\nyn", ending("Do you want to see your attributes?"), Right(waits("window"), choice="y"), after="end"),
        Situation("#quit\nyny", {"kind": "window", "stage": "ending"}, Right(waits("choice"), acknowledge=True), after="choice"),
        Situation("#quit\nynn", ending("Do you want to see your conduct?"), Right(waits("window"), choice="y"), after="end"),
        Situation("#quit\nynnn", ending("Do you want to see the dungeon overview?"), Right(waits("window"), choice="y"),
                  after="end"),
        Situation("#quit\nynnnn", {"kind": "window", "stage": "ending"}, Right(ended("quit"), acknowledge=True), after="end"),
        Situation("e?", {"kind": "more", "answers": "d"}, Right(waits("item"), acknowledge=True),
                  Right(turns(1), later=True, item="d")),
        Situation("X", "command"),
        Situation("#exploremode\n", "command"),
    ]),
    ([*SAMURAI, "--options", "menustyle:traditional"], [
        Situation("D", text("What kinds of thing do you want to drop? [)[ BUaim]"), Right(waits("choice"), text=")")),
        Situation("D)\n", choice("a - a +0 katana (weapon in hand)?", "ynaq"), Right(says("You drop a +0 katana"), choice="y"),
                  Right(says("katana", "wakizashi", "yumi"), choice="a"), Right(waits("command"), choice="q")),
        Situation("D)\nnnn", choice("d - 39 blessed +0 ya (in quiver)?", "yn#aq"),
                  Right(carries("27 blessed +0 ya"), choice="#", count=12), Right(gone("d"), choice="y"),
                  Right(carries("39 blessed +0 ya"), choice="n"), invalid(choice="y", count=3),
                  invalid(choice="#", count=0)),
        Situation("I", choice("What type of object do you want an inventory of?", ")[ BUuxCX]=\"(%!?+/$*`0_.", None),
                  Right(waits("menu"), choice=")")),
    ]),
    ([*SAMURAI, "--options", "number_pad:1"], [
        Situation("{CTRL_D}", direction("In what direction?", "47896321><.s"), Right(turns(1), direction="west"),
                  Right(turns(1), direction="h"), invalid(direction="5"), invalid(direction="n")),
        Situation("n20", count("20"), press(turns(5), "s")),
        Situation(";", {"kind": "position", "prompt": "Pick an object.", "goal": "an unknown object",
                        "answers": "47896321><"}, Right(says("unexplored"), position={"row": 1, "column": 1})),
        Situation("", "command", invalid(command="s", count=5), Right(turns(1), command="s")),
    ]),
    ([*SAMURAI, "--options", "paranoid_confirmation:quit"], [
        Situation("#quit\n", text("Really quit? (yes) [no]"), Right(waits("command"), text="no"),
                  Right(waits("menu"), text="yes")),
    ]),
    ([*SAMURAI, "--options", "extmenu"], [
        Situation("", "command", Right(waits("menu"), answered=False, extended="pray")),
        Situation("#", "menu", pick(waits("choice"), "pray")),
    ]),
    ([*SAMURAI, "--options", "force_invmenu"], [
        Situation("d", "menu", pick(gone("d"), "ya"), menu={"title": "What do you want to drop?", "pick": "one"}),
        Situation("w", "menu", pick(says("empty handed"), "your bare hands"), menu={"pick": "one"}),
    ]),
    ([*SAMURAI, "--options", "msg_window:full"], [
        Situation("E-\nab{CTRL_P}", "window", Right(waits("text"), acknowledge=True), after="text"),
        Situation("S{CTRL_P}", "window", Right(waits("choice"), acknowledge=True), after="choice"),
        Situation("S{CTRL_P}\n", choice("Really save?"), Right(waits("command"), choice="n")),
    ]),
    ([*SAMURAI, "--options", "msg_window:single"], [
        # With an earlier message in its place, the question takes any key for bringing it back, and says so.
        Situation("S{CTRL_P}", choice("Really save?"), Right(waits("choice"), answered=False, choice="y"), after="choice",
                  leaves=False),
        Situation("E-\nab{CTRL_P}", text("What do you want to write in the dust here?", "ab"), Right(turns(1), text="xy")),
        Situation("d{CTRL_P}", "more", after="item"),
    ]),
]
