"""States in memory by address: loaded to the head of the log, brought up to date, and forgotten oldest first."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event
from schemas.subjects import Address
from services.kit import metrics
from services.kit.bus import LogReader
from services.kit.logs import logger
from services.kit.nouns import NounReader

MOST = 10_000
"""The newest of them that are counted."""
REPORTED = 5
"""The newest of them that the health of a room names."""


class UnfoldedFacts:
    """The facts that no state of this process could take in, each once however many states it broke."""

    def __init__(self) -> None:
        self._types: OrderedDict[int, str] = OrderedDict()
        """Position -> type."""

    def __len__(self) -> int:
        return len(self._types)

    def add(self, envelope: Envelope) -> None:
        """Note one, by its position in the log."""
        self._types[envelope.seq] = envelope.type
        while len(self._types) > MOST:
            del self._types[min(self._types)]

    def newest(self, count: int) -> Iterator[tuple[int, str]]:
        """The last positions with their types, the newest first."""
        return islice(sorted(self._types.items(), reverse=True), count)

    @property
    def health(self) -> dict[str, object]:
        """Their number, and position and type of the newest ones, for the health of a room."""
        return {"count": len(self), "newest": [list(one) for one in self.newest(REPORTED)]}


UNFOLDED = UnfoldedFacts()
"""Those of this process, since it began."""


S = TypeVar("S")
Evolve = Callable[[S, Event, Envelope], S]


def folded(evolve: Evolve[S], state: S, event: Event, envelope: Envelope) -> S:
    """The state after a fact of the log. One that breaks the fold is passed over, or it would stop its session."""
    try:
        return evolve(state, event, envelope)
    except Exception as error:  # noqa: BLE001 - whatever it holds, the facts behind it count
        metrics.UNFOLDED.inc()
        if not isinstance(error, msgspec.MsgspecError):  # the projector has named a record that cannot be decoded
            UNFOLDED.add(envelope)
        logger().exception("a fact cannot be folded, it is passed over", seq=envelope.seq, type=envelope.type)
        return state


MOST_CAUSES = 100_000
"""The newest commands of one address that are remembered, so that a repeated one is known."""


class Precedent(NamedTuple):
    """The last fact of a command that was decided before."""

    type: str
    seq: int


class Base(NamedTuple, Generic[S]):
    """The base of a decision: a state, and how far each subject went into it."""

    address: Address
    state: S
    subjects: Mapping[str, int]
    seq: int = 0
    """The newest position of its address that the state knows of."""


class AppendedDecision(NamedTuple, Generic[S]):
    """A decision as it enters the state that it was made on: from `base` to `state` by these events."""

    base: Base[S]
    envelopes: Sequence[Envelope]
    events: Sequence[Event]
    state: S


class Entry(Generic[S]):
    """One address: its state, and how far the log went into it."""

    def __init__(self, address: Address, state: S, most_causes: int = 0) -> None:
        self.address = address
        self.state = state
        self.seq = 0
        """The newest position up to which all is in the state."""
        self.subjects: dict[str, int] = {}
        """Subject -> position of its newest event in the state, which may lie above `seq` if it came from here."""
        self.causes: OrderedDict[str, Precedent] = OrderedDict()
        """Commands whose facts are all in the log, oldest first; at most `most_causes` of them."""
        self._most_causes = most_causes
        self.is_behind = False
        """Whether others were heard to write to this address since it was read."""
        self.loading = False
        self.missed = 0
        """The newest position that was fed while the entry was being loaded: the load goes on until it has that."""
        self.lock = asyncio.Lock()
        self.deciding = asyncio.Lock()
        """The lock of a decision on this state, until its facts are in the log."""
        self.waiting: deque[Any] = deque()
        """The commands that wait for a decision on this state (of `kit.command_queue`)."""

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
        subject = self.address.log(envelope.type)
        if envelope.seq <= self.subjects.get(subject, 0):
            return
        self._note(subject, envelope, envelope.seq)
        if event is not None:
            self.state = folded(evolve, self.state, event, envelope)

    def base(self) -> Base[S]:
        """The state from which is decided, with the positions that it was read at."""
        return Base(self.address, self.state, dict(self.subjects), self.seq)

    def take(
        self, evolve: Evolve[S], decision: "AppendedDecision[S]", seqs: Sequence[int], *, is_complete: bool = False
    ) -> None:
        """Enter what was decided on this state and appended.

        `is_complete`: no fact that the state is folded from can stand before these and be missing, so that all before
        them counts as read. Else `seq` stays: facts of other writers may stand in between that were not read yet.
        Where such facts, or the decision's own, were fed meanwhile, only what is missing is folded into the state as
        it is now.
        """
        is_moved = self.state is not decision.base.state
        for envelope, event, seq in zip(decision.envelopes, decision.events, seqs, strict=True):
            subject = self.address.log(envelope.type)
            if seq <= self.subjects.get(subject, 0):
                continue
            self._note(subject, envelope, seq)
            if is_moved:
                self.state = evolve(self.state, event, envelope)
        if not is_moved:
            self.state = decision.state
        if is_complete:
            self.seq = max(self.seq, *seqs)

    def _note(self, subject: str, envelope: Envelope, seq: int) -> None:
        self.subjects[subject] = seq
        if self._most_causes and envelope.last and envelope.cause:
            self.causes[envelope.cause] = Precedent(envelope.type, seq)
            if len(self.causes) > self._most_causes:
                self.causes.popitem(last=False)


class Sessions(Generic[S]):
    """The entries in memory, at most `capacity`.

    `knows_causes`: whether an entry remembers which commands were decided.
    """

    def __init__(
        self,
        reader: LogReader | NounReader,
        evolve: Evolve[S],
        initial: S,
        capacity: int,
        *,
        knows_causes: bool = False,
    ) -> None:
        self._reader = reader
        self.evolve = evolve
        self._initial = initial
        self._most_causes = MOST_CAUSES if knows_causes else 0
        self._capacity = capacity
        self._entries: OrderedDict[Address, Entry[S]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def peek(self, address: Address) -> Entry[S] | None:
        """The entry, if it is in memory."""
        return self._entries.get(address)

    def newest(self, count: int) -> list[Entry[S]]:
        """So many of the entries that were asked for last, the newest first, without those that are being loaded."""
        found = (entry for entry in reversed(self._entries.values()) if not entry.loading)
        return list(islice(found, count))

    async def get(self, address: Address) -> Entry[S]:
        """The entry; one that is not in memory is loaded to the head of the log."""
        entry = self._entries.get(address)
        if entry is None:
            entry = self._entries[address] = Entry(address, self._initial, self._most_causes)
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
        """Fold an entry anew from its first fact: someone else wrote the same kinds of events."""
        async with entry.lock:
            await self._load(entry)

    async def _load(self, entry: Entry[S]) -> None:
        entry.loading = True
        entry.state, entry.seq = self._initial, 0
        entry.subjects, entry.causes = {}, OrderedDict()
        try:
            await self._read(entry)
            while entry.missed > entry.seq:
                await self._read(entry)
        except BaseException:
            self._entries.pop(entry.address, None)
            raise
        entry.loading = False

    async def _read(self, entry: Entry[S]) -> None:
        async for record in self._reader.after(entry.seq, entry.address.log_filter):
            entry.apply(self.evolve, record.envelope, record.event)

    def _forget(self) -> None:
        for address in list(self._entries):
            if len(self._entries) <= self._capacity:
                return
            if not self._entries[address].loading:
                del self._entries[address]
