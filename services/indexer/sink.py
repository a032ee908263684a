"""The sink of the index: facts become rows, and the rows are written with their position."""

from collections.abc import Callable, Sequence

from schemas.events import Event
from schemas.subjects import Address
from services.indexer.core import project, session
from services.indexer.core.changes import RowChanges
from services.indexer.core.project import commit_changes
from services.indexer.core.session import SessionRows, Touched
from services.indexer.index import Damaged, Index, Misfit
from services.indexer.states import State, States, after
from services.kit.projector import Fact
from services.kit.same_log import Mark
from services.kit.vectors import among


class IndexSink:
    """The projector's sink: it writes rows of the index."""

    def __init__(self, index: Index, states: States, reads: frozenset[str], damaged: Callable[[Damaged], None]) -> None:
        """`reads`: the types of facts that rows are made of. `damaged` is called when a row is not in its place."""
        self._damaged = damaged
        self._index = index
        self._states = states
        self._reads = reads

    async def _look_for(self, kind: str, name: str) -> None:
        """Look for a row that was just written: an index that does not have it is made anew."""
        if name and await self._index.table(kind).count(among("key", [name])) != 1:
            self._damaged(Damaged(f"the row {name!r} was written, and is not there once"))

    @property
    def committed(self) -> int:
        return self._index.committed

    async def commit(self, facts: Sequence[Fact], through: int, mark: Mark) -> None:
        """Write the rows of these facts. Whatever fails, they are read again: nothing of them stays in memory then."""
        if through <= self.committed:
            return
        try:
            collected = await self._collected(facts)
            await self._index.commit(collected, through, mark)
        except BaseException:
            self._states.forget()
            raise
        self._states.trim()
        for kind, rows in collected.rows.items():
            await self._look_for(kind, next(reversed(rows), ""))

    async def idle(self) -> None:
        """Tidying up has a time of its own."""

    async def make_anew(self, rows: Sequence[Misfit]) -> None:
        """Take these rows away, and write all rows of their sessions and projects as the log has them.

        The projector must not run yet: what it commits meanwhile would be newer.
        """
        gone, fresh = RowChanges(), RowChanges()
        for one in rows:
            gone.gone.setdefault(one.kind, set()).add(one.key)
        for address in dict.fromkeys(one.address for one in rows):
            state = await self._states.get(address, self.committed)
            if isinstance(state, SessionRows):
                fresh.add(session.changes(address, SessionRows(), state, session.all_of(state)))
            else:
                fresh.add(project.changes(address, project.ProjectRows(), state))
                await self._commits(address, fresh)
        await self._index.commit(gone, self.committed)
        await self._index.commit(fresh, self.committed)

    async def _commits(self, address: Address, collected: RowChanges) -> None:
        async for record in self._states.facts_of(address, self.committed):
            if record.event is not None and (found := commit_changes(address, record.event, record.envelope)):
                collected.add(found)

    async def _collected(self, facts: Sequence[Fact]) -> RowChanges:
        by_address: dict[Address, list[Fact]] = {}
        for envelope, event in facts:
            if event.TYPE in self._reads and envelope.seq > self.committed:
                by_address.setdefault(Address(envelope.project, envelope.session), []).append((envelope, event))
        collected = RowChanges()
        for address, ours in by_address.items():
            await self._fold(address, ours, collected)
        return collected

    async def _fold(self, address: Address, facts: Sequence[Fact], collected: RowChanges) -> None:
        before = state = await self._states.get(address, self.committed)
        names: set[Touched] = set()
        for envelope, event in facts:
            if (commits := commit_changes(address, event, envelope)) is not None:
                collected.add(commits)
                continue
            moved = after(state, await self._states.whole(event), envelope)
            names |= _touched(state, moved, event)
            state = moved
        self._states.store(address, state)
        if isinstance(before, SessionRows) and isinstance(state, SessionRows):
            collected.add(session.changes(address, before, state, names))
        elif not isinstance(before, SessionRows) and not isinstance(state, SessionRows):
            collected.add(project.changes(address, before, state))


def _touched(before: State, after: State, event: Event) -> frozenset[Touched]:
    if isinstance(before, SessionRows) and isinstance(after, SessionRows):
        return session.touched(before, after, event)
    return frozenset()


def envelope_types(events: Sequence[type[Event]]) -> frozenset[str]:
    return frozenset(event.TYPE for event in events)
