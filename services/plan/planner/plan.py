"""The pass: from a session's state to the next revision of its plan, or to none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from schemas.events import Event, PlanExtended, PlanRebased, StepOpened
from schemas.plan import AnyEdit, CutBefore, PartContent, Restore, SetHead, Target, Withdraw, parse_target, target
from services.domain.conversation import Message
from services.domain.limits import Prices
from services.domain.window import prompt_tokens, window
from services.plan.lanes import LANES, Lane, View, eviction, head
from services.plan.lanes.base import emptying
from services.plan.lanes.index import ConversationIndex
from services.plan.planner.causes import LATE, Causes, causes, is_declined
from services.plan.planner.compose import RebaseDraft, collect, guarded, is_worth_it, last_wins, may_be_worth_it
from services.plan.planner.economics import prices_of
from services.plan.planner.pages import revisions_of
from services.plan.planner.signatures import thinking_causes
from services.plan.provider_rules.check import STRUCTURAL, new_faults
from services.plan.provider_rules.signed_thinking import boundary, place
from services.plan.session.lane_marks import is_of
from services.plan.session.revisions import SETTINGS
from services.plan.session.state import Session, served_tokens, with_edits
from services.plan.session.waits import ANSWERED

FULL = (
    "The prompt fills the model's window in a running turn, and the model's signed thinking lets nothing before it "
    "change: new outputs are left out. Summarise the session in your harness, or end the turn."
)


BLIND = 10
"""Steps of a turn of which new outputs are left out at most where the harness compacts: looking at those again costs
about what a summary costs, and a turn may end before."""


def blinds(session: Session, edits: Iterable[AnyEdit]) -> bool:
    """Whether something is left out with these that the model has not seen yet."""
    sent = session.step.unchanged if session.step is not None else 0
    return any(0 < sent < place(session, edit) for edit in edits)


def is_the_harness_s(session: Session, why: Causes) -> bool:
    """Whether the harness is to compact a prompt that is too long, so that it may go out as it is."""
    return _compacts(session) and "overflow" not in why.names and _blinded(session) >= BLIND


def needs_person(session: Session) -> bool:
    """Whether a person must see to it, and does not know that yet."""
    return not _compacts(session) and not _blinded(session)


def _compacts(session: Session) -> bool:
    return session.step is not None and session.step.compacts


def _blinded(session: Session) -> int:
    """Messages of the running turn of which outputs were left out for want of room."""
    conversation, plan = session.conversation, session.plan
    return sum(
        any(is_of(plan.content(name), (eviction.NAME,)) for name, _ in conversation.sent_parts(message))
        for message in conversation.after(session.turn)
    )


class Extension(msgspec.Struct, frozen=True):
    """Edits of messages that no call has sent before."""

    edits: tuple[AnyEdit, ...] = ()
    faults: tuple[str, ...] = ()


def extension(view: View, lanes: Sequence[Lane]) -> Extension:
    """The lanes' edits of new messages, without what a provider would refuse and what was sent before."""
    session = view.session
    unchanged = session.step.unchanged if session.step else 0
    fresh = _new_messages(session)
    edits: list[AnyEdit] = []
    faults: list[str] = []
    for lane in lanes:
        wanted: tuple[AnyEdit, ...] = guarded(lane.name, faults, partial(_wanted, lane, view, fresh), ())
        for edit in wanted:
            if unchanged and place(session, edit) <= unchanged:
                faults.append(f"the lane {lane.name} wanted to edit {target(edit)}, which was sent before")
            else:
                edits.append(edit)
    refused = new_faults(session, edits)
    if refused:
        edits = [edit for edit in edits if not isinstance(edit, STRUCTURAL)]
    return Extension(last_wins(edits), (*faults, *refused))


def _new_messages(session: Session) -> list[Message]:
    """The messages that no call has sent before."""
    unchanged = session.step.unchanged if session.step else 0
    return list(session.conversation.after(max(unchanged, session.cut - 1)))


def _wanted(lane: Lane, view: View, fresh: Sequence[Message]) -> tuple[AnyEdit, ...]:
    return tuple(lane.extend(view, fresh)) if lane.works(view) else ()


STUCK = (
    "The prompt is longer than the model takes, and nothing more can be taken out of it. "
    "Summarise the session in your harness, take a larger model, or go on in a new session."
)

