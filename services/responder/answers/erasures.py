"""The answer to `ask.erasures`: what plugins are to take out of what they have stored."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec

from schemas.codec import encode
from schemas.erasure_asks import ErasureOrder, ErasureOrders, ErasuresAsk
from schemas.events import ErasureOrdered
from services.domain.aliases import GLOBAL
from services.responder.answers.base import Context, Question

PAGE = 256 * 1024
"""Bytes of orders in a reply from which on there may be more. An order that names as much as it may takes 80 KB."""


def _open(context: Context) -> Callable[[ErasuresAsk], Awaitable[ErasureOrders]]:
    subject = GLOBAL.log(ErasureOrdered.TYPE)

    async def answer(ask: ErasuresAsk) -> ErasureOrders:
        found: list[ErasureOrder] = []
        size = 0
        async with aclosing(context.kit.reader.after(ask.since, subject)) as log:
            async for record in log:
                if isinstance(record.event, ErasureOrdered):
                    found.append(msgspec.convert(msgspec.to_builtins(record.event), ErasureOrder))
                    size += len(encode(found[-1]))
                if size >= PAGE:
                    return ErasureOrders(tuple(found), more=record.envelope.seq)
        return ErasureOrders(tuple(found))

    return answer


ERASURES = Question(ErasuresAsk, _open, lambda reason: ErasureOrders(error=reason))
