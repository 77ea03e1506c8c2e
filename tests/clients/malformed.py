"""Malformed arguments of a tool, made from its input schema alone."""

VALUES = {
    "null": None, "boolean": True, "number": 1.5, "string": "?", "array": [], "object": {},
}


def types_of(schema):
    """The JSON types that a field takes."""
    if "anyOf" in schema:
        return {name for part in schema["anyOf"] for name in types_of(part)}
    given = schema.get("type", [])
    return {given} if isinstance(given, str) else set(given)


def example(schema):
    """A value of the right type."""
    if "anyOf" in schema:
        return example(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    plain = {"string": "x", "integer": schema.get("minimum", 0), "number": 0, "boolean": False, "array": []}
    kind = next(iter(types_of(schema)))
    if kind == "object":
        return {name: example(schema["properties"][name]) for name in schema.get("required", [])}
    return plain[kind]


def calls_of(schema):
    """What is wrong, and the arguments: a field too many, each required field missing, each field of each wrong type."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    good = {name: example(properties[name]) for name in required}
    yield "extra: surplus", {**good, "surplus": 1}
    for name in required:
        yield f"missing: {name}", {other: value for other, value in good.items() if other != name}
    for name, field in properties.items():
        taken = types_of(field)
        for kind, value in VALUES.items():
            # A field that may be left out may be null as well.
            may_be = kind in taken or (kind == "null" and name not in required)
            if not may_be:
                yield f"{kind}: {name}", {**good, name: value}


def has_type_fault(what, error):
    """Whether an error names the field that is wrong."""
    name = what.partition(": ")[2]
    return error.get("field") == name or name in error.get("message", "")