NOTHING_TO_FLUSH = (
    "The flush found nothing that can leave the prompt now. What is queued and protected leaves it with a later rebase."
)

SHORT_PERCENT = 95.0
"""Of the window: from here on a person is notified that history cannot be compressed."""
UNCOMPRESSED = (
    "History cannot be compressed{reason}, and the prompt fills {percent:.0f} % of the model's window. "
    "Annals goes on trying, and drops what it can."
)
REASONS: Mapping[str, str] = {
    "timeout": "the model did not answer in time",
    "provider_transient": "the provider of the model cannot answer now",
    "provider_auth": "the provider of the model refuses",
    "provider_away": "no harness answers its questions now",
    "overflow": "a part of it is too long for the model",
    "window_too_small": "a part of it is too long for the model",
    "budget_exhausted": "the budget for models is exhausted",
    "invalid_output": "the answers of the model cannot be used",
}
"""The reasons why a model wrote no history, by the code of the failure. A code without one is in the log of the
historian."""

replace = msgspec.structs.replace


class Pass(msgspec.Struct, frozen=True):
    """The outcome of a pass."""

    kind: Literal["replay", "extend", "rebase"]
    events: tuple[Event, ...] = ()
    faults: tuple[str, ...] = ()
    """The faults for which something was left out; the request goes on without it."""
    needs: tuple[str, ...] = ()
    """The parts whose text must be known to decide: decide again with these texts, and with `index`."""
    index: ConversationIndex = ConversationIndex()
    """The index to decide again with, if it is still of the same session."""
    notices: tuple[str, ...] = ()
    """The notices to the person."""
    is_full: bool = False
    """Whether the prompt is longer than the model takes, and a running turn's signed thinking lets nobody make it
    smaller but the harness, by compacting."""


class _Waiting(msgspec.Struct, frozen=True):
    """A rebase that is not made now."""

    causes: tuple[str, ...] = ()
    """Causes to be remembered."""
    declined: int = 0
    remainder: int = 0
    """Estimated tokens that a rebase would keep."""
    faults: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def decide(view: View, lanes: Sequence[Lane] = LANES) -> Pass:
    """Replay what is served already, extend it to what is new, or rebase it."""
    made = _decided(replace(view, emptying=emptying(lanes)), lanes)
    outcomes = [one.text for one in view.session.orders.outcomes] if made.events else []
    warnings = (*_warnings(view), *outcomes)
    return replace(made, notices=(*warnings, *made.notices)) if warnings else made


def _warnings(view: View) -> Iterator[str]:
    """That history cannot be compressed while room is short: reported once, at the first failure of several."""
    step, usage, failing = view.session.step, view.session.usage.sample, view.session.failing
    if step is None or usage is None or failing is None or failing.failures != 1:
        return
    percent = window(step, view.known, view.limits).percent(prompt_tokens(usage))
    if percent >= SHORT_PERCENT:
        reason = REASONS.get(failing.code)
        yield UNCOMPRESSED.format(reason=f" ({reason})" if reason else "", percent=percent)


def _decided(view: View, all_lanes: Sequence[Lane]) -> Pass:
    session, limits, lanes = view.session, view.limits, all_lanes
    if session.step is None or session.revisions.planned == session.step.step:
        return Pass("replay")
    why = causes(session, limits, view.learned)
    why = replace(why, forced=(*why.forced, *thinking_causes(view)), free=(*why.free, *_late(view, lanes, why)))
    if not why.any:
        return _extended(view, lanes, _Waiting(remainder=why.remainder))
    bound = boundary(session)
    if bound and not why.excess:
        if why.forced:  # the harness changed what is behind the thinking: nothing before that may change with it
            return _rebased(view, lanes, Causes(forced=why.forced), RebaseDraft(after=session))
        return _extended(view, lanes, _Waiting(causes=tuple(why.lasting), remainder=why.remainder))
    if bound:
        why = replace(why, free=(), masked=())  # they wait for the end of the turn
        view, lanes = replace(view, begin=bound), [lane for lane in lanes if lane.name == eviction.NAME]
    elif view.coming is not None and not why.urgent:
        return _with_settings(view, all_lanes, why)
    return _weighed(view, all_lanes, lanes, why, bound)


