"""The questions that pages and schemas are made of, and the reply of each."""

import msgspec

from schemas.ask import Ask
from services.domain.request_replies import request_replies

_REPLIES = {one.ask: one.reply for one in request_replies()}
ASKS: tuple[type[Ask], ...] = tuple(_REPLIES)
"""Every question, in the order of the pages."""


def reply_to(ask: type[Ask]) -> type[msgspec.Struct]:
    """The reply that a question is declared with. Raises `LookupError` where none is."""
    if ask not in _REPLIES:
        raise LookupError(f"no module of schemas declares {ask.__name__} with its reply; add a `RequestReply` of them")
    return _REPLIES[ask]
