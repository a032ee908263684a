"""What the views hold, as a person asks for it: with patience, on a machine that may be busy."""

from contextlib import suppress

import msgspec

from schemas.codec import encode
from schemas.subjects import ask
from schemas.view_asks import Rows, SqlAsk
from services.kit.bus import Bus, Unreachable
from tests.helpers.waiting import PATIENCE, until

PATIENT = int(PATIENCE * 1000)


async def asked(bus: Bus, question: SqlAsk) -> Rows:
    """The reply to one question, as soon as somebody serves it: what serves may have begun just now."""
    replies: list[bytes] = []

    async def is_answered() -> bool:
        with suppress(Unreachable):
            replies.append(await bus.request(ask(SqlAsk.NAME), encode(question), PATIENCE))
        return bool(replies)

    await until(is_answered)
    return msgspec.json.decode(replies[0], type=Rows)


async def select(bus: Bus, sql: str, max_rows: int = 10_000) -> tuple[tuple[object, ...], ...]:
    """The rows of one query, which must be answered, and in one page."""
    reply = await asked(bus, SqlAsk(sql, max_rows=max_rows, timeout_ms=PATIENT))
    assert ("", False) == (reply.error, reply.truncated), sql
    return reply.rows
