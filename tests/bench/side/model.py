"""The model of a comparison: says what was recorded, counts, caches exact prefixes, refuses what is too long.

It answers at once, so before an answer it leaves the rooms the time that a real one takes: what they make meanwhile
does not hang on how busy the machine is.
"""

import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache

import msgspec
from aiohttp import web

from services.edges.client.alone import summarise
from services.kit.bus import BrokerError, Unreachable
from tests.harness.provider import Call, Provider, Reply, Rules, Script, overflow
from tests.harness.provider.cache import Measured
from tests.harness.provider.content import Format, listed, mapping
from tests.harness.provider.frames import Answer
from tests.harness.provider.wire import Request, Usage

BYTES_PER_TOKEN = 4.0
OLD_PROMPTS = 12
"""So many earlier prompts of each session are in the cache, for whichever session begins with the same bytes."""
EVERY, LARGE, NEWEST = 8, 1_000, 6
"""An agent that tidies up does so every so many calls, drops outputs of so many characters, and keeps the newest."""
PICTURE = 1_500
"""Tokens of a picture, whatever its bytes: about a megapixel."""

_TAG = re.compile(r"\s*§(\d+)§")
_ESCAPED = re.compile(rb'\\[n"t\\]')
_PICTURE = re.compile(rb'(?:data:image/\w+;base64,|"data":")[A-Za-z0-9+/=]{64,}')

Replier = Callable[[Request], Reply]
Pause = Callable[[str], Awaitable[None]]
"""Waits for what a session, named by its id, has reported."""


async def no_pause(_: str) -> None:
    """Nobody is waited for."""


class SideScript(Script):
    """What one session's agent says next; everybody else gets a word."""

    def __init__(self, *, tidy: bool) -> None:
        super().__init__(default=Reply(text="I have nothing further to do."))
        self.session = ""
        self.waiting: deque[Replier] = deque()
        self._tidy = tidy
        self._calls = self._last = 0
        self._dropped: set[str] = set()

    def take(self, request: Request) -> Reply:
        if request.kind == "compaction":
            return Reply(text=summarise("\n".join(request.texts)))
        if request.kind != "main" or request.session != self.session or not self.waiting:
            return super().take(request)
        self._calls += 1
        reply = self.waiting.popleft()(request)
        return self._tidied(request, reply) if self._tidy and reply.calls else reply

    def _tidied(self, request: Request, reply: Reply) -> Reply:
        offered = {
            str((mapping(tool).get("function") or tool).get("name")) for tool in listed(request.body.get("tools"))
        }
        if "ctx_reduce" not in offered or self._calls - self._last < EVERY:
            return reply
        tagged = [(text, tag[1]) for text in request.outputs.values() if (tag := _TAG.match(text))]
        old = [number for text, number in tagged[:-NEWEST] if len(text) > LARGE and number not in self._dropped]
        if not old:
            return reply
        self._dropped.update(old)
        self._last = self._calls
        return msgspec.structs.replace(reply, calls=(*reply.calls, Call("ctx_reduce", {"drop": ",".join(old)})))


class Model(Provider):
    """A provider with a window of its own. `density`: how many times the usual tokens a text has.

    `pause` is waited for before an agent is answered.
    """

    def __init__(
        self,
        script: Script,
        limit: int,
        *,
        density: float = 1.0,
        reports_usage: bool = True,
        pause: Pause = no_pause,
    ) -> None:
        super().__init__(script, rules=Rules())
        self.limit = limit
        self.refused: set[int] = set()
        """The numbers of requests that were too long."""
        self._density = density
        self._reports_usage = reports_usage
        self._pause = pause
        self._pieces_once: dict[bytes, bytes] = {}
        """Each piece of a prompt once."""
        self._prompts: defaultdict[str, deque[tuple[bytes, ...]]] = defaultdict(lambda: deque(maxlen=OLD_PROMPTS))

    def _take(self, http: web.Request, form: Format, raw: bytes) -> tuple[Measured, Request]:
        measured, request = super()._take(http, form, raw)
        self._slim(request.number - 2)
        once = self._pieces_once
        request = msgspec.structs.replace(
            request,
            tools=once.setdefault(request.tools, request.tools),
            system=once.setdefault(request.system, request.system),
            messages=tuple(once.setdefault(one, one) for one in request.messages),
        )
        pieces = self._pieces(request)
        prompt = self._tokens(sum(map(_size, pieces)))
        prompts = (old for prompts_of_session in self._prompts.values() for old in prompts_of_session)
        cached = self._tokens(max((_shared(old, pieces) for old in prompts), default=0))
        usage = Usage(prompt, cached, prompt - cached if form == "anthropic" else 0)
        request = msgspec.structs.replace(request, usage=usage)
        self.requests[request.number - 1] = request
        return measured, request

    def _reply(self, request: Request) -> Reply:
        if request.usage.prompt > self.limit:
            self.refused.add(request.number)
            wording = "anthropic" if request.format == "anthropic" else "deepseek"
            return Reply(refusal=overflow(wording, request.usage.prompt, self.limit))
        reply = super()._reply(request)
        if reply.refusal is None:
            self._prompts[request.session].append(self._pieces(request))
        return reply

    async def _answer(self, http: web.Request, request: Request, reply: Reply, prompt: Measured) -> web.StreamResponse:
        if request.kind == "main" and not self._mishaps:
            try:
                await self._pause(request.session)
            except (Unreachable, BrokerError) as error:  # figures without the rooms are none: reported when all is over
                self._mishaps.append(error)
        return await super()._answer(http, request, reply, prompt)

    def _slim(self, number: int) -> None:
        """Keep of an old request what is measured: a long session's bodies are too many."""
        if number > 0:
            old = self.requests[number - 1]
            self.requests[number - 1] = msgspec.structs.replace(old, raw=b"", body={})

    def _rendered(self, request: Request, reply: Reply) -> Answer:
        if not self._reports_usage:
            body = {key: value for key, value in request.body.items() if key != "stream_options"}
            request = msgspec.structs.replace(request, body=body)
        return super()._rendered(request, reply)

    def _pieces(self, request: Request) -> tuple[bytes, ...]:
        return (request.tools, request.system, *request.messages)

    def _tokens(self, size: int) -> int:
        return int(size * self._density / BYTES_PER_TOKEN)


@lru_cache(maxsize=20_000)
def _size(piece: bytes) -> int:
    """Bytes of a piece as a model reads it: without the escapes of JSON, a picture by its own measure."""
    pictures = len(_PICTURE.findall(piece))
    text = _PICTURE.sub(b"", piece) if pictures else piece
    return len(text) - len(_ESCAPED.findall(text)) + int(pictures * PICTURE * BYTES_PER_TOKEN)


def _shared(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Bytes that both begin with."""
    size = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            return size + _size(one[: _common(one, other)])
        size += _size(one)
    return size


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with, by halves."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
