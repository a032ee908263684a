"""The history as text: compartments in the tiers that there is room for, and the names that they remember.

The same compartments, budget and importance make the same bytes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from xml.sax.saxutils import unescape

from msgspec.structs import replace

from schemas.events import CompartmentSealed
from services.domain.texts.abridged import octets, rules_in, with_rules
from services.domain.texts.markup import element, escaped, stacked
from services.domain.texts.posing import unposed, unposed_line
from services.domain.tokens import BYTES_PER_TOKEN
from services.domain.transcript.labels import is_settled
from services.plan.head import names
from services.plan.head.decay import ARCHIVED, TIERS, freshest, tiers, total

QUOTE = "U: "
"""The beginning of a line of what the user wrote."""
TASK = "Task: "
"""The beginning of a line of what the agent wrote that started a sub-agent, in the sub-agent's session: it takes the
user's place."""
LEAST = 1_300
"""Bytes of a fullest tier that need no shortening: about what one has on average."""


def excerpt(full: str, brief: str, most: int, quote: str = QUOTE) -> str:
    """At most `most` bytes, but at least LEAST, and never less than the next tier.

    The user's own words come first, then what was decided and what is open, then what was done, then other remarks, the
    newest first: they show the present state. Of what is too long, the user's rules and the beginning take at most half
    of the room. `quote`: how the lines begin that take the user's place.
    """
    room = max(most, LEAST, octets(brief))
    if octets(full) <= room:
        return full
    chosen: dict[int, str] = {}
    size = 0
    for at, line, bound in _offers(full.splitlines(), room, quote):
        replaced = octets(chosen[at]) + 1 if at in chosen else 0
        left = bound - size + replaced - 1
        fitting = line if octets(line) <= left else _abridged(line, left, quote) if bound < room else ""
        if octets(fitting) + 1 > max(replaced, 1):
            chosen[at] = fitting
            size += octets(fitting) + 1 - replaced
    text = "\n".join(chosen[at] for at in sorted(chosen))
    return text if octets(text) >= octets(brief) else brief


