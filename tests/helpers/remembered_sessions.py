"""What a project remembers of recorded sessions by rules alone, as the desk decides it, session after session."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from schemas.commands import MemoryPropose
from schemas.inbox import MessageSeen
from services.domain.texts.bounds import flat
from services.domain.texts.content import RecordedMessage, person_texts
from services.domain.texts.own import own_lines
from services.domain.texts.paragraphs import paragraphs
from services.domain.texts.sentences import is_informative, split
from services.domain.tools.call import TOOLS, call_of
from services.domain.transcript.reader import read as read_chunk
from services.edges.client.carryover import CHUNK, recorded
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.historian.core.rules.summary import summarise
from services.historian.core.summary import SummaryFact
from services.memory.candidates import from_agent, from_call, from_person
from services.memory.decide.admission import admit
from services.memory.decide.asking import Origin, candidate_of, candidates_in_message
from services.memory.decide.candidate import Candidate
from services.memory.keys import canonical
from tests.helpers.memory_books import Desk
from tests.helpers.recordings import SHIPPED
from tests.helpers.session_candidates import name_of, pieces_of

START = datetime(2026, 1, 1, tzinfo=UTC)


class Labels(msgspec.Struct, frozen=True):
    """The label of each sentence, by somebody who has read it; tests/recorded/README.md has the rules."""

    laid_down: frozenset[str]
    """Sentences that people typed, and that say how things are to be from then on."""
    other: frozenset[str]
    """All other sentences that people typed."""
    facts: frozenset[str]
    """What is worth remembering, and that no person wrote."""


LABELS = msgspec.json.decode((SHIPPED / "memory_sentences.json").read_bytes(), type=Labels)


class Outcome(msgspec.Struct, frozen=True):
    """What the memory of one project has come to."""

    project: str
    desk: Desk
    typed: dict[str, str]
    """Each sentence that people typed there, by its id."""

    @property
    def active(self) -> list[str]:
        return [one.text for one in self.desk.book.memories.values() if one.is_active]

    @property
    def laid_down(self) -> dict[str, str]:
        return {name: text for name, text in self.typed.items() if name in LABELS.laid_down}

    def recalled(self) -> set[str]:
        """The ids of what people laid down that an active memory says, in these words or the rule in them."""
        canonical_texts = [canonical(text) for text in self.active]
        return {name for name, text in self.laid_down.items() if any(one in canonical(text) for one in canonical_texts)}

    def junk(self) -> list[str]:
        """Active memories that nobody would want: they say nothing that people laid down, and are no such fact."""
        laid_down = [canonical(text) for text in self.laid_down.values()]
        return [
            text
            for text in self.active
            if name_of(self.project, text) not in LABELS.facts and not any(canonical(text) in one for one in laid_down)
        ]


def outcomes(paths: Iterable[Path]) -> Iterator[Outcome]:
    """The memory of each project after all of its recorded sessions, the oldest first."""
    for project, sessions in by_project(paths).items():
        desk, typed = Desk(), dict[str, str]()
        for session in sessions:
            typed.update({name_of(project, text): text for text in typed_in(session)})
            take_in(desk, session)
        yield Outcome(project, desk, typed)


def by_project(paths: Iterable[Path]) -> dict[str, list[Transcript]]:
    found: dict[str, list[Transcript]] = defaultdict(list)
    for path in paths:
        found[path.name.split("__")[0]] += [one for one in read(path) if one.messages]
    return {name: sorted(sessions, key=_began) for name, sessions in found.items()}


def typed_in(session: Transcript) -> Iterator[str]:
    """The sentences that people typed themselves in a session."""
    for message in session.messages:
        read_back = RecordedMessage(
            1, message.message, message.role, pieces=pieces_of(message), synthetic=message.synthetic
        )
        for text in person_texts(read_back):
            for paragraph in paragraphs("\n".join(own_lines(text))):
                for sentence in (one for item in paragraph.items for one in split(item)):
                    if is_informative(sentence):
                        yield flat(sentence)


def take_in(desk: Desk, session: Transcript) -> None:
    """What the desk takes in of a session, and what the historian proposes to it."""
    for message in session.messages:
        for candidate in _candidates(session.session, message):
            context = desk.context("desk", session.session, at=message.at or _began(session), cause=candidate.id)
            decision = admit(desk.book, candidate, context)
            desk.write(decision.events, context)
    for fact in _facts(recorded(session), session.seen.directory):
        at = max((message.at for message in session.messages if message.at is not None), default=START)
        desk.say(MemoryPropose(fact.category, fact.text, session.session), "historian", session.session, at=at)


def _began(session: Transcript) -> datetime:
    return min((message.at for message in session.messages if message.at is not None), default=START)


def _facts(messages: Sequence[RecordedMessage], directory: str) -> Iterator[SummaryFact]:
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
        yield from candidates_in_message(text, person)
        yield from (candidate_of(found, person) for found in from_person(text))
    for piece in pieces:
        if piece.kind == "text" and message.role == "assistant":
            yield from (candidate_of(found, agent) for found in from_agent(piece.text))
        elif piece.kind in TOOLS:
            yield from (candidate_of(found, agent) for found in from_call(call_of(piece)))
