"""The lane that shows an agent, behind what is new, how much old tool output it could drop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal

import msgspec

from schemas.plan import AnyEdit, AppendText
from services.domain.conversation import Message, Part
from services.domain.texts.markup import element, escaped
from services.domain.tools.names import RECEIPTS, TODO_LISTS, is_ours, plain
from services.plan.lanes.base import Lane, View
from services.plan.lanes.temporal import SHOWS_TAGS
from services.plan.lanes.turns import appended, backwards, has_reduced, newest_written, text_of_person
from services.plan.session.costs import heads
from services.plan.session.lane_marks import LaneMark
from services.plan.session.reclaim import NUDGE, OUTPUTS, Nudge, worth
from services.plan.session.state import Session, served_tokens

NAME = NUDGE
MODES = SHOWS_TAGS

Level = Literal["gentle", "firm", "urgent", "notice"]

MIN_TAIL = 60_000
"""Tokens behind the head from which on a reminder is worth its place."""
MIN_RECLAIMABLE = 25_000
"""Tokens of tool output that could go, from which on a reminder is worth its place."""
SHARES: tuple[tuple[float, Level], ...] = ((0.60, "urgent"), (0.40, "firm"), (0.20, "gentle"))
RANKS: Mapping[str, int] = {"gentle": 1, "firm": 2, "urgent": 3, "notice": 4}
GROWTH = 0.08
"""Share of the tail that must be new before the reminder is repeated."""
NOTICE_SHARE = 0.75
NOTICE_TOKENS = 50_000
QUIET_MESSAGES = 10
"""Messages behind a drop without a reminder."""
SHORT_TURNS = 3
"""Turns of a person within which a repeated reminder is short."""
MIN_ITEM = 250
"""Tokens that make an output worth naming."""
MAX_ITEMS = 4
ROUND = 10_000
"""Tokens from which on the number is rounded to thousands; below, to hundreds."""
MAX_LOOKED = 1000
"""Tags that are looked through for the oldest outputs."""
MAX_TURN = 400
"""Messages that are looked through for the turns since the last reminder."""

URGES: Mapping[Level, str] = {
    "gentle": "At the next natural pause of your work, name those that you are done with to `ctx_reduce`.",
    "firm": "Before you begin the next larger step, name those that you are done with to `ctx_reduce`.",
    "urgent": "Name those that you are done with to `ctx_reduce` now, before you call other tools.",
    "notice": "Before you work on this message, name those that you are done with to `ctx_reduce`: it is most of what "
    "this conversation holds.",
}
CLOSE = "This is a notice of the service that keeps your context, and no request of a person."


class Reclaimable(msgspec.Struct, frozen=True):
    """The tool outputs that the agent could drop, without the newest."""

    tokens: int
    count: int


def extend(view: View, fresh: Sequence[Message]) -> Iterable[AnyEdit]:
    """One reminder at most: on the newest message of a person where most could go, else on the newest tool output."""
    if not view.limits.reminders or view.causes or not _is_worth_a_look(view):
        return ()
    found = reclaimable(view)
    place = newest_written(view.session, fresh) if is_overdue(view) else None
    if place is not None:
        return _nudge(view, place[1], "notice", found, _long("notice", view, found))
    name, level = _newest_output(view, fresh), level_of(found.tokens, _tail(view))
    if not name or level is None:
        return ()
    text = _text(view, level, found)
    return _nudge(view, name, level, found, text) if text else ()


def reclaimable(view: View) -> Reclaimable:
    """The old tool output that could go: all that is counted, without what is protected."""
    session = view.session
    guarded = _worths(view, view.protected)
    count = session.reclaim.count - sum(one > 0 for one in guarded)
    return Reclaimable(session.reclaim.tokens - sum(guarded), count)


def _worths(view: View, numbers: Iterable[int]) -> list[int]:
    session = view.session
    return [worth(session, session.conversation.numbered.get(number, "")) for number in numbers]


def is_overdue(view: View) -> bool:
    """Whether most of the prompt is old tool output."""
    if not view.limits.reminders or not _is_worth_a_look(view):
        return False
    found = reclaimable(view).tokens
    return found >= NOTICE_TOKENS and found >= NOTICE_SHARE * _tail(view)


def _is_worth_a_look(view: View) -> bool:
    """Whether a closer look is worth it, by what costs least to know: most passes end here."""
    return view.session.reclaim.tokens >= MIN_RECLAIMABLE and _tail(view) >= MIN_TAIL and not _is_quiet(view)


def level_of(found: int, tail: int) -> Level | None:
    """The urgency of a reminder that so many tokens of a tail could go; None: there is no need of one."""
    if tail < MIN_TAIL or found < MIN_RECLAIMABLE:
        return None
    return next((level for share, level in SHARES if found >= share * tail), None)


def _tail(view: View) -> int:
    """Estimated tokens of what is served behind the head."""
    return served_tokens(view.session) - heads(view.session.plan)


def _is_quiet(view: View) -> bool:
    """Whether the agent has just dropped something."""
    session = view.session
    newest = islice(backwards(session.conversation, session.conversation.last_ordinal + 1), QUIET_MESSAGES)
    return any(has_reduced(session, message) for message in newest)


def _newest_output(view: View, fresh: Sequence[Message]) -> str:
    """The last output among what is new, unless it is one that comes back dropped; empty: there is none."""
    session = view.session
    for message in reversed(fresh):
        for name, part in reversed(tuple(session.conversation.sent_parts(message))):
            if part.recorded.kind in OUTPUTS and part.recorded.status == "completed":
                return name if worth(session, name) else ""
    return ""


def _text(view: View, level: Level, found: Reclaimable) -> str:
    """The reminder at this level; empty: none, since there was one before and little is new."""
    last = view.session.reclaim.nudge
    if last is None or not view.session.conversation.place(last.part) or RANKS[level] > RANKS.get(last.level, 0):
        return _long(level, view, found)
    if _growth(view, last) < max(MIN_RECLAIMABLE, GROWTH * _tail(view)):
        return ""
    return _short(found) if _is_recent(view, last) else _long(level, view, found)


def _growth(view: View, last: Nudge) -> int:
    """Tokens that could go and that were not there, or were protected, when the last reminder was made."""
    count = view.limits.protected_tags
    came = last.since + sum(_worths(view, range(max(1, last.number - count + 1), last.number + 1)))
    return came - sum(_worths(view, view.protected))


def _is_recent(view: View, last: Nudge) -> bool:
    """Whether a person has written fewer than a few messages since then."""
    session = view.session
    since = session.conversation.place(last.part)
    turns = 0
    for message in islice(backwards(session.conversation, session.conversation.last_ordinal + 1), MAX_TURN):
        if message.ordinal <= since:
            break
        turns += text_of_person(session, message) != ""
    return turns < SHORT_TURNS


def _nudge(view: View, part: str, level: Level, found: Reclaimable, text: str) -> tuple[AppendText, ...]:
    nudge = f"\n\n{element('instruction', text, name='old_tool_outputs')}"
    return appended(view.session, part, nudge, str(LaneMark(NAME, (level, str(found.tokens)))))


def _long(level: Level, view: View, found: Reclaimable) -> str:
    items = "\n".join(_item(view.session, part) for part in _oldest(view))
    listed = f"\nThe oldest:\n{items}" if items else ""
    return f"{_sum(found)} could leave this conversation. {URGES[level]}{listed}\n{CLOSE}"


def _short(found: Reclaimable) -> str:
    return f"{_sum(found)} could still be dropped with `ctx_reduce`. {CLOSE}"


def _sum(found: Reclaimable) -> str:
    return f"{found.count:,} older tool outputs, about {_about(found.tokens)} tokens,"


def _item(session: Session, part: Part) -> str:
    tool = escaped(part.recorded.tool) or "tool"
    return f"- tag {part.number}: {tool}, about {_about(worth(session, part.recorded.part))} tokens"


def _about(count: int) -> str:
    """The number without digits that say nothing."""
    return f"{round(count, -3 if count >= ROUND else -2):,}"


def _oldest(view: View) -> Iterator[Part]:
    return islice(_named(view), MAX_ITEMS)


def _named(view: View) -> Iterator[Part]:
    """Outputs worth naming, the oldest first."""
    session = view.session
    guarded = view.protected
    first = session.reclaim.oldest
    for number in range(first, min(first + MAX_LOOKED, session.conversation.last_number + 1)):
        name = session.conversation.numbered.get(number, "")
        if number not in guarded and worth(session, name) >= MIN_ITEM:
            part = session.conversation.parts[name]
            if not _is_steering(part.recorded.tool):
                yield part


def _is_steering(tool: str) -> bool:
    """Whether the tool steers the work itself: its answers are cleaned up in another way."""
    return plain(tool) in TODO_LISTS | RECEIPTS or is_ours(tool)


LANE = Lane(NAME, extend=extend, modes=MODES, order=190)
