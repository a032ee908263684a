"""A memory or a note that somebody names, by its id or by the beginning of it."""

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

SHORTEST = 4
"""Characters of an id that may stand for it, where no other one begins so."""
MOST_NAMED = 5
"""The number of ids that are named at most of those that a beginning could mean."""
MAX_ECHO = 40
"""Characters of a wrong word that are repeated."""


class NotNamed(LookupError):
    """A name matches nothing, or more than one thing; the message ends a sentence, with what would be right."""


def echo(word: str) -> str:
    """A wrong word as it is repeated."""
    return repr(word if len(word) <= MAX_ECHO else f"{word[:MAX_ECHO]}…")


def find(known: Mapping[str, T], name: str, one: str, many: str, *, of: str = "this project") -> T:
    """The value with this id; `one` and `many` are the words for it, and `of` whose it is. Raises `NotNamed`."""
    if not name:
        raise NotNamed(f"no {one} is named: give its id")
    exact = known.get(name)
    if exact is not None:
        return exact
    names = sorted(other for other in known if other.startswith(name)) if len(name) >= SHORTEST else []
    if not names:
        raise NotNamed(
            f"{of} has no {one} {echo(name)}; list its {many}, and name one by its id or the first {SHORTEST} "
            "characters of it or more"
        )
    if len(names) > 1:
        more = ", ..." if len(names) > MOST_NAMED else ""
        raise NotNamed(f"{echo(name)} could be any of {', '.join(names[:MOST_NAMED])}{more}; write more of the id")
    return known[names[0]]
