"""The desk's intake: what people ask for, what sessions show, and what harnesses' summaries name, become candidates.

A message is delivered at least once, and its candidates are judged once: their ids are over the message and its words,
and each is a decision of its own.
"""

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from schemas.envelope import Envelope
from schemas.events import (
    AliasAdded,
    AliasRemoved,
    Event,
    MessageRecorded,
    NativeCompacted,
    PartRecorded,
    ProjectClaimed,
    ProjectMerged,
    SessionOpened,
    ToolRan,
)
from schemas.subjects import Address, parse_log
from services.desk.books import Books
from services.desk.kin import Kin, copied_from, kin_of
from services.domain.decision import Decision
from services.domain.newest import NewestMap
from services.domain.outcome import Done, Later, Outcome
from services.domain.secrets import mask
from services.domain.senders import words_of
from services.domain.texts.bounds import bounded
from services.domain.texts.clean import cleaned
from services.domain.texts.content import LATE, is_typed, words_of_author
from services.domain.tools.call import Call
from services.domain.tools.names import SEARCH_TOOL
from services.kit.bus import Delivery
from services.kit.consumer import fact_of, log_consumer
from services.kit.room import Kit
from services.memory.book import Book
from services.memory.candidates import from_agent, from_call, from_person
from services.memory.decide.admission import admit
from services.memory.decide.asking import Origin, candidate_of, candidates_in_message
from services.memory.decide.candidate import Candidate
from services.memory.decide.context import BookContext
from services.memory.decide.retrieving import retrieval_id, retrieved, shown_by
from services.memory.decide.summarising import decide_line, line_id
from services.memory.requests.find import requests
from services.memory.snapshot import holder_of, position_of, snapshot
from services.memory.summaries.commands import ListedMemories, snapshot_of
from services.memory.summaries.grammar import MalformedLine, read_block

READ: tuple[type[Event], ...] = (
    MessageRecorded,
    PartRecorded,
    ToolRan,
    NativeCompacted,
    ProjectClaimed,
    ProjectMerged,
    AliasAdded,
    AliasRemoved,
    SessionOpened,
)
MOST_SESSIONS, MOST_MESSAGES = 200, 200
"""Sessions, and the newest messages of each, whose roles are remembered."""
MOST_JUDGED = 10_000
"""The newest candidates that are known to be judged, so that the book is not asked again and again."""
NEAR = 1000
"""Positions before a compaction in which its summary is looked for first."""
_TAKEN_IN = (b'"kind":"text"', SEARCH_TOOL.encode())
"""Signs of a part that may have to be taken in."""


