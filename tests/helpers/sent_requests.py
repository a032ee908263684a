"""What a room sends to the broker, counted by kind."""

from collections import Counter
from typing import Any

from services.kit.bus import Bus

OF_A_BATCH = 4
"""Synced writes of the broker for an atomic batch, whatever its size."""


class Sent:
    """All that is sent over a connection."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.counts: Counter[str] = Counter()
        self._publish = bus.client.publish
        bus.client.publish = self._counted  # type: ignore[method-assign] # requests pass it, too

    async def _counted(self, subject: str, payload: bytes = b"", reply: str = "", headers: Any = None) -> None:  # noqa: ANN401 - the client's own
        self.counts[_kind(subject, headers or {})] += 1
        await self._publish(subject, payload, reply=reply, headers=headers)

    @property
    def synced(self) -> int:
        """Synced writes to the log."""
        return self.counts["fact"] + OF_A_BATCH * self.counts["batch"]


def _kind(subject: str, headers: dict[str, str]) -> str:
    if subject.startswith("log."):
        if "Nats-Batch-Id" not in headers:
            return "fact"
        return "batch" if "Nats-Batch-Commit" in headers else "in a batch"
    if subject.startswith("$JS.ACK."):
        return "acknowledged"
    if subject.startswith("_INBOX."):
        return "answered"
    if ".INFO." in subject or ".MSG.NEXT." in subject:
        return "polled"  # whether it is idle, and for more
    return "read" if ".DIRECT.GET." in subject else subject
