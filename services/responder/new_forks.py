"""Forks that have just begun: their states are loaded before anybody asks for them."""

import asyncio

from schemas.envelope import Envelope
from schemas.events import Event, SessionForked
from schemas.subjects import Address
from services.kit.bus import Unreachable
from services.kit.logs import logger
from services.responder.projections.session import SESSION
from services.responder.session_cache import SessionCache


class NewForks:
    """Loads a fork and its origin as soon as the fork is read: its first call needs all of both at once."""

    def __init__(self, cache: SessionCache, live_from: int) -> None:
        """`live_from`: the end of the log when this began; a fork from before that is nothing new."""
        self._cache = cache
        self._live_from = live_from
        self._loading: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Give up what is being loaded."""
        for task in self._loading:
            task.cancel()

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Begin to load, if this is a new fork that is not loaded yet."""
        if not isinstance(event, SessionForked) or envelope.seq <= self._live_from:
            return
        address = Address(envelope.project, envelope.session)
        if self._cache.peek(SESSION, address) is not None:
            return
        for one in (address, Address(address.project, event.origin)):
            task = asyncio.create_task(self._load(one))
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

    async def _load(self, address: Address) -> None:
        try:
            await self._cache.entry(SESSION, address)
        except Unreachable as error:  # it is loaded when it is asked for
            logger().warning("a fork is not loaded yet", session=address.session, reason=str(error))
