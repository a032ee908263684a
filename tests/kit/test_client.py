"""The library's client, where it was mended: a flood of messages leaves turns to whoever else waits for the loop."""

import asyncio

from nats.aio.client import DEFAULT_BUFFER_SIZE
from nats.aio.transport import TcpTransport

from services.kit.bus.client import BusClient, Headers

PAYLOAD = b"x" * 500
MESSAGES = 4 * DEFAULT_BUFFER_SIZE // len(PAYLOAD)


async def test_others_have_turns_between_two_buffers_of_messages_that_came_at_once() -> None:
    handled = [0]
    """Bytes of messages between two turns of another task."""

    class Counted(BusClient):
        async def _process_msg(self, *given: bytes) -> None:
            handled[-1] += len(given[3])

    client, transport = Counted(), TcpTransport()  # type: ignore[no-untyped-call]
    transport._io_reader = reader = asyncio.StreamReader()  # noqa: SLF001 - the library connects it by itself only
    client._transport = transport  # noqa: SLF001 - the same
    reader.feed_data(b"".join(b"MSG s 1 %d\r\n%b\r\n" % (len(PAYLOAD), PAYLOAD) for _ in range(MESSAGES)))
    reading = asyncio.create_task(client._read_loop())  # noqa: SLF001 - the same
    while sum(handled) < MESSAGES * len(PAYLOAD):
        await asyncio.sleep(0)
        handled.append(0)
    reading.cancel()
    assert max(handled) <= DEFAULT_BUFFER_SIZE


async def test_headers_are_parsed_when_one_is_read() -> None:
    client = BusClient()
    found = await client._process_headers(b"NATS/1.0\r\nNats-Msg-Id: a:b \r\nstrange\r\nName:\xff\r\n\r\n")  # noqa: SLF001 - the same
    assert isinstance(found, Headers)
    assert "_values" not in vars(found)
    assert {"Nats-Msg-Id": "a:b", "Name": "\ufffd"} == dict(found)
    assert found.get("Status") is None


async def test_a_status_is_read_as_the_library_reads_it() -> None:
    client = BusClient()
    heartbeat = b"NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 3\r\n\r\n"
    found = await client._process_headers(heartbeat)  # noqa: SLF001 - the library calls it
    assert found is not None
    assert ("100", "Idle Heartbeat", "3") == (found["Status"], found["Description"], found["Nats-Last-Consumer"])
    assert await client._process_headers(None) is None  # noqa: SLF001 - the same
