"""The answer to `ask.erasures`: what plugins are to take out of what they have stored."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec

from schemas.erasure_asks import ErasureOrder, ErasureOrders, ErasuresAsk
from schemas.events import ErasureOrdered
from services.domain.aliases import GLOBAL
from services.responder.answers.base import Context, Question

PAGE = 5
"""Orders of one reply: one that names as much as it may takes some 50 KB."""


def _open(context: Context) -> Callable[[ErasuresAsk], Awaitable[ErasureOrders]]:
    subject = GLOBAL.log(ErasureOrdered.TYPE)

    async def answer(ask: ErasuresAsk) -> ErasureOrders:
        found: list[ErasureOrder] = []
        async with aclosing(context.kit.reader.after(ask.since, subject)) as log:
            async for record in log:
                if isinstance(record.event, ErasureOrdered):
                    found.append(msgspec.convert(msgspec.to_builtins(record.event), ErasureOrder))
                if len(found) == PAGE:
                    return ErasureOrders(tuple(found), more=record.envelope.seq)
        return ErasureOrders(tuple(found))

    return answer


ERASURES = Question(ErasuresAsk, _open, lambda reason: ErasureOrders(error=reason))
