"""The desk's wiring: a request in, facts appended, an answer with their position out."""

from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from schemas.codec import encode
from schemas.commands import COMMANDS, Answer, Command, Wish
from schemas.events import (
    DropRequested,
    Event,
    FlushRequested,
    HistoryOrdered,
    MemoryProposed,
    MemoryReinforced,
    NativeCompacted,
    SpendRefused,
    SpendReserved,
    SpendSettled,
    TagAssigned,
)
from schemas.subjects import Address, BadSubject, parse_wish
from services.desk.core import decide, misplaced
from services.desk.state import Book, evolve
from services.desk.verdict import Terms, Verdict
from services.kit import metrics
from services.kit.bus import Conflict, Unreachable
from services.kit.cache import Entry, Sessions
from services.kit.decide import envelopes
from services.kit.room import Kit
from services.kit.secrets import mask

_wishes = msgspec.json.Decoder(Wish)
_commands = {command.TYPE: msgspec.json.Decoder(command) for command in COMMANDS}
ATTEMPTS = 32
"""Decisions on one wish while other desks write to the same log."""


class Desk:
    """Checks wishes against the log and writes them down, or refuses with a reason."""

    NAME: ClassVar[str] = "desk"
    READS: ClassVar[tuple[type[Event], ...]] = (
        TagAssigned,
        NativeCompacted,
        DropRequested,
        SpendReserved,
        SpendSettled,
        SpendRefused,
        MemoryProposed,
        MemoryReinforced,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = (
        DropRequested,
        FlushRequested,
        HistoryOrdered,
        SpendReserved,
        SpendSettled,
        SpendRefused,
        MemoryProposed,
        MemoryReinforced,
    )

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._sessions = Sessions(kit.reader, evolve, Book(), kit.settings.loop.sessions)
        await kit.bus.serve("do.>", kit.room, self._answer)

    async def idle(self) -> bool:
        return True

    def health(self) -> dict[str, object]:
        return {"ok": True, "sessions": len(self._sessions)}

    async def _answer(self, subject: str, data: bytes) -> bytes:
        try:
            address, command_type = parse_wish(subject)
            wish = _wishes.decode(data)
            command = _command(command_type, wish)
        except (BadSubject, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            metrics.OUTCOMES.labels(self._kit.room, "refused").inc()
            return encode(Answer(ok=False, text=f"This wish cannot be read: {error}. See commands.schema.json."))
        try:
            answer = await self._grant(address, wish, command)
        except Unreachable as error:
            answer = Answer(ok=False, text=f"Nothing was written: {error}. Try again.")
        except Exception as error:  # whoever wished must not wait for an answer that never comes
            self._kit.log.exception("a wish failed", subject=subject)
            answer = Answer(ok=False, text=f"Nothing was written: {type(error).__name__}: {error}.")
        metrics.OUTCOMES.labels(self._kit.room, "done" if answer.ok else "refused").inc()
        return encode(answer)

    async def _grant(self, address: Address, wish: Wish, command: Command) -> Answer:
        """Decide on the newest state and append; when the log has moved, decide again."""
        wrong = misplaced(address, command)
        if wrong:
            return Answer(ok=False, text=f"Nothing was written: {wrong}")
        entry = await self._sessions.get(address)
        async with entry.deciding:
            for _ in range(ATTEMPTS):
                await self._sessions.catch_up(entry)
                verdict = decide(entry.state, command, self._terms(wish))
                try:
                    seq = await self._write(entry, wish, verdict)
                except Conflict:
                    metrics.CONFLICTS.labels(self._kit.room).inc()
                    continue
                return Answer(ok=verdict.ok, text=verdict.text, seq=seq)
        return Answer(ok=False, text="Nothing was written: others kept writing to this session. Try again.")

    def _terms(self, wish: Wish) -> Terms:
        """Days are told by our own clock: whoever wishes could have any."""
        settings = self._kit.settings
        return Terms(
            actor=wish.actor,
            day=datetime.now(UTC).date().isoformat(),
            protected=settings.plan.protected_tags,
            daily_tokens=settings.model.daily_tokens,
            daily_usd=settings.model.daily_usd,
        )

    async def _write(self, entry: Entry[Book], wish: Wish, verdict: Verdict) -> int:
        if not verdict.events:
            return verdict.seq
        facts = envelopes(verdict.events, entry.address, entry.subjects, at=wish.at, actor=wish.actor, cause=wish.id)
        seqs = await self._kit.appender.append(facts, entry.subjects)
        for fact in facts:
            metrics.APPENDED.labels(self._kit.room, fact.type).inc()
        return seqs[-1]


def _command(command_type: str, wish: Wish) -> Command:
    decoder = _commands.get(command_type)
    if decoder is None:
        raise BadSubject(f"{command_type!r} is not one of {', '.join(sorted(_commands))}")
    return decoder.decode(mask(bytes(wish.data).decode()))
