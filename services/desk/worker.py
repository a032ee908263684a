"""The desk's wiring: a request in, facts appended, an answer with their position out."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar, TypeVar

import msgspec
from msgspec.structs import replace

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage, FlushRequest, HistoryRebuild, HistoryRescore
from schemas.events import (
    EVENTS,
    DreamOrdered,
    DropRequested,
    Event,
    FlushRequested,
    HistoryOrdered,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    NativeCompacted,
    PartRecorded,
    PartRemoved,
    ProjectClaimed,
    ProjectIdentified,
    ProjectMerged,
    SessionForked,
    SessionOpened,
    SpendRefused,
    SpendReserved,
    SpendSettled,
    StepOpened,
    TagAssigned,
    ToolRan,
    alias,
    docs,
    memory,
    note,
    policy,
    profile,
    question,
    settings,
)
from schemas.subjects import Address, BadSubject, parse_command
from services.desk import adoption, core
from services.desk.books import Books
from services.desk.core import dreams, session
from services.desk.core.commands import COMMANDS, WRITES, decide, misplaced, rule_of
from services.desk.core.docs import DocsContext
from services.desk.core.dreams import DreamOrders
from services.desk.core.questions import Questions
from services.desk.core.spending import Ledger
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.desk.intake import MemoryIntake
from services.desk.ledgers import Ledgers
from services.desk.news import has_history, has_news
from services.desk.project_names import ProjectNames
from services.desk.questions import QuestionDesk
from services.desk.schedule import Schedule
from services.domain.addressing import check_address
from services.domain.aliases import Aliases
from services.domain.decision import CommandContext
from services.domain.documents.proposals import DocProposals, evolve
from services.domain.finding import echo
from services.domain.guards import WRITTEN
from services.domain.misread import misread
from services.domain.project_settings import ProjectSettings, with_own
from services.domain.registry import events_made_in
from services.domain.secrets import mask
from services.domain.senders import sender_of
from services.kit import metrics
from services.kit.aggregate import Aggregate
from services.kit.bus import Conflict, TooLarge, Unconfirmed, Unreachable
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.room import Kit
from services.memory.book import Book
from services.memory.decide import retrieving
from services.memory.profiles import Profiles
from services.settings.dream_tasks import TASKS

NOUN = "docs"


class ProposedDocs:
    """Decides what becomes of changes of documents."""

    def __init__(self, kit: Kit, names: ProjectNames) -> None:
        self._kit = kit
        self._names = names
        reader = NounReader(kit.reader, (NOUN,), catches_up=True)
        sessions = Sessions(reader, evolve, DocProposals(), kit.settings.loop.sessions, knows_causes=True)
        self._projects = Aggregate(kit, sessions, guard=NOUN, catches_up=True)

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a command about a project, under the name that it goes by."""
        project = (await self._names.now()).project(address.project)
        context = DocsContext(trust_of(message.actor), self._kit.settings.dream.documents)
        return await decided(
            self._projects, self._kit.reader, Address(project), message, lambda now: decide(now, command, context)
        )


_messages = msgspec.json.Decoder(CommandMessage)
_commands = {command.TYPE: msgspec.json.Decoder(command) for command in COMMANDS}


S = TypeVar("S")
FAILED = (
    "Nothing was written: the desk failed at this command. Its log lines say why; `annals doctor` says where they are."
)
MADE = events_made_in(core, adoption, retrieving)
"""Among them the events that no command leads to: what names are claimed, what moves with a name, what searches have
returned, and whose session it is."""
Decider = Callable[[Address, CommandMessage, Command], Awaitable[Answer]]


