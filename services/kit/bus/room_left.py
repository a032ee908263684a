"""Whether the broker has room for one more message of a stream, asked without storing any."""

from uuid import uuid4

import msgspec
from nats.errors import Error as NatsError

from services.kit.bus.connection import FULL, STORE_FULL, Bus, NotAllowed, Unreachable

WAIT = 5.0
"""Seconds for the answer."""
NO_BEGINNING = 10176
"""The broker's code for a batch of which the first message is missing. It looks first whether it has room."""


class _Fault(msgspec.Struct, frozen=True):
    err_code: int = 0
    description: str = ""


class _Refusal(msgspec.Struct, frozen=True):
    """The broker's answer to a message that it has not taken."""

    error: _Fault = _Fault()


async def ask_for_room(bus: Bus, subject: str) -> None:
    """Offer the second message of a batch that has no first one. The broker refuses it, and its reason is the answer.

    Raises `Unreachable` where there is no room or no answer, and `NotAllowed` where this user may not publish there.
    """
    headers = {"Nats-Batch-Id": uuid4().hex, "Nats-Batch-Sequence": "2"}
    try:
        reply = await bus.client.request(subject, b"", timeout=WAIT, headers=headers)
        fault = msgspec.json.decode(reply.data, type=_Refusal).error
    except NotAllowed:
        raise
    except (NatsError, TimeoutError, msgspec.DecodeError) as error:
        raise Unreachable(f"the broker would not take {subject}: {str(error) or type(error).__name__}") from error
    if fault.err_code != NO_BEGINNING:
        reason = FULL if fault.err_code == STORE_FULL else fault.description
        raise Unreachable(f"the broker would not take {subject}: {reason}")
