"""The library's client, where it was mended."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from nats.aio.client import DEFAULT_BUFFER_SIZE, DEFAULT_FLUSH_TIMEOUT, NATS_HDR_LINE, Client
from nats.aio.msg import Msg
from nats.errors import ConnectionReconnectingError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.protocol.parser import Parser

VERSION = NATS_HDR_LINE + b"\r\n"
"""The beginning of a message's headers, unless it has a status."""


class BusParser(Parser):
    """The library's parser, which goes on with the next buffer as long as one is there.

    A large delivery, such as a page of the log, would occupy the event loop until all of it is parsed: this parser
    yields to other tasks after each full buffer.
    """

    async def parse(self, data: bytes = b"") -> None:
        """Parse a buffer as it was read."""
        await super().parse(data)
        if len(data) >= DEFAULT_BUFFER_SIZE:
            await asyncio.sleep(0)


class Headers(Mapping[str, str]):
    """The headers of a message, parsed when one of them is read: most readers of the log read none."""

    def __init__(self, raw: bytes) -> None:
        """`raw`: the lines behind the version, each `name: value`."""
        self._raw = raw

    @cached_property
    def _values(self) -> dict[str, str]:
        lines = (line.partition(":") for line in self._raw.decode(errors="replace").split("\r\n"))
        return {name.strip(): value.strip() for name, colon, value in lines if colon}

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class BusClient(Client):
    """The library's client, which goes deaf at a subject that is not UTF-8: here its odd bytes are spelled out.

    It also takes half of the time of reading a log for the headers, letter by letter, lets a request wait that the
    broker has refused, and limits its waiting by `asyncio.wait_for`: in Python 3.11 whoever is cancelled in the moment
    in which the answer comes goes on, and for ever where that is a loop.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ps = BusParser(self)
        self._asked: dict[str, str] = {}
        """The subject of each request that waits for its answer, by the last part of its reply subject."""
        self.may_send: Callable[[], None] = lambda: None
        """Raises where nothing may be sent any more: asked before each message, in the moment in which it would be."""

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, Any] | None = None
    ) -> None:
        """Publish as the library does. Where it is a request, its subject is noted, so that it can be refused."""
        self.may_send()
        token = reply.rpartition(".")[2]
        if token and (waiting := self._resp_map.get(token)) is not None:
            self._asked[token] = subject
            waiting.add_done_callback(partial(self._forget, token))
        await super().publish(subject, payload, reply=reply, headers=headers)

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        timeout: float = 0.5,  # noqa: ASYNC109 - the library's own
        old_style: bool = False,  # noqa: FBT001, FBT002 - the same
        headers: dict[str, Any] | None = None,
    ) -> Msg:
        """Ask as the library does. Raises its `TimeoutError` after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                return await super().request(
                    subject,
                    payload,
                    timeout=None,  # type: ignore[arg-type] # the limit is ours
                    old_style=old_style,
                    headers=headers,
                )
        except TimeoutError as error:
            raise NatsTimeoutError from error

    async def flush(self, timeout: int = DEFAULT_FLUSH_TIMEOUT) -> None:  # noqa: ASYNC109 - the library's own
        """Wait until the broker has all that was sent. Who is cancelled leaves the pong to be read by the library."""
        await asyncio.shield(super().flush(timeout))

    def _forget(self, token: str, _: "asyncio.Future[Msg]") -> None:
        self._asked.pop(token, None)

    def refuse(self, subject: str, error: Exception) -> bool:
        """Have all requests on this subject, in whatever case it is written, fail with this; whether there was one."""
        found = [token for token, asked in self._asked.items() if asked.lower() == subject.lower()]
        for token in found:
            waiting = self._resp_map.get(token)
            if waiting is not None and not waiting.done():
                waiting.set_exception(error)
        return bool(found)

    @property
    def server_id(self) -> str:
        """The id of the broker's process: one that is started anew has another."""
        return str(self._server_info.get("server_id", ""))

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        return dict(Headers(raw))

    async def _process_headers(  # type: ignore[override] # who reads headers takes any mapping
        self, headers: bytes | None
    ) -> Mapping[str, str] | None:
        if headers and headers.startswith(VERSION):
            return Headers(headers[len(VERSION) :])
        found: dict[str, str] | None = await super()._process_headers(headers)  # a status follows the version
        return found

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg:
        readable = subject.decode(errors="backslashreplace").encode()
        message: Msg = super()._build_message(sid, readable, reply, data, headers)
        return message

    async def _close(self, status: int, do_cbs: bool = True) -> None:  # noqa: FBT001, FBT002 - the library's own
        """Send what is buffered first, but not where the connection is away: the library would raise at that."""
        if not self.is_connected:
            self._pending, self._pending_data_size = [], 0
        await super()._close(status, do_cbs)

    async def drop_requests(self) -> None:
        """Let nobody wait for an answer that cannot come: what was asked before a break is not answered after it.

        Nor is it sent after it: it would arrive before what was lost with the connection and is sent again.
        """
        self._pending, self._pending_data_size = [], 0
        for waiting in list(self._resp_map.values()):
            if not waiting.done():
                waiting.set_exception(ConnectionReconnectingError())