class Desk:
    """Checks commands against the log and writes them down, or refuses with a reason."""

    NAME: ClassVar[str] = "desk"
    READS: ClassVar[tuple[type[Event], ...]] = (
        SessionOpened,
        SessionForked,
        StepOpened,
        TagAssigned,
        NativeCompacted,
        MessageRecorded,
        ToolRan,
        MessageListed,
        MessageRemoved,
        PartRecorded,
        PartRemoved,
        ProjectIdentified,
        ProjectClaimed,
        ProjectMerged,
        *alias.EVENTS,
        DropRequested,
        FlushRequested,
        HistoryOrdered,
        DreamOrdered,
        SpendReserved,
        SpendSettled,
        SpendRefused,
        *question.EVENTS,
        *memory.EVENTS,
        *note.EVENTS,
        *policy.EVENTS,
        *profile.EVENTS,
        *settings.EVENTS,
        *docs.EVENTS,
    )
    WRITES: ClassVar[tuple[type[Event], ...]] = tuple(one for one in EVENTS if one in {*WRITES, *MADE})

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._sessions = Aggregate.of(
            kit, session.evolve, session.DeskSession(), guard=WRITTEN, catches_up=True, once=True
        )
        self._ledgers = Ledgers(kit)
        self._questions = QuestionDesk(kit)
        reader = NounReader(kit.reader, ("dream",), catches_up=True)
        orders = Sessions(reader, dreams.evolve, DreamOrders(), kit.settings.loop.sessions, knows_causes=True)
        self._orders = Aggregate(kit, orders, guard=WRITTEN, catches_up=True)
        self._books = Books(kit)
        self._settings = self._books.settings
        self._docs = ProposedDocs(kit, self._books.names)
        self._deciders: Mapping[type, Decider] = {
            session.DeskSession: partial(self._decided, self._sessions),
            Ledger: self._spent,
            Questions: self._questions.handle,
            DreamOrders: self._ordered,
            Book: self._books.handle,
            Aliases: self._books.names.handle,
            ProjectSettings: self._settings.handle,
            DocProposals: self._docs.handle,
            Profiles: self._books.profiles.handle,
        }
        self._intake = MemoryIntake(kit, self._books)
        await self._intake.open()
        await Schedule(kit, self._books).open()
        await self._questions.open()
        await self._ledgers.open()
        await kit.bus.serve("do.>", kit.room, self._answer)

    async def idle(self) -> bool:
        return await self._intake.idle()

    def health(self) -> dict[str, object]:
        return {
            "ok": True,
            "sessions": len(self._sessions),
            "projects": len(self._ledgers),
            "books": len(self._books),
            "harnesses_waiting": self._questions.waiting,
        }

    async def _answer(self, subject: str, data: bytes) -> bytes:
        try:
            address, command_type, user = parse_command(subject)
            message = _messages.decode(data)
            command = _command(command_type, message)
            check_address(address, message, command)
            message = replace(message, actor=sender_of(address, user, message.actor))
        except (BadSubject, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            metrics.OUTCOMES.labels(self._kit.room, "refused").inc()
            return encode(
                Answer(ok=False, text=f"This command cannot be read: {misread(error)}. Send it again as it must be.")
            )
        try:
            answer = await self._handle(address, message, command)
        except Conflict:
            text = "Nothing was written: others wrote to this place again and again. Try again."
            answer = Answer(ok=False, text=text, again=True)
        except Unconfirmed as error:
            unknown = "It is not known whether this was written"
            answer = Answer(ok=False, text=f"{unknown}: {error}. Look before you try again.", again=True)
        except Unreachable as error:
            answer = Answer(ok=False, text=f"Nothing was written: {error}. Try again.", again=True)
        except TooLarge as error:
            answer = Answer(ok=False, text=f"Nothing was written: {error}. Send less of it.")
        except Exception as error:  # the sender must not wait for an answer that never comes
            self._kit.log.exception("a command failed", subject=subject, reason=type(error).__name__)
            answer = Answer(ok=False, text=FAILED)
        metrics.OUTCOMES.labels(self._kit.room, "done" if answer.ok else "refused").inc()
        return encode(answer)

    async def _handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        wrong = misplaced(address, command)
        if wrong:
            return Answer(ok=False, text=f"Nothing was written: {wrong}")
        return await self._deciders[rule_of(command).on](address, message, command)

    async def _decided(
        self, aggregate: Aggregate[S], address: Address, message: CommandMessage, command: Command
    ) -> Answer:
        context = await self._context(message, address)
        reader = self._kit.reader
        if isinstance(command, FlushRequest):
            project = (await self._books.names.now()).project(address.project)
            context = replace(context, has_news=await has_news(reader, address, project))
        elif isinstance(command, HistoryRebuild | HistoryRescore):
            context = replace(context, has_history=await has_history(reader, address))
        return await decided(aggregate, reader, address, message, lambda now: decide(now, command, context))

    async def _spent(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        return await self._ledgers.handle(address, message, command, await self._context(message, address))

    async def _ordered(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide an order to the dreamer: it is for the project, under the name that it goes by."""
        context = await self._context(message, address)
        project = (await self._books.names.now()).project(address.project)
        return await decided(
            self._orders, self._kit.reader, Address(project), message, lambda now: decide(now, command, context)
        )

    async def _context(self, message: CommandMessage, address: Address) -> CommandContext:
        """Days are those of our own clock: a sender could claim any."""
        settings, project = self._kit.settings, address.project
        own = await self._settings.of(project)
        now = datetime.now(UTC)
        return CommandContext(
            actor=message.actor,
            trust=trust_of(message.actor),
            now=now,
            day=now.date().isoformat(),
            history=with_own(settings.history, own).enabled,
            is_history_own="history.enabled" in own,
            has_models=bool(settings.model.chain),
            protected=settings.plan.protected_tags,
            daily_tokens=settings.model.daily_tokens,
            daily_usd=settings.model.daily_usd,
            monthly_tokens=settings.model.monthly_tokens,
            monthly_usd=settings.model.monthly_usd,
            session=address.session,
            dreams=settings.dream.enabled,
            remembers=await self._books.remembers(project),
            tasks=TASKS,
        )


def _command(command_type: str, message: CommandMessage) -> Command:
    decoder = _commands.get(command_type)
    if decoder is None:
        raise BadSubject(f"there is no command {echo(command_type)}, only {', '.join(sorted(_commands))}")
    return decoder.decode(mask(bytes(message.data).decode()))
