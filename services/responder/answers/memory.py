"""The answer to `ask.memory`: what a project remembers, now or as of a position of the log, and why it is shown."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from datetime import UTC, datetime

import msgspec

from schemas.asks import MemoryAsk, MemoryEntry, MemoryReply, MemorySource
from schemas.events import PartRecorded
from schemas.explain_asks import Fact
from schemas.subjects import Address
from services.domain.finding import NotNamed, find
from services.domain.newest import NewestMap
from services.domain.project_settings import with_own
from services.kit.bus import LogReader
from services.kit.cache import folded
from services.kit.nouns import NounReader
from services.memory.book import NOUNS
from services.memory.remembered import Remembered, evolve
from services.responder.answers.base import LONG, Context, Question, remembered_of, session_of, settings_of
from services.responder.answers.facts import fact_of
from services.responder.answers.memory_reasons import by_head, by_settings, position_of_head
from services.responder.answers.memory_reports import (
    BadMemoryAsk,
    KnownMemory,
    TwinsOfProjects,
    around,
    listing,
    missing,
    missing_text,
    notes_reply,
    policy,
    quality,
    reading,
    repeating,
)

OFF = "The memory of this installation is off: nothing is remembered or used. ANNALS_MEMORY__ENABLED switches it on."
OFF_HERE = (
    "The memory of this project is off: its own settings switch it off (memory.enabled), and nothing is remembered or "
    "used. A person sees them with `annals project settings`."
)
HOME = "this is a home directory, of which nothing is remembered; ask in the folder of a project, or name one"
PASTS = 4
"""Books of earlier positions in the cache: whoever asks about one asks more than once."""
MOST_REVIEWED = 100
"""Memories of a page of those that are reviewed."""
MOST_FACTS = 20
"""Facts that are named as the reasons for one memory."""

replace = msgspec.structs.replace


class _Past(msgspec.Struct, frozen=True):
    """A project's memory at a position of the log."""

    remembered: Remembered
    at: datetime
    """When its newest fact came."""


