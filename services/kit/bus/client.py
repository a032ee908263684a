"""The library's client, where it was mended."""

import asyncio

from nats.aio.client import DEFAULT_BUFFER_SIZE, Client
from nats.aio.msg import Msg
from nats.errors import ConnectionReconnectingError
from nats.protocol.parser import Parser


class BusParser(Parser):
    """The library's parser, which goes on with the next buffer as long as one is there.

    What came at once, such as a page of the log, would keep the loop until all of it is parsed: here whoever else waits
    has a turn behind each full buffer.
    """

    async def parse(self, data: bytes = b"") -> None:
        """Parse a buffer as it was read."""
        await super().parse(data)
        if len(data) >= DEFAULT_BUFFER_SIZE:
            await asyncio.sleep(0)


class BusClient(Client):
    """The library's client, which goes deaf at a subject that is not UTF-8: here its odd bytes are spelled out.

    It also takes half of the time of reading a log for the headers, letter by letter.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ps = BusParser(self)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        lines = (line.partition(":") for line in raw.decode(errors="replace").split("\r\n"))
        return {name.strip(): value.strip() for name, colon, value in lines if colon}

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg:
        readable = subject.decode(errors="backslashreplace").encode()
        message: Msg = super()._build_message(sid, readable, reply, data, headers)
        return message

    async def drop_requests(self) -> None:
        """Let nobody wait for an answer that cannot come: what was asked before a break is not answered after it."""
        for waiting in list(self._resp_map.values()):
            if not waiting.done():
                waiting.set_exception(ConnectionReconnectingError())
