"""Sends a command to the desk, and waits for its answer."""

import asyncio
import time
from datetime import UTC, datetime

import msgspec

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Actor
from schemas.subjects import PERSON, Address
from services.kit.bus import Bus, NoResponder, NotAllowed, Unreachable
from services.kit.replies import NotUnderstood, understood

PATIENCE = 10.0
"""Seconds in which an answer must have come."""
PAUSE = 0.2
"""Seconds until a command is sent again that the desk could not decide."""


async def send(bus: Bus, address: Address, command: Command, *, name: str, actor: Actor) -> Answer:
    """Send a command and wait for its answer. `name` is that of the command: a repeated command is one command.

    On a patient connection it is sent again for a while where the desk, or the broker, is started again. Raises
    `Unreachable`, which says whether nothing was done or nobody knows.
    """
    message = CommandMessage(name, datetime.now(UTC), actor, msgspec.Raw(encode(command)))
    subject = address.command(command.TYPE, PERSON if actor.kind == "person" else "")
    deadline = time.monotonic() + bus.patience
    while True:
        answer = _understood(await _requested(bus, subject, encode(message)), command.TYPE)
        if not answer.again or time.monotonic() >= deadline:
            return answer
        await asyncio.sleep(PAUSE)


UNKNOWN = "it is not known whether this was done, so look before you do it again"


def _understood(reply: bytes, command: str) -> Answer:
    try:
        return understood(reply, Answer, f"do.{command}")
    except NotUnderstood as error:
        raise NotUnderstood(f"{UNKNOWN}: {error}") from error


async def _requested(bus: Bus, subject: str, message: bytes) -> bytes:
    try:
        return await bus.request(subject, message, PATIENCE)
    except NotAllowed:
        raise
    except NoResponder as error:
        raise NoResponder(f"nothing was done: {error}") from error
    except Unreachable as error:
        raise Unreachable(f"{UNKNOWN}: {error}") from error
