"""Answers about an installation: erasures that are under way, the newest adapter, and a copy of the views."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec

from schemas.codec import encode
from schemas.erasure_asks import ErasureOrder, ErasureOrders, ErasuresAsk
from schemas.events import ErasureOrdered
from schemas.view_asks import LastAdapter, LastAdapterAsk, ViewsCopy, ViewsCopyAsk
from services.domain.aliases import GLOBAL
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import until_committed, view_rows
from services.responder.views.copy import NotCopied

PAGE = 256 * 1024
"""Bytes of orders in a reply from which on there may be more. An order that names as much as it may takes 80 KB."""


def _open_erasures(context: Context) -> Callable[[ErasuresAsk], Awaitable[ErasureOrders]]:
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


ERASURES = Question(ErasuresAsk, _open_erasures, lambda reason: ErasureOrders(error=reason))


QUERY = """\
select left(happened::varchar, 16) as happened, coalesce(version, '') as version,
  coalesce(harness_version, '') as harness_version, coalesce(digest, '') as digest, coalesce(rival, '') as rival
from adapters where harness = ? order by seq desc"""


def _open_last_adapter(context: Context) -> Callable[[LastAdapterAsk], Awaitable[LastAdapter]]:
    async def answer(ask: LastAdapterAsk) -> LastAdapter:
        rows = await view_rows(context, QUERY, [ask.harness], max_rows=1)
        return msgspec.convert(rows[0], LastAdapter) if rows else LastAdapter()

    return answer


LAST_ADAPTER = Question(LastAdapterAsk, _open_last_adapter, lambda reason: LastAdapter(error=reason), LONG)


def _open_views_copy(context: Context) -> Callable[[ViewsCopyAsk], Awaitable[ViewsCopy]]:
    async def answer(_: ViewsCopyAsk) -> ViewsCopy:
        if not context.copier.is_young:
            await until_committed(context)
        try:
            newest = await context.copier.newest()
        except NotCopied as error:
            return ViewsCopy(error=str(error))
        return ViewsCopy(newest.as_of, newest.at)

    return answer


VIEWS_COPY = Question(ViewsCopyAsk, _open_views_copy, lambda reason: ViewsCopy(error=reason), LONG)
