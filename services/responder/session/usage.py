"""What providers have counted of a session's prompts."""

from datetime import datetime

import msgspec

from schemas.envelope import Envelope
from schemas.events import OverflowDetected, UsageSampled
from services.domain.conversation import Conversation, precedes
from services.responder.session import calibration
from services.responder.session.calibration import Calibration

replace = msgspec.structs.replace


class Usage(msgspec.Struct, frozen=True):
    """The newest count."""

    sample: UsageSampled | None = None
    at: datetime | None = None
    calibration: Calibration = Calibration()


def answered(usage: Usage, event: UsageSampled, envelope: Envelope, sent: int) -> Usage:
    """A model has answered a prompt of so many estimated tokens."""
    known = calibration.answered(usage.calibration, event, sent)
    return replace(usage, sample=event, at=envelope.at, calibration=known)


def is_late(usage: Usage, conversation: Conversation, event: UsageSampled) -> bool:
    """Whether a sample speaks of an older answer than the newest one: it never replaces that."""
    return usage.sample is not None and precedes(conversation, event.message, usage.sample.message)


def refused(usage: Usage, event: OverflowDetected, sent: int) -> Usage:
    """A prompt of so many estimated tokens was too long."""
    return replace(usage, calibration=calibration.refused(usage.calibration, event, sent))
