"""A fair queue for more requests than can be answered: the oldest that is still of use, in turns of clients.

What comes too late for its asker is not worth the work: with first come, first served, and without a look at the
deadline, an overloaded service answers everybody a little too late, and nobody in time.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, Literal, NamedTuple, TypeVar

T = TypeVar("T")

Reason = Literal["expired", "replaced", "crowded"]
"""The reason why something is not answered: its asker no longer listens when the answer is there; a newer question of
its asker makes it useless; or too much waits."""

MOST_OF_PATIENCE = 0.5
"""Share of the patience of an asker that the work is presumed to take at most. So whatever the work was measured to
take, a question that is taken early is answered, and the measure can recover."""


class Waiter(Generic[T]):
    """A question that waits for its turn."""

    def __init__(self, item: T, *, client: str = "", key: Hashable = None, arrived: float, until: float) -> None:
        """`client`: whose share of the turns it counts for. `key`: a newer one of the client replaces it.

        `arrived`, `until`: seconds of one clock; behind `until` nobody listens. No `key`: nothing replaces it.
        """
        self.item = item
        self.client = client
        self.key = self if key is None else key
        self.arrived = arrived
        self.until = until

    def is_useful(self, now: float, seconds: float) -> bool:
        """Whether an answer that takes so many seconds from now on still finds its asker."""
        return now + min(seconds, MOST_OF_PATIENCE * (self.until - self.arrived)) < self.until


class DroppedRequest(NamedTuple, Generic[T]):
    """A request that is not answered."""

    waiter: Waiter[T]
    reason: Reason


class FairQueue(Generic[T]):
    """A queue of at most `most` requests. The caller brings the clock: seconds, of any origin.

    Clients take turns, each with its oldest question first, so that one who asks a lot delays only itself.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lines: OrderedDict[str, OrderedDict[Hashable, Waiter[T]]] = OrderedDict()
        """Client -> what it waits for, the oldest first; the client whose turn is next first."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, waiter: Waiter[T]) -> bool:
        line = self._lines.get(waiter.client)
        return line is not None and line.get(waiter.key) is waiter

    def add(self, waiter: Waiter[T], now: float) -> list[DroppedRequest[T]]:
        """Let it wait; what is dropped for it, which may be itself.

        A newer question takes the place of the one that it replaces. Where no place is left the client that waits for
        most gives its newest.
        """
        line = self._lines.get(waiter.client, OrderedDict[Hashable, Waiter[T]]())
        if waiter.key in line:
            older, line[waiter.key] = line[waiter.key], waiter
            return [DroppedRequest(older, "replaced")]
        dropped = [] if self._count < self._most else list(self._without_expired(now))
        if self._count >= self._most:
            longest = max(self._lines.values(), key=len, default=line)
            if not longest or len(longest) <= len(line):
                return [*dropped, DroppedRequest(waiter, "crowded")]
            newest = longest[next(reversed(longest))]
            self.remove(newest)
            dropped.append(DroppedRequest(newest, "crowded"))
        self._lines.setdefault(waiter.client, line)[waiter.key] = waiter
        self._count += 1
        return dropped

    def take(self, now: float, seconds: float = 0.0) -> tuple[Waiter[T] | None, list[DroppedRequest[T]]]:
        """The next that is worth the work, and what was dropped before it. `seconds`: how long an answer takes."""
        dropped: list[DroppedRequest[T]] = []
        while self._lines:
            client, line = next(iter(self._lines.items()))
            waiter = next(iter(line.values()))
            self.remove(waiter)
            if waiter.is_useful(now, seconds):
                if client in self._lines:
                    self._lines.move_to_end(client)
                return waiter, dropped
            dropped.append(DroppedRequest(waiter, "expired"))
        return None, dropped

    def remove(self, waiter: Waiter[T]) -> None:
        """Let it wait no longer; nothing, where it does not."""
        if waiter not in self:
            return
        line = self._lines[waiter.client]
        del line[waiter.key]
        self._count -= 1
        if not line:
            del self._lines[waiter.client]

    def _without_expired(self, now: float) -> Iterator[DroppedRequest[T]]:
        for waiter in [one for line in self._lines.values() for one in line.values() if now >= one.until]:
            self.remove(waiter)
            yield DroppedRequest(waiter, "expired")
