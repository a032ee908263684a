"""A secret in the reports of a harness, and the places where the broker stores it in the end."""

from schemas.streams import BODIES, LOG
from services.kit.bus import Bus
from tests.helpers.broker_world import stored

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


async def holding_the_secret(bus: Bus) -> list[str]:
    """Subjects of the messages of the log, and of the bucket of bodies, that hold the secret."""
    found = [one.subject for one in await stored(bus, LOG.name) if SECRET.encode() in one.data]
    pieces = b"".join(one.data for one in await stored(bus, f"OBJ_{BODIES.name}"))
    return [*found, *(["the bucket"] if SECRET.encode() in pieces else [])]
