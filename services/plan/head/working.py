"""The state of a session's work, for the head of its history."""

from collections.abc import Iterator

from services.domain.texts.bounds import flat
from services.domain.texts.markup import element
from services.domain.tokens import tokens
from services.memory.hot_state import BUDGET, hot_lines, without
from services.memory.remembered import Remembered
from services.memory.state import source_key
from services.plan.head.history import STATE
from services.plan.session.state import Session

AROUND = tokens(len(element("state", f"{STATE}\n").encode()))
"""Tokens of the heading and the element around the lines."""
ASKED = frozenset({"person", "person_by_harness", "agent"})
"""Whose words are included although they wait for a person: what was only found somewhere could be anybody's."""


RULES = 400
"""Tokens of persons' rules in messages that the harness sends no more."""
RULE_LINE = 'the user laid down: "{}"'
"""The line of one such rule, which is quoted as it was written."""


def working_lines(session: Session, remembered: Remembered, name: str) -> tuple[str, ...]:
    """Lines about a session's work, and its rules that cannot be read any more.

    The second, with what waits to be remembered of it, takes 175 tokens at most.
    """
    gone = taken_back(session, remembered, name)
    state = without(session.work.state, parts_of(session, gone))
    pending = tuple(_waiting(remembered, name))
    hot = hot_lines(state, pending, session.activity.open_todos, budget=BUDGET - AROUND)
    return (*lost_rules(session, gone), *hot)


def lost_rules(session: Session, gone: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Rules of persons in messages that the harness has compacted away, the newest first.

    `gone`: messages of which people have taken back all that came.
    """
    messages, lines, room = session.conversation.messages, list[str](), RULES
    for rule in reversed(session.work.rules):
        if rule.message in gone or messages[rule.message].present:
            continue
        line = RULE_LINE.format(flat(rule.text))
        room -= tokens(len(line.encode()) + 3)
        if room < 0:
            break
        lines.append(line)
    return tuple(dict.fromkeys(lines))


def taken_back(session: Session, remembered: Remembered, name: str) -> frozenset[str]:
    """The messages of a session of which people have taken back all that came."""
    quarantines, messages = remembered.book.quarantines, session.conversation.messages
    if not len(quarantines):
        return frozenset()
    if source_key("session", name) in quarantines:
        return frozenset(messages)
    named = (key.removeprefix(source_key("message", "")) for key in quarantines)
    return frozenset(one for one in named if one in messages)


def parts_of(session: Session, messages: frozenset[str]) -> frozenset[str]:
    """The parts of these messages of a session."""
    known = (session.conversation.messages[name] for name in messages)
    return frozenset(part for message in known for part in message.parts)


def _waiting(remembered: Remembered, name: str) -> Iterator[tuple[str, str]]:
    """Memories that somebody in the session has asked for and that nobody has decided on yet."""
    for memory in remembered.shelf if name else ():
        is_asked = memory.status == "pending" and memory.trust in ASKED
        if is_asked and any(source.is_author and source.session == name for source in memory.sources):
            yield memory.memory_class, memory.text