class MemoryIntake:
    """Takes in from the log what may be worth remembering. Its consumer is called as the room is."""

    def __init__(self, kit: Kit, books: Books) -> None:
        self._kit = kit
        self._books = books
        self._messages = NewestMap[Address, NewestMap[str, MessageRecorded]](MOST_SESSIONS)
        self._judged = NewestMap[str, None](MOST_JUDGED)
        self._consumer = log_consumer(kit, READ, self._work)

    async def open(self) -> None:
        await self._consumer.open()

    async def idle(self) -> bool:
        return await self._consumer.idle()

    async def _work(self, address: Address, queue: "deque[Delivery]") -> None:
        delivery = queue.popleft()
        try:
            outcome = await self._taken(address, delivery)
        except Exception as error:  # noqa: BLE001 - it concerns this message only
            await self._consumer.broken(delivery, error)
        else:
            await self._consumer.settle(delivery, outcome)

    async def _taken(self, address: Address, delivery: Delivery) -> Outcome:
        """Take in one fact. Where the project has no memory it is skipped, and not made up for later."""
        what = parse_log(delivery.subject)[1]
        if what in (ProjectClaimed.TYPE, ProjectMerged.TYPE):
            return await self._claimed(delivery)
        if what == SessionOpened.TYPE:
            return await self._begun(address, delivery)
        is_part = what == PartRecorded.TYPE
        if not self._books.is_enabled or (is_part and not any(one in delivery.data for one in _TAKEN_IN)):
            return Done()
        if not await self._books.remembers(address.project):
            return Done()
        envelope, event = fact_of(delivery)
        seq = envelope.seq
        match event:
            case MessageRecorded() as message:
                self._remember(address, message)
            case PartRecorded(kind="text") as part:
                await self._take_words(address, envelope, part, seq)
            case PartRecorded() as part:
                await self._searched(address, envelope, part)
            case ToolRan() as run:
                await self._ran(address, envelope, run)
            case AliasAdded() | AliasRemoved():
                await self._books.adoption.follow(envelope, event)
            case NativeCompacted() as compacted:
                return await self._summarised(address, envelope, compacted, seq, delivery)
        return Done()

    async def _claimed(self, delivery: Delivery) -> Outcome:
        envelope, event = fact_of(delivery)
        if isinstance(event, ProjectClaimed | ProjectMerged):
            await self._books.names.claim(envelope, event)
        return Done()

    async def _begun(self, address: Address, delivery: Delivery) -> Outcome:
        envelope, event = fact_of(delivery)
        if isinstance(event, SessionOpened):
            remembers = await self._books.remembers(address.project)
            await self._books.profiles.bind(address, envelope, event, remembers=remembers)
        return Done()

    # What people ask for, and what sessions show.

    async def _take_words(self, address: Address, envelope: Envelope, part: PartRecorded, seq: int) -> None:
        """Take in what a message says. What an agent writes to its sub-agent it can have remembered by itself."""
        if part.synthetic or part.ignored or part.provenance in LATE:
            return
        text = mask(bounded(cleaned(words_of_author(part))))
        message = self._message(address, part.message)
        if message is None and (requests(text) or from_person(text) or from_agent(text)):
            message = await self._read(address, part.message, seq)
        if message is None or message.synthetic:
            return
        is_user = message.role == "user"
        found = from_person(text) if is_user else from_agent(text) if message.role == "assistant" else ()
        if not found and not (is_user and requests(text)):
            return
        kin = await kin_of(self._kit.reader, address)
        if is_user and kin.is_subagent:
            return
        by_person = is_user and is_typed(part)
        trust = "person_by_harness" if by_person else "agent"
        source = words_of(trust) if by_person or not is_user else "harness"
        origin = await self._origin(address, kin, part.message, trust, source)
        candidates = [*candidates_in_message(text, origin)] if is_user else []
        candidates += [candidate_of(one, origin) for one in found]
        await self._admit(address, envelope, candidates)

    async def _ran(self, address: Address, envelope: Envelope, run: ToolRan) -> None:
        """Take in a command that the work is checked with, if it has passed."""
        if run.status != "completed" or run.exit_code != 0:
            return
        found = from_call(Call(run.tool, "run", command=run.target), run.exit_code)
        if found:
            kin = await kin_of(self._kit.reader, address)
            origin = await self._origin(address, kin, run.message, "agent")
            await self._admit(address, envelope, [candidate_of(one, origin) for one in found])

    async def _searched(self, address: Address, envelope: Envelope, part: PartRecorded) -> None:
        """Take in what a search has shown to the agent. What a copy of its session holds was shown once."""
        memories = shown_by(part)
        if not memories:
            return
        kin = await kin_of(self._kit.reader, address)
        family = (address.session, *await copied_from(self._kit.reader, address))

        def decide(book: Book, _: BookContext) -> Decision:
            return retrieved(book, memories, kin.root, part.message)

        cause = retrieval_id(family[-1], part)
        await self._books.take_in(address.project, decide, cause=cause, at=envelope.at, session=kin.root)

    async def _origin(self, address: Address, kin: Kin, message: str, trust: str, source: str = "") -> Origin:
        family = await copied_from(self._kit.reader, address)
        return Origin(kin.root, message, trust, source or trust, family, message_session=address.session)

    async def _admit(self, address: Address, envelope: Envelope, candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            if candidate.id not in self._judged:
                decide = partial(_admitted, candidate=candidate)
                await self._books.take_in(
                    address.project, decide, cause=candidate.id, at=envelope.at, session=candidate.origin
                )
                self._judged[candidate.id] = None

    def _remember(self, address: Address, message: MessageRecorded) -> None:
        messages = self._messages.get(address)
        messages = NewestMap(MOST_MESSAGES) if messages is None else messages
        messages[message.message] = message
        self._messages[address] = messages

    def _message(self, address: Address, name: str) -> MessageRecorded | None:
        messages = self._messages.get(address)
        return messages.get(name) if messages else None

    async def _read(self, address: Address, name: str, seq: int) -> MessageRecorded | None:
        """A message as it was recorded before a position, in another life or by another desk."""
        async for _, event in self._events(address, MessageRecorded.TYPE, 0, seq):
            if isinstance(event, MessageRecorded):
                self._remember(address, event)
        return self._message(address, name)

    # What a summary asks for.

    async def _summarised(
        self, address: Address, envelope: Envelope, compacted: NativeCompacted, seq: int, delivery: Delivery
    ) -> Outcome:
        """Take in what a harness's own summary of a session asks for, line by line."""
        before = [at async for at, _ in self._events(address, NativeCompacted.TYPE, 0, seq - 1)]
        found = await self._summary(address, compacted.summary, before, seq)
        if found is None:
            settings = self._kit.settings.loop
            if (delivery.metadata.num_delivered or 1) < settings.max_deliver:
                return Later(settings.backoff)
            self._kit.log.info("a summary was not found", session=address.session)
            return Done()
        kin = await kin_of(self._kit.reader, address)
        origin = Origin(kin.root, found.message, "summary", "summary", message_session=address.session)
        block = read_block(mask(found.text))
        listed = await self._snapshot(address, block.snapshot, len(before))
        lines = (MalformedLine("void_block", block.void),) if block.void else block.lines
        for line in lines:
            decide = partial(decide_line, line=line, block=block, snapshot=listed, origin=origin)
            name = line_id(line, origin)
            await self._books.take_in(address.project, decide, cause=name, at=envelope.at, session=origin.session)
        return Done()

    async def _summary(self, address: Address, name: str, before: Sequence[int], seq: int) -> PartRecorded | None:
        """The text of a summary: of the message of this name, or else of the newest that the harness wrote itself.

        `before`: the positions of the compactions before it.
        """
        behind = before[-1] if before and not name else 0
        for start in dict.fromkeys((max(behind, seq - NEAR), behind)):
            written = {name} if name else set[str]()
            found: PartRecorded | None = None
            async for _, event in self._events(address, MessageRecorded.TYPE, start, seq):
                if isinstance(event, MessageRecorded) and event.synthetic and event.role == "assistant" and not name:
                    written.add(event.message)
            async for _, event in self._events(address, PartRecorded.TYPE, start, seq):
                if isinstance(event, PartRecorded) and event.text and _is_summary(event, written):
                    found = event
            if found is not None:
                return found
        return None

    async def _snapshot(self, address: Address, name: str, compactions: int) -> ListedMemories | None:
        """The list of memories that the writer of this summary was shown, if it names one that there was."""
        position = position_of(name)
        if not name or position is None:
            return None
        found = snapshot(await self._books.at(address.project, position), holder_of(address.session, compactions))
        return snapshot_of(found.id, found.memories)

    async def _events(
        self, address: Address, event_type: str, start: int, until: int
    ) -> AsyncGenerator[tuple[int, Event], None]:
        """The facts of one type between two positions of the log, each with its own."""
        async with aclosing(self._kit.reader.after(start, address.log(event_type))) as found:
            async for record in found:
                if record.envelope.seq > until:
                    return
                if record.event is not None:
                    yield record.envelope.seq, record.event


def _is_summary(part: PartRecorded, written: set[str]) -> bool:
    return part.kind == "compaction" or (part.kind == "text" and not part.ignored and part.message in written)


def _admitted(book: Book, context: BookContext, candidate: Candidate) -> Decision:
    return admit(book, candidate, context)
