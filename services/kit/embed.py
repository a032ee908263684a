"""Asking for vectors: the embedder makes them, in a process of its own."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from schemas.asks import EmbedAsk, Embedded
from schemas.codec import encode
from schemas.subjects import ask
from services.kit.bus import Bus, TooLarge, Unreachable

QUERY_TIMEOUT, TEXT_TIMEOUT = 1.0, 60.0

_replies = msgspec.json.Decoder(Embedded)


async def embedded(
    bus: Bus, texts: Sequence[str], purpose: Literal["text", "query"] = "text", *, tokens: bool = True
) -> Embedded:
    """The vectors of these texts. Where nobody answers, the reply has an error: search goes by words then."""
    question = EmbedAsk(tuple(texts), purpose, tokens)
    timeout = QUERY_TIMEOUT if purpose == "query" else TEXT_TIMEOUT
    try:
        return _replies.decode(await bus.request(ask(EmbedAsk.NAME), encode(question), timeout))
    except (Unreachable, TooLarge) as error:
        return Embedded(error=str(error))
