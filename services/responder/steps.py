"""Waits for steps: an answer to a model call is made when the log has been read up to that call."""

import asyncio
from collections import defaultdict

from schemas.envelope import Envelope
from schemas.events import Event, StepOpened
from schemas.subjects import Address
from services.kit.cache import Entry
from services.plan.session.state import Session


class Steps:
    """The steps that are waited for."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Address, str], list[asyncio.Event]] = defaultdict(list)

    def feed(self, envelope: Envelope, event: Event | None) -> None:
        """Wake who waits for this step. Its session's state must have been fed before."""
        if isinstance(event, StepOpened):
            for arrived in self._waiting.get((Address(envelope.project, envelope.session), event.step), ()):
                arrived.set()

    async def read(self, entry: Entry[Session], step: str, timeout: float) -> bool:  # noqa: ASYNC109 - a missed deadline is an answer
        """Wait until this step was read; whether it was."""
        if _knows(entry, step):
            return True
        arrived = asyncio.Event()
        key = (entry.address, step)
        self._waiting[key].append(arrived)
        try:
            async with asyncio.timeout(timeout):
                await arrived.wait()
        except TimeoutError:
            return False
        finally:
            self._waiting[key].remove(arrived)
            if not self._waiting[key]:
                del self._waiting[key]
        return True


def _knows(entry: Entry[Session], step: str) -> bool:
    state = entry.state
    return step in {known.step for known in (state.step, state.calls.before) if known is not None}
