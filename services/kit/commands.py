"""How a room sends a command to the desk."""

import asyncio
import time
from datetime import UTC, datetime

import msgspec

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Actor
from schemas.subjects import PERSON, Address
from services.kit.bus import Bus

PATIENCE = 10.0
"""Seconds in which an answer must have come."""
PAUSE = 0.2
"""Seconds until a command is sent again that the desk could not decide."""

_answers = msgspec.json.Decoder(Answer)


async def send(bus: Bus, address: Address, command: Command, *, name: str, actor: Actor) -> Answer:
    """Send a command and wait for its answer. `name` is that of the command: a repeated command is one command.

    On a patient connection it is sent again for a while where the desk, or the broker, is started again.
    """
    message = CommandMessage(name, datetime.now(UTC), actor, msgspec.Raw(encode(command)))
    subject = address.command(command.TYPE, PERSON if actor.kind == "person" else "")
    deadline = time.monotonic() + bus.patience
    while True:
        answer = _answers.decode(await bus.request(subject, encode(message), PATIENCE))
        if not answer.again or time.monotonic() >= deadline:
            return answer
        await asyncio.sleep(PAUSE)
