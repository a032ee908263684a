"""A decision as events: one revision, or several in a row where it has more edits than one event holds."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from schemas.codec import encode
from schemas.events import PlanExtended, PlanRebased
from schemas.plan import AnyEdit

MAX_EDITS = 2500
"""The most edits in one event."""
MAX_BYTES = 256 * 1024
"""The most bytes of the edits in one event, unless a single edit is longer."""
ONCE = frozenset(
    {
        *("forgone", "delays", "inherited", "queued", "dropped"),
        *("predecessor", "left_open", "left_open_in", "left_open_at", "memories"),
    }
)
"""The fields that only the first of several revisions records."""

E = TypeVar("E", PlanExtended, PlanRebased)


def revisions_of(decision: E, edits: Sequence[AnyEdit]) -> tuple[E, ...]:
    """The decision with these edits, as events; without any edits one empty revision."""
    later = {field.name: _empty(field) for field in msgspec.structs.fields(decision) if field.name in ONCE}
    events = []
    for number, page in enumerate(pages(edits)):
        event = msgspec.structs.replace(
            decision,
            revision=decision.revision + number,
            edits=f"[{','.join(page)}]",
            edit_count=len(page),
            **(later if number else {}),
        )
        events.append(event)
    return tuple(events)


def _empty(field: msgspec.structs.FieldInfo) -> object:
    """The value of a field of which nothing is recorded."""
    return field.default_factory() if field.default is msgspec.NODEFAULT else field.default


def pages(edits: Sequence[AnyEdit]) -> Iterator[Sequence[str]]:
    """The edits as JSON, so many at once as one event holds; at least one page."""
    page: list[str] = []
    size = 0
    for edit in edits:
        data = encode(edit)
        size += len(data)
        if page and (size > MAX_BYTES or len(page) == MAX_EDITS):
            yield page
            page, size = [], len(data)
        page.append(data.decode())
    yield page
