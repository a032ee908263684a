"""The answer to `ask.explain`: which edits a step was served with, and the facts behind each."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

from schemas.asks import ExplainAsk, Explained, Explanation, Fact
from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import (
    DropRequested,
    Event,
    MemoryArchived,
    MemoryMerged,
    MemoryPinned,
    MemoryProposed,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    PartRecorded,
    PlanExtended,
    PlanRebased,
    StepOpened,
    TagAssigned,
)
from schemas.plan import AnyEdit, Target, target
from schemas.subjects import Address
from services.domain.senders import kind_of
from services.kit.bus import LogReader
from services.kit.cache import folded
from services.responder.answers.base import LONG, Context, Question
from services.responder.projections.session import SESSION
from services.responder.session.state import Session, evolve

MAX_TEXT = 160
_NONE = Session()


async def explain(reader: LogReader, ask: ExplainAsk, newest: Session = _NONE) -> Explanation:
    """Find the plan of that step, and look up what its edits name as their reasons.

    `newest`: the session as it is in memory, for its newest step. For an older one the log is folded up to there.
    """
    session = newest if _has_reached(newest, ask) else await _at_step(reader, ask)
    if session is None or session.step is None:
        return Explanation(error=f"there is no step {ask.step or '(any)'} in {ask.project}/{ask.session}")
    chosen = await asyncio.to_thread(_chosen, session, ask)
    found = await reader.at_each(seq for edit, _ in chosen for seq in edit.by)
    facts = {seq: fact_of(envelope) for seq, envelope in found.items()}
    return Explanation(
        step=session.step.step,
        at=session.calls.at,
        revision=session.revision,
        messages=session.conversation.count,
        edits=tuple(
            Explained(edit, revision, tuple(facts[seq] for seq in edit.by if seq in facts)) for edit, revision in chosen
        ),
        edits_in_force=session.plan.count,
        history=tuple(await _rebases(reader, ask, session)),
    )


def _has_reached(session: Session, ask: ExplainAsk) -> bool:
    return session.step is not None and ask.step in ("", session.step.step)


async def _at_step(reader: LogReader, ask: ExplainAsk) -> Session | None:
    """The session as it was when the step's plan was served: after its plan events, before the next step."""
    session = Session()
    async with aclosing(reader.after(0, Address(ask.project, ask.session).log_filter)) as found:
        async for record in found:
            if isinstance(record.event, StepOpened) and ask.step and _has_reached(session, ask):
                break
            if record.event is not None:
                session = folded(evolve, session, record.event, record.envelope)
    return session if _has_reached(session, ask) else None


def _chosen(session: Session, ask: ExplainAsk) -> list[tuple[AnyEdit, int]]:
    """The edits asked for, each with the revision that made it, those with the newest reasons first."""
    wanted = [edit for edit in session.plan.edits() if not ask.part or getattr(edit, "part", "") == ask.part]
    chosen = sorted(wanted, key=lambda edit: (-max(edit.by, default=0), str(target(edit))))[: ask.max_edits]
    made: dict[Target, int] = {}
    missing = {target(edit) for edit in chosen}
    for revision in sorted(session.revisions.made.values(), key=lambda one: one.revision, reverse=True):
        found = missing.intersection(map(target, revision.edits))
        made |= dict.fromkeys(found, revision.revision)
        missing -= found
        if not missing:
            break
    return [(edit, made.get(target(edit), 0)) for edit in chosen]


async def _rebases(reader: LogReader, ask: ExplainAsk, session: Session) -> Sequence[Fact]:
    return [
        fact_of(record.envelope)
        async for record in reader.after(0, Address(ask.project, ask.session).log(PlanRebased.TYPE))
        if isinstance(record.event, PlanRebased) and record.event.revision <= session.revision
    ]


def fact_of(envelope: Envelope) -> Fact:
    """A fact of the log in one line."""
    event = decode_event(envelope)
    actor = ":".join(filter(None, (kind_of(envelope.actor), envelope.actor.id)))
    return Fact(envelope.seq, envelope.type, envelope.at, actor, _summary(event) if event else "")


def _of_window(rebase: PlanRebased) -> str:
    """How much the model took, and who said so, as far as that was recorded."""
    return f", usable {rebase.window} ({rebase.window_source})" if rebase.window_source else ""


def _summary(event: Event) -> str:
    """The fact in a few words."""
    match event:
        case PartRecorded(kind="tool" | "tool_result", tool=tool, bytes=size):
            text = f"the output of {tool or 'a tool'}, {size} bytes"
        case PartRecorded(kind="file", mime=mime, filename=filename):
            text = f"the file {filename or mime}"
        case PartRecorded(text=content):
            text = content
        case TagAssigned(first=first, parts=parts):
            text = f"numbers {first} to {first + len(parts) - 1}"
        case DropRequested(tags=tags):
            text = f"drop {', '.join(map(str, tags))}"
        case PlanRebased(causes=causes, tokens_before=before, tokens_after=after):
            text = f"{', '.join(causes)}: {before} to {after} tokens{_of_window(event)}"
        case PlanExtended(edit_count=count):
            text = f"{count} edits of new messages"
        case (
            MemoryProposed(text=content)
            | MemoryWritten(text=content)
            | MemoryRevised(text=content)
            | MemoryMerged(text=content)
        ):
            text = content
        case MemoryArchived(reason=reason) | MemoryRestored(reason=reason) | MemoryVerified(reason=reason):
            text = reason
        case MemoryReinforced(effect=effect, origin=origin):
            text = f"seen again{f' in {origin}' if origin else ''}: {effect or 'a sighting'}"
        case MemoryPinned(is_pinned=is_pinned):
            text = "pinned" if is_pinned else "no longer pinned"
        case _:
            text = ""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_TEXT else flat[: MAX_TEXT - 1] + "…"


def _open(context: Context) -> Callable[[ExplainAsk], Awaitable[Explanation]]:
    async def answer(ask: ExplainAsk) -> Explanation:
        newest = await context.cache.state(SESSION, Address(ask.project, ask.session))
        return await explain(context.kit.reader, ask, newest)

    return answer


EXPLAIN = Question(ExplainAsk, _open, lambda reason: Explanation(error=reason), LONG)
