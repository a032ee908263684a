"""The answer to `ask.adapter`: which adapter of a harness connected last, as it describes itself."""

from collections.abc import Awaitable, Callable

import msgspec

from schemas.view_asks import LastAdapter, LastAdapterAsk
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import view_rows

QUERY = """\
select left(happened::varchar, 16) as happened, coalesce(version, '') as version,
  coalesce(harness_version, '') as harness_version, coalesce(digest, '') as digest, coalesce(rival, '') as rival
from adapters where harness = ? order by seq desc"""


def _open(context: Context) -> Callable[[LastAdapterAsk], Awaitable[LastAdapter]]:
    async def answer(ask: LastAdapterAsk) -> LastAdapter:
        rows = await view_rows(context, QUERY, [ask.harness], max_rows=1)
        return msgspec.convert(rows[0], LastAdapter) if rows else LastAdapter()

    return answer


LAST_ADAPTER = Question(LastAdapterAsk, _open, lambda reason: LastAdapter(error=reason), LONG)
