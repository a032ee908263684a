"""What the lanes want of a rebase, put together and weighed."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from schemas.plan import AnyEdit, AppendText, OmitArc, SetHead, Withdraw, target
from services.kit.limits import Prices
from services.kit.tokens import tokens
from services.responder.admission import boundary, first_place
from services.responder.check import new_faults
from services.responder.gate import Verdict, forecast, judge
from services.responder.lanes import Change, Lane, View
from services.responder.lanes.base import Survey
from services.responder.lanes.reasoning import older_thinking
from services.responder.lanes.survey import survey
from services.responder.reclaim import OUTPUTS
from services.responder.state import Session, cost, heads, served_tokens, with_edits

T = TypeVar("T")

replace = msgspec.structs.replace

HEADROOM = 0.30
"""Share of the room between what cannot go and where pressure begins that may stay filled."""


class Collected(msgspec.Struct, frozen=True):
    """The edits of a rebase with what they are worth."""

    edits: tuple[AnyEdit, ...] = ()
    dropped: tuple[int, ...] = ()
    held: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Parts whose text must be known first; the rest is empty then."""
    survey: Survey = Survey()
    """What the lanes looked at: of the same session it need not be made again."""
    verdict: Verdict = Verdict(0, 0, 0, 0.0)
    after: Session = Session()
    """The session with these edits in force."""
    says_more: bool = False
    """Whether it changes what the model is told, and not only how much: the head."""


def collect(view: View, lanes: Sequence[Lane], prices: Prices, *, used: int = 0, ceiling: int = 0) -> Collected:
    """Ask every lane, in order. Each is told how much is still to be reclaimed.

    `used` and `ceiling` are the provider's count of the newest prompt, and where pressure begins; 0: no pressure.
    """
    view = view if view.survey.placed else replace(view, survey=survey(view.session))
    view = replace(view, target=_target(view, used, ceiling) if ceiling else 0)
    working = [lane for lane in lanes if view.mode in lane.modes]
    faults: list[str] = []
    needs = _needs(view, working, faults)
    if needs:
        return Collected(needs=needs, faults=tuple(faults), survey=view.survey)
    changes, after = _asked(view, working, faults)
    edits = last_wins([edit for change in changes for edit in change.edits])
    refused = new_faults(view.session, edits)
    if refused:  # some lane's edits do not go together with the others': find those that do
        edits, changes = _without_faults(view, working, changes)
        after = with_edits(view.session, edits)
    silenced = _silenced(view, lanes)
    if silenced:
        after = with_edits(after, silenced)
        edits = last_wins([*edits, *silenced])
    first = first_place(view.session, edits)
    thinking = _older_thinking(view, edits, after, first)
    if thinking:
        after = with_edits(after, thinking)
        edits = last_wins([*edits, *thinking])
        first = first_place(view.session, edits)
    return Collected(
        edits=edits,
        dropped=tuple(dict.fromkeys(number for change in changes for number in change.dropped)),
        held=tuple(reason for change in changes for reason in change.held),
        faults=(*faults, *refused),
        verdict=_verdict(view, edits, after, prices, first),
        after=after,
        says_more=any(isinstance(edit, SetHead) for edit in edits),
    )


def _asked(view: View, lanes: Sequence[Lane], faults: list[str]) -> tuple[list[Change], Session]:
    """What each lane wants, told what those before it have decided and how much is still to be reclaimed."""
    changes: list[Change] = []
    for lane in lanes:
        change = guarded(lane.name, faults, partial(lane.rebase, view), Change())
        changes.append(change)
        if change.edits:
            session = with_edits(view.session, change.edits)
            seen = view.survey if session.cut == view.session.cut else survey(session)
            left = max(0, view.target - change.reclaimed)
            view = replace(view, session=session, survey=seen, target=left, made=(*view.made, change))
    return changes, view.session


def _silenced(view: View, lanes: Sequence[Lane]) -> tuple[Withdraw, ...]:
    """What lanes have told that do not speak in this mode: it was not known then who leads the session."""
    silent = {lane.name for lane in lanes if view.mode not in lane.modes}
    if not silent or boundary(view.session):
        return ()
    told = [edit for edit in view.session.edits.values() if isinstance(edit, AppendText) and _speakers(edit) <= silent]
    return tuple(Withdraw(what=target(edit), by=edit.by, lane=edit.lane) for edit in told)


def _speakers(edit: AppendText) -> set[str]:
    return {lane.partition(":")[0] for lane in edit.lane.split("+")}


