"""The pass: from a session's state to the next revision of its plan, or to none."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypeVar

import msgspec

from schemas.codec import encode_edits
from schemas.events import Event, PlanExtended, PlanRebased
from schemas.plan import (
    AnyEdit,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitMessage,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    SetHead,
    target,
)
from services.kit.conversation import Message
from services.responder.check import STRUCTURAL, new_faults
from services.responder.lanes import LANES, Change, Lane
from services.responder.limits import Limits
from services.responder.scheduler import Causes, causes
from services.responder.state import Session, with_edits

T = TypeVar("T")

MAX_EDITS = 2500
"""Edits in one plan event; a decision with more is several revisions, appended together."""


PartEdit = PrefixText | ReplaceText | ReplaceOutput | OmitPart | OmitArc | Restore
"""The edits of one part: each replaces the one before it."""


class Pass(msgspec.Struct, frozen=True):
    """The outcome of a pass."""

    kind: Literal["replay", "extend", "rebase"]
    events: tuple[Event, ...] = ()
    faults: tuple[str, ...] = ()
    """What went wrong and was left out; the request goes on without it."""


class _Extension(msgspec.Struct, frozen=True):
    """Edits of messages that no call has sent before."""

    edits: tuple[AnyEdit, ...]
    faults: tuple[str, ...]


class _Rebase(msgspec.Struct, frozen=True):
    """What the lanes want of a rebase, put together."""

    edits: tuple[AnyEdit, ...]
    dropped: tuple[int, ...]
    reclaimed: int
    held: tuple[str, ...]
    faults: tuple[str, ...]


def decide(session: Session, limits: Limits, lanes: Sequence[Lane] = LANES) -> Pass:
    """Replay what is served already, extend it to what is new, or rebase it."""
    step = session.step
    if step is None or session.planned == step.step:
        return Pass("replay")
    why = causes(session, limits)
    faults: tuple[str, ...] = ()
    if why.forced or why.free or why.pressure:
        made = _changes(session, limits, lanes)
        if _is_worth_it(why, made, limits) and (why.forced or not _precedes_signed_thinking(session)):
            made = _checked(session, made)
            if why.forced or made.edits:
                return _rebased(session, lanes, why, made)
        faults = made.faults
    return _extended(session, lanes, faults)


def _extended(session: Session, lanes: Sequence[Lane], faults: Sequence[str]) -> Pass:
    """An extension is recorded even without edits: these messages are covered from now on."""
    extension = _extension(session, lanes)
    forgone = _forgone(session)
    made = (*forgone, *extension.edits)
    found = tuple(dict.fromkeys([*faults, *extension.faults]))
    step = session.step
    if step is None or (step.kept == step.last and not made):
        return Pass("replay", faults=found)
    after = _served_tokens(with_edits(session, made))
    events = [
        PlanExtended(
            revision=revision,
            step=step.step,
            as_of=session.seq,
            edits=encode_edits(edits),
            edit_count=len(edits),
            forgone=[edit.part for edit in forgone] if revision == session.revision + 1 else [],
            tokens_before=session.talk.tokens,
            tokens_after=after,
        )
        for revision, edits in _pages(session.revision, made)
    ]
    return Pass("extend", tuple(events), found)


def _extension(session: Session, lanes: Sequence[Lane]) -> _Extension:
    """What the lanes want of new messages. What a provider would refuse is left out, and so is what was sent before."""
    kept = session.step.kept if session.step else 0
    fresh = list(session.talk.after(kept))
    edits: list[AnyEdit] = []
    faults: list[str] = []
    for lane in lanes:
        wanted: tuple[AnyEdit, ...] = _guarded(lane.name, faults, partial(_wanted, lane, session, fresh), ())
        for edit in wanted:
            if kept and _place(session, edit) <= kept:
                faults.append(f"the lane {lane.name} wanted to edit {target(edit)}, which was sent before")
            else:
                edits.append(edit)
    refused = new_faults(session, edits)
    if refused:
        edits = [edit for edit in edits if not isinstance(edit, STRUCTURAL)]
    return _Extension(_last_wins(edits), (*faults, *refused))


def _wanted(lane: Lane, session: Session, fresh: Sequence[Message]) -> tuple[AnyEdit, ...]:
    return tuple(lane.extend(session, fresh))


def _place(session: Session, edit: AnyEdit) -> int:
    """The first message that an edit touches; the head of the list is before all of them."""
    match edit:
        case OmitArc(parts=parts):
            return min(session.talk.place(part) for part in parts)
        case OmitMessage(message=name) | InsertPair(message=name):
            message = session.talk.messages.get(name)
            return message.ordinal if message else 0
        case CutBefore() | SetHead():
            return 0
        case _:
            return session.talk.place(edit.part)


def _forgone(session: Session) -> tuple[PartEdit, ...]:
    """For parts that were sent without their newest edits: what they were sent with, or that they were as they are.

    The call before this one went out with an older revision. Its messages stay as they were sent until a rebase.
    A rebase among the revisions that were not served explains itself.
    """
    step = session.step
    if step is None or step.served < 0:
        return ()
    unserved = [session.revisions[number] for number in range(step.served + 1, session.revision + 1)]
    if any(revision.causes for revision in unserved):
        return ()
    parts = {
        edit.part
        for revision in unserved
        for edit in revision.edits
        if isinstance(edit, PartEdit) and 0 < session.talk.place(edit.part) <= step.kept
    }
    withdrawn: dict[str, PartEdit] = {}
    for number in range(step.served if parts else 0, 0, -1):
        for edit in session.revisions[number].edits:
            if isinstance(edit, PartEdit) and edit.part in parts:
                withdrawn.setdefault(edit.part, edit)
    return tuple(withdrawn.get(part, Restore(part=part)) for part in sorted(parts))


def _checked(session: Session, made: _Rebase) -> _Rebase:
    """The rebase, without its edits where a provider would refuse the messages with them."""
    found = new_faults(session, made.edits)
    return _Rebase((), (), 0, made.held, (*made.faults, *found)) if found else made


def _rebased(session: Session, lanes: Sequence[Lane], why: Causes, made: _Rebase) -> Pass:
    """What is new and what changes, together. Edits that did not reach the harness yet come to it with this."""
    step = session.step
    extension = _extension(session, lanes)
    edits = _last_wins([*extension.edits, *made.edits])
    before = _served_tokens(session)
    after = _served_tokens(with_edits(session, edits))
    events = [
        PlanRebased(
            revision=revision,
            step=step.step if step else "",
            as_of=session.seq,
            causes=[*why.forced, *why.free, *why.pressure],
            edits=encode_edits(page),
            edit_count=len(page),
            dropped=list(made.dropped) if revision == session.revision + 1 else [],
            held=list(made.held) if revision == session.revision + 1 else [],
            tokens_before=before,
            tokens_after=after,
            sample=why.sample,
        )
        for revision, page in _pages(session.revision, edits)
    ]
    return Pass("rebase", tuple(events), tuple(dict.fromkeys([*extension.faults, *made.faults])))


def _changes(session: Session, limits: Limits, lanes: Sequence[Lane]) -> _Rebase:
    faults: list[str] = []
    changes = [_guarded(lane.name, faults, partial(lane.rebase, session, limits), Change()) for lane in lanes]
    return _Rebase(
        edits=tuple(edit for change in changes for edit in change.edits),
        dropped=tuple(number for change in changes for number in change.dropped),
        reclaimed=sum(change.reclaimed for change in changes),
        held=tuple(reason for change in changes for reason in change.held),
        faults=tuple(faults),
    )


def _is_worth_it(why: Causes, made: _Rebase, limits: Limits) -> bool:
    if why.forced:
        return True
    if why.free:
        return made.reclaimed > 0
    return made.reclaimed >= limits.min_reclaim


def _precedes_signed_thinking(session: Session) -> bool:
    """Whether the running turn keeps signed thinking: where it is bound to its prefix, no edit may stand before it."""
    step = session.step
    binds = step is not None and "binds_signed_thinking" in step.capabilities
    return binds and session.signed > session.turn > 0


def _served_tokens(session: Session) -> int:
    """What the prompt costs under the edits in force."""
    return max(0, session.talk.tokens - session.saved)


def _last_wins(edits: Sequence[AnyEdit]) -> tuple[AnyEdit, ...]:
    """One edit for each target: the last. An omitted arc takes the other edits of its parts with it."""
    by_target = {target(edit): edit for edit in edits}
    for edit in edits:
        if isinstance(edit, OmitArc):
            for part in edit.parts:
                if part != edit.part:
                    by_target.pop(f"part:{part}", None)
    return tuple(by_target.values())


def _pages(revision: int, edits: Sequence[AnyEdit]) -> list[tuple[int, tuple[AnyEdit, ...]]]:
    """Edits as consecutive revisions; without any edits one empty revision."""
    starts = range(0, max(1, len(edits)), MAX_EDITS)
    return [(revision + n, tuple(edits[start : start + MAX_EDITS])) for n, start in enumerate(starts, 1)]


def _guarded(name: str, faults: list[str], work: Callable[[], T], nothing: T) -> T:
    """A lane that breaks costs its own edits of this pass, never the request."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - reported with the pass
        faults.append(f"the lane {name} failed: {type(error).__name__}: {error}")
        return nothing
