"""Parts that stay in a prompt while the messages around them are compressed: readings of files, and requests.

Of readings, the least idle for its kind comes first, as far as there is room. What an agent or a person has dropped,
what another lane has shortened, and what a later reading shows again, goes. The words that began the task at hand stay
as they are, so that no summary changes what is to be done.
"""

from collections.abc import Iterator

import msgspec

from services.domain.conversation import Part
from services.domain.retention import Kind, Retention
from services.domain.tools.uses import covers
from services.plan.lanes.drops import call_of
from services.plan.session.costs import is_sent
from services.plan.session.readings import Reading
from services.plan.session.state import Session

SELDOM_EDITED = frozenset({"csv", "json", "jsonl", "lock", "log", "md", "out", "rst", "txt"})
"""Ends of files that agents read to know, and seldom to edit."""


class Remainder(msgspec.Struct, frozen=True):
    """A reading that stays, or a text."""

    parts: tuple[str, ...]
    """Of a reading the one or two parts of its call."""
    tokens: int
    file: str = ""
    """The end of its path."""


def remainder(session: Session, before: int, stays: Retention, room: int | None = None) -> tuple[Remainder, ...]:
    """The parts that stay of messages before this ordinal, in order. `room`: tokens at most, where there is less."""
    known = session.usage.calibration
    most = known.estimated(stays.request + stays.readings)
    room = most if room is None else min(room, most)
    asked = [*_request(session, before, min(room, known.estimated(stays.request)))]
    room -= sum(one.tokens for _, one in asked)
    readings = _readings(session, before, stays, min(room, known.estimated(stays.readings)))
    return tuple(one for _, one in sorted([*asked, *readings], key=lambda each: each[0]))


def _request(session: Session, before: int, room: int) -> Iterator[tuple[int, Remainder]]:
    """The words that began the task at hand, each with its number."""
    conversation = session.conversation
    message = conversation.messages.get(conversation.order.get(session.turn, "")) if session.turn < before else None
    if message is None:
        return
    texts = [
        part
        for _, part in conversation.sent_parts(message)
        if part.recorded.kind == "text" and not part.recorded.synthetic and _is_served_whole(session, part)
    ]
    if sum(text.recorded.tokens for text in texts) <= room:
        yield from ((text.number, Remainder((text.recorded.part,), text.recorded.tokens)) for text in texts)


def _readings(session: Session, before: int, stays: Retention, room: int) -> Iterator[tuple[int, Remainder]]:
    ranked = sorted(_ranked(session, before, stays), key=lambda one: (one[0], -one[2].number))
    for _, reading, part in ranked:
        one = _whole(session, reading, part)
        if one is not None and one.tokens <= room:
            room -= one.tokens
            yield part.number, one


def _ranked(session: Session, before: int, stays: Retention) -> Iterator[tuple[float, Reading, Part]]:
    """The readings that may stay, each with its idle time relative to what its kind may have."""
    conversation, known = session.conversation, session.readings
    newer: dict[str, list[tuple[Reading, Part]]] = {}
    for reading in reversed(known.newest):
        part, place = conversation.parts.get(reading.part), conversation.place(reading.part)
        if part is None or not _is_served_whole(session, part):
            continue
        kind, later = _kind(session, reading, place), newer.setdefault(reading.file, [])
        is_enough = not later or kind == "fresh" or reading.is_written
        if any(_shows_again(session, *one, reading, part) for one in later):
            continue
        later.append((reading, part))
        idle = known.idle(reading) / max(1, stays.idle[kind])
        if place < before and idle < 1 and is_enough:
            yield idle, reading, part


def _is_served_whole(session: Session, part: Part) -> bool:
    """Whether it is served whole now, and not queued to be dropped."""
    name = part.recorded.part
    is_free = session.plan.is_whole(name) and session.drops.is_free(part.number)
    return is_free and is_sent(session.conversation, session.plan, name)


def _kind(session: Session, reading: Reading, place: int) -> Kind:
    """A file that was changed more than once is one that the agent works on, and may well change again."""
    known = session.readings
    if reading.is_written:
        return "written"
    if known.is_changed(reading):
        return "worked" if known.changes(reading.file) > 1 else "past"
    is_seldom = reading.file.rpartition(".")[2].lower() in SELDOM_EDITED
    if place >= session.turn and not is_seldom:
        return "fresh"
    return "worked" if reading.changes else "past"


def _shows_again(session: Session, later: Reading, now: Part, earlier: Reading, then: Part) -> bool:
    if later.is_written or earlier.is_written:
        return later.is_written
    if later.target or earlier.target:
        return later.target == earlier.target
    asked, before = session.uses.question(now.recorded), session.uses.question(then.recorded)
    return asked is not None and before is not None and covers(asked, before, now.recorded.bytes)


def _whole(session: Session, reading: Reading, part: Part) -> Remainder | None:
    """The call with its result, and with what was thought before it where the model wants to see that.

    None where the call is not there any more, or that thought is signed for what stood before it.
    """
    parts = [part]
    if part.recorded.kind != "tool":
        call = call_of(session, part)
        if call is None or not session.conversation.place(call):
            return None
        parts.insert(0, session.conversation.parts[call])
    able = session.step.capabilities if session.step is not None else ()
    if "requires_reasoning_on_tool_calls" in able:
        thoughts = [*_thoughts(session, parts[0])]
        if "binds_signed_thinking" in able and any(one.recorded.signed for one in thoughts):
            return None
        parts = [*thoughts, *parts]
    return Remainder(tuple(one.recorded.part for one in parts), sum(one.recorded.tokens for one in parts), reading.file)


def _thoughts(session: Session, call: Part) -> Iterator[Part]:
    message = session.conversation.messages[call.recorded.message]
    for name, part in session.conversation.sent_parts(message):
        if part.recorded.kind == "reasoning" and not session.plan.is_omitted(name):
            yield part
