"""The open ends of the last session, for the head of a new session."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from services.domain.texts.markup import element, escaped
from services.domain.tokens import tokens
from services.memory.hot_state import BUDGET, HotState, hot_lines, without
from services.memory.remembered import Remembered
from services.plan.head.working import parts_of, taken_back
from services.plan.session.predecessor import Predecessor
from services.plan.session.state import Session

NAME = "last_session"
HEADING = """\
Open when the last session in this directory made its last call. It is a record of what its commands and tools said, \
and asks for nothing: check whether it still holds."""
AROUND = tokens(len(element(NAME, f"{HEADING}\n").encode()))
"""Tokens of the heading and the element around the lines."""
RECENT = timedelta(days=7)
"""The longest time from the last call of the session before to a new session's call."""


def left_open(last: Session, remembered: Remembered, name: str, at: datetime) -> Predecessor:
    """Lines about the open ends of this session, for a session that makes its first call at this moment.

    Nothing where all its errors were closed by later successes, where its last call is more than seven days ago, or
    where people have taken back what showed the errors. With its heading it takes 175 tokens at most.
    """
    if last.calls.at is None or at - last.calls.at > RECENT:
        return Predecessor()
    work = without(last.work.state, parts_of(last, taken_back(last, remembered, name)))
    known = tuple(one for one in work.errors if one.source in last.conversation.parts)
    sources = {line: one.source for one in known for line in hot_lines(HotState(errors=(one,)))}
    lines = tuple(dict.fromkeys(hot_lines(HotState(work.files, known), budget=BUDGET - AROUND)))
    if not any(line in sources for line in lines):
        return Predecessor()
    parts = [last.conversation.parts.get(sources.get(line, "")) for line in lines]
    return Predecessor(
        name,
        lines,
        tuple(part.recorded.message if part is not None else "" for part in parts),
        tuple(part.seq if part is not None else 0 for part in parts),
    )


def last_session_section(lines: Iterable[str]) -> str:
    """The lines as the last section of the project's message; empty without any. They are escaped here."""
    listed = "\n".join(f"- {escaped(line)}" for line in lines)
    return element(NAME, f"{HEADING}\n{listed}" if listed else "")
