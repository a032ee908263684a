"""An empty report, of no harness: it is stored like any other, and shows whether the broker stores anything."""

from datetime import UTC, datetime
from uuid import uuid4

from schemas.codec import encode
from schemas.inbox import Inbound
from schemas.subjects import Address
from services.kit.bus import Bus, NotAllowed, TooLarge, Unreachable
from services.kit.within import within

NOBODY = Address("annals-doctor", "probe")
"""A project and a session that no harness has."""


async def publish(bus: Bus) -> int:
    """Publish one; its position. No fact comes of it. Raises `Unreachable`."""
    inbound = Inbound(id=f"doctor-{uuid4()}", at=datetime.now(UTC), items=())
    return await bus.publish(NOBODY.inbound("doctor"), encode(inbound), inbound.id)


async def why_refused(bus: Bus, seconds: float) -> str:
    """The reason why the broker does not store one in time. Empty: it does, or this user may not report."""
    try:
        await within(seconds, publish(bus))
    except NotAllowed:
        return ""
    except TimeoutError:
        return f"the broker has not stored a report within {seconds:g} s; see that its disk has room and answers"
    except (Unreachable, TooLarge) as error:
        return str(error)
    return ""
