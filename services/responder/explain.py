"""The answer to `ask.explain`: which edits a step was served with, and the facts behind each."""

from collections.abc import Iterable, Sequence

from schemas.asks import ExplainAsk, Explained, Explanation, Fact
from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import DropRequested, Event, PartRecorded, PlanExtended, PlanRebased, StepOpened, TagAssigned
from schemas.plan import AnyEdit, target
from schemas.subjects import Address
from services.kit.bus import LogReader
from services.kit.fold import Map
from services.responder.state import Session, evolve

MAX_TEXT = 160


async def explain(reader: LogReader, ask: ExplainAsk) -> Explanation:
    """Fold the session up to the plan of that step, and look up what its edits name as their reasons."""
    found = await _at_step(reader, ask)
    if found is None:
        return Explanation(error=f"there is no step {ask.step or '(any)'} in {ask.project}/{ask.session}")
    session, opened = found
    chosen = _chosen(session.edits, ask)
    facts = await _facts(reader, {seq for edit in chosen for seq in edit.by})
    made = _revisions(session)
    return Explanation(
        step=session.step.step if session.step else "",
        at=opened.at,
        revision=session.revision,
        messages=session.talk.count,
        edits=tuple(
            Explained(edit, made.get(target(edit), 0), tuple(facts[seq] for seq in edit.by if seq in facts))
            for edit in chosen
        ),
        edits_in_force=len(session.edits),
        history=tuple(await _rebases(reader, ask, session)),
    )


async def _at_step(reader: LogReader, ask: ExplainAsk) -> tuple[Session, Envelope] | None:
    """The session as it was when the step's plan was served: after its plan events, before the next step."""
    session = Session()
    opened: Envelope | None = None
    async for recorded in reader.after(0, Address(ask.project, ask.session).log_filter):
        event = decode_event(recorded.envelope)
        if event is None:
            continue
        if isinstance(event, StepOpened):
            if opened is not None and ask.step and session.step and session.step.step == ask.step:
                break
            opened = recorded.envelope
        session = evolve(session, event, recorded.envelope)
    reached = session.step is not None and (not ask.step or session.step.step == ask.step)
    return (session, opened) if reached and opened is not None else None


def _chosen(edits: "Map[str, AnyEdit]", ask: ExplainAsk) -> list[AnyEdit]:
    """The edits asked for, those with the newest reasons first."""
    wanted = [edit for edit in edits.values() if not ask.part or getattr(edit, "part", "") == ask.part]
    return sorted(wanted, key=lambda edit: max(edit.by, default=0), reverse=True)[: ask.max_edits]


def _revisions(session: Session) -> dict[str, int]:
    """Which revision made the edit in force of each target."""
    return {
        target(edit): revision.revision
        for revision in sorted(session.revisions.values(), key=lambda one: one.revision)
        for edit in revision.edits
    }


async def _facts(reader: LogReader, seqs: Iterable[int]) -> dict[int, Fact]:
    facts = {}
    for seq in sorted(seqs):
        envelope = await reader.at(seq)
        if envelope is not None:
            facts[seq] = _fact(envelope)
    return facts


async def _rebases(reader: LogReader, ask: ExplainAsk, session: Session) -> Sequence[Fact]:
    subject = Address(ask.project, ask.session).log(PlanRebased.TYPE)
    facts = []
    async for recorded in reader.after(0, subject):
        event = decode_event(recorded.envelope)
        if isinstance(event, PlanRebased) and event.revision <= session.revision:
            facts.append(_fact(recorded.envelope))
    return facts


def _fact(envelope: Envelope) -> Fact:
    event = decode_event(envelope)
    actor = f"{envelope.actor.kind}:{envelope.actor.id}" if envelope.actor.id else envelope.actor.kind
    return Fact(envelope.seq, envelope.type, envelope.at, actor, _told(event) if event else "")


def _of_window(rebase: PlanRebased) -> str:
    """How much the model took, and who said so, as far as that was recorded."""
    return f", usable {rebase.window} ({rebase.window_source})" if rebase.window_source else ""


def _told(event: Event) -> str:
    """The fact in a few words."""
    match event:
        case PartRecorded(kind="tool" | "tool_result", tool=tool, bytes=size):
            text = f"the output of {tool or 'a tool'}, {size} bytes"
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
        case _:
            text = ""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_TEXT else flat[: MAX_TEXT - 1] + "…"
