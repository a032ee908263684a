"""Reasons why a message could not be read, for its sender: an agent or a person, who has no use for names of types."""

import msgspec

TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object with named fields",
    "null": "nothing",
    "datetime": "a time, such as 2026-01-31T18:00:00Z",
}
"""The decoder's name of a type in JSON -> people's name of it."""
BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_MISSING = "Object missing required field `"
_EXPECTED = "Expected `"


def misread(error: Exception) -> str:
    """A fault of a message, as the end of a sentence. `error`: what was raised while it was read.

    >>> misread(msgspec.ValidationError("Expected `int`, got `str` - at `$.limit`"))
    '`limit` must be a whole number, and is a text'
    """
    match error:
        case msgspec.ValidationError():
            return _invalid(str(error))
        case msgspec.DecodeError():
            return "it is no JSON, or only the beginning of some"
        case UnicodeError():
            return "it is no text in UTF-8"
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return str(error)


def _invalid(text: str) -> str:
    what, _, path = text.partition(" - at `")
    place = path.removesuffix("`").removeprefix("$").removeprefix(".")
    where = f"`{place}`" if place else "it"
    if what.startswith(_MISSING):
        field = what[len(_MISSING) :].removesuffix("`")
        return f"`{place}.{field}` is missing" if place else f"`{field}` is missing"
    if not what.startswith(_EXPECTED):
        return f"{where} has a value that it cannot have"
    wanted, _, rest = what[len(_EXPECTED) :].partition("`")
    must = " or ".join(TYPES.get(one.strip(), "something else") for one in wanted.split("|"))
    if rest.startswith(", got `"):
        found = TYPES.get(rest.removeprefix(", got `").removesuffix("`"), "something else")
        return f"{where} must be {must}, and is {found}"
    sign, _, bound = rest.strip().partition(" ")
    return f"{where} must be {BOUNDS[sign]} {bound}" if sign in BOUNDS else f"{where} must be {must} of another form"
