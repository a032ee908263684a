"""Results with more than one page, for as long as somebody may ask for the next one."""

import asyncio
import secrets
import time

import msgspec

from schemas.view_asks import Rows
from services.console.running import Result
from services.kit.asks import Declined

MOST = 8
"""The most results that are stored at once; the oldest makes room."""
SECONDS = 60.0
"""For how long one is stored after it was asked for last."""


class UnknownCursor(Declined):
    """There is no such page; says what to do."""


class Results:
    """Pages that were made and not asked for yet."""

    def __init__(self) -> None:
        self._results: dict[str, tuple[float, Result]] = {}
        """By name, the one that was asked for last at the end."""

    def __len__(self) -> int:
        """The number of results that may be asked for. It changes nothing: the thread for a room's health asks, too."""
        now = time.monotonic()
        return sum(now - asked <= SECONDS for asked, _ in tuple(self._results.values()))

    async def forget_for_ever(self) -> None:
        """Drop what nobody has asked for lately, also where nobody asks for anything."""
        while True:
            await asyncio.sleep(SECONDS)
            self._forget()

    def add(self, result: Result) -> Rows:
        """The first page of a result, or why there is none. Further pages are stored for who asks with its cursor."""
        self._forget()
        outcome = result.outcome
        if outcome.error:
            result.pages.close()
            return Rows(error=outcome.error)
        if len(outcome.sizes) == 1:
            rows = _page(result, "", 0)
            result.pages.close()
            return rows
        while len(self._results) >= MOST:
            self._drop(next(iter(self._results)))
        name = secrets.token_urlsafe(12)
        self._results[name] = time.monotonic(), result
        return _page(result, name, 0)

    def page(self, cursor: str) -> Rows:
        """A further page. Raises `UnknownCursor`."""
        self._forget()
        name, _, place = cursor.rpartition("+")
        _, result = self._results.get(name, (0.0, None))
        if result is None or place not in map(str, range(len(result.outcome.sizes))):
            raise UnknownCursor(
                f"there is no such page: pages are stored for {SECONDS:.0f} s, those of {MOST} queries at most; "
                "ask the query again"
            )
        del self._results[name]
        self._results[name] = time.monotonic(), result
        return _page(result, name, int(place))

    def close(self) -> None:
        for name in tuple(self._results):
            self._drop(name)

    def _forget(self) -> None:
        """Drop what nobody has asked for lately."""
        now = time.monotonic()
        for name in [name for name, (asked, _) in self._results.items() if now - asked > SECONDS]:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._results.pop(name)[1].pages.close()


def _page(result: Result, name: str, place: int) -> Rows:
    sizes = result.outcome.sizes
    result.pages.seek(sum(sizes[:place]))
    rows = msgspec.json.decode(result.pages.read(sizes[place]), type=tuple[tuple[object, ...], ...])
    is_last = place + 1 == len(sizes)
    return Rows(
        columns=result.outcome.columns,
        rows=rows,
        truncated=result.outcome.truncated or not is_last,
        cursor="" if is_last else f"{name}+{place + 1}",
    )
