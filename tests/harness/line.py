"""A line to the broker that can fall silent in the middle of a sentence, as networks do."""

import asyncio
from asyncio import StreamReader, StreamWriter
from types import TracebackType
from typing import Self

CHUNK = 64 * 1024


class Line:
    """A port that leads to another one. Once it is silent, nothing arrives any more, and nobody gets an error."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._is_silent = False
        self._server: asyncio.Server | None = None
        self._ends: set[StreamWriter] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"nats://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def fall_silent(self) -> None:
        self._is_silent = True

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for end in self._ends:
            end.close()
        await self._server.wait_closed()

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        ends = {writer, far_writer}
        self._ends |= ends
        try:
            await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        finally:
            self._ends -= ends

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Until one end has gone; then the other one goes, too."""
        try:
            while data := await reader.read(CHUNK):
                if not self._is_silent:
                    writer.write(data)
                    await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()
