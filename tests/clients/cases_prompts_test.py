"""What upset other servers at prompts, by the numbers of the handed cases: P54 P55 P56 P59 P65 P67 P68 P87 P88."""

import asyncio
import os
import statistics
import sys
import time
import traceback

from harness import Checks, children
from malformed import calls_of, has_type_fault
from walk import keys, letters, walking

PROGRAM = sys.argv[1]
SEEDS = int(os.environ.get("NETHACK_LAB_TEST_SEEDS", "6"))
check = Checks("cases_prompts")
ROLES = ("archeologist barbarian caveman healer knight monk priest rogue ranger samurai tourist valkyrie wizard").split()
WIZARD = ["--allow-debug", "--seed", "7", "--role", "wizard", "--race", "human", "--gender", "female", "--alignment",
          "neutral", "--options", "!autopickup,playmode:debug"]
VALKYRIE = ["--seed", "1", "--role", "valkyrie", "--race", "human"]
# Ways to each kind of prompt at the start of a Valkyrie's game.
WAYS = ["", "20", "F", "{CTRL_D}", "d", "d3", "S", "E-", "E-\n", "E-\nElbe", "i", "d*", "O>", "D5", ";", "_hhk", "#pr",
        "#conduct\n", "?b", "&\n", "#quit\n"]


async def alive(what, fork):
    """Backs out to the map, where a turn passes; the line replays."""
    for _ in range(40):
        seen = await fork.look()
        kind = seen.get("pending", {}).get("kind")
        if kind in (None, "command"):
            break
        await fork.press(["ESC"])
    check(f"{what}: waits or has ended", ("pending" in seen) != ("ended" in seen), seen)
    check(f"{what}: did not fail", seen["state"] in ("idle", "ended") and "failure" not in seen, seen)
    if "ended" in seen:
        check(f"{what}: ended as games end", seen["ended"]["kind"] in ("quit", "saved", "died"), seen["ended"])
        return
    check(f"{what}: backs out", kind == "command", seen)
    for _ in range(3):
        moved = await fork.call("respond", command="s")
        check(f"{what}: no worker was lost", "lost" not in moved and "workers_replaced" not in moved, moved)
    check(f"{what}: turns pass", fork.last["turn"] > seen["turn"], fork.last)
    verified = await fork.walk.call("movie_verify", source=fork.name)
    check(f"{what}: verifies", verified.get("verdict") == "exact", verified)


async def p54_escape_at_more_silences_only_what_it_skips():
    async with walking(PROGRAM, check, *WIZARD) as walk:
        await walk.base("scroll", "{CTRL_W}scroll of genocide\n")
        fork = await walk.bases["scroll"].fork()
        first = await fork.press(keys("ro"))
        check("P54: the first --More--", first["pending"]["kind"] == "more", first)
        skipped = await fork.press(["ESC"])
        said = [*first["messages"], *skipped["messages"]]
        found = [message for message in said if "You have found" in message["text"]]
        check("P54: what ESC skipped is in the list, once", len(found) == 1, said)
        check("P54: but not on the screen", "You have found" not in skipped["screen"], skipped)
        probe = await walk.bases["scroll"].fork()
        named = "answers" in (await probe.press(keys("{CTRL_D}")))["pending"]
        # A ROM that doesn't name directions tells of messages before they are shown.
        check("P54: and told as such", not named or found[0].get("shown") is False, found)
        for turn in range(4):
            await fork.press(["ESC", "ESC"])
            spoken = await fork.press([":"])
            texts = [message["text"] for message in spoken["messages"]]
            loud = texts and all(message.get("shown", True) for message in spoken["messages"])
            check(f"P54: turn {turn} still speaks", loud and texts[0] in spoken["screen"], spoken)


async def p55_previous_message_inside_prompts():
    async with walking(PROGRAM, check, *VALKYRIE) as walk:
        for way in WAYS:
            for times in (1, 2, 30):
                for then in ("y", "ESC", "ENTER"):
                    fork = await walk.bases["main"].fork()
                    await fork.press([*keys(way), *["CTRL_P"] * times, then])
                    await alive(f"P55: {way!r} {times} CTRL_P {then}", fork)
                    await fork.drop()


