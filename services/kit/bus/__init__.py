"""The door to the broker: everything that rooms and clients do with NATS."""

from services.kit.bus.append import Appender, Conflict, ForeignEvent, Unconfirmed
from services.kit.bus.asker import current_client
from services.kit.bus.bodies import Bodies, Missing
from services.kit.bus.connection import (
    BrokerError,
    Bus,
    Lag,
    NoResponder,
    NotAdmitted,
    NotAllowed,
    TooLarge,
    Unreachable,
    without_password,
)
from services.kit.bus.log import LogReader
from services.kit.bus.marks import delivered_at
from services.kit.bus.pull import Delivery, Pull

__all__ = [
    "Appender",
    "Bodies",
    "BrokerError",
    "Bus",
    "Conflict",
    "Delivery",
    "ForeignEvent",
    "Lag",
    "LogReader",
    "Missing",
    "NoResponder",
    "NotAdmitted",
    "NotAllowed",
    "Pull",
    "TooLarge",
    "Unconfirmed",
    "Unreachable",
    "current_client",
    "delivered_at",
    "without_password",
]
