"""What the model is to say: replies in the order of a session's requests."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from tests.harness.provider.refusals import Refusal
from tests.harness.provider.wire import Request

Lane = Literal["main", "child", "compaction", "title"]
Broken = Literal["", "cut", "garbage"]

SUMMARY = """## Goal
Finish what was asked for.
## Progress
The files were read and the change was begun.
## Next
Go on with the change."""


class Call(msgspec.Struct, frozen=True):
    """A tool that the model calls. An id is made up where none is given."""

    tool: str
    arguments: dict[str, Any] = {}
    id: str = ""


class Reply(msgspec.Struct, frozen=True):
    """One answer of the model.

    `hold` is waited for before the first byte, `pause` after the first words. A `cut` answer ends with a lost
    connection, `garbage` is none that a client could read. `usage` is reported instead of what was counted:
    tokens of the prompt, and how many of them were cached.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    refusal: Refusal | None = None
    delay: float = 0.0
    hold: asyncio.Event | None = None
    pause: asyncio.Event | None = None
    broken: Broken = ""
    usage: tuple[int, int] | None = None
    finish: str = ""


Answer = Reply | Callable[[Request], Reply]
"""A reply, or how to make one of what was sent."""

NOTHING_LEFT = Reply(text="There is nothing further to do.")


class Script:
    """Replies by session, and by lane for sessions that have none of their own; a plain one where nothing is left."""

    def __init__(self, *replies: Answer, default: Answer = NOTHING_LEFT) -> None:
        self.default = default
        self._sessions: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self._lanes: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self.add(*replies)

    def add(self, *replies: Answer, session: str = "", lane: Lane = "main") -> None:
        """Add them for one session, or for whichever session of this lane asks next."""
        queue = self._sessions[session] if session else self._lanes[lane]
        queue.extend(replies)

    def left(self) -> int:
        """How many replies nobody has asked for yet."""
        return sum(map(len, (*self._sessions.values(), *self._lanes.values())))

    def take(self, request: Request) -> Reply:
        answer = self._next(request)
        return answer if isinstance(answer, Reply) else answer(request)

    def _next(self, request: Request) -> Answer:
        match request.kind:
            case "title":
                return _first(self._lanes["title"]) or Reply(text="Session title")
            case "compaction":
                return _first(self._lanes["compaction"]) or Reply(text=SUMMARY)
            case "main":
                lane = "child" if request.parent else "main"
                return _first(self._sessions[request.session]) or _first(self._lanes[lane]) or self.default


def _first(queue: deque[Answer]) -> Answer | None:
    return queue.popleft() if queue else None
