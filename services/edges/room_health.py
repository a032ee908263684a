"""Asks the rooms of an installation for their health."""

import asyncio
from collections.abc import Iterable, Mapping

from schemas.room_health import HealthAsk, RoomHealth
from schemas.status_asks import Status
from services.edges.asking import answer
from services.kit.bus import Bus, NoResponder, Unreachable
from services.kit.replies import NotUnderstood

RESPONDER = "responder"


async def healths(bus: Bus, rooms: Iterable[str], seconds: float) -> dict[str, RoomHealth]:
    """The health of each of these rooms that is open, within so many seconds.

    One that is open and does not answer in time is not well, and says so.
    """
    names = tuple(rooms)
    found = await asyncio.gather(*(_health(bus, name, seconds) for name in names))
    return {name: health for name, health in zip(names, found, strict=True) if health is not None}


async def _health(bus: Bus, room: str, seconds: float) -> RoomHealth | None:
    try:
        return await answer(bus, HealthAsk(), RoomHealth, seconds, room)
    except NoResponder:
        return None
    except NotUnderstood as error:
        return RoomHealth(room, ok=False, failures=(str(error),))
    except Unreachable:
        return RoomHealth(room, ok=False, failures=(f"it does not answer within {seconds:g} s",))


def unfolding(status: Status | None, rooms: Mapping[str, RoomHealth]) -> tuple[RoomHealth, ...]:
    """The rooms that have met facts which they could not use. Of the responder its status says so as well."""
    known = dict(rooms)
    if status is not None and RESPONDER not in known:
        known[RESPONDER] = RoomHealth(
            RESPONDER, ok=True, unfolded=status.unfolded, newest_unfolded=status.newest_unfolded
        )
    return tuple(health for health in known.values() if health.unfolded)
