"""States of sessions in memory: loaded to the head of the log, brought up to date, and forgotten oldest first."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import Event
from schemas.subjects import Address
from services.kit.bus import LogReader

S = TypeVar("S")
Evolve = Callable[[S, Event, Envelope], S]


class Entry(Generic[S]):
    """One session: its state, and how far the log went into it."""

    def __init__(self, address: Address, state: S) -> None:
        self.address = address
        self.state = state
        self.seq = 0
        self.subjects: dict[str, int] = {}
        """Subject -> position of its newest event: what an append expects."""
        self.own: set[int] = set()
        """Positions above `seq` that are in the state already, since they were appended from here."""
        self.loading = False
        self.missed = 0
        """The newest position that was fed while the entry was being loaded: the load goes on until it has that."""
        self.lock = asyncio.Lock()
        self.deciding = asyncio.Lock()
        """Held by who decides on this state until its facts are in the log."""

    def feed(self, evolve: Evolve[S], envelope: Envelope, event: Event | None) -> None:
        """Take in a fact as it is read from the log by someone who reads all of it in order."""
        if self.loading:
            self.missed = envelope.seq
        else:
            self.apply(evolve, envelope, event)

    def apply(self, evolve: Evolve[S], envelope: Envelope, event: Event | None) -> None:
        """Take in one fact of the log; one that is in already changes nothing."""
        if envelope.seq <= self.seq:
            return
        self.seq = envelope.seq
        if envelope.seq in self.own:
            self.own.discard(envelope.seq)
            return
        self.subjects[self.address.log(envelope.type)] = envelope.seq
        if event is not None:
            self.state = evolve(self.state, event, envelope)

    def take(self, envelopes: Sequence[Envelope], seqs: Sequence[int], state: S) -> None:
        """Enter what was appended from here, with the state that was decided along with it.

        `seq` stays: facts of other pens may stand in between that were not read yet.
        """
        for envelope, seq in zip(envelopes, seqs, strict=True):
            self.subjects[self.address.log(envelope.type)] = seq
        self.own.update(seqs)
        self.state = state


class Sessions(Generic[S]):
    """The entries in memory, at most `capacity`."""

    def __init__(self, reader: LogReader, evolve: Evolve[S], initial: S, capacity: int) -> None:
        self._reader = reader
        self._evolve = evolve
        self._initial = initial
        self._capacity = capacity
        self._entries: OrderedDict[Address, Entry[S]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def held(self, address: Address) -> Entry[S] | None:
        """The entry, if it is in memory."""
        return self._entries.get(address)

    async def get(self, address: Address) -> Entry[S]:
        """The entry; one that is not in memory is loaded to the head of the log."""
        entry = self._entries.get(address)
        if entry is None:
            entry = self._entries[address] = Entry(address, self._initial)
            entry.loading = True
            self._forget()
        self._entries.move_to_end(address)
        if entry.loading:
            async with entry.lock:
                if entry.loading:
                    await self._load(entry)
        return entry

    async def catch_up(self, entry: Entry[S]) -> None:
        """Bring an entry to the head of the log."""
        async with entry.lock:
            await self._read(entry)

    async def reload(self, entry: Entry[S]) -> None:
        """Fold an entry anew from its first fact: someone else wrote with the same pen."""
        async with entry.lock:
            await self._load(entry)

    async def _load(self, entry: Entry[S]) -> None:
        entry.loading = True
        entry.state, entry.seq = self._initial, 0
        entry.subjects, entry.own = {}, set()
        try:
            await self._read(entry)
            while entry.missed > entry.seq:
                await self._read(entry)
        except BaseException:
            self._entries.pop(entry.address, None)
            raise
        entry.loading = False

    async def _read(self, entry: Entry[S]) -> None:
        async for recorded in self._reader.after(entry.seq, entry.address.log_filter):
            entry.apply(self._evolve, recorded.envelope, decode_event(recorded.envelope))

    def _forget(self) -> None:
        for address in list(self._entries):
            if len(self._entries) <= self._capacity:
                return
            if not self._entries[address].loading:
                del self._entries[address]
