"""The streams and buckets that hold the language on the broker, as plain values."""

import msgspec

DAY = 86_400.0


class Stream(msgspec.Struct, frozen=True):
    """One JetStream stream. Durations in seconds; 0 means without limit."""

    name: str
    subjects: tuple[str, ...]
    description: str
    max_age: float = 0.0
    duplicate_window: float = 120.0
    immutable: bool = False


class Bucket(msgspec.Struct, frozen=True):
    """One object store: bodies too long for a message, named by the sha256 of their content."""

    name: str
    description: str
    max_age: float = 0.0


IN = Stream("IN", ("in.>",), "what harnesses saw", max_age=7 * DAY, duplicate_window=600.0)
LOG = Stream("LOG", ("log.>",), "what happened", immutable=True, duplicate_window=600.0)
DEAD = Stream("DEAD", ("dead.>",), "letters nobody could deliver")
STREAMS = (IN, LOG, DEAD)

INBOUND_BODIES = Bucket("inbound", "long bodies as harnesses sent them, before masking", max_age=7 * DAY)
BODIES = Bucket("bodies", "long bodies of the log, masked")
BUCKETS = (INBOUND_BODIES, BODIES)

MAX_BODY_BYTES = 256 * 1024
"""A text longer than this travels in a bucket, and the message carries its reference."""
MAX_PIECE_BYTES = 512 * 1024
"""The most that one inbound message may hold; a longer one is split by its sender."""
MAX_BATCH = 1000
"""The most messages of one atomic batch (a limit of the broker)."""
