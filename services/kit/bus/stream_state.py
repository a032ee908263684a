"""The state of a stream at the broker, with what shows whether messages are lost."""

import msgspec
from nats.errors import Error as NatsError

from services.kit.bus.connection import Bus, Unreachable
from services.kit.bus.marks import WAIT

NO_STREAM = 10059
"""The broker's code for a stream that it does not have."""


class StreamState(msgspec.Struct, frozen=True):
    """One stream, as it is now."""

    created: str
    """When it was made, which no other one has."""
    server: str
    """The id of the broker's process."""
    messages: int
    end: int
    """Its newest position."""
    lost: int
    """Messages that the broker missed on its disk when it began, where that was asked for."""


class Misses(msgspec.Struct, frozen=True):
    """The messages that a broker missed of a stream when it began."""

    msgs: tuple[int, ...] | None = None


class StreamNumbers(msgspec.Struct, frozen=True):
    """The counts and positions of a stream."""

    messages: int = 0
    bytes: int = 0
    first_seq: int = 0
    last_seq: int = 0
    deleted: tuple[int, ...] | None = None
    lost: Misses | None = None


class InfoRefusal(msgspec.Struct, frozen=True):
    """The reason why a broker does not describe a stream."""

    err_code: int = 0
    description: str = "the broker gives no reason"


class StreamInfo(msgspec.Struct, frozen=True):
    """The broker's description of a stream. The library's lacks `ts`, the broker's own time, and what is lost."""

    created: str = ""
    ts: str = ""
    state: StreamNumbers = StreamNumbers()
    error: InfoRefusal | None = None


async def stream_info(bus: Bus, stream: str, *, has_deleted: bool = False) -> StreamInfo:
    """Ask the broker for a stream. `has_deleted`: with the positions that are deleted or lost.

    Raises what the client raises.
    """
    options = b'{"deleted_details":true}' if has_deleted else b""
    reply = await bus.client.request(f"$JS.API.STREAM.INFO.{stream}", options, timeout=WAIT)
    return msgspec.json.decode(reply.data, type=StreamInfo)


async def stream_state(bus: Bus, stream: str, *, has_lost: bool) -> StreamState:
    """The state of a stream. `has_lost`: with what is lost, which is a long answer where much was deleted.

    Raises `Unreachable`, also where there is none.
    """
    try:
        info = await stream_info(bus, stream, has_deleted=has_lost)
    except (NatsError, TimeoutError) as error:
        raise Unreachable(f"the stream {stream} was not looked at: {str(error) or type(error).__name__}") from error
    if info.error is not None:
        raise Unreachable(f"the stream {stream} was not looked at: {info.error.description}")
    lost = len(info.state.lost.msgs or ()) if info.state.lost else 0
    return StreamState(info.created, bus.client.server_id, info.state.messages, info.state.last_seq, lost)
