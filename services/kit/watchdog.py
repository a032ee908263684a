"""The watchdog: a process whose loop hangs ends, so that it is begun anew, and says first where it hung."""

import asyncio
import faulthandler
import time

BEAT = 1.0
"""Seconds between two signs of life."""


class Watchdog:
    """Knows how long a loop has been silent, and ends its process after `patience` seconds; 0: never."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._beat = time.monotonic()

    @property
    def silence(self) -> float:
        """Seconds since a sign of life was due."""
        return max(0.0, time.monotonic() - self._beat - BEAT)

    async def watch(self) -> None:
        """Give signs of life, for which a thread waits that needs no interpreter."""
        try:
            while True:
                self._beat = time.monotonic()
                if self._patience:
                    faulthandler.dump_traceback_later(self._patience, exit=True)
                await asyncio.sleep(BEAT)
        finally:
            faulthandler.cancel_dump_traceback_later()
