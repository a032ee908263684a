"""The history as text: compartments in the tiers that there is room for, and the names that they remember.

The same compartments, budget and importance make the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from schemas.events import CompartmentSealed
from services.kit.tokens import BYTES_PER_TOKEN
from services.responder.head import names
from services.responder.head.decay import ARCHIVED, TIERS, freshest, tiers, total
from services.responder.head.excerpt import shortened
from services.responder.head.markup import element, escaped, stacked

HISTORY = """\
What happened in this session before the messages below, put here by the service that keeps your context. It is a \
record and asks for nothing. The numbers are messages: ctx_expand shows them again. U: is what the user wrote."""
NAMES, FILL = 0.45, 0.5
"""The share of the room that names may take before summaries do, and where summaries have no more to say."""
ENOUGH = 10_000
"""Bytes that names may have however little the summaries say; beyond that they take two fifths of the text."""
PARTS = 8
"""A compartment takes at most this part of the room, unless there is room left in the end."""
SHORT = 3
"""The tier from which on a compartment is one line."""
TOLD = 40
"""Characters of a title that are enough to see that the text begins with it."""
ARCHIVED_LINE = 48
"""Bytes that are kept for the line about what is archived."""


def importance_of(one: CompartmentSealed) -> int:
    """As it was sealed."""
    return one.importance


def render_history(
    sealed: Sequence[CompartmentSealed] = (),
    budget: int = 0,
    state: Sequence[str] = (),
    tasks: Sequence[str] = (),
    importance: Callable[[CompartmentSealed], int] = importance_of,
) -> str:
    """The second head message in at most `budget` tokens; empty if there is nothing to say, or no room for it.

    The oldest comes first. State and tasks are told whole as far as the budget goes; summaries get what they leave.
    """
    frame = len(element("history", stacked([HISTORY, " "])).encode())
    room = budget * BYTES_PER_TOKEN - frame
    now = _bounded([("state", state), ("tasks", tasks)], room)
    left = room - len(now.encode()) - 4
    past = _past(sealed, left, [importance(one) for one in sealed]) if sealed else ""
    sections = stacked([past, now])
    return element("history", stacked([HISTORY, sections])) if sections and room > 0 else ""


def _past(sealed: Sequence[CompartmentSealed], room: int, importance: Sequence[int]) -> str:
    """Summaries first, without the share of names; names in what is left; then fuller summaries if there is room."""
    told = _told(sealed, int(room * (1 - NAMES)), importance)
    left = min(room - len(told.encode()) - 2, int(room * NAMES))
    listed = names.index(sealed, told, left)
    told = _told(sealed, room - len(listed.encode()) - 2, importance)
    listed = names.index(
        sealed, told, min(room - len(told.encode()) - 2, int(room * FILL), max(len(told.encode()) * 2 // 3, ENOUGH))
    )
    text = stacked([told, listed])
    return text if len(text.encode()) <= room else ""


def _told(sealed: Sequence[CompartmentSealed], room: int, importance: Sequence[int]) -> str:
    """Each in the tier that there is room for. The fullest are shortened at first, so that there are more of them."""
    whole = [[escaped(_form(one, tier)) for tier in range(1, TIERS + 1)] for one in sealed]
    forms = [[shortened(full, brief, room // PARTS), brief, *rest] for full, brief, *rest in whole]
    costs = [[_cost(form) for form in each] for each in forms]
    room -= ARCHIVED_LINE
    shown = tiers(costs, importance, room)
    room -= total(costs, shown)
    for at in freshest(importance):
        more = _cost(whole[at][0]) - costs[at][0]
        if shown[at] == 1 and more <= room:
            forms[at][0] = whole[at][0]
            room -= more
    lines: list[str] = []
    for archived, run in groupby(range(len(sealed)), key=lambda at: shown[at] == ARCHIVED):
        every = list(run)
        if archived:
            lines.append(f"- {sealed[every[0]].first}-{sealed[every[-1]].last}: archived")
        else:
            lines += [forms[at][shown[at] - 1] for at in every]
    return _set(lines)


def _cost(form: str) -> int:
    """UTF-8 bytes with the empty line behind it."""
    return len(form.encode()) + 2


def _form(one: CompartmentSealed, tier: int) -> str:
    """A compartment in one of its tiers: a section, or one line."""
    text = (one.p1, one.p2, one.p3, one.p4)[tier - 1].strip() or one.title
    if tier >= SHORT:
        return f"- {one.first}-{one.last}: {' '.join(text.split())}"
    title = "" if one.title.rstrip("…")[:TOLD] in text[: 2 * len(one.title) + 8] else f" {one.title}"
    return f"## {one.first}-{one.last}{title}\n{_plain(text)}"


def _plain(text: str) -> str:
    """Without lines that look like the heading of another compartment."""
    return "\n".join(line.lstrip("# ") if line.startswith("#") else line for line in text.splitlines() if line.strip())


def _set(lines: Iterable[str]) -> str:
    """Sections with an empty line around them, single lines close together."""
    text = before = ""
    for line in lines:
        close = line.startswith("- ") and before.startswith("- ")
        text += ("\n" if close else "\n\n") + line if text else line
        before = line
    return text


def _bounded(sections: Iterable[tuple[str, Sequence[str]]], room: int) -> str:
    """Lists of lines, as many lines as there is room for."""
    made: list[str] = []
    for name, texts in sections:
        lines = [f"- {escaped(flat)}" for text in texts if (flat := " ".join(text.split()))]
        while lines and len(stacked([*made, element(name, "\n".join(lines))]).encode()) > room:
            lines.pop()
        made.append(element(name, "\n".join(lines)))
    return stacked(made)
