"""How a room wishes something of the desk."""

from datetime import UTC, datetime

import msgspec

from schemas.codec import encode
from schemas.commands import Answer, Command, Wish
from schemas.envelope import Actor
from schemas.subjects import Address
from services.kit.bus import Bus

PATIENCE = 10.0
"""Seconds for an answer."""

_answers = msgspec.json.Decoder(Answer)


async def wish(bus: Bus, address: Address, command: Command, *, name: str, actor: Actor) -> Answer:
    """Ask the desk for something. `name` is that of the wish: a repeated wish is one wish."""
    written = Wish(name, datetime.now(UTC), actor, msgspec.Raw(encode(command)))
    return _answers.decode(await bus.request(address.wish(command.TYPE), encode(written), PATIENCE))
