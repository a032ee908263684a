"""An aggregate: the facts of one address, loaded, decided on and appended to. The one place that writes to the log.

A command is decided on the state that its address has, and its events are appended behind the position of that
state. Where another process was faster nothing is written, and the command is decided anew on what is in the log
then. Commands that wait for one address are decided together and appended as one.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

from schemas.envelope import Actor, Envelope
from schemas.events import Event
from schemas.subjects import Address, BadSubject, parse_log
from services.domain import guards
from services.domain.draft import Draft
from services.domain.envelopes import envelope
from services.kit import metrics
from services.kit.bus import Conflict, Unreachable
from services.kit.cache import AppendedDecision, Base, Entry, Evolve, Precedent, Sessions
from services.kit.command_queue import DecidedCommand, HandledCommand, QueuedCommand, WaitingCommand, take_group
from services.kit.room import Kit

S = TypeVar("S")
R = TypeVar("R")

PAUSE = 0.005
"""The most seconds that a process waits between two appends to one address, so that others have their turn."""
SLICE = 0.01
"""Seconds of deciding after which other addresses get their turn."""


class Aggregate(Generic[S]):
    """The states of all addresses of one kind, and the only way to change them."""

    def __init__(
        self, kit: Kit, sessions: Sessions[S], *, guard: str, catches_up: bool = False, is_fed: bool = False
    ) -> None:
        """`guard`: the noun whose every new fact makes a decision stale, or `ALL` or `WRITTEN` of `domain.guards`.

        `catches_up`: a decision is made on the newest state, and not on the one in memory. Whoever reads what others
        write needs it; so does whoever shares an address with processes like itself all the time. `is_fed`: someone
        else enters the facts of the log in these states. Else what is in memory is folded from the guarded facts alone.
        """
        if guard == guards.WRITTEN and not catches_up:
            raise ValueError("who decides on memory names what its states are folded from, else it would miss some")
        self._kit = kit
        self._sessions = sessions
        self._guard = guard
        self._catches_up = catches_up
        self._is_fed = is_fed

    @classmethod
    def of(
        cls, kit: Kit, evolve: Evolve[S], initial: S, *, guard: str, catches_up: bool, once: bool = False
    ) -> "Aggregate[S]":
        """An aggregate with a memory of its own. `once`: commands may be such as are decided once."""
        capacity = kit.settings.loop.sessions
        sessions = Sessions(kit.reader, evolve, initial, capacity, knows_causes=once)
        return cls(kit, sessions, guard=guard, catches_up=catches_up)

    @classmethod
    def fed(cls, kit: Kit, sessions: Sessions[S], *, guard: str) -> "Aggregate[S]":
        """An aggregate on states that someone else feeds from the log."""
        return cls(kit, sessions, guard=guard, is_fed=True)

    def __len__(self) -> int:
        """The number of addresses in memory."""
        return len(self._sessions)

    async def load(self, address: Address) -> S:
        """The state that a decision would start from: at the head of the log if it catches up, else in memory."""
        if self._catches_up:
            return await self.newest(address)
        return (await self._sessions.get(address)).state

    async def newest(self, address: Address) -> S:
        """The state at the head of the log, whoever wrote to it."""
        entry = await self._sessions.get(address)
        if self._catches_up:
            await self._sessions.catch_up(entry)
            return entry.state
        async with entry.deciding:  # what is being appended is not in the state yet
            await self._renew(entry)
            return entry.state

    def heard(self, subject: str) -> None:
        """Another room published a fact on this subject: the next decision on its address is made on what it wrote.

        Nobody has to report it, since a decision that misses it is refused. But each refusal costs a decision, an
        append, and the append of those that went out with it.
        """
        with suppress(BadSubject):  # whoever published there wrote nothing that a decision could miss
            entry = self._sessions.peek(parse_log(subject)[0])
            if entry is not None:
                entry.is_behind = True

    async def handle(
        self,
        address: Address,
        decide: Callable[[Draft[S]], Awaitable[R]],
        *,
        cause: str,
        at: datetime,
        actor: Actor,
        again: Callable[[Precedent], R] | None = None,
        patience: float = math.inf,
    ) -> HandledCommand[S, R]:
        """Decide and append, and decide anew for as long as others are faster.

        Raises `Conflict` when they have been for `patience` seconds, `Unreachable` when the broker is away, and what
        `decide` raises. In all these cases deciding again is right.
        """
        command = QueuedCommand(decide, cause=cause, at=at, actor=actor, again=again, patience=patience)
        (handled,) = await self.handle_all(address, [command])
        if isinstance(handled, Exception):
            raise handled
        return handled

    async def handle_all(
        self, address: Address, commands: Sequence[QueuedCommand[S, R]]
    ) -> list[HandledCommand[S, R] | Exception]:
        """Decide these commands in their order, each on what those before it have made; see `handle`."""
        entry = await self._sessions.get(address)
        mine = [WaitingCommand(command) for command in commands]
        entry.waiting.extend(mine)
        try:
            for one in mine:
                while not one.is_done:
                    async with entry.deciding:
                        if not one.is_done:
                            await self._next(entry)
        except BaseException:
            for one in mine:
                one.is_given_up = True
            raise
        return [one.outcome for one in mine]

    async def _next(self, entry: Entry[S]) -> None:
        """Decide what waits now, and append it as one."""
        group = list(take_group(entry.waiting))
        try:
            await self._settle(entry, group)
        except BaseException:
            entry.waiting.extendleft(reversed(group))  # others of the group wait still, and go on with it
            raise
        if self._catches_up and entry.waiting:
            await asyncio.sleep(random.uniform(0, PAUSE))  # noqa: S311 - it spreads writers, and hides nothing

    async def _settle(self, entry: Entry[S], group: Sequence[WaitingCommand[S, R]]) -> None:
        """Decide and append until it is in the log; where that breaks, each alone: none hurts its neighbours."""
        try:
            await self._attempt(entry, group)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait for it
            if len(group) > 1 and not isinstance(error, Unreachable):
                for one in group:
                    await self._settle(entry, [one])
                return
            for one in group:
                one.handled = one.handled or error

    async def _attempt(self, entry: Entry[S], group: Sequence[WaitingCommand[S, R]]) -> None:
        if self._catches_up or entry.is_behind:
            entry.is_behind = False  # what is heard while it is read counts for the next decision
            await self._sessions.catch_up(entry)
        while group := [one for one in group if not one.is_done]:
            base = entry.base()
            decided = await self._decide(base, entry.causes, group)
            envelopes = [envelope for one in decided for envelope in one.envelopes]
            expected = guards.expected(
                self._guard, base.address, base.subjects, base.seq, {one.type for one in envelopes}
            )
            try:
                positions = await self._kit.appender.append(envelopes, expected)
            except Conflict as error:
                metrics.CONFLICTS.labels(self._kit.room).inc()
                for one in group:
                    if time.monotonic() > one.until:
                        patience = one.command.patience
                        one.handled = Conflict(
                            f"others wrote to the same place for {patience:g} s without a pause ({error})"
                        )
                await self._renew(entry)
                continue
            self._conclude(entry, base, decided, envelopes, positions)
            return

    async def _renew(self, entry: Entry[S]) -> None:
        """Read what others wrote. A state that is fed is folded anew: theirs may stand before its own events."""
        if self._is_fed:
            await self._sessions.reload(entry)
        else:
            await self._sessions.catch_up(entry)

    async def _decide(
        self, base: Base[S], causes: Mapping[str, Precedent], group: Sequence[WaitingCommand[S, R]]
    ) -> list[DecidedCommand[S, R]]:
        """Each command on the state that those before it have made. One that breaks leaves no trace."""
        state = base.state
        decided: list[DecidedCommand[S, R]] = []
        count = 0
        began = time.monotonic()
        for one in group:
            command = one.command
            draft = Draft(state, self._sessions.evolve, partial(_wrapped, base, command, count))
            try:
                precedent = causes.get(command.cause) if command.again else None
                result = command.again(precedent) if command.again and precedent else await command.decide(draft)
            except Exception as error:  # noqa: BLE001 - it concerns this command only
                one.handled = error
                continue
            decided.append(DecidedCommand(one, draft, result))
            state, count = draft.state, count + len(draft.events)
            if time.monotonic() - began > SLICE:
                await asyncio.sleep(0)
                began = time.monotonic()
        return decided

    def _conclude(
        self,
        entry: Entry[S],
        base: Base[S],
        decided: Sequence[DecidedCommand[S, R]],
        envelopes: Sequence[Envelope],
        positions: Sequence[int],
    ) -> None:
        """Enter what is in the log now, and let those go on who wait for it.

        A state that catches up takes its own facts from the log, in the order in which they stand among others'.
        """
        if envelopes and not self._catches_up:
            events = [event for one in decided for event in one.events]
            taken = AppendedDecision(base, envelopes, events, decided[-1].state)
            entry.take(self._sessions.evolve, taken, positions, is_complete=not self._is_fed)
        for one in envelopes:
            metrics.APPENDED.labels(self._kit.room, one.type).inc()
        start = 0
        for done in decided:
            end = start + len(done.events)
            done.waiting.handled = HandledCommand(
                done.state, done.result, tuple(done.events), tuple(positions[start:end])
            )
            start = end


def _wrapped(base: Base[S], command: QueuedCommand[S, R], start: int, number: int, event: Event) -> Envelope:
    return envelope(
        event,
        base.address,
        base.subjects,
        at=command.at,
        actor=command.actor,
        cause=command.cause,
        number=start + number,
    )
