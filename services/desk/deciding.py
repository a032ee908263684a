"""Decides a command on the newest state, once however often the command comes."""

from collections.abc import Callable
from typing import TypeVar

from schemas.commands import Answer, CommandMessage
from schemas.events import SpendRefused
from schemas.subjects import Address
from services.domain.decision import Decision
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.bus import LogReader
from services.kit.cache import Precedent
from services.kit.command_queue import PATIENCE

S = TypeVar("S")


async def decided(
    aggregate: Aggregate[S],
    reader: LogReader,
    address: Address,
    message: CommandMessage,
    decide: Callable[[S], Decision],
) -> Answer:
    """Decide, and answer with where it was written. A command that was decided before is answered from the log."""

    async def judge(draft: Draft[S]) -> Decision | Precedent:
        decision = decide(draft.state)
        draft.record(*decision.events)
        draft.answer, draft.is_refused = decision.text, not decision.ok
        return decision

    while True:
        handled = await aggregate.handle(
            address,
            judge,
            cause=message.id,
            at=message.at,
            actor=message.actor,
            again=lambda first: first,
            patience=PATIENCE,
        )
        decision = handled.result
        if isinstance(decision, Precedent):
            return await _first_answer(reader, decision)
        if decision.seq != 0:
            written = handled.positions[-1] if handled.positions else decision.seq
            return Answer(ok=decision.ok, text=decision.text, seq=written or 0)


async def _first_answer(reader: LogReader, first: Precedent) -> Answer:
    """The answer that was given when this was written: decided by now, the same might read differently."""
    envelope = await reader.at(first.seq)
    if envelope is not None and envelope.answer:
        return Answer(ok=not envelope.refused, text=envelope.answer, seq=first.seq)
    is_refused = first.type == SpendRefused.TYPE  # older facts say no more
    return Answer(ok=not is_refused, text="This was decided before; nothing more was written.", seq=first.seq)
