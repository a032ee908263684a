"""The door to the broker: everything that rooms and clients do with NATS."""

from services.kit.bus.bodies import Bodies
from services.kit.bus.connection import Bus, Unreachable
from services.kit.bus.log import Appender, Conflict, LogReader, Recorded
from services.kit.bus.pull import Delivery, Pull

__all__ = ["Appender", "Bodies", "Bus", "Conflict", "Delivery", "LogReader", "Pull", "Recorded", "Unreachable"]
