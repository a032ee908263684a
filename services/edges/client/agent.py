"""A tidy agent: drops, by tag, the large old outputs that it can see, as a model would with the tool `ctx_reduce`."""

import re
from collections.abc import Iterator, Sequence

from schemas.commands import DropQueue
from services.domain.edits import ServedMessage, ServedPart

EVERY = 10
"""Calls between two clean-ups."""
NEWEST_TAGS = 30
"""The newest tags that it still needs."""
LARGE = 2000
"""Bytes from which an output is worth dropping."""

_TAG = re.compile(r"§(\d+)§ ")


class TidyAgent:
    """Looks at what it was served every ten calls."""

    def __init__(self) -> None:
        self._calls = 0
        self._asked: set[int] = set()

    def after(self, messages: Sequence[ServedMessage]) -> DropQueue | None:
        """The order to drop outputs after this call; None: there is nothing to be rid of."""
        self._calls += 1
        if self._calls % EVERY:
            return None
        tagged = list(_tagged(messages))
        newest = newest_tag(messages)
        old = [
            number
            for number, part in tagged
            if number <= newest - NEWEST_TAGS and len(part.output) >= LARGE and number not in self._asked
        ]
        self._asked.update(old)
        return DropQueue(",".join(map(str, sorted(old)))) if old else None


def newest_tag(messages: Sequence[ServedMessage]) -> int:
    """The highest tag that can be seen in these."""
    return max((number for number, _ in _tagged(messages)), default=0)


def _tagged(messages: Sequence[ServedMessage]) -> Iterator[tuple[int, ServedPart]]:
    for message in messages:
        for part in message.parts:
            found = _TAG.match(part.output or part.text)
            if found:
                yield int(found[1]), part