def _with_settings(view: View, lanes: Sequence[Lane], why: Causes) -> Pass:
    """The pass with the settings that the project has set since, if it is a rebase; else the one without them."""
    coming = view.coming
    if coming is None:
        raise ValueError("the project has set nothing since")
    asked = replace(view, limits=coming.limits, memory=coming.memory, remembered=coming.remembered, coming=None)
    now = causes(view.session, coming.limits, view.learned)
    made = _weighed(asked, lanes, lanes, replace(why, settings=(SETTINGS,), tail=now.tail, remainder=now.remainder))
    return made if made.kind == "rebase" else _weighed(view, lanes, lanes, why)


def _weighed(view: View, all_lanes: Sequence[Lane], lanes: Sequence[Lane], why: Causes, bound: int = 0) -> Pass:
    """The rebase that is due, if it is worth it; else what is new is added. `bound`: the first that may change."""
    session, limits = view.session, view.limits
    prices = prices_of(session.step, limits) if session.step else Prices()
    is_free = (bool(why.free) or "overflow" in why.names) and not boundary(session)
    asked = replace(
        view, causes=frozenset(why.names), is_free=is_free, target=why.target, excess=why.excess, tail=why.tail
    )
    if not may_be_worth_it(asked, lanes, why):
        return _extended(view, all_lanes, _declined(view, why, RebaseDraft()))
    made = collect(asked, lanes, prices)
    if made.needs:
        return Pass("rebase", needs=made.needs, index=made.index, faults=made.faults)
    if bound and blinds(session, made.edits):
        return _full(view, all_lanes, why, made)
    if why.forced or why.masked or (made.edits and is_worth_it(view, why, made)):
        return _rebased(view, all_lanes, why, made)
    return _extended(view, all_lanes, _declined(view, why, made))


def _late(view: View, lanes: Sequence[Lane], why: Causes) -> tuple[str, ...]:
    """The cause of a session that began before the service answered: it gets what it missed by one rebase, soon."""
    found = next((lane for lane in lanes if lane.name == head.NAME), None)
    asked = replace(view, causes=frozenset(why.names))
    return (LATE,) if found is not None and head.is_late(asked, found) else ()


def _full(view: View, lanes: Sequence[Lane], why: Causes, made: RebaseDraft) -> Pass:
    """The pass for a prompt that is too long: what is new goes unseen, unless the harness makes room."""
    if is_the_harness_s(view.session, why):
        return replace(_extended(view, lanes, _Waiting(remainder=why.remainder)), is_full=True)
    rebased = _rebased(view, lanes, why, made)
    return replace(rebased, notices=(*rebased.notices, FULL)) if needs_person(view.session) else rebased


def _declined(view: View, why: Causes, made: RebaseDraft) -> _Waiting:
    """The notes of a refused rebase: it is weighed again only if the running turn left little that may change."""
    is_known = is_declined(view.session, view.limits, why.prompt)
    is_stuck = "overflow" in why.names or (why.excess and not is_known)
    notices = {STUCK: is_stuck, NOTHING_TO_FLUSH: "flush" in why.names}
    return _Waiting(
        causes=tuple(cause for cause in why.names if cause in ANSWERED),
        declined=why.prompt if why.pressure and not boundary(view.session) else 0,
        remainder=why.remainder,
        faults=made.faults,
        notices=tuple(notice for notice, is_due in notices.items() if is_due),
    )


def _extended(view: View, lanes: Sequence[Lane], waiting: _Waiting) -> Pass:
    """An extension is recorded even without edits: these messages are covered from now on."""
    session = view.session
    made = extension(view, lanes)
    forgone = _forgone(session)
    edits = (*forgone, *made.edits)
    found = tuple(dict.fromkeys([*waiting.faults, *made.faults]))
    delays = [cause for cause in waiting.causes if cause not in session.waits.causes]
    step = session.step
    has_news = edits or delays or waiting.declined
    if step is None or (step.unchanged == step.last and not has_news):
        return Pass("replay", faults=found, notices=waiting.notices)
    decision = _extending(view, step, edits, waiting)
    decision = replace(decision, forgone=_names(forgone), delays=delays)
    return Pass("extend", revisions_of(decision, edits), found, notices=waiting.notices)


