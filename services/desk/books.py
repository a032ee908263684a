"""The memory books of all projects: who changes them, and from which session."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from schemas.codec import decode_event
from schemas.commands import Answer, Command, CommandMessage, MemoryExpire, MemoryQuarantine
from schemas.envelope import Actor, Envelope
from schemas.events import Event, PlanExtended, PlanRebased, StepOpened
from schemas.subjects import Address, of_sessions
from services.desk.adoption import Adoption, book_at
from services.desk.core.commands import decide_on_book, rule_of
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.desk.kin import Kin, kin_of, started_by
from services.desk.profiles import ProfileDesk
from services.desk.project_names import ProjectNames
from services.desk.settings import OwnSettings
from services.domain.decision import Decision
from services.domain.draft import Draft
from services.domain.guards import WRITTEN
from services.domain.newest import NewestMap
from services.domain.project_settings import with_own
from services.kit.aggregate import Aggregate
from services.kit.bus import LogReader
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.room import Kit
from services.memory.book import NOUNS, Book, evolve
from services.memory.decide.context import BookContext, FirstHead, Refusal, session_of
from services.memory.decide.expiring import Span, dormant_spans
from services.memory.rendering import profile_of

WITH_HEADS = frozenset({"primary", "reduce_off"})
"""The modes of sessions whose heads have the memory."""
MOST_HEADS = 1_000
"""Sessions whose first head is in memory."""
MOST_RESTS = 1_000
"""Projects of which it is in memory when they rested; of others it is read again."""


class Activity:
    """The spans in which projects rested, as far as they have ended. It reads on from where it has read."""

    def __init__(self, reader: LogReader, grace: timedelta) -> None:
        self._reader = reader
        self._grace = grace
        self._read = NewestMap[str, tuple[int, datetime | None, tuple[Span, ...]]](MOST_RESTS)
        """Project -> the position up to which it was read, its last work there, and the spans before."""

    def __len__(self) -> int:
        """The number of projects that are in memory."""
        return len(self._read)

    async def rests(self, project: str) -> Sequence[Span]:
        """The spans without work that have ended, each behind its days of grace."""
        seq, last, spans = self._read.get(project, (0, None, ()))
        async for record in self._reader.after(seq, of_sessions(project, StepOpened.TYPE)):
            at, seq = record.envelope.at, record.envelope.seq
            if record.problem:
                continue
            spans = (*spans, *dormant_spans((at,), self._grace, last))
            last = at if last is None else max(last, at)
        self._read[project] = seq, last, spans
        return spans


class _RenamedProject(Exception):
    """The memory goes on under another name of the project."""

    def __init__(self, project: str) -> None:
        super().__init__(project)
        self.project = project


class Books:
    """Decides what changes the memory of a project. There is one book for each."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self.names = ProjectNames(kit, self._is_home)
        reader = NounReader(kit.reader, NOUNS, catches_up=True)
        sessions = Sessions(reader, evolve, Book(), kit.settings.loop.sessions, knows_causes=True)
        self._books = Aggregate(kit, sessions, guard=WRITTEN, catches_up=True)
        self.adoption = Adoption(kit, self._books, self.names)
        self._first_heads = FirstHeads(kit.reader)
        self._profile = profile_of(kit.settings.memory)
        self._activity = Activity(kit.reader, timedelta(days=kit.settings.memory.dormant_after_days))
        self.settings = OwnSettings(kit, self.names)
        self.profiles = ProfileDesk(kit, self._is_home)
        self.is_enabled = kit.settings.memory.enabled
        """Whether memory is on in the installation."""

    def __len__(self) -> int:
        """The number of books in memory."""
        return len(self._books)

    async def remembers(self, project: str) -> bool:
        """Whether this project has a memory."""
        if not self.is_enabled:
            return False
        return with_own(self._kit.settings.memory, await self.settings.of(project)).enabled

    async def _is_home(self, project: str) -> bool:
        return (await self._books.newest(Address(project))).is_home

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a command that came on this address."""
        try:
            context = await self._context(address, message, command)
        except Refusal as refusal:
            return Answer(ok=False, text=f"Nothing was written: {refusal}.")
        return await self._decided(address.project, message, command, context)

    async def _decided(self, project: str, message: CommandMessage, command: Command, context: BookContext) -> Answer:
        """Decide a command in the book that the project has by now."""

        def judge(book: Book) -> Decision:
            if book.moved_to:
                raise _RenamedProject(book.moved_to)
            return decide_on_book(book, command, context)

        try:
            return await decided(self._books, self._kit.reader, Address(project), message, judge)
        except _RenamedProject as moved:
            return await self._decided(moved.project, message, command, context)

    async def take_in(
        self, project: str, decide: Callable[[Book, BookContext], Decision], *, cause: str, at: datetime, session: str
    ) -> None:
        """Decide what the desk has found itself, once for each `cause`. Without a memory nothing is decided."""
        if not await self.remembers(project):
            return
        head = await self._first_heads.of(Address(project, session))
        context = BookContext(
            Actor("room", self._kit.room), "desk", at, cause, session, head=head, profile=self._profile
        )

        async def judge(draft: Draft[Book]) -> str:
            if not draft.state.moved_to and not draft.state.is_home:
                draft.record(*decide(draft.state, context).events)
            return draft.state.moved_to

        handled = await self._books.handle(
            Address(project), judge, cause=cause, at=at, actor=context.actor, again=lambda _: ""
        )
        if handled.result:
            await self.take_in(handled.result, decide, cause=cause, at=at, session=session)

    async def bring_up_to_time(self, project: str, command: MemoryExpire, name: str) -> None:
        """Write down what time has done to a book, as a command of this name; time passes for no closed one."""
        if (await self._books.newest(Address(project))).moved_to:
            return
        rests = tuple(await self._activity.rests(project))

        def decided(book: Book, context: BookContext) -> Decision:
            return decide_on_book(book, command, replace(context, dormant=rests))

        await self.take_in(project, decided, cause=name, at=command.at, session="")

    async def at(self, project: str, position: int) -> Book:
        """A project's book as it was at a position of the log."""
        newest = await self._books.newest(Address(project))
        if newest.moved_to:
            return await self.at(newest.moved_to, position)
        return newest if newest.seq <= position else await book_at(self._kit.reader, Address(project), position)

    async def _context(self, address: Address, message: CommandMessage, command: Command) -> BookContext:
        """A sub-agent's note belongs to the session that started it: its own ends before anybody reads it."""
        session = session_of(command, address.session)
        trust = trust_of(message.actor)
        kin = Kin(is_subagent=False, root=session)
        if session and trust == "agent":
            kin = await kin_of(self._kit.reader, Address(address.project, session))
        started: tuple[str, ...] = ()
        if isinstance(command, MemoryQuarantine) and command.kind == "session":
            started = await started_by(self._kit.reader, Address(address.project, command.value))
        return BookContext(
            actor=message.actor,
            trust=trust,
            at=message.at,
            cause=message.id,
            session=kin.root if rule_of(command).for_subagents else session,
            is_subagent=kin.is_subagent,
            is_enabled=self.is_enabled,
            memory_enabled=await self.remembers(address.project),
            now=datetime.now(UTC),
            head=await self._first_heads.of(Address(address.project, kin.root)) if trust != "person" else None,
            profile=self._profile,
            started=started,
            dormant=tuple(await self._activity.rests(address.project)) if isinstance(command, MemoryExpire) else (),
        )


