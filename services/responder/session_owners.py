"""The owner of a session: its first plan waits until the desk has recorded that, where somebody has a profile."""

import asyncio
from collections import defaultdict

from schemas.events import Event, ProfileBound
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.plan.lanes.head import MODES
from services.plan.session.state import Session
from services.responder.projections.folds import PROFILES
from services.responder.session_cache import SessionCache

WAIT = 0.5
"""Seconds that the first plan of a session waits at most."""


class SessionOwners:
    """The sessions of which the owner is waited for."""

    def __init__(self, cache: SessionCache) -> None:
        self._cache = cache
        self._waiting: dict[Address, set[asyncio.Event]] = defaultdict(set)

    def feed(self, event: Event | None) -> None:
        """Wake who waits for this session. The profiles must have been fed before."""
        if isinstance(event, ProfileBound):
            for arrived in self._waiting.get(Address(event.origin_project, event.origin), ()):
                arrived.set()

    async def ready(self, address: Address, state: Session, seconds: float) -> None:
        """Wait until it is recorded whose session it is, for `WAIT` and half of these seconds at most.

        It returns at once where no profile is on, for a session that has made a call before, and for one that has
        no head.
        """
        if state.step is None or state.calls.before is not None or state.step.mode not in MODES:
            return
        profiles = await self._cache.state(PROFILES, GLOBAL)
        if not profiles.are_any_on or address in profiles.owners:
            return
        arrived = asyncio.Event()
        self._waiting[address].add(arrived)
        try:
            async with asyncio.timeout(max(0.0, min(WAIT, seconds / 2))):
                await arrived.wait()
        except TimeoutError:
            return  # a session without an owner has no profile
        finally:
            self._waiting[address].discard(arrived)
            if not self._waiting[address]:
                del self._waiting[address]