def _extending(view: View, step: StepOpened, edits: Sequence[AnyEdit], waiting: _Waiting) -> PlanExtended:
    session = view.session
    decision = PlanExtended(
        revision=session.revision + 1,
        step=step.step,
        as_of=session.seq,
        tokens_before=session.conversation.tokens,
        tokens_after=served_tokens(with_edits(session, edits)),
        declined=waiting.declined,
        remainder=waiting.remainder,
    )
    return replace(decision, **head.recorded_fields(view, edits))


def _forgone(session: Session) -> tuple[AnyEdit, ...]:
    """For what was sent without its newest edits: what it was sent with, or that it is as it was.

    The call before this one went out with an older revision. Its messages stay as they were sent until a rebase.
    A rebase among the revisions that were not served explains itself.
    """
    step = session.step
    if step is None or step.served < 0:
        return ()
    unserved = session.revisions.behind(step.served)
    if any(revision.causes for revision in unserved):
        return ()
    missed = {target(edit) for revision in unserved for edit in revision.edits if _was_sent(session, edit)}
    served: dict[Target, AnyEdit] = {}
    for number in range(step.served if missed else 0, 0, -1):
        for edit in session.revisions.made[number].edits:
            if target(edit) in missed:
                served.setdefault(target(edit), edit)
    return tuple(served.get(what) or _undone(what) for what in sorted(missed, key=str))


def _names(forgone: Sequence[AnyEdit]) -> list[str]:
    """The parts that they are about, and the other targets by their full names."""
    targets = map(target, forgone)
    return [what.part if isinstance(what, PartContent) else str(what) for what in targets]


def _was_sent(session: Session, edit: AnyEdit) -> bool:
    """Whether the target of this edit was sent already: the head precedes every list."""
    unchanged = session.step.unchanged if session.step else 0
    where = place(session, edit)
    return 0 < where <= unchanged or (where == 0 and isinstance(edit, SetHead | CutBefore))


def _undone(what: Target) -> AnyEdit:
    return Restore(part=what.part) if isinstance(what, PartContent) else Withdraw(what=str(what))


def _restated(session: Session, why: Causes, edits: tuple[AnyEdit, ...]) -> tuple[AnyEdit, ...]:
    """The edits, with those in force whose texts were erased: a harness may have them as they were before."""
    if not why.masked:
        return edits
    changed = {target(edit) for edit in edits}
    in_force = [edit for what in why.masked if (edit := session.plan.at(parse_target(what))) is not None]
    return last_wins([*(edit for edit in in_force if target(edit) not in changed), *edits])


def _rebased(view: View, lanes: Sequence[Lane], why: Causes, made: RebaseDraft) -> Pass:
    """A rebase with what is new and what changes. Edits that did not reach the harness yet come to it with this."""
    session = view.session
    prices = prices_of(session.step, view.limits) if session.step else Prices()
    fresh = extension(replace(view, session=made.after), lanes)
    changed = _restated(session, why, made.edits)
    edits = last_wins([*changed, *fresh.edits]) if fresh.edits else changed
    refused = new_faults(session, edits) if fresh.edits else ()
    if refused:  # each of them is sound alone: what is new is served as it is
        fresh, edits = Extension((), (*fresh.faults, *refused)), changed
    economics, after = made.economics, served_tokens(with_edits(made.after, fresh.edits))
    notices = (STUCK,) if why.fitting and after > why.fitting else ()
    decision = PlanRebased(
        revision=session.revision + 1,
        step=session.step.step if session.step else "",
        as_of=session.seq,
        causes=list(why.names),
        dropped=list(made.dropped),
        delays=list(made.delays),
        tokens_before=served_tokens(session),
        tokens_after=after,
        tokens_held=session.conversation.tokens,
        sample=why.sample,
        used=why.used,
        window=why.window,
        window_source=why.window_source,
        threshold=why.threshold,
        reclaimed=economics.reclaimed,
        rewritten=economics.rewritten,
        steps=economics.steps,
        break_even=0.0 if why.forced or why.masked or why.free else round(economics.break_even, 2),
        price=round(economics.price, 1),
        expected=round(economics.steps * economics.reclaimed * prices.read - economics.price, 1),
        followed=max(0, session.revisions.course.calls - 1),
        came=round(session.revisions.course.net(prices), 1),
        remainder=why.remainder,
    )
    decision = replace(decision, **head.recorded_fields(view, edits))
    found = tuple(dict.fromkeys([*fresh.faults, *made.faults]))
    return Pass("rebase", revisions_of(decision, edits), found, notices=notices)
