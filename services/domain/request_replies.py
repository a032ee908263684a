"""All questions, found where they are declared: a new one is a module of `schemas`, and nothing else lists it."""

from collections.abc import Iterable

import schemas
from schemas.ask import RequestReply
from services.domain.registry import registered


def request_replies() -> tuple[RequestReply, ...]:
    """All questions with their replies, in the order of the pages."""
    return in_order(registered(schemas, RequestReply))


def in_order(declared: Iterable[RequestReply]) -> tuple[RequestReply, ...]:
    """These, in the order of the pages. Raises `ValueError` where two have one name."""
    ordered = sorted(declared, key=lambda one: (one.order, one.ask.NAME))
    names = [one.ask.NAME for one in ordered]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"questions are declared twice: {sorted(twice)}; give one of two another name")
    return tuple(ordered)
