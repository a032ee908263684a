"""The answer to `ask.explain`: why the prompt of a model call looks as it does.

It lists which edits were in force, which facts led to each, and which hints and answers to searches it had.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from difflib import get_close_matches

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, HintDecided, PlanExtended, PlanRebased, StepOpened
from schemas.explain_asks import ExplainAsk, Explained, Explanation, Fact
from schemas.subjects import Address, BadSubject
from services.domain.record import Record
from services.domain.texts.markup import escaped
from services.domain.texts.posing import unposed
from services.kit.asks import Declined
from services.kit.bus import LogReader
from services.kit.garbage import release
from services.memory.remembered import Remembered
from services.plan.session.state import Session
from services.responder.answers.base import LONG, Context, Question, UnknownSession, remembered_of
from services.responder.answers.earlier_prompt import (
    EarlierPrompt,
    ModelCall,
    call_of,
    is_as_sent,
    served_plan,
    session_as_sent,
)
from services.responder.answers.facts import fact_of
from services.responder.answers.prompt_outline import (
    PromptOutline,
    outline,
    prompt_hints,
    prompt_searches,
    with_facts,
    with_title,
)
from services.responder.answers.session_names import LONGEST_NAME, MOST_LIKE, session_meant
from services.responder.answers.taken_back import WithheldTexts, withholding
from services.responder.projections.folds import SESSION

AT_ONCE = 128
"""Records of the log that are folded together in a thread, so that the loop goes on answering models meanwhile."""
LONGEST_NUMBER = 9
"""Digits of a call's number."""
_NONE = Session()
_NOTHING = Remembered()
_END = 2**63
"""Behind all positions of the log."""


class UnknownStep(Declined):
    """The session has made no such call. The message is for who asked."""

    status = "error"


async def explain(
    reader: LogReader, ask: ExplainAsk, newest: Session = _NONE, remembered: Remembered = _NOTHING
) -> Explanation:
    """Find the plan of that step, and look up what its edits name as their reasons. Raises `UnknownStep`.

    `newest`: the session as it is in memory, for its newest step. An older one is put together from it, or folded from
    the log where something that the step sent was changed since. `remembered`: what is remembered of the project: what
    people have taken back of it is not repeated.
    """
    found, calls = await _outlined(reader, ask, newest)
    decided = await _hints(reader, ask, found.seq) if found.hinted else {}
    envelopes = await reader.at_each(found.positions)
    hints = prompt_hints(found.hinted, decided, ask.max_edits)
    gone = await asyncio.to_thread(withholding, remembered, newest.predecessor, envelopes, hints)
    return msgspec.structs.replace(
        found.explained,
        calls=calls,
        edits=await asyncio.to_thread(_explained, found, envelopes, gone),
        history=tuple(await _rebases(reader, ask, found.explained.revision)),
        hints=tuple(map(gone.hint, hints)),
        searches=await asyncio.to_thread(prompt_searches, found.searches, envelopes, gone.answer),
    )


def _explained(found: PromptOutline, envelopes: Mapping[int, Envelope], gone: WithheldTexts) -> tuple[Explained, ...]:
    return tuple(map(gone.edit, with_facts(found.edits, envelopes)))


async def _outlined(reader: LogReader, ask: ExplainAsk, newest: Session) -> tuple[PromptOutline, int]:
    """The outline of the step's prompt, and the number of calls that the session has made by now."""
    if newest.step is not None and ask.step in ("", newest.step.step):
        return await asyncio.to_thread(outline, newest, ask), newest.calls.count
    address = Address(ask.project, ask.session)
    found = [call_of(record) async for record in reader.after(0, address.log(StepOpened.TYPE))]
    calls = [call for call in found if call is not None]
    at = call_meant(calls, ask)
    if calls[at].seq == newest.calls.seq:
        return await asyncio.to_thread(outline, newest, ask), len(calls)
    outlined = await _from_memory(reader, ask, newest, calls, at) or await _from_log(reader, ask, calls, at)
    return with_title(outlined, newest.activity.title), len(calls)


