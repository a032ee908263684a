"""The sessions that are being worked in: their states in memory, fed as facts are read, and who waits for a step."""

import asyncio
from collections import defaultdict

from schemas.envelope import Envelope
from schemas.events import Event, StepOpened
from schemas.subjects import Address
from services.kit import house
from services.kit.bus import LogReader
from services.kit.cache import Entry, Sessions
from services.kit.window import Learned
from services.responder.head import documents
from services.responder.head.documents import Documents
from services.responder.state import Session, evolve


class Hot:
    """States by session. A session that nobody asked about is not held."""

    def __init__(self, reader: LogReader, capacity: int) -> None:
        self.sessions: Sessions[Session] = Sessions(reader, evolve, Session(), capacity)
        self.projects: Sessions[Documents] = Sessions(reader, documents.evolve, Documents(), capacity)
        self.houses: Sessions[Learned] = Sessions(reader, house.evolve, Learned(), 1)
        self._waiting: dict[tuple[Address, str], list[asyncio.Event]] = defaultdict(list)

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Take in a fact as it is read, if its session or its project is held."""
        address = Address(envelope.project, envelope.session)
        if not envelope.session:
            project = self.projects.held(address)
            if project is not None:
                project.feed(documents.evolve, envelope, event)
            learned = self.houses.held(address)
            if learned is not None:
                learned.feed(house.evolve, envelope, event)
            return
        entry = self.sessions.held(address)
        if entry is None:
            return
        entry.feed(evolve, envelope, event)
        if isinstance(event, StepOpened):
            self._wake(address, event.step)

    async def entry(self, address: Address) -> Entry[Session]:
        """The session's state, loaded if it is not held."""
        return await self.sessions.get(address)

    async def project(self, project: str) -> Documents:
        """The project's documents, loaded if they are not held."""
        return (await self.projects.get(Address(project))).state

    async def learned(self) -> Learned:
        """What all sessions have learned of models' limits, loaded if it is not held."""
        return (await self.houses.get(house.HOUSE)).state

    async def step(self, entry: Entry[Session], step: str, timeout: float) -> bool:  # noqa: ASYNC109 - a missed deadline is an answer
        """Wait until this step was read; whether it was."""
        if _knows(entry, step):
            return True
        arrived = asyncio.Event()
        key = (entry.address, step)
        self._waiting[key].append(arrived)
        try:
            async with asyncio.timeout(timeout):
                await arrived.wait()
        except TimeoutError:
            return False
        finally:
            self._waiting[key].remove(arrived)
            if not self._waiting[key]:
                del self._waiting[key]
        return True

    def _wake(self, address: Address, step: str) -> None:
        for arrived in self._waiting.get((address, step), ()):
            arrived.set()


def _knows(entry: Entry[Session], step: str) -> bool:
    state = entry.state
    return step in {known.step for known in (state.step, state.before) if known is not None}
