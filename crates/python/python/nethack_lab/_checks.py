"""What callers give, checked before anything happens: each refusal says what was wrong and what would do."""

import operator

from nethack_lab import _native


def count(value, what, least=0, most=None):
    """A whole number as an int; floats, truth values and text are refused."""
    bounds = f"a whole number from {least}" + (" on" if most is None else f" to {most}")
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} {value!r} is no whole number: give {bounds}") from None
    if number < least or (most is not None and number > most):
        raise ValueError(f"{what} {number} is out of range: give {bounds}")
    return number


def wrong_action(action, among):
    """The exception for an action that is none of so many."""
    try:
        number = operator.index(action)
    except TypeError:
        kind = type(action).__name__
        return TypeError(f"action {action!r} ({kind}) is no whole number: give one from 0 to {among - 1}")
    return IndexError(f"action {number} is none: there are 0 to {among - 1}")


def mapping(options, known):
    """Options of a reset as a dict of known names only."""
    if options is None:
        return {}
    try:
        if isinstance(options, (str, bytes, list, tuple)):
            raise TypeError
        options = dict(options)
    except (TypeError, ValueError):
        raise TypeError(f"options must be a dict with any of {known}, not {type(options).__name__}") from None
    return options


def is_state(state):
    """Refuses what is no saved game."""
    from nethack_lab._states import State

    if not isinstance(state, State):
        raise TypeError(
            f"a state must be a nethack_lab.State, as save() gives it, not {type(state).__name__}; bytes become one "
            "with State.from_bytes or State.from_movie"
        )


def content(data, what):
    """Bytes of any kind as bytes."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{what} must be bytes, not {type(data).__name__}")
    return bytes(data)


def names(values, what):
    """Names in order, each once; one text alone is refused, since it is a row of letters."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{what} must be a list, such as [{values!r}], not one text")
    try:
        values = tuple(values)
    except TypeError:
        raise TypeError(f"{what} must be a list of text, not {type(values).__name__}") from None
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{what} must be a list of text; {value!r} is none")
    return values


def observation_keys(values):
    """Names of arrays, each once."""
    values = names(values, "observation_keys")
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"observation_keys holds {twice} more than once")
    return values


def keys_of(actions):
    """The keys of an action set, as ints."""
    try:
        actions = tuple(actions)
    except TypeError:
        raise TypeError(f"actions must be a list of keys, not {type(actions).__name__}") from None
    if not actions:
        raise ValueError("actions must hold a key at least")
    return tuple(count(action, "the key of an action", 0, 255) for action in actions)


def playername(character):
    """The name that tells NetHack which hero to make."""
    if not isinstance(character, str):
        raise TypeError(f"character must be text such as 'mon-hum-neu-mal', not {character!r}")
    return f"Agent-{character}"


def fixed(options, wizard, fix_moon_phase, clock):
    """What fixes a game beside its seeds, for the native module."""
    for what, value in (("wizard", wizard), ("fix_moon_phase", fix_moon_phase)):
        if not isinstance(value, bool):
            raise TypeError(f"{what} must be True or False, not {value!r}")
    return {
        "options": ",".join(options),
        "wizard": wizard,
        "fix_moon_phase": fix_moon_phase,
        "clock": count(clock, "clock", most=_native.CLOCK_MAX),
    }