class Pasts:
    """Projects' books at earlier positions: folded from the log, or from a cached book of an earlier position."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._cached = NewestMap[tuple[str, int], _Past](PASTS)

    async def at(self, project: str, position: int) -> _Past:
        """The memory after all facts up to this position."""
        cached = self._cached.get((project, position))
        past = cached or await self._folded(project, position)
        if past.remembered.book.moved_to:
            return await self.at(past.remembered.book.moved_to, position)
        self._cached[project, position] = past
        return past

    async def _folded(self, project: str, position: int) -> _Past:
        earlier = [at for name, at in self._cached if name == project and at <= position]
        begin = max(earlier, default=0)
        past = self._cached.get((project, begin))
        remembered, at = (past.remembered, past.at) if past else (Remembered(), datetime.fromtimestamp(0, UTC))
        if begin < position:
            reader = NounReader(self._reader, NOUNS, until=position)
            async with aclosing(reader.after(begin, Address(project).log_filter)) as found:
                async for record in found:
                    if record.event is not None:
                        remembered = folded(evolve, remembered, record.event, record.envelope)
                        at = record.envelope.at
        return _Past(remembered, at)


class Memories:
    """Answers what a project remembers."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._limits = context.kit.settings.memory
        self._reader = context.kit.reader
        self._pasts = Pasts(context.kit.reader)
        self._twins = TwinsOfProjects()
        self._comparing = asyncio.Lock()

    async def answer(self, ask: MemoryAsk) -> MemoryReply:
        """The reply to a question, or a sentence why there is none."""
        if not self._limits.enabled:
            return MemoryReply(error=OFF)
        own = (await settings_of(self._context.cache, ask.project)).newest.settings
        if not with_own(self._limits, own).enabled:
            return MemoryReply(error=OFF_HERE)
        try:
            known = await self._known(ask)
            match ask.view:
                case "why":
                    return await self._why(known, ask)
                case "history":
                    return await self._history(known, ask)
                case "missing":
                    return await self._missing(known)
                case "review":
                    return await self._review(known, ask)
                case "twins" if not ask.as_of:
                    return await self._repeating(known)
                case _:
                    return await asyncio.to_thread(_report, known, ask)
        except (BadMemoryAsk, NotNamed) as error:
            return MemoryReply(error=f"{str(error)[:1].upper()}{str(error)[1:]}.")

    async def _known(self, ask: MemoryAsk) -> KnownMemory:
        if not ask.as_of:
            now = await remembered_of(self._context.cache, ask.project)
            if now.book.is_home:
                raise BadMemoryAsk(HOME)
            return KnownMemory(ask.project, now, self._limits, datetime.now(UTC), now.book.seq)
        head = await self._reader.head()
        if not 0 < ask.as_of <= head:
            raise BadMemoryAsk(f"the log has no position {ask.as_of}: it goes from 1 to {head}")
        past = await self._pasts.at(ask.project, ask.as_of)
        return KnownMemory(ask.project, past.remembered, self._limits, past.at, ask.as_of)

    async def _why(self, known: KnownMemory, ask: MemoryAsk) -> MemoryReply:
        """Whether the head of a session shows a memory, or without a session, whether a new one would."""
        memory = find(known.remembered.book.memories, ask.id, "memory", "memories")
        if ask.session:
            session = await session_of(self._context.cache, ask)
            now = await remembered_of(self._context.cache, ask.project)
            then = await self._pasts.at(ask.project, position_of_head(session))
            past = KnownMemory(ask.project, then.remembered, self._limits, then.at, then.remembered.book.seq)
            why = await asyncio.to_thread(by_head, session, now, past, memory)
        else:
            why = await asyncio.to_thread(by_settings, known, memory)
        return replace(
            known.reply(why.text),
            id=memory.id,
            rendered=why.rendered,
            reason=why.reason,
            revision=why.revision,
            facts=await self._facts(memory.facts[-MOST_FACTS:]),
        )

    async def _repeating(self, known: KnownMemory) -> MemoryReply:
        """The pairs that are nearly the same now: only what has changed since the last comparison is compared."""
        async with self._comparing:
            pairs = await asyncio.to_thread(self._twins.of, known.project, known.remembered.shelf)
            return await asyncio.to_thread(repeating, known, pairs)

    async def _missing(self, known: KnownMemory) -> MemoryReply:
        """The memories that new sessions do not get, and since when."""
        reply = await asyncio.to_thread(missing, known)
        found = await self._reader.at_each({one.since for one in reply.hidden})
        return replace(reply, text=missing_text(reply, {seq: envelope.at for seq, envelope in found.items()}))

    async def _review(self, known: KnownMemory, ask: MemoryAsk) -> MemoryReply:
        """A page of what waits for a person, with the words of the messages that it came from."""
        pending = MemoryAsk(known.project, filter="pending", page=ask.page)
        reply = await asyncio.to_thread(listing, known, pending, MOST_REVIEWED)
        wanted: dict[str, dict[str, list[MemoryEntry]]] = {}
        for entry in reply.memories:
            source = entry.sources[0] if entry.sources else MemorySource("", "", "", 0)
            if source.session and source.message:
                wanted.setdefault(source.session, {}).setdefault(source.message, []).append(entry)
        quotes: dict[str, str] = {}
        for session, messages in wanted.items():
            subject = Address(known.project, session).log(PartRecorded.TYPE)
            async with aclosing(self._reader.after(0, subject)) as found:
                async for record in found:
                    event = record.event
                    if isinstance(event, PartRecorded) and event.message in messages and event.kind == "text":
                        quotes |= {one.id: around(event.text, one.text) for one in messages[event.message]}
        return replace(reply, quotes=quotes)

    async def _history(self, known: KnownMemory, ask: MemoryAsk) -> MemoryReply:
        """All that is known to have happened to a memory."""
        memory = find(known.remembered.book.memories, ask.id, "memory", "memories")
        facts = await self._facts(memory.facts)
        text = "\n".join(f"{one.seq}  {one.at:%Y-%m-%d %H:%M}  {one.type}  {one.actor}  {one.text}" for one in facts)
        return replace(known.reply(text), id=memory.id, facts=facts)

    async def _facts(self, positions: Iterable[int]) -> tuple[Fact, ...]:
        found = await self._reader.at_each(positions)
        return tuple(fact_of(found[seq]) for seq in sorted(found))


def _report(known: KnownMemory, ask: MemoryAsk) -> MemoryReply:
    match ask.view:
        case "list":
            return listing(known, ask)
        case "quality":
            return quality(known)
        case "twins":
            return repeating(known)
        case "notes":
            return notes_reply(known, ask)
        case "policy":
            return policy(known)
        case _:
            return reading(known, ask.session, ask.filter)


MEMORY = Question(MemoryAsk, lambda context: Memories(context).answer, lambda reason: MemoryReply(error=reason), LONG)
