"""The pass: from a session's state to the next revision of its plan, or to none."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import msgspec

from schemas.codec import encode_edits
from schemas.events import Event, PlanExtended, PlanRebased
from schemas.plan import AnyEdit, OmitArc, Restore, target
from services.kit.conversation import Message
from services.kit.edits import prefix_tokens
from services.responder.check import new_faults
from services.responder.lanes import LANES, Change, Lane
from services.responder.limits import Limits
from services.responder.scheduler import Causes, causes
from services.responder.state import Session

T = TypeVar("T")

MAX_EDITS = 2500
"""Edits in one plan event; a decision with more is several revisions, appended together."""


class Pass(msgspec.Struct, frozen=True):
    """The outcome of a pass."""

    kind: Literal["replay", "extend", "rebase"]
    events: tuple[Event, ...] = ()
    faults: tuple[str, ...] = ()
    """What went wrong and was left out; the request goes on without it."""


class _Extension(msgspec.Struct, frozen=True):
    """Edits of messages that no call has sent before, and of those that were sent without the edits meant for them."""

    edits: tuple[AnyEdit, ...]
    forgone: tuple[str, ...]
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
    if why.forced or why.free or why.pressure:
        rebased = _rebased(session, limits, lanes, why)
        if rebased is not None:
            return rebased
    return _extended(session, _extension(session, lanes))


def _extended(session: Session, extension: _Extension) -> Pass:
    """An extension is recorded even without edits: these messages are covered from now on."""
    step = session.step
    if step is None or (step.kept == step.last and not extension.edits):
        return Pass("replay", faults=extension.faults)
    served = _served_tokens(session) + sum(prefix_tokens(edit) for edit in extension.edits)
    events = [
        PlanExtended(
            revision=revision,
            step=step.step,
            as_of=session.seq,
            edits=encode_edits(edits),
            edit_count=len(edits),
            forgone=list(extension.forgone) if revision == session.revision + 1 else [],
            tokens_before=session.talk.tokens,
            tokens_after=served,
        )
        for revision, edits in _pages(session.revision, extension.edits)
    ]
    return Pass("extend", tuple(events), extension.faults)


def _extension(session: Session, lanes: Sequence[Lane]) -> _Extension:
    fresh = list(session.talk.after(session.step.kept if session.step else 0))
    edits: list[AnyEdit] = []
    faults: list[str] = []
    for lane in lanes:
        edits += _guarded(lane.name, faults, lambda extend=lane.extend: tuple(extend(session, fresh)), ())
    faults += new_faults(fresh, session, edits)
    forgone = _forgone(session)
    withdrawn = tuple(Restore(part=part) for part in forgone)
    return _Extension((*withdrawn, *_last_wins(edits)), forgone, tuple(faults))


def _forgone(session: Session) -> tuple[str, ...]:
    """Parts that were sent without their edits, since the call before this one went out with an older revision.

    They stay as they were sent until a rebase. A rebase among the revisions that were not served explains itself.
    """
    step = session.step
    if step is None or step.served < 0:
        return ()
    unserved = [session.revisions[number] for number in range(step.served + 1, session.revision + 1)]
    if any(revision.causes for revision in unserved):
        return ()
    return tuple(
        edit.part
        for revision in unserved
        for edit in revision.edits
        if hasattr(edit, "part") and not isinstance(edit, Restore) and 0 < session.talk.place(edit.part) <= step.kept
    )


def _rebased(session: Session, limits: Limits, lanes: Sequence[Lane], why: Causes) -> Pass | None:
    """The rebase, or None where it would not be worth it or may not be made yet."""
    step = session.step
    made = _changes(session, limits, lanes)
    if step is None or not _is_worth_it(why, made, limits):
        return None
    if not why.forced and _precedes_signed_thinking(session):
        return None
    found = new_faults(list(session.talk.after(0)), session, made.edits)
    if found:
        made = _Rebase((), (), 0, made.held, (*made.faults, *found))
        if not why.forced:
            return None
    extension = _extension(session, lanes)
    edits = _last_wins([*extension.edits, *made.edits])
    before = _served_tokens(session)
    added = sum(prefix_tokens(edit) for edit in edits)
    events = [
        PlanRebased(
            revision=revision,
            step=step.step,
            as_of=session.seq,
            causes=[*why.forced, *why.free, *why.pressure],
            edits=encode_edits(page),
            edit_count=len(page),
            dropped=list(made.dropped) if revision == session.revision + 1 else [],
            held=list(made.held) if revision == session.revision + 1 else [],
            tokens_before=before,
            tokens_after=before - made.reclaimed + added,
            sample=why.sample,
        )
        for revision, page in _pages(session.revision, edits)
    ]
    return Pass("rebase", tuple(events), (*extension.faults, *made.faults))


def _changes(session: Session, limits: Limits, lanes: Sequence[Lane]) -> _Rebase:
    faults: list[str] = []
    changes = [
        _guarded(lane.name, faults, lambda rebase=lane.rebase: rebase(session, limits), Change()) for lane in lanes
    ]
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
    """Whether the running turn keeps signed thinking: a provider that binds it to its prefix refuses any edit before."""
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
