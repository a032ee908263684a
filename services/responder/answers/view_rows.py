"""Rows of the views, for the questions of Annals' own programs. Their SQL is written here, and in no message."""

from collections.abc import Sequence

from services.kit.asks import Declined
from services.kit.duck import BadQuery
from services.responder.answers.base import Context

VIEWS_WAIT = 1.0
"""Seconds that a question waits for what was in the log when it came."""
TIMEOUT = 5.0


async def until_committed(context: Context) -> None:
    """Wait a little until the views hold what the log holds now, unless they are being built anew."""
    if not context.files.is_building:
        await context.projector.committed(await context.kit.reader.head(), VIEWS_WAIT)


async def view_rows(
    context: Context, sql: str, parameters: Sequence[object] = (), *, max_rows: int
) -> list[dict[str, object]]:
    """The rows of a query, by the names of their columns. Raises `Declined` while the views cannot be read.

    The views show at least what was in the log when the question came, unless that takes too long.
    """
    await until_committed(context)
    try:
        found = await context.files.serving.duck.query(sql, parameters, max_rows=max_rows, timeout=TIMEOUT)
    except BadQuery as error:
        raise Declined(str(error)) from error
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]