async def p56_prompt_text_and_screen_agree():
    async with walking(PROGRAM, check, *WIZARD) as walk:
        await walk.base("fountain", "{CTRL_W}fountain\n")
        for way, answer in [("q", {"choice": "y"}), ("#pray\n", {"choice": "n"}), ("{CTRL_D}", {"direction": "north"}),
                            ("#dip\na", {"choice": "y"})]:
            fork = await walk.bases["fountain"].fork()
            asks = await fork.press(keys(way))
            top = asks["screen"].split("\n")[0]
            check(f"P56: {way!r} asks on the screen", top.startswith(asks["pending"]["prompt"]), asks)
            said = await fork.call("respond", **answer)
            while said["pending"]["kind"] == "more":
                said = await fork.call("respond", acknowledge=True)
            check(f"P56: {way!r} is over", said["pending"] == {"kind": "command"}, said)
            before = (await fork.look())["turn"]
            # The next n is a move, not an answer; it may be no way to go.
            moved = await fork.call("run", text="n")
            sent = moved["stop"] == "done" and moved["turn"] >= before
            check(f"P56: {way!r}: the next key is a command", sent and moved["pending"]["kind"] != "choice", moved)
            await fork.drop()


async def p59_keys_that_leave_the_game():
    leave = ["S", "#quit\n", "!", "{CTRL_Z}", "{CTRL_C}", "{CTRL_\\}", "O", "X", "#exploremode\n", "Sy", "#quit\ny", "{CTRL_R}"]
    async with walking(PROGRAM, check, *VALKYRIE) as walk:
        server = [pid for pid in children(os.getpid())]
        for way in WAYS:
            for out in leave:
                fork = await walk.bases["main"].fork()
                await fork.press([*keys(way), *keys(out)])
                await alive(f"P59: {way!r} {out!r}", fork)
                await fork.drop()
        check("P59: the server is as it was", [pid for pid in children(os.getpid())] == server, server)


async def p65_the_first_search_takes_a_turn():
    async with walking(PROGRAM, check, *VALKYRIE) as walk:
        await walk.call("quit_game")
        for role in ROLES:
            for seed in range(SEEDS):
                begun = await walk.call("new_game", seed=str(seed), role=role)
                revision = begun["revision"]
                kind = begun["pending"]["kind"]
                check(f"P65: {role} {seed}: nobody is asked who", kind in ("more", "window", "command"), begun)
                # Who stands on several things is shown a list of them.
                while begun["pending"]["kind"] in ("more", "window"):
                    begun = await walk.call("respond", revision=revision, acknowledge=True)
                    revision = begun["revision"]
                check(f"P65: {role} {seed}: a command is waited for", begun["pending"] == {"kind": "command"}, begun)
                first = await walk.call("respond", revision=revision, command="s")
                for _ in range(4):
                    # Who is fast, or rides, may act more than once in a turn, and may find something.
                    if first["turn"] > begun["turn"]:
                        break
                    waits = first["pending"]["kind"]
                    answer = {"acknowledge": True} if waits in ("more", "window") else {"command": "s"}
                    first = await walk.call("respond", revision=first["revision"], **answer)
                check(f"P65: {role} {seed}: a turn passes", first["turn"] > begun["turn"], (begun, first))
                await walk.call("quit_game")
        for seed, profile in [(seed, profile) for seed in range(SEEDS) for profile in ("default", "nle-1.3")]:
            begun = await walk.call("new_game", seed=str(seed), profile=profile)
            kind = begun["pending"]["kind"]
            check(f"P65: {profile} {seed}: nothing given, nothing asked", kind in ("more", "window", "command"), begun)
            await walk.call("quit_game")


