"""Finds what a query names by its id: then nothing else is looked for."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec
import numpy as np

from schemas.search_asks import FoundSession
from services.kit.vectors import quoted
from services.searcher.asker import Asker
from services.searcher.copies import FACTS, Facts
from services.searcher.core.arrays import Places
from services.searcher.core.shelf import Scope, Shelf
from services.searcher.finding import FoundRow
from services.searcher.stored_shelf import StoredShelf, condition, read

SHORTEST = 7
"""Characters of the beginning of an id that stand for it."""


async def named(
    shelves: Sequence[StoredShelf], scope: Scope, ids: Sequence[str], asker: Asker, most: int
) -> list[FoundRow]:
    """The rows of these ids, in the order in which they are named; a number is that of a message of the session."""
    found: list[FoundRow] = []
    for name in ids:
        for stored in shelves:
            if name.isdecimal() and len(name) < SHORTEST:
                numbers = await _numbered(stored, asker, int(name))
            else:
                numbers = list(_beginning(stored.shelf, name))
            allowed = stored.allowed(scope._replace(left_out=frozenset()))
            found.extend(FoundRow(stored, number, 1.0, ("id",)) for number in numbers if allowed[number])
    return found[:most]


_facts = msgspec.msgpack.Decoder(Facts)
NEWEST = 50
"""Rows of a session among which the highest number of a message is looked for."""


class SessionHits(msgspec.Struct, frozen=True):
    """A session that is named, with what shows most of it: its history, how it began and its last messages."""

    facts: FoundSession
    found: tuple[FoundRow, ...]


async def session_named(
    shelves: Sequence[StoredShelf], scope: Scope, ids: Sequence[str], most: int
) -> SessionHits | None:
    """The one session that the only id of a query means; None: none, or several begin so."""
    if len(ids) != 1 or len(ids[0]) < SHORTEST:
        return None
    names = {name for stored in shelves for name in stored.shelf.sessions(ids[0])}
    name = ids[0] if ids[0] in names else names.pop() if len(names) == 1 else ""
    rows = {stored.shelf.kind: (stored, _of(stored, scope, name)) for stored in shelves if name}
    if not any(len(numbers) for _, numbers in rows.values()):
        return None
    messages, compartments = rows.get("message"), rows.get("compartment")
    found: list[tuple[StoredShelf, int]] = []
    if messages and len(messages[1]):
        found += [(messages[0], int(number)) for number in dict.fromkeys(messages[1][[0, -1]].tolist())]
    if compartments:
        found += [(compartments[0], int(number)) for number in compartments[1][: max(0, most - len(found))]]
    found.sort(key=lambda one: one[0].shelf.seqs[one[1]])
    times = [float(stored.shelf.times[number]) for stored, numbers in rows.values() for number in numbers]
    known = [time for time in times if time]
    facts = FoundSession(
        name,
        messages=len(messages[1]) if messages else 0,
        compartments=len(compartments[1]) if compartments else 0,
        last=await _last(*messages) if messages else 0,
        began=datetime.fromtimestamp(min(known), UTC) if known else None,
        ended=datetime.fromtimestamp(max(known), UTC) if known else None,
    )
    return SessionHits(facts, tuple(FoundRow(stored, number, 1.0, ("session",)) for stored, number in found))


def _of(stored: StoredShelf, scope: Scope, name: str) -> Places:
    """The rows of a session that may be found, in their order."""
    numbers = stored.shelf.of_session(name)
    numbers = numbers[stored.allowed(scope._replace(left_out=frozenset()))[numbers]]
    return numbers[np.argsort(stored.shelf.seqs[numbers], kind="stable")]


async def _last(stored: StoredShelf, numbers: Places) -> int:
    rows = await read(stored, numbers[-NEWEST:], (FACTS,))
    return max((_facts.decode(facts).last_ordinal for (facts,) in rows), default=0)


async def _numbered(stored: StoredShelf, asker: Asker, ordinal: int) -> list[int]:
    if not asker.session or stored.shelf.kind != "message":
        return []
    of_session = condition((asker.session,), ())
    where = f"project = {quoted(asker.project)} and {of_session} and ordinal = {ordinal}"
    found = await stored.table.arrow(("id",), where)
    return [stored.shelf.at_id[one] for one in found.column("id").to_pylist() if one in stored.shelf.at_id]


def _beginning(shelf: Shelf, name: str) -> Iterable[int]:
    """The rows whose own id begins so."""
    for one, number in shelf.at_id.items():
        ref = one.rpartition("/")[2]
        if ref == name or (len(name) >= SHORTEST and ref.startswith(name)):
            yield number
