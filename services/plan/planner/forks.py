"""Forks: a copy of a session begins with its origin's plan, so that it serves the bytes that were served there."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.codec import decode_edits
from schemas.envelope import Actor, Envelope
from schemas.events import Event, PlanExtended, PlanRebased
from schemas.plan import (
    AnyEdit,
    Cut,
    CutBefore,
    HeadSlot,
    InsertPair,
    MessageEnd,
    OmitArc,
    OmitMessage,
    PartContent,
    PartEnd,
    Restore,
    SetHead,
    WholeMessage,
    Withdraw,
    target,
)
from services.domain.copies import Copies, copies
from services.domain.edits import HISTORY, PROJECT
from services.plan.lanes import LANES, Lane, View
from services.plan.lanes.head import MODES
from services.plan.planner import plan
from services.plan.planner.pages import revisions_of
from services.plan.planner.plan import Pass
from services.plan.provider_rules.check import STRUCTURAL, new_faults
from services.plan.provider_rules.signed_thinking import boundary
from services.plan.session.predecessor import Predecessor
from services.plan.session.state import Session, evolve, served_tokens, with_edits

CAUSE = "forked"
"""Of a rebase: what was taken over takes force only now, since the copy's first call went out without it."""

TAKEN_OVER = ("inherited", "queued", "origin", *Predecessor().fields)
"""The fields of a copy's first plan that list what it takes over, apart from the edits."""

replace = msgspec.structs.replace


class _Heritage(msgspec.Struct, frozen=True):
    """The plan that a copy takes over."""

    events: tuple[PlanExtended, ...] = ()
    covered: int = 0
    """The ordinal up to which it has nothing but copied messages."""


def decide(view: View, origin: Session | None = None, lanes: Sequence[Lane] = LANES) -> Pass:
    """The pass of a session. `origin`: of a copy without a plan of its own, the session that it was copied from.

    What a copy takes over comes first, and then what is decided on the messages that are new in it. The origin is
    taken as it is served when the copy makes its first call: that is what the provider's cache holds.
    """
    heritage = _heritage(view.session, origin) if origin is not None else _Heritage()
    first: tuple[PlanExtended | PlanRebased, ...] = heritage.events
    if first:
        view = replace(view, session=_begun(view.session, heritage))
    made = plan.decide(view, lanes)
    if made.kind != "rebase" and _was_missed(view):
        late = _resumed(view.session)
        first = (*first, late)
        made = plan.decide(replace(view, session=_in_force(view.session, [late])), lanes)
    if made.needs or not first:
        return made
    is_rebase = made.kind == "rebase" or isinstance(first[-1], PlanRebased)
    return replace(made, kind="rebase" if is_rebase else "extend", events=_joined(first, made.events))


def _joined(first: Sequence[Event], then: Sequence[Event]) -> tuple[Event, ...]:
    """One revision where both are small extensions: most copies begin with little more than tags."""
    match (*first, *then):
        case (PlanExtended() as begun, PlanExtended() as fresh):
            taken = {name: getattr(begun, name) for name in TAKEN_OVER}
            both = replace(fresh, revision=begun.revision, **taken)
            revisions = revisions_of(both, (*decode_edits(begun.edits), *decode_edits(fresh.edits)))
            if len(revisions) == 1:
                return revisions
    return (*first, *then)


def _begun(session: Session, heritage: _Heritage) -> Session:
    """The copy with what it takes over. Where it has sent nothing yet, its messages count as sent like that."""
    session = _in_force(session, heritage.events)
    step = session.step
    if step is None:
        return session
    if step.unchanged:  # there was no plan that these calls could have been made with
        return replace(session, calls=replace(session.calls, step=replace(step, served=0)))
    step = replace(step, unchanged=heritage.covered, served=session.revision)
    return replace(session, calls=replace(session.calls, step=step))


def _in_force(session: Session, events: Sequence[PlanExtended | PlanRebased]) -> Session:
    """The session with these revisions, where the rest of the pass is still to be decided."""
    for event in events:
        if session.calls.at is None:
            raise ValueError("a plan is made for a step, and there is none")
        unwritten = Envelope("", event.TYPE, session.calls.at, "", "", Actor("room"), msgspec.Raw())
        session = evolve(session, event, unwritten)
    return replace(session, revisions=replace(session.revisions, planned=""))


def _heritage(session: Session, origin: Session) -> _Heritage:
    """The origin's plan in the copy's ids, for the messages that both have."""
    step = session.step
    if step is None or not _is_begun_alike(session, origin):
        return _Heritage()
    shared = copies(origin.conversation, session.conversation, session.heritage.copied)
    if not shared.last:
        return _Heritage()
    edits = _edits(session, origin, shared)
    numbers = sorted(session.conversation.parts[name].number for name in shared.parts.values())
    dropped = [number for number in numbers if number in origin.drops.dropped]
    queued = [number for number in numbers if number in origin.drops.queued]
    after = served_tokens(with_edits(session, edits))
    decision = PlanExtended(
        revision=1,
        step=step.step,
        as_of=session.seq,
        tokens_before=session.conversation.tokens,
        tokens_after=after,
        inherited=dropped,
        queued=queued,
        origin=session.heritage.origin,
    )
    decision = replace(decision, **origin.predecessor.fields)
    return _Heritage(revisions_of(decision, edits), shared.last)


