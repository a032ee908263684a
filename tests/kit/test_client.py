"""The library's client, where it was mended: a flood of messages leaves turns to whoever else waits for the loop."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from nats.aio.client import DEFAULT_BUFFER_SIZE
from nats.aio.msg import Msg
from nats.aio.transport import TcpTransport
from nats.errors import TimeoutError as NatsTimeoutError

from services.edges.launcher.broker import Broker
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


WAITS: dict[str, Callable[[BusClient], Awaitable[object]]] = {
    "the answer to a request": lambda client: client.request("sheep.count", timeout=60),
    "a flush": lambda client: client.flush(60),
}


@pytest.mark.broker
@pytest.mark.parametrize("wait", WAITS)
async def test_who_is_cancelled_while_the_answer_arrives_is_cancelled(wait: str, broker: Broker) -> None:
    """Python 3.11's `asyncio.wait_for` takes no notice of it, and whoever asks in a loop would go on for ever."""

    class Cancelling(BusClient):
        """Cancels who waits in the moment in which the answer is there."""

        asking: asyncio.Task[object]

        async def _request_sub_callback(self, msg: Msg) -> None:
            await super()._request_sub_callback(msg)
            self.asking.cancel()

        async def _process_pong(self) -> None:
            await super()._process_pong()
            self.asking.cancel()

    client = Cancelling()
    endpoint = broker.endpoint
    await client.connect(endpoint.url, user=endpoint.user, password=endpoint.password)

    async def count(message: Msg) -> None:
        await message.respond(b"3")

    await client.subscribe("sheep.count", cb=count)
    client.asking = asyncio.ensure_future(WAITS[wait](client))
    (outcome,) = await asyncio.gather(client.asking, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)
    await client.close()


@pytest.mark.broker
async def test_a_request_that_nobody_answers_ends_in_time(broker: Broker) -> None:
    client = BusClient()
    endpoint = broker.endpoint
    await client.connect(endpoint.url, user=endpoint.user, password=endpoint.password)
    await client.subscribe("sheep.count")
    with pytest.raises(NatsTimeoutError):
        await client.request("sheep.count", timeout=0.01)
    await client.close()