def _offers(lines: Sequence[str], room: int, quote: str) -> Iterator[tuple[int, str, int]]:
    """Lines in the order in which they are taken, each with how many bytes all may have together with it.

    First the heading, then the rules of the user, what else they wrote, and everything.
    """
    quotes = [(at, line) for at, line in enumerate(lines) if line.startswith(quote)]
    if not lines[0].startswith(quote):
        yield 0, lines[0], room
    for at, line in quotes:
        if rules := rules_in(line.removeprefix(quote)):
            yield at, f"{quote}{rules}", room // 2
    yield from ((at, line, room // 2) for at, line in quotes)
    ranked = sorted(range(len(lines)), key=lambda at: (_rank(lines[at], at, quote), at))
    yield from ((at, lines[at], room) for at in ranked)


def _abridged(line: str, most: int, quote: str) -> str:
    """So much of what the user wrote; empty where none fits, or someone else wrote it."""
    words = with_rules(line.removeprefix(quote), most - len(quote), octets) if line.startswith(quote) else ""
    return f"{quote}{words}" if words else ""


def _rank(line: str, at: int, quote: str) -> tuple[int, int]:
    if line.startswith(quote) or not at:
        return 0, 0
    if is_settled(line):
        return 1, 0
    if not line.lstrip().startswith("- "):
        return 2, 0
    return 3, -at


HISTORY = """\
What happened in this session before the messages below, put here by the service that keeps your context. It is a \
record and asks for nothing. The numbers are messages: ctx_expand shows them again. U: is what the user wrote."""
SUBAGENT = """\
What happened in this session before the messages below, put here by the service that keeps your context. It is a \
record and asks for nothing. The numbers are messages. Task: is what the agent wrote that started this session."""
"""The same in the session of a sub-agent, which no person has written to."""
STATE = "As of this writing: the messages below are newer."
"""The heading of the state."""
NAMES = 2 / 3
"""The share of the room that is reserved for names. They never take more than twice what the summaries take."""
PARTS = 8
"""A compartment takes at most this part of the room, unless there is room left in the end."""
SHORT = 3
"""The tier from which on a compartment is one line."""
TITLE_START = 40
"""Characters of a title that are enough to see that the text begins with it."""
_FENCES = ("```", "~~~")
_QUOTED = re.compile(rf"^{QUOTE}", re.MULTILINE)
ARCHIVED_LINE = 48
"""Bytes that are reserved for the line about what is archived."""


def importance_of(one: CompartmentSealed) -> int:
    """As it was sealed."""
    return one.importance


def render_history(
    sealed: Sequence[CompartmentSealed] = (),
    budget: int = 0,
    state: Sequence[str] = (),
    tasks: Sequence[str] = (),
    importance: Callable[[CompartmentSealed], int] = importance_of,
    visible: AbstractSet[str] = frozenset(),
    *,
    is_subagent: bool = False,
) -> str:
    """The second head message in at most `budget` tokens; empty if there is nothing to say, or no room for it.

    The oldest comes first. State and tasks are rendered whole as far as the budget goes; summaries get what they leave.
    `visible`: ends of paths of files that can be read elsewhere in the prompt. `is_subagent`: another agent has
    started the session, and nothing in it is rendered as the user's words.
    """
    opening, quote = (SUBAGENT, TASK) if is_subagent else (HISTORY, QUOTE)
    frame = len(element("history", stacked([opening, " "])).encode())
    room = budget * BYTES_PER_TOKEN - frame
    now = _bounded([("state", STATE, state), ("tasks", "", tasks)], room)
    left = room - len(now.encode()) - 4
    rendered = [_as_task(one) for one in sealed] if is_subagent else sealed
    past = _past(rendered, left, [importance(one) for one in sealed], visible, now, quote) if sealed else ""
    sections = stacked([past, now])
    return element("history", stacked([opening, sections])) if sections and room > 0 else ""


def _as_task(one: CompartmentSealed) -> CompartmentSealed:
    """A compartment of a sub-agent: one that was made before that was known may have quoted a user."""
    texts = (_QUOTED.sub(TASK, text) for text in (one.p1, one.p2, one.p3, one.p4))
    return replace(one, **dict(zip(("p1", "p2", "p3", "p4"), texts, strict=True)))


def _past(
    sealed: Sequence[CompartmentSealed],
    room: int,
    importance: Sequence[int],
    visible: AbstractSet[str],
    now: str,
    quote: str,
) -> str:
    """Summaries first, without the share of names; names in what is left; then fuller summaries if there is room.

    `now`: the text below the history, which need not be repeated here.
    """
    found = names.ranked(sealed)
    summaries = _summaries(sealed, int(room * (1 - NAMES)), importance, quote)
    listed = names.index(found, f"{summaries}\n{now}", _for_names(summaries, room), visible)
    summaries = _summaries(sealed, room - len(listed.encode()) - 2, importance, quote)
    listed = names.index(found, f"{summaries}\n{now}", _for_names(summaries, room), visible)
    text = stacked([summaries, listed])
    return text if len(text.encode()) <= room else ""


def _for_names(summaries: str, room: int) -> int:
    """Bytes that names may take: what these summaries leave, and at most two thirds of both together."""
    size = len(summaries.encode())
    return min(room - size - 2, size * 2)


def _summaries(sealed: Sequence[CompartmentSealed], room: int, importance: Sequence[int], quote: str) -> str:
    """Each in the tier that there is room for. The fullest are shortened at first, so that there are more of them."""
    whole = [[escaped(_form(one, tier)) for tier in range(1, TIERS + 1)] for one in sealed]
    forms = [[excerpt(full, brief, room // PARTS, quote), brief, *rest] for full, brief, *rest in whole]
    costs = [[_cost(form) for form in each] for each in forms]
    room -= ARCHIVED_LINE
    levels = tiers(costs, importance, room)
    room -= total(costs, levels)
    for at in freshest(importance):
        if levels[at] == 1:
            forms[at][0] = excerpt(whole[at][0], whole[at][1], costs[at][0] - 2 + room, quote)
            room -= _cost(forms[at][0]) - costs[at][0]
    lines: list[str] = []
    for archived, run in groupby(range(len(sealed)), key=lambda at: levels[at] == ARCHIVED):
        every = list(run)
        if archived:
            lines.append(f"- {sealed[every[0]].first}-{sealed[every[-1]].last}: archived")
        else:
            lines += [forms[at][levels[at] - 1] for at in every]
    return _set(lines)


def _cost(form: str) -> int:
    """UTF-8 bytes with the empty line behind it."""
    return len(form.encode()) + 2


def _form(one: CompartmentSealed, tier: int) -> str:
    """A compartment in one of its tiers: a section, or one line."""
    text = (one.p1, one.p2, one.p3, one.p4)[tier - 1].strip() or unposed(one.title)
    if tier >= SHORT:
        return f"- {one.first}-{one.last}: {unposed(text)}"
    title = "" if one.title.rstrip("…")[:TITLE_START] in text[: 2 * len(one.title) + 8] else f" {unposed(one.title)}"
    return f"## {one.first}-{one.last}{title}\n{_plain(text)}"


def _plain(text: str) -> str:
    """Without lines that look like the heading of another compartment, or the beginning of code that may not end.

    Words are set as the user's in one way only, as the historian does where the user wrote them.
    """
    whole = (line.rstrip() for line in text.splitlines() if not line.lstrip().startswith(_FENCES))
    lines = (line if line.startswith(QUOTE) else unposed_line(line) for line in whole)
    return "\n".join(line.lstrip("# ") if line.lstrip().startswith("#") else line for line in lines if line.strip())


def _set(lines: Iterable[str]) -> str:
    """Sections with an empty line around them, single lines close together."""
    text = before = ""
    for line in lines:
        close = line.startswith("- ") and before.startswith("- ")
        text += ("\n" if close else "\n\n") + line if text else line
        before = line
    return text


def state_in(text: str) -> tuple[str, ...]:
    """The lines of the state that a history shows, as they were given; none: it shows none."""
    _, mark, rest = text.rpartition(f"<state>\n{STATE}\n")
    state = rest.partition("\n</state>")[0] if mark else ""
    return tuple(unescape(line.removeprefix("- ")) for line in state.split("\n") if line)


def _bounded(sections: Iterable[tuple[str, str, Sequence[str]]], room: int) -> str:
    """Lists of lines below their headings, as many lines as there is room for; without a line there is no heading."""
    made: list[str] = []
    for name, heading, texts in sections:
        lines = [f"- {escaped(flat)}" for text in texts if (flat := " ".join(text.split()))]
        while lines and len(stacked([*made, _listed(name, heading, lines)]).encode()) > room:
            lines.pop()
        made.append(_listed(name, heading, lines))
    return stacked(made)


def _listed(name: str, heading: str, lines: Sequence[str]) -> str:
    return element(name, "\n".join((*filter(None, (heading,)), *lines))) if lines else ""
