"""What a query names by its id: it is that, and nothing else is looked for."""

from collections.abc import Iterable, Sequence

from services.kit.vectors import quoted
from services.searcher.asker import Asker
from services.searcher.core.shelf import Scope, Shelf
from services.searcher.finding import Found
from services.searcher.held import Held, condition

SHORTEST = 7
"""Characters of the beginning of an id that stand for it."""


async def named(shelves: Sequence[Held], scope: Scope, ids: Sequence[str], asker: Asker, most: int) -> list[Found]:
    """The rows of these ids, in the order in which they are named; a number is that of a message of the session."""
    found: list[Found] = []
    for name in ids:
        for held in shelves:
            if name.isdecimal() and len(name) < SHORTEST:
                numbers = await _numbered(held, asker, int(name))
            else:
                numbers = list(_beginning(held.shelf, name))
            allowed = held.allowed(scope._replace(left_out=frozenset()))
            found.extend(Found(held, number, 1.0, ("id",)) for number in numbers if allowed[number])
    return found[:most]


async def _numbered(held: Held, asker: Asker, ordinal: int) -> list[int]:
    if not asker.session or held.shelf.kind != "message":
        return []
    of_session = condition((asker.session,), ())
    where = f"project = {quoted(asker.project)} and {of_session} and ordinal = {ordinal}"
    found = await held.table.arrow(("id",), where)
    return [held.shelf.at_id[one] for one in found.column("id").to_pylist() if one in held.shelf.at_id]


def _beginning(shelf: Shelf, name: str) -> Iterable[int]:
    """The rows whose own id begins so."""
    for one, number in shelf.at_id.items():
        ref = one.rpartition("/")[2]
        if ref == name or (len(name) >= SHORTEST and ref.startswith(name)):
            yield number
