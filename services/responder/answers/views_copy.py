"""The answer to `ask.views_copy`: a copy of the views lies where others can read it, and how new it is."""

from collections.abc import Awaitable, Callable

from schemas.view_asks import ViewsCopy, ViewsCopyAsk
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import until_committed
from services.responder.views.copy import NotCopied


def _open(context: Context) -> Callable[[ViewsCopyAsk], Awaitable[ViewsCopy]]:
    async def answer(_: ViewsCopyAsk) -> ViewsCopy:
        if not context.copier.is_young:
            await until_committed(context)
        try:
            newest = await context.copier.newest()
        except NotCopied as error:
            return ViewsCopy(error=str(error))
        return ViewsCopy(newest.as_of, newest.at)

    return answer


VIEWS_COPY = Question(ViewsCopyAsk, _open, lambda reason: ViewsCopy(error=reason), LONG)
