"""A project's memory book that commands are decided on one by one, as at the desk and without a broker."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from schemas.codec import wrap
from schemas.commands import Command
from schemas.envelope import Actor, ActorKind, Envelope
from schemas.events import Event
from schemas.subjects import Address
from services.desk.core.commands import decide_on_book
from services.domain.decision import Decision
from services.memory.book import Book, evolve
from services.memory.decide.context import BookContext
from services.memory.entry import Memory

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)
OMISSIONS = frozenset({"global_cap", "token_budget", "twin", "empty_budget"})
"""Why a memory that holds is not shown."""
_KINDS: dict[str, ActorKind] = {"person": "person", "agent": "agent"}


class Desk:
    """One book, its log, and the facts of the last decision."""

    def __init__(self) -> None:
        self.book = Book()
        self.log: list[tuple[Event, Envelope]] = []
        self.made: Sequence[Event] = ()
        self._commands = 0

    def say(
        self,
        command: Command,
        trust: str = "person",
        session: str = "",
        *,
        at: datetime = NOON,
        cause: str = "",
        written: int = 1000,
        **more: Any,  # noqa: ANN401 - of several types
    ) -> Decision:
        """Decide a command and write its facts: all of them, or as many as `written` where the process ends then."""
        self._commands += 1
        context = self.context(trust, session, at=at, cause=cause or f"w{self._commands}", **more)
        decision = decide_on_book(self.book, command, context)
        self.write(decision.events[:written], context, is_whole=written >= len(decision.events))
        return decision

    def context(
        self,
        trust: str = "person",
        session: str = "",
        *,
        at: datetime = NOON,
        cause: str = "w",
        **more: Any,  # noqa: ANN401
    ) -> BookContext:
        actor = Actor(_KINDS.get(trust, "room"), "ada" if trust == "person" else trust)
        return BookContext(actor=actor, trust=trust, at=at, cause=cause, session=session, **more)

    def write(self, events: Sequence[Event], context: BookContext, *, is_whole: bool = True) -> None:
        """Append facts of one decision."""
        self.made = events
        for number, event in enumerate(events, 1):
            envelope = wrap(
                event,
                Address("harbour"),
                id=f"e{len(self.log)}",
                at=context.at,
                actor=context.actor,
                cause=context.cause,
            )
            envelope = replace(envelope, seq=len(self.log) + 1, last=is_whole and number == len(events))
            self.log.append((event, envelope))
            self.book = evolve(self.book, event, envelope)

    def of(self, name: str) -> Memory:
        return self.book.memories[name]

    def only(self) -> Memory:
        """The one memory that there is."""
        (memory,) = self.book.memories.values()
        return memory

    def statuses(self) -> dict[str, str]:
        """Text -> status, the oldest memory first."""
        return {one.text: one.status for one in sorted(self.book.memories.values(), key=lambda one: one.facts[0])}

    def verdicts(self) -> list[str]:
        """The verdict of each candidate, in the order of their last judgement."""
        return [one.verdict for one in sorted(self.book.candidates.values(), key=lambda one: one.seq)]


def named(decision: Decision) -> str:
    """The id of the memory that a decision's answer gives."""
    return named_in(decision.text)


def named_in(text: str) -> str:
    words = (word.strip(".,:") for word in text.split())
    return next(word for word in words if len(word) == 11 and word[0] == "m")


def decided(desk: Desk, command: Command, *sender: str, **more: Any) -> Decision:  # noqa: ANN401 - of several types
    """The desk's decision on a command of this trust and session."""
    return desk.say(command, *sender, **more)
