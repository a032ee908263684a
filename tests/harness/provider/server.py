"""The server: takes requests, keeps them, and answers as its script says."""

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

import msgspec
from aiohttp import web

from tests.harness.provider import anthropic, openai, refusals
from tests.harness.provider.cache import Cache, Measured, measure
from tests.harness.provider.content import Format, encode
from tests.harness.provider.frames import Answer, usage_of
from tests.harness.provider.rules import Rules, faults
from tests.harness.provider.script import Reply, Script
from tests.harness.provider.wire import Kind, Request, receive
from tests.helpers.waiting import PATIENCE

_T = TypeVar("_T")

LARGEST = 256 * 1024 * 1024
GOODBYE = 0.2
"""Seconds that answers still under way have when the server closes."""
GARBAGE = b"<html><body>502 Bad Gateway</body></html>\n"


class Provider:
    """A model provider on a port of its own. With `strict`, a request that breaks the rules is refused."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        strict: bool = True,
        rules: Rules | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.script = script or Script()
        self.rules = rules or Rules()
        self.requests: list[Request] = []
        self.replies: dict[int, Reply] = {}
        """What was answered, by the number of the request."""
        self.faults: list[str] = []
        self.abandoned: list[int] = []
        """The numbers of requests whose client did not wait for the end of the answer."""
        self.url = ""
        self._strict = strict
        self._clock = clock
        self._cache = Cache(clock)
        self._news = asyncio.Event()
        self._mishaps: list[Exception] = []
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=LARGEST)
        app.router.add_post(openai.PATH, self._openai)
        app.router.add_post(anthropic.PATH, self._anthropic)
        app.router.add_post(anthropic.COUNT_PATH, self._count)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=GOODBYE)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if error is None and self._mishaps:
            raise self._mishaps[0]

    def of(self, session: str = "", kind: Kind | None = "main") -> list[Request]:
        """The requests of a session, or of all of them."""
        return [one for one in self.requests if session in ("", one.session) and kind in (None, one.kind)]

    async def received(self, wanted: int | Callable[[Request], bool], timeout: float = PATIENCE) -> Request:  # noqa: ASYNC109 - as the tests say it
        """The request with this number, or the first one that fits: also one that came before."""
        fits = (lambda request: request.number == wanted) if isinstance(wanted, int) else wanted
        try:
            return await self._until(lambda: next(filter(fits, self.requests), None), timeout)
        except TimeoutError:
            came = "; ".join(map(str, self.requests)) or "none"
            raise TimeoutError(f"no such request within {timeout} s, of those that came: {came}") from None

    async def lost(self, number: int, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109 - as the tests say it
        """Wait until the client of this request has left without its answer."""
        await self._until(lambda: number in self.abandoned or None, timeout)

    async def _until(self, probe: Callable[[], _T | None], seconds: float) -> _T:
        async with asyncio.timeout(seconds):
            while (found := probe()) is None:
                await self._news.wait()
        return found

    def _notify(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _openai(self, http: web.Request) -> web.StreamResponse:
        return await self._serve(http, "openai")

    async def _anthropic(self, http: web.Request) -> web.StreamResponse:
        return await self._serve(http, "anthropic")

    async def _count(self, http: web.Request) -> web.Response:
        request = receive(0, self._clock(), "anthropic", {}, await http.read())
        return _json(200, {"input_tokens": measure(request).tokens})

    async def _models(self, http: web.Request) -> web.Response:  # noqa: ARG002 - a handler takes the request
        return _json(200, {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]})

    async def _serve(self, http: web.Request, form: Format) -> web.StreamResponse:
        raw = await http.read()
        prompt, request = self._take(http, form, raw)
        reply = self._reply(request)
        self.replies[request.number] = reply
        if reply.refusal is None:
            request = msgspec.structs.replace(request, usage=usage_of(request.usage, reply))
        self.requests[request.number - 1] = request
        try:
            return await self._answer(http, request, reply, prompt)
        except (asyncio.CancelledError, ConnectionError):
            self.abandoned.append(request.number)
            self._notify()
            raise

    def _take(self, http: web.Request, form: Format, raw: bytes) -> tuple[Measured, Request]:
        number = len(self.requests) + 1
        headers = {name.lower(): value for name, value in http.headers.items()}
        request = receive(number, self._clock(), form, headers, raw, faults(form, raw, self.rules))
        prompt = measure(request)
        request = msgspec.structs.replace(request, usage=self._cache.look(prompt))
        self.requests.append(request)
        self.faults += [f"{request}: {fault}" for fault in request.faults]
        self._notify()
        return prompt, request

    def _reply(self, request: Request) -> Reply:
        if request.faults and self._strict:
            return Reply(refusal=refusals.refused(request.format, request.faults[0]))
        try:
            return self.script.take(request)
        except Exception as error:  # noqa: BLE001 - it belongs to the test, which gets it when the server closes
            self._mishaps.append(error)
            return Reply(refusal=refusals.refused(request.format, f"The script failed: {error!r}"))

    async def _answer(self, http: web.Request, request: Request, reply: Reply, prompt: Measured) -> web.StreamResponse:
        await asyncio.sleep(reply.delay)
        if reply.hold is not None:
            await reply.hold.wait()
        if reply.refusal is not None:
            return _json(reply.refusal.status, reply.refusal.body, reply.refusal.headers)
        self._cache.keep(prompt)
        if reply.broken == "garbage":
            return web.Response(body=GARBAGE, content_type="text/event-stream" if request.streams else "text/html")
        answer = self._rendered(request, reply)
        return await _send(http, answer, reply, "text/event-stream" if request.streams else "application/json")

    def _rendered(self, request: Request, reply: Reply) -> Answer:
        usage, key = request.usage, self.rules.key
        match request.format, request.streams:
            case "anthropic", True:
                return anthropic.streamed(request, reply, usage, key)
            case "anthropic", False:
                return _halved(anthropic.whole(request, reply, usage, key))
            case _, True:
                return openai.streamed(request, reply, usage)
            case _:
                return _halved(openai.whole(request, reply, usage))


def _halved(body: object) -> Answer:
    data = encode(body)
    return Answer([data[: len(data) // 2]], [data[len(data) // 2 :]])


def _json(status: int, body: object, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=encode(body), headers=headers, content_type="application/json")


async def _send(http: web.Request, answer: Answer, reply: Reply, kind: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": kind, "cache-control": "no-cache"})
    response.enable_chunked_encoding()
    await response.prepare(http)
    for frame in answer.first:
        await response.write(frame)
    if reply.pause is not None:
        await reply.pause.wait()
    if reply.broken == "cut":
        if http.transport is not None:
            http.transport.close()
        return response
    for frame in answer.rest:
        await response.write(frame)
    await response.write_eof()
    return response