def _target(view: View, used: int, ceiling: int) -> int:
    """Estimated tokens to reclaim: down to a little above what cannot go, so that the next pressure is far away."""
    session = view.session
    served = served_tokens(session)
    scale = served / used if used else 1.0
    guarded_from = session.talk.last_number - view.limits.protected_tags
    reclaimable = sum(
        tokens(part.recorded.bytes)
        for placed in view.survey.placed
        for part in placed.parts
        if 0 < part.number <= guarded_from and part.recorded.kind in OUTPUTS and view.is_served(part.recorded.part)
    )
    floor = served - reclaimable
    goal = floor + HEADROOM * max(0.0, ceiling * scale - floor)
    return max(0, int(served - goal))


def _needs(view: View, lanes: Sequence[Lane], faults: list[str]) -> tuple[str, ...]:
    wanted: dict[str, None] = {}
    for lane in lanes:
        names: Sequence[str] = guarded(lane.name, faults, partial(_named, lane, view), ())
        wanted |= dict.fromkeys(name for name in names if name not in view.texts)
    return tuple(wanted)


def _named(lane: Lane, view: View) -> Sequence[str]:
    return tuple(lane.needs(view))


def _without_faults(
    view: View, lanes: Sequence[Lane], changes: Sequence[Change]
) -> tuple[tuple[AnyEdit, ...], list[Change]]:
    """Take the lanes' edits in order, without those of lanes that a provider would refuse."""
    edits: tuple[AnyEdit, ...] = ()
    kept: list[Change] = []
    for _, change in zip(lanes, changes, strict=True):
        together = last_wins([*edits, *change.edits])
        if not new_faults(view.session, together):
            edits = together
            kept.append(change)
    return edits, kept


def _older_thinking(view: View, edits: Sequence[AnyEdit], after: Session, first: int) -> tuple[AnyEdit, ...]:
    """Signed thinking of older turns goes where something before it changes: its signature would be void."""
    if "binds_signed_thinking" not in view.able or not edits:
        return ()
    thinking = older_thinking(replace(view, session=after), first)
    return () if new_faults(after, thinking) else thinking


def _verdict(view: View, edits: Sequence[AnyEdit], after: Session, prices: Prices, first: int) -> Verdict:
    if not edits:
        return Verdict(0, 0, 0, 0.0)
    session = view.session
    reclaimed = served_tokens(session) - served_tokens(after)
    calls = max(1, session.steps, session.talk.count // 2)  # of an imported session no step is known
    steps = forecast(session.steps, reclaimed, session.talk.tokens / calls)
    return judge(reclaimed, _rewritten(view, first, after), steps, prices)


def _rewritten(view: View, first: int, after: Session) -> int:
    """Tokens that were sent before, from this message on, as they are served then; or all tokens but the others."""
    kept = view.session.step.kept if view.session.step else 0
    seen = view.survey if after.cut == view.session.cut else survey(after)
    messages = [placed.message for placed in seen.placed]
    sent = [message for message in messages if first <= message.ordinal <= kept]
    if 2 * len(sent) < len(messages):
        return cost(after, sent) + (0 if first else heads(after))
    others = [message for message in messages if not first <= message.ordinal <= kept]
    return max(0, served_tokens(after) - cost(after, others) - (heads(after) if first else 0))


def last_wins(edits: Sequence[AnyEdit]) -> tuple[AnyEdit, ...]:
    """One edit for each target: the last. An omitted arc takes the other edits of its parts with it.

    What several lanes want to append to one part is appended together.
    """
    by_target: dict[str, AnyEdit] = {}
    for edit in edits:
        key = target(edit)
        before = by_target.get(key)
        if isinstance(edit, AppendText) and isinstance(before, AppendText) and before != edit:
            lane = "+".join(filter(None, (before.lane, edit.lane)))
            by_target[key] = replace(edit, text=before.text + edit.text, lane=lane, by=(*before.by, *edit.by))
        else:
            by_target[key] = edit
    for edit in edits:
        if isinstance(edit, OmitArc):
            for part in edit.parts:
                if part != edit.part:
                    by_target.pop(f"part:{part}", None)
    return tuple(by_target.values())


def guarded(name: str, faults: list[str], work: Callable[[], T], nothing: T) -> T:
    """A lane that breaks costs its own edits of this pass, never the request."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - reported with the pass
        faults.append(f"the lane {name} failed: {type(error).__name__}: {error}")
        return nothing
