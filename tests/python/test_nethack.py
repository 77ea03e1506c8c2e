"""The game without a task, as NLE's `Nethack`."""

import numpy as np
import pytest

from nethack_lab import nle as nethack

KEYS = [13, *b"hjklyubnHJKLYUBN"]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_episodes_end_and_begin_again():
    game = nethack.Nethack(observation_keys=("chars", "blstats"))
    game.set_initial_seeds(1, 2)
    chars, blstats = game.reset()
    assert chars.shape == nethack.DUNGEON_SHAPE and blstats.shape == nethack.BLSTATS_SHAPE
    source = np.random.default_rng(3)
    ends = 0
    for _ in range(20_000):
        if game.step(KEYS[source.integers(len(KEYS))])[1]:
            ends += 1
            assert int(game.how_done()) < int(nethack.GENOCIDED)
            with pytest.raises(RuntimeError, match="ended"):
                game.step(13)
            game.set_initial_seeds(ends, 2)
            game.reset()
    assert ends > 3


def test_several_games_at_once_do_not_disturb_each_other():
    games = [nethack.Nethack(copy=True) for _ in range(3)]
    for game in games:
        game.set_initial_seeds(42, 666)
        game.reset()
    for number in range(300):
        seen = [game.step(KEYS[number % len(KEYS)]) for game in games]
        assert same(seen[0][0], seen[1][0]) and same(seen[0][0], seen[2][0])
        if seen[0][1]:
            break


def test_seeds_are_set_told_and_used_once():
    game = nethack.Nethack(copy=True)
    game.set_initial_seeds(core=42, disp=666)
    first = game.reset()
    assert game.get_current_seeds() == (42, 666, False, None)
    assert not same(first, game.reset()) and game.get_current_seeds()[0] != 42
    game.set_initial_seeds(core=42, disp=666)
    assert same(first, game.reset())
    assert game.set_current_seeds(core=1, disp=2) == (1, 2, False, None) == game.get_current_seeds()
    for wrong in ({"core": 1}, {"core": 1, "disp": 2, "lgen": 3}, {"core": -1, "disp": 2}):
        with pytest.raises(ValueError):
            game.set_current_seeds(**wrong)


def test_arrays_are_written_again_unless_copied():
    game = nethack.Nethack()
    game.set_initial_seeds(1, 2)
    first = game.reset()
    assert all(one is other for one, other in zip(first, game.step(13)[0], strict=True))
    game = nethack.Nethack(copy=True)
    first = game.reset()
    assert not any(one is other for one, other in zip(first, game.step(13)[0], strict=True))


def messages(game):
    (message,) = game.reset()
    told = []
    for _ in range(10):
        told.append(bytes(message).partition(b"\0")[0].decode())
        (message,), done = game.step(13)
        if done:
            break
    return " ".join(told).lower()


@pytest.mark.parametrize(
    "seed, phrase", [(3, "full moon"), (0, "new moon"), (49, "friday the 13th"), (5, None), (42, "new moon")]
)
def test_the_calendar_may_come_from_the_seed(seed, phrase):
    told = []
    for _ in range(2):
        game = nethack.Nethack(observation_keys=("message",), copy=True, fix_moon_phase=True)
        game.set_initial_seeds(core=seed, disp=seed)
        told.append(messages(game))
    assert told[0] == told[1]
    phrases = {one for one in ("full moon", "new moon", "friday the 13th") if one in told[0]}
    assert phrases == ({phrase} if phrase else set())


def test_the_calendar_may_come_from_the_clock():
    game = nethack.Nethack(observation_keys=("message",), copy=True, clock=979070400)
    game.set_initial_seeds(1, 1)
    assert "full moon" in messages(game)


def test_what_stands_before_the_first_command():
    game = nethack.Nethack(observation_keys=("program_state", "message", "internal"), copy=True)
    game.set_initial_seeds(1, 2)
    program_state, message, internal = game.reset()
    told = [bytes(message)]
    while not program_state[3]:
        assert game.in_normal_game() == bool(program_state[5])
        (program_state, message, internal), _ = game.step(nethack.MiscAction.MORE)
        told.append(bytes(message))
    assert any(one.startswith(b"Hello Agent, welcome to NetHack!  You are a neutral male human Monk.") for one in told)
    assert game.in_normal_game() and internal[0] == 1


def test_the_hero_is_a_monk():
    game = nethack.Nethack(observation_keys=("glyphs", "chars", "colors", "blstats"), copy=True)
    game.reset()
    (glyphs, chars, colors, blstats), _ = game.step(13)
    x, y = blstats[:2]
    assert np.count_nonzero(chars == ord("@")) >= 1 and chars[y, x] == ord("@") and colors[y, x] == 15
    monster = nethack.permonst(nethack.glyph_to_mon(glyphs[y][x]))
    assert (monster.mname, monster.mlevel) == ("monk", 10)
    symbol = nethack.class_sym.from_mlet(monster.mlet)
    assert (symbol.sym, symbol.explain) == ("@", "human or elf")


def test_heroes_that_are_left_to_the_game():
    assert {"race:random", "gender:random", "align:random"} <= set(nethack.Nethack(playername="Hugo-@").options)
    assert "race:random" not in nethack.Nethack(playername="Jurgen-wiz-gno-cha-mal").options
    options = nethack.Nethack(playername="Al-@", options=[*nethack.NETHACKOPTIONS, "align:lawful"]).options
    assert "race:random" in options and "align:random" not in options and "align:lawful" in options


@pytest.mark.parametrize("wrong", [{"ttyrec": "a.ttyrec"}, {"hackdir": "."}, {"spawn_monsters": False}])
def test_what_is_not_imitated_is_refused(wrong):
    with pytest.raises(ValueError):
        nethack.Nethack(**wrong)


def test_keys_are_bytes():
    game = nethack.Nethack(copy=True)
    game.reset()
    for key in (-1, 0, 27):
        game.step(key)
    for key in (-2, 256, 1000):
        with pytest.raises(ValueError, match="no key"):
            game.step(key)