def call_meant(calls: Sequence[ModelCall], ask: ExplainAsk) -> int:
    """The place among all calls of the one that is asked for. Raises `UnknownStep`, which names those that are meant.

    A step is named by its id, by the number of its call, or by the beginning of its id.
    """
    name, last = ask.step, len(calls)
    if not calls:
        raise UnknownStep(f"no model was called in the session {ask.session} yet: ask when it has made its first call")
    if not name:
        return last - 1
    exact = [place for place, call in enumerate(calls) if call.step == name]
    if exact:
        return exact[-1]
    if name.isascii() and name.isdecimal() and len(name) <= LONGEST_NUMBER and 1 <= int(name) <= last:
        return int(name) - 1
    begun = {call.step: place for place, call in enumerate(calls) if call.step.startswith(name)}
    if len(begun) == 1:
        return next(iter(begun.values()))
    like = [*begun][:MOST_LIKE] or get_close_matches(name, [*dict.fromkeys(call.step for call in calls)])
    meant = f"did you mean {' or '.join(like)}? Calls" if like else "calls"
    raise UnknownStep(
        f"there is no step {escaped(unposed(name)[:LONGEST_NAME])} in the session {ask.session}: {meant} have numbers, "
        f"too, here from 1 to {last}"
    )


def _end(calls: Sequence[ModelCall], at: int) -> int:
    """The position of the call behind one."""
    return calls[at + 1].seq if at + 1 < len(calls) else _END


async def _from_memory(
    reader: LogReader, ask: ExplainAsk, newest: Session, calls: Sequence[ModelCall], at: int
) -> PromptOutline | None:
    """The outline of a prompt by the newest state of the session; none: the state does not have it any more."""
    if not is_as_sent(newest, calls, at):
        return None
    address = Address(ask.project, ask.session)
    plan = await served_plan(reader, address, calls[at], _end(calls, at), newest)
    if plan is None:
        return None
    return await asyncio.to_thread(lambda: outline(session_as_sent(newest, calls[at], at + 1, plan), ask))


async def _from_log(reader: LogReader, ask: ExplainAsk, calls: Sequence[ModelCall], at: int) -> PromptOutline:
    """The outline of a prompt as its call's plan was served: what came later is left out.

    The session is folded, read and let go of in threads: each of these may take far longer than those who wait for the
    loop have time.
    """
    prompts = [EarlierPrompt()]
    try:
        address = Address(ask.project, ask.session)
        async for records in _stretches(reader, address, calls[at], _end(calls, at)):
            await asyncio.to_thread(prompts[0].take, records)
        return await asyncio.to_thread(lambda: outline(prompts[0].session(calls[at], at + 1), ask))
    finally:
        await asyncio.to_thread(release, prompts)


async def _stretches(reader: LogReader, address: Address, call: ModelCall, end: int) -> AsyncIterator[list[Record]]:
    """The session's records up to a call and the plan for it, so many at a time."""
    records: list[Record] = []
    count = 0
    async with aclosing(reader.after(0, address.log_filter)) as found:
        async for record in found:
            if record.envelope.seq >= end:
                break
            records.append(record)
            if record.envelope.seq <= call.seq or _is_plan_for(record.event, call):
                count = len(records)
            if count >= AT_ONCE:
                yield records[:count]
                records, count = records[count:], 0
    yield records[:count]


def _is_plan_for(event: Event | None, call: ModelCall) -> bool:
    return isinstance(event, PlanExtended | PlanRebased) and event.step == call.step


async def _hints(reader: LogReader, ask: ExplainAsk, through: int) -> Mapping[int, HintDecided]:
    """The decisions to add a hint to messages of a person, each by its position."""
    return {
        record.envelope.seq: record.event
        async for record in reader.after(0, Address(ask.project, ask.session).log(HintDecided.TYPE))
        if isinstance(record.event, HintDecided) and record.envelope.seq <= through
    }


async def _rebases(reader: LogReader, ask: ExplainAsk, revision: int) -> Sequence[Fact]:
    return [
        fact_of(record.envelope)
        async for record in reader.after(0, Address(ask.project, ask.session).log(PlanRebased.TYPE))
        if isinstance(record.event, PlanRebased) and record.event.revision <= revision
    ]


def _open(context: Context) -> Callable[[ExplainAsk], Awaitable[Explanation]]:
    async def answer(ask: ExplainAsk) -> Explanation:
        try:
            name = await session_meant(context, ask.project, ask.session)
            newest = await context.cache.state(SESSION, Address(ask.project, name))
            remembered = await remembered_of(context.cache, ask.project)
            return await explain(context.kit.reader, msgspec.structs.replace(ask, session=name), newest, remembered)
        except (UnknownSession, UnknownStep, BadSubject) as error:
            return Explanation(error=f"nothing is explained: {error}")

    return answer


EXPLAIN = Question(ExplainAsk, _open, lambda reason: Explanation(error=reason), LONG)
