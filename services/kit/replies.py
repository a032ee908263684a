"""The reply of a room as a value: one that this version does not understand is an error that says what to do."""

from typing import TypeVar

import msgspec

from services.domain.misread import misread
from services.kit.bus import Unreachable

Reply = TypeVar("Reply")
REMEDY = "see that the installation and this command are of the same version"
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class NotUnderstood(Unreachable):
    """A reply has a form that this version does not know."""


def understood(data: bytes, kind: type[Reply], subject: str) -> Reply:
    """The reply to what was sent on this subject. Raises `NotUnderstood`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE as error:
        raise NotUnderstood(f"the answer to {subject} is not understood ({misread(error)}); {REMEDY}") from error
