"""The searcher's wiring: questions in, hits out."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from schemas.events import (
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryExpired,
    MemoryMerged,
    MemoryProposed,
    MemoryQuarantined,
    MemoryReleased,
    MemoryRestored,
    MemoryRevised,
    MemoryWritten,
    NoteDismissed,
    NoteUpdated,
    NoteWritten,
    QuestionAnswered,
    QuestionTaken,
    QuestionWithdrawn,
    SessionOpened,
    StepOpened,
    alias,
)
from schemas.search_asks import AugmentAsk, Augmentation, Hits, SearchAsk
from schemas.subjects import WHOLE_PROJECT, parse_log
from services.domain.search.fragments import CHARACTERS
from services.kit.asks import AskHandler
from services.kit.background import begin
from services.kit.embed import embedded
from services.kit.nouns import AliasReader
from services.kit.room import Kit
from services.kit.turns import Expired, Queue, Turns
from services.searcher.answering import SearchAnswerer
from services.searcher.asker import asker
from services.searcher.augmenting import Augmenter
from services.searcher.store import SearchStore
from services.searcher.written import ConfirmedWrites

ATTEMPTS, PAUSE = 20, 1.0
"""The attempts, and the seconds between two, to ask the embedder, which starts at the same time."""
SEARCHES = Turns(at_once=2, waiting=16)
"""Searches that are made at once: their share of a machine that makes plans, too."""
TURN_WITHIN = 2.0
"""Seconds within which a search gets its turn, or less where its asker listens for less: behind them it says that it
did not, and costs nothing."""


WRITTEN: tuple[type[Event], ...] = (
    MemoryProposed,
    MemoryWritten,
    MemoryRevised,
    MemoryMerged,
    MemoryDivided,
    MemoryArchived,
    MemoryRestored,
    MemoryExpired,
    MemoryQuarantined,
    MemoryReleased,
    NoteWritten,
    NoteUpdated,
    NoteDismissed,
)
"""The facts that somebody decides and then looks for. It only hears that they were written: the rows come from the
index."""
QUESTIONS: tuple[type[Event], ...] = (QuestionTaken, QuestionAnswered, QuestionWithdrawn)
"""The facts about a question that a harness answers."""
EXPECTED: tuple[type[Event], ...] = (SessionOpened, StepOpened)
"""By which it hears where somebody may write soon."""


class Searcher:
    """Finds messages, memories, notes, history and commits of a project."""

    NAME: ClassVar[str] = "searcher"
    READS: ClassVar[tuple[type[Event], ...]] = (*WRITTEN, *alias.EVENTS, *QUESTIONS, *EXPECTED)
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, by which the time for a person's request is counted."""
        self._clock = clock

    async def open(self, kit: Kit) -> None:
        self._kit = kit
        self._store = SearchStore(kit.settings.data, kit.settings.search.projects, kit.log)
        kit.stack.callback(self._store.close)
        written = ConfirmedWrites(kit.reader)
        aliases = AliasReader(kit)
        self._searching = SearchAnswerer(kit, self._store, written, aliases)
        self._expected = ExpectedProjects(kit, self._store, aliases)
        self.searches = Queue(SEARCHES)
        self._handler = AskHandler(kit, SearchAsk, self._answer, lambda reason: Hits(error=f"Not searched: {reason}."))
        self._augmenter = Augmenter(kit, self._store, self._answer, self._clock)
        self._requests = AskHandler(
            kit, AugmentAsk, self._augmenter.answer, lambda reason: Augmentation(error=f"Not searched: {reason}.")
        )
        warming = asyncio.create_task(self._warm())
        kit.stack.callback(warming.cancel)
        for event in WRITTEN:
            await kit.bus.follow(f"log.*.*.{WHOLE_PROJECT}.{event.TYPE}", written.heard)
        if kit.settings.search.hints:
            await kit.bus.follow(f"log.*.*.*.{SessionOpened.TYPE}", self._expected.begins)
            await kit.bus.follow(f"log.*.*.*.{StepOpened.TYPE}", self._expected.goes_on)
        await self._handler.open()
        await self._requests.open()
        begin(kit, self._store.follow())
        begin(kit, self._expected.prepare())

    async def _warm(self) -> None:
        """Have ready what the first question would have to wait for, where there is something to search."""
        await self._store.warm()
        for _ in range(ATTEMPTS if self._store.expects_vectors else 0):
            if not (await embedded(self._kit.bus, (self.NAME,), "query", tokens=False)).error:
                return
            await asyncio.sleep(PAUSE)

    async def idle(self) -> bool:
        return not self._handler.in_hand and not self._requests.in_hand and not self._store.is_busy

    def health(self) -> dict[str, object]:
        """The state of the room: where nothing is indexed it still answers, and reports that."""
        store = self._store
        return {
            "ok": True,
            "rows": store.rows,
            "copied": store.copied,
            "read_through": store.through,
            "searches": self.searches.health,
            "requests": self._augmenter.health,
        }

    async def _answer(self, ask: SearchAsk, characters: int = CHARACTERS) -> Hits:
        patience = min(TURN_WITHIN, ask.deadline_ms / 1000 or TURN_WITHIN)
        try:
            async with self.searches.turn(f"ask.{ask.NAME}", until=time.monotonic() + patience):
                await self._store.compare(self._kit.reader)
                return await self._searching.answer(asker(ask, characters), ask)
        except Expired:
            return Hits(error=f"Not searched: others' searches took all of {patience:g} s; ask again in a moment.")


class ExpectedProjects:
    """Projects that are searched soon: a session begins or goes on, and what a person writes in it is searched for.

    Their shelves are filled in the background: filling takes no turn of a search. Facts are heard of,
    and not read.
    """

    def __init__(self, kit: Kit, store: SearchStore, aliases: AliasReader) -> None:
        self._kit = kit
        self._store = store
        self._aliases = aliases
        self._heard: dict[str, bool] = {}
        """Project -> whether a session began in it."""
        self._any = asyncio.Event()

    def begins(self, subject: str) -> None:
        """A session has begun, as the subject of this fact says."""
        self._hear(subject, is_new=True)

    def goes_on(self, subject: str) -> None:
        """An agent of a session has called its model."""
        self._hear(subject, is_new=False)

    def _hear(self, subject: str, *, is_new: bool) -> None:
        project = parse_log(subject)[0].project
        self._heard[project] = is_new or self._heard.get(project, False)
        self._any.set()

    async def prepare(self) -> None:
        """Have ready what the first searches would have to wait for. Never ends."""
        while True:
            await self._any.wait()
            self._any.clear()
            heard, self._heard = self._heard, {}
            aliases = await self._aliases.now()
            for project, is_new in heard.items():
                for name in aliases.names(project):
                    self._store.expect(name, is_new=is_new)
            if any(heard.values()):
                await self._load_model()

    async def _load_model(self) -> None:
        """Have the model of this machine loaded, which it is when it is first asked: an installation may be new."""
        settings = self._kit.settings
        if settings.embed.provider == "local" and settings.search.ranking != "bm25":
            await embedded(self._kit.bus, (self._kit.room,), "query", tokens=False)
