"""A web server on loopback that answers as a test says, and the resolver by which alone a door reaches it."""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from services.dreamer.public_web import BarredAddress, PublicEndpoint

HOST = "harbour.example"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready"


class WebServer:
    """Path -> the bytes that it answers with; `endless` has none of them come to an end."""

    def __init__(
        self, answers: Mapping[str, bytes], *, endless: bytes = b"", secured: ssl.SSLContext | None = None
    ) -> None:
        self.requests: list[bytes] = []
        """What was asked, whole."""
        self.resolved: Counter[str] = Counter()
        self.sent = 0
        self._answers = answers
        self._endless = endless
        self._secured = secured
        self._port = 0

    async def resolve(self, host: str, _: int) -> Sequence[PublicEndpoint]:
        """Loopback for the hosts of a test, and no other one."""
        self.resolved[host] += 1
        if not host.endswith(".example"):
            raise BarredAddress(f"{host} is not public")
        return [PublicEndpoint("127.0.0.1", self._port)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator["WebServer"]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0, ssl=self._secured)
        self._port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(request)
            answer = self._answers.get(request.split(b" ")[1].decode(), b"HTTP/1.1 404 Not Found\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            while self._endless:
                writer.write(self._endless)
                self.sent += len(self._endless)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


def redirect(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