def _is_begun_alike(session: Session, origin: Session) -> bool:
    """Whether it is a copy without a plan, in its origin's mode: the two in which an agent works itself are alike.

    What an origin sent without any edit is served so in its copy, too.
    """
    if session.step is None or origin.step is None or session.revision or not session.heritage.copied:
        return False
    mode, before = session.step.mode, origin.step.mode
    return mode == before or {mode, before} <= MODES


def _edits(session: Session, origin: Session, shared: Copies) -> tuple[AnyEdit, ...]:
    """The edits in force there, of what is shared. What a provider would refuse here is left out."""
    positions = _positions(session, origin, shared)
    moved = (_moved(edit, shared, positions) for edit in _in_order(origin))
    edits = (*_heads(session, origin, shared), *(edit for edit in moved if edit is not None))
    for faulty in ((), STRUCTURAL, (*STRUCTURAL, CutBefore, SetHead)):
        left = tuple(edit for edit in edits if not isinstance(edit, faulty))
        if not new_faults(session, left):
            return left
    return ()


def _in_order(origin: Session) -> Iterator[AnyEdit]:
    """The edits in force, in the order of what they are about."""
    for message in origin.conversation.after(0):
        name = message.recorded.message
        parts = (kind(part) for part in message.parts for kind in (PartContent, PartEnd))
        for what in (WholeMessage(name), *parts, MessageEnd(name)):
            edit = origin.plan.at(what)
            if edit is not None:
                yield edit


def _positions(session: Session, origin: Session, shared: Copies) -> dict[int, int]:
    """Log positions of the origin's parts and tags -> those of the copies."""
    found: dict[int, int] = {}
    for before, now in shared.parts.items():
        one, other = origin.conversation.parts[before], session.conversation.parts[now]
        found |= {one.seq: other.seq, one.tag_seq: other.tag_seq}
    return found


def _moved(edit: AnyEdit, shared: Copies, positions: Mapping[int, int]) -> AnyEdit | None:
    """The edit in the copy's ids; none where it is about something that is not shared, or about the whole list."""
    by = tuple(positions.get(position, position) for position in edit.by)
    match edit:
        case SetHead() | CutBefore() | Restore() | Withdraw():
            return None
        case OmitMessage(message=name) | InsertPair(message=name):
            return replace(edit, message=shared.messages[name], by=by) if name in shared.messages else None
        case OmitArc(part=name, parts=names):
            if not shared.parts.keys() >= {name, *names}:
                return None
            parts = tuple(shared.parts[one] for one in names)
            return replace(edit, part=shared.parts[name], parts=parts, by=by)
        case _:
            return replace(edit, part=shared.parts[edit.part], by=by) if edit.part in shared.parts else None


def _heads(session: Session, origin: Session, shared: Copies) -> Iterator[AnyEdit]:
    """The heads before the messages. A model that wants roles to alternate takes them only before an answer."""
    alternates = session.step is not None and "requires_alternation" in session.step.capabilities
    project = origin.plan.heads.get(PROJECT)
    if project is not None and not alternates:
        yield project
    for head, cut in _histories(origin):
        first = session.conversation.messages.get(shared.messages.get(cut.message, "")) if cut else None
        if cut is None:
            return
        if first is None or first.ordinal > shared.last:
            continue
        if not (alternates and first.recorded.role == "user"):
            remaining = tuple(shared.parts[name] for name in cut.remaining if name in shared.parts)
            yield from (head, replace(cut, message=first.recorded.message, remaining=remaining)) if head else ()
        return


def _histories(origin: Session) -> Iterator[tuple[SetHead | None, CutBefore | None]]:
    """The history that is served, with its cut, and what was served before it, back to the raw list.

    A copy that ends before the cut takes the newest that stands for nothing but copied messages: what it serves then
    was part of a prompt of the origin, so that it has room.
    """
    yield origin.plan.heads.get(HISTORY), origin.plan.cut
    yield from reversed(list(_earlier(origin)))


def _earlier(origin: Session) -> Iterator[tuple[SetHead | None, CutBefore | None]]:
    """Every history that was ever served, with its cut, in their order."""
    head: SetHead | None = None
    cut: CutBefore | None = None
    yield head, cut
    for number in range(1, origin.revision + 1):
        for edit in origin.revisions.made[number].edits:
            match edit:
                case SetHead(slot=slot, text=text) if slot == HISTORY:
                    head = edit if text else None
                case CutBefore():
                    cut = edit
                case Withdraw() if target(edit) == Cut():
                    cut = None
                case Withdraw() if target(edit) == HeadSlot(HISTORY):
                    head = None
        yield head, cut


def _was_missed(view: View) -> bool:
    """Whether the copy has made calls without what it took over, and much of that is to be saved."""
    session, step = view.session, view.session.step
    if step is None or session.revisions.planned == step.step or boundary(session):
        return False
    if not (step.unchanged > 0 and 0 <= step.served < session.heritage.inherited):
        return False
    unserved = session.revisions.behind(step.served)
    if any(revision.causes for revision in unserved):  # a rebase says for itself what it changes
        return False
    return session.plan.saved - session.plan.added >= view.limits.min_reclaim


def _resumed(session: Session) -> PlanRebased:
    """The revision by which an inherited plan applies from here on, although the messages were sent without it."""
    return PlanRebased(
        revision=session.revision + 1,
        step=session.step.step if session.step else "",
        as_of=session.seq,
        causes=[CAUSE],
        tokens_held=session.conversation.tokens,
        tokens_before=session.conversation.tokens,
        tokens_after=served_tokens(session),
    )
