"""An endpoint that speaks as OpenAI's `/embeddings`, and answers as its test asks."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Reply = Callable[[list[str]], web.StreamResponse]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def plain(texts: list[str]) -> web.StreamResponse:
    """A vector for each text, the last one first, as some proxies answer."""
    found = [{"index": place, "embedding": [3.0 * len(text), 4.0 * len(text)]} for place, text in enumerate(texts)]
    return web.json_response({"object": "list", "data": found[::-1]})


class EmbeddingServer:
    """What it was asked, and how it answers."""

    def __init__(self) -> None:
        self.url = ""
        self.reply: Reply = plain
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        self.keys.append(request.headers.get("Authorization", ""))
        return self.reply(body["input"])

    @classmethod
    @asynccontextmanager
    async def running(cls, answer: Handler | None = None) -> AsyncIterator["EmbeddingServer"]:
        """`answer`: how it answers every request instead, whatever was asked."""
        server = cls()
        application = web.Application()
        application.router.add_post("/v1/embeddings", answer or server._answer)
        runner = web.AppRunner(application, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        server.url = f"http://localhost:{port}/v1"
        yield server
        await runner.cleanup()