class FirstHeads:
    """The first head of each session that shows a memory, read once."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._known = NewestMap[Address, FirstHead](MOST_HEADS)

    async def of(self, address: Address) -> FirstHead | None:
        """The first head of a session; none: it has made no call yet, or its head has no memory.

        As long as no plan has recorded a head, it is an empty one at the position of the session's first call.
        """
        if not address.session or address in self._known:
            return self._known.get(address)
        opened = await self._first(address, StepOpened)
        step = decode_event(opened) if opened is not None else None
        if opened is None or not isinstance(step, StepOpened) or step.mode not in WITH_HEADS:
            return None
        for kind in (PlanExtended, PlanRebased):
            envelope = await self._first(address, kind)
            plan = decode_event(envelope) if envelope is not None else None
            if isinstance(plan, PlanExtended | PlanRebased) and plan.memories:
                self._known[address] = FirstHead(plan.as_of, frozenset(plan.memories))
                return self._known[address]
        return FirstHead(opened.seq)

    async def _first(self, address: Address, kind: type[Event]) -> Envelope | None:
        """The first fact of this type that can be read: of thousands no more is asked for."""
        subject = [address.log(kind.TYPE)]
        seq = await self._reader.next_after(0, subject)
        while seq and (envelope := await self._reader.at(seq)) is None:
            seq = await self._reader.next_after(seq, subject)
        return envelope if seq else None