RINGS = """adornment|gain strength|gain constitution|increase accuracy|increase damage|protection|regeneration|searching
stealth|sustain ability|levitation|hunger|aggravate monster|conflict|warning|poison resistance|fire resistance
cold resistance|shock resistance|free action|slow digestion|teleportation|teleport control|polymorph|polymorph control
invisibility|see invisible|protection from shape changers""".replace("\n", "|").split("|")
WANDS = "light|nothing|digging|locking|opening|probing|sleep|cold|fire|lightning|striking|slow monster|speed monster".split("|")


async def p67_letters_that_are_commands_too():
    async with walking(PROGRAM, check, *WIZARD) as walk:
        await walk.base("S", "{CTRL_W}lizard corpse\n", "#adjust\noS", "{CTRL_W}300 gold pieces\n", "{CTRL_W}7 darts\n",
                        "#adjust\npW")
        for way, letter, proof in [("e", "S", "corpse"), ("t", "W", "dart"), ("d", "S", "corpse"), ("d", "$", "gold")]:
            fork = await walk.bases["S"].fork()
            await fork.press(keys(way))
            before = await fork.look()
            check(f"P67: {way}: {letter} is offered", letter in before["pending"]["answers"], before["pending"])
            answered = await fork.call("respond", item=letter)
            check(f"P67: {way}: {letter} is taken", answered["answered"], answered)
            if answered["pending"]["kind"] == "direction":
                await fork.call("respond", direction="north")
            after = await fork.look()
            check(f"P67: {way} {letter} means the item", letters(before).get(letter) != letters(after).get(letter),
                  (proof, before["inventory"], after["inventory"]))
            await fork.drop()
        await p67_overflow(walk)


async def p67_overflow(walk):
    """A pack of 52 letters, and a stone that has `#` for a letter."""
    main = await walk.bases["main"].fork()
    await main.press(keys("{CTRL_W}blessed loadstone\n{ESC}{ESC}do"))
    for name in [*(f"ring of {ring}" for ring in RINGS), *(f"wand of {wand}" for wand in WANDS)]:
        await main.press(keys(f"{{CTRL_W}}blessed {name}\n{{ESC}}{{ESC}}"))
        if len(letters(await main.look())) >= 52:
            break
    full = letters(await main.look())
    check("P67: every letter is taken", len([letter for letter in full if letter.isalpha()]) == 52, full)
    picked = await main.press([","])
    for _ in range(5):
        if picked["pending"]["kind"] == "menu":
            stone = [entry for entry in picked["menu"]["entries"] if "stone" in entry["text"]]
            picked = await main.call("select_menu", selections=[{"entry_id": stone[0]["id"]}])
        elif picked["pending"]["kind"] in ("more", "choice"):
            picked = await main.press(["ENTER"] if picked["pending"]["kind"] == "more" else ["y"])
    carried = letters(await main.look())
    if not check("P67: the stone has #", "#" in carried, carried):
        return
    fork = await main.fork()
    asks = await fork.press(["t"])
    shown = await fork.call("respond", item="*")
    entry = [entry for entry in shown["menu"]["entries"] if entry.get("accelerator") == "#"]
    check("P67: # is on the menu's last page", entry and entry[0]["page"] == shown["menu"]["pages"] > 1, (asks, shown))
    chosen = await fork.call("select_menu", selections=[{"entry_id": entry[0]["id"]}])
    check("P67: and is chosen there", chosen["answered"] and chosen["pending"]["kind"] in ("direction", "more", "command"), chosen)
    await fork.drop()
    await main.press(["d"])
    dropped = await main.call("respond", item="#")
    check("P67: # is an answer, not a command", dropped["answered"] and dropped["pending"]["kind"] != "extended", dropped)


