"""What the memory of earlier sessions is worth to a later one: recorded sessions of each repository, in their order."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from schemas.commands import MemoryPropose
from schemas.inbox import MessageSeen
from services.desk.core.book.admission import admit
from services.desk.core.book.asking import Origin, asked, shown
from services.desk.core.book.candidate import Candidate
from services.desk.core.candidates import from_agent, from_call, from_person
from services.domain.limits import Memory as Limits
from services.domain.memory.rendering import render
from services.domain.texts.content import Piece, RecordedMessage, person_texts
from services.domain.tokens import tokens
from services.domain.tools.call import TOOLS, call_of
from services.domain.transcript.names import names
from services.domain.transcript.reader import read as read_chunk
from services.edges.client.carryover import CHUNK, recorded
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.historian.core.rules.summary import summarise
from services.historian.core.summary import Fact
from services.responder.head.memories import chosen
from services.responder.projections.book import Remembered, evolve
from tests.helpers.memory_books import Desk
from tests.helpers.session_candidates import pieces_of

FIRST = 60
"""Messages of a later session of which it is looked at what its agent writes."""
MANY = 3
"""Repositories from which on a name is a general one."""
START = datetime(2026, 1, 1, tzinfo=UTC)


class Worth(msgspec.Struct, frozen=True):
    """Of the names that a later session's agent writes, and earlier ones knew: how many a text at its start has."""

    project: str
    session: str
    needed: int
    remembered: int
    """Of these the head with the project's memory has so many ..."""
    frequent: int
    """... and the most frequent names of earlier sessions, in as many tokens."""
    tokens: int
    head: str


def worth(paths: Iterable[Path]) -> Iterator[Worth]:
    """Each later session of each repository. Names that are known in many repositories are nobody's."""
    projects = _by_project(paths)
    common = _common(projects.values())
    for project, sessions in projects.items():
        desk, known = Desk(), Counter[str]()
        for number, session in enumerate(sessions):
            if number:
                yield _worth(project, session, desk, known)
            _take_in(desk, session)
            told = (name for message in session.messages for name in names(_all_of(message)))
            known.update(name for name in told if name not in common)


def _common(projects: Iterable[Sequence[Transcript]]) -> set[str]:
    """Names that are too general to count."""
    found = Counter[str]()
    for sessions in projects:
        found.update({name for session in sessions for message in session.messages for name in names(_all_of(message))})
    return {name for name, count in found.items() if count >= MANY}


def _by_project(paths: Iterable[Path]) -> dict[str, list[Transcript]]:
    found: dict[str, list[Transcript]] = defaultdict(list)
    for path in paths:
        found[path.name.split("__")[0]] += [one for one in read(path) if one.messages]
    return {name: sorted(sessions, key=_began) for name, sessions in found.items()}


def _began(session: Transcript) -> datetime:
    return min((message.at for message in session.messages if message.at is not None), default=START)


def _worth(project: str, session: Transcript, desk: Desk, known: Counter[str]) -> Worth:
    remembered = Remembered()
    for event, envelope in desk.log:
        remembered = evolve(remembered, event, envelope)
    head = render(chosen(remembered, Limits(), _began(session)))
    needs = _needs(session.messages[:FIRST], known)
    room = len(head.encode())
    frequent = " ".join(name for name, _ in known.most_common()).encode()[:room].decode(errors="ignore").split()
    return Worth(
        project, session.session, len(needs), sum(name in head for name in needs), len(needs & {*frequent}),
        tokens(room), head,
    )  # fmt: skip


def _needs(messages: Sequence[MessageSeen], known: Counter[str]) -> set[str]:
    """What the agent writes that earlier sessions knew and no person has said before."""
    said: set[str] = set()
    needs: set[str] = set()
    for message in messages:
        if message.role == "user":
            said.update(names(_all_of(message)))
        else:
            needs |= {name for name in names(_own_of(message)) if name in known and name not in said}
    return needs


def _own_of(message: MessageSeen) -> str:
    """What an agent writes, without what its tools call their arguments."""
    return "\n".join(piece.text if piece.kind == "text" else _said(piece) for piece in pieces_of(message))


def _said(piece: Piece) -> str:
    return call_of(piece).arguments if piece.kind in TOOLS else ""


def _all_of(message: MessageSeen) -> str:
    return "\n".join(f"{piece.text}\n{_said(piece)}\n{piece.output}" for piece in pieces_of(message))


# What the desk takes in of a session.


def _take_in(desk: Desk, session: Transcript) -> None:
    for message in session.messages:
        for candidate in _candidates(session.session, message):
            context = desk.context("desk", session.session, at=message.at or _began(session), cause=candidate.id)
            decision = admit(desk.book, candidate, context)
            desk.write(decision.events, context)
    for fact in _facts(recorded(session), session.seen.directory):
        at = max((message.at for message in session.messages if message.at is not None), default=START)
        desk.say(MemoryPropose(fact.category, fact.text, session.session), "historian", session.session, at=at)


def _facts(messages: Sequence[RecordedMessage], directory: str) -> Iterator[Fact]:
    """What the historian reports of a session by rules, stretch after stretch."""
    while messages:
        chunk = read_chunk(messages, CHUNK)
        summary = summarise(chunk, directory)
        yield from summary.facts
        done = summary.unprocessed_from - 1 if summary.unprocessed_from else chunk.last
        messages = [one for one in messages if one.ordinal > done]


def _candidates(session: str, message: MessageSeen) -> Iterator[Candidate]:
    pieces = pieces_of(message)
    read_back = RecordedMessage(1, message.message, message.role, pieces=pieces, synthetic=message.synthetic)
    person = Origin(session, message.message, "person", "person")
    agent = Origin(session, message.message, "agent", "agent")
    for text in person_texts(read_back):
        yield from asked(text, person)
        yield from (shown(found, person) for found in from_person(text))
    for piece in pieces:
        if piece.kind == "text" and message.role == "assistant":
            yield from (shown(found, agent) for found in from_agent(piece.text))
        elif piece.kind in TOOLS:
            yield from (shown(found, agent) for found in from_call(call_of(piece)))
