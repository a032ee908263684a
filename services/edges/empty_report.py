"""An empty report, of no harness: whether the broker stores it, or would, shows whether it stores anything."""

from datetime import UTC, datetime
from uuid import uuid4

from schemas.codec import encode
from schemas.inbox import Inbound
from schemas.subjects import Address
from services.kit.bus import Bus, NotAllowed, Unreachable
from services.kit.bus.room_left import ask_for_room
from services.kit.within import within

NOBODY = Address("annals-doctor", "probe")
"""A project and a session that no harness has."""


async def publish(bus: Bus) -> int:
    """Publish one, which is stored like any other; its position. No fact comes of it. Raises `Unreachable`."""
    inbound = Inbound(id=f"doctor-{uuid4()}", at=datetime.now(UTC), items=())
    return await bus.publish(NOBODY.inbound("doctor"), encode(inbound), inbound.id)


async def why_refused(bus: Bus, seconds: float) -> str:
    """The reason why the broker would store none. Empty: it would, or this user may not report. It stores nothing."""
    try:
        await within(seconds, ask_for_room(bus, NOBODY.inbound("doctor")))
    except NotAllowed:
        return ""
    except TimeoutError:
        return f"the broker takes no report within {seconds:g} s; see that its disk has room and answers"
    except Unreachable as error:
        return str(error)
    return ""