async def p68_menus_are_data():
    async with walking(PROGRAM, check, *WIZARD) as walk:
        await walk.base("pack", "{CTRL_W}7 darts\n", "{CTRL_W}blessed sack\n", "{CTRL_W}2 potions of booze\n")
        fork = await walk.bases["pack"].fork()
        await fork.press(keys("Da\n"))
        for page in (1, 2):
            seen = await fork.look()
            menu = seen["menu"]
            check(f"P68: page {page} of 2, any number", (menu["page"], menu["pages"], menu["pick"]) == (page, 2, "any"), menu)
            check("P68: the screen says the same", f"({page} of 2)" in seen["screen"], seen["screen"])
            for entry in menu["entries"]:
                line = f"{entry['accelerator']} - {entry['text']}" if entry["selectable"] else entry["text"]
                on_it = line.rstrip() in seen["screen"]
                check(f"P68: {line} stands on page {entry['page']}", on_it == (entry["page"] == page) or not line, seen["screen"])
            await fork.call("press", key=">")
        ids = [entry["id"] for entry in menu["entries"]]
        check("P68: every entry once", ids == list(range(len(ids))) and menu["total"] == len(ids), menu)
        texts = [entry["text"] for entry in menu["entries"] if entry["selectable"]]
        carried = letters(seen)
        check("P68: all that is carried, nothing merged", sorted(texts) == sorted(carried.values()), (texts, carried))
        darts = next(entry for entry in menu["entries"] if "darts" in entry["text"])
        await fork.call("press", key="^")
        await fork.press(["3", darts["accelerator"]])
        entry = (await fork.look())["menu"]["entries"][darts["id"]]
        check("P68: a count is told", (entry["selected"], entry["count"]) == (True, 3), entry)


async def p87_sizes():
    async with walking(PROGRAM, check, *WIZARD) as walk:
        tools = (await walk.client.list_tools()).tools
        for tool in tools:
            size = len(tool.description.encode())
            check(f"P87: {tool.name}'s text is below 2,000 bytes", 0 < size < 2_000, size)
        await walk.base("pack", *[f"{{CTRL_W}}blessed ring of {ring}\n{{ESC}}{{ESC}}" for ring in RINGS])
        for way in ("", "i", "O", "D", "?i", "#?\n", "\\", "{CTRL_X}"):
            fork = await walk.bases["pack"].fork()
            await fork.press(keys(way))
            result = await walk.client.call_tool("observe", {"machine": fork.name})
            size = len(result.content[0].text.encode())
            check(f"P87: {way!r} is answered in less than 30,000 bytes", size < 30_000, size)
            await fork.drop()


async def p88_malformed_arguments():
    async with walking(PROGRAM, check, *VALKYRIE) as walk:
        tools = (await walk.client.list_tools()).tools
        before = (await walk.call("info"), await walk.call("observe"))
        times, answered = [], 0
        for tool in tools:
            for what, arguments in calls_of(tool.input_schema):
                begun = time.monotonic()
                content = (await walk.client.call_tool(tool.name, arguments)).structured_content or {}
                times.append(time.monotonic() - begun)
                error = content.get("error", {})
                check(f"P88: {tool.name} refuses {what}", bool(error.get("code")), (arguments, content))
                named = has_type_fault(what, error)
                check(f"P88: {tool.name} names the field: {what}", named, (arguments, error))
                answered += 1
        after = (await walk.call("info"), await walk.call("observe"))
        check("P88: nothing has happened", before == after, (before, after))
        middle, slowest = statistics.median(times) * 1_000, max(times) * 1_000
        print(f"P88: {answered} malformed calls, median {middle:.1f} ms, slowest {slowest:.0f} ms", flush=True)
        check("P88: answered within 100 ms", middle < 100 and sorted(times)[len(times) * 99 // 100] < 0.1, (middle, slowest))
        check("P88: none hangs", slowest < 5_000, slowest)


async def all_cases():
    for case in (p54_escape_at_more_silences_only_what_it_skips, p55_previous_message_inside_prompts,
                 p56_prompt_text_and_screen_agree, p59_keys_that_leave_the_game, p65_the_first_search_takes_a_turn,
                 p67_letters_that_are_commands_too, p68_menus_are_data, p87_sizes, p88_malformed_arguments):
        failed = check.failed
        await case()
        print(f"{case.__name__}: {'ok' if check.failed == failed else 'FAILED'}", flush=True)


try:
    asyncio.run(all_cases())
except Exception:
    check("all cases", False, traceback.format_exc()[-3000:])
check.finish()
