"""The pass: from a session's state to the next revision of its plan, or to none."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import msgspec

from schemas.codec import encode_edits
from schemas.events import Event, PlanExtended, PlanRebased
from schemas.plan import AnyEdit, CutBefore, Restore, SetHead, Withdraw, target
from services.kit.conversation import Message
from services.kit.limits import Limits
from services.kit.window import prompt_tokens, window
from services.responder.admission import boundary, place
from services.responder.check import STRUCTURAL, new_faults
from services.responder.collect import Collected, collect, guarded, last_wins
from services.responder.gate import prices_of
from services.responder.lanes import LANES, Lane, View
from services.responder.lanes.base import Survey
from services.responder.scheduler import Causes, causes
from services.responder.state import Session, served_tokens, with_edits

MAX_EDITS = 2500
"""Edits in one plan event; a decision with more is several revisions, appended together."""
STUCK = (
    "The model refused the prompt as too long, and nothing more can be taken out of it. "
    "Summarise the session in your harness, or go on in a new one."
)

SHORT_PERCENT = 95.0
"""Of the window: from here on a person is told that history cannot be compressed."""
UNCOMPRESSED = (
    "History cannot be compressed ({code}), and the prompt fills {percent:.0f} % of the model's window. "
    "Annals goes on trying, and drops what it can."
)

replace = msgspec.structs.replace


class Pass(msgspec.Struct, frozen=True):
    """The outcome of a pass."""

    kind: Literal["replay", "extend", "rebase"]
    events: tuple[Event, ...] = ()
    faults: tuple[str, ...] = ()
    """What went wrong and was left out; the request goes on without it."""
    needs: tuple[str, ...] = ()
    """Parts whose text must be known to decide: decide again with these ..."""
    survey: Survey = Survey()
    """... and with this, if it is the same session still."""
    notices: tuple[str, ...] = ()
    """What the person should know."""


class _Waiting(msgspec.Struct, frozen=True):
    """A rebase that is not made now."""

    held: tuple[str, ...] = ()
    """Causes to be remembered."""
    declined: int = 0
    flushed: bool = False
    """Whether a person asked for it, and is to be answered once."""
    faults: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class Extension(msgspec.Struct, frozen=True):
    """Edits of messages that no call has sent before."""

    edits: tuple[AnyEdit, ...]
    faults: tuple[str, ...]


def decide(view: View, lanes: Sequence[Lane] = LANES) -> Pass:
    """Replay what is served already, extend it to what is new, or rebase it."""
    made = _decided(view, lanes)
    warnings = tuple(_warnings(view))
    return replace(made, notices=(*warnings, *made.notices)) if warnings else made


def _warnings(view: View) -> Iterator[str]:
    """That history cannot be compressed while room is short: told once, at the first failure of several."""
    step, usage, failing = view.session.step, view.session.usage, view.session.failing
    if step is None or usage is None or failing is None or failing.failures != 1:
        return
    percent = window(step, view.known, view.limits).percent(prompt_tokens(usage))
    if percent >= SHORT_PERCENT:
        yield UNCOMPRESSED.format(code=failing.code, percent=percent)


def _decided(view: View, lanes: Sequence[Lane]) -> Pass:
    session, limits = view.session, view.limits
    step = session.step
    if step is None or session.planned == step.step:
        return Pass("replay")
    why = causes(session, limits, view.learned)
    if not why.any:
        return _extended(view, lanes, _Waiting())
    if not why.forced and boundary(session):
        return _extended(view, lanes, _Waiting(held=tuple(why.lasting)))
    prices = prices_of(step, limits)
    is_free = (bool(why.free) or "overflow" in why.names) and not boundary(session)
    asked = replace(view, causes=frozenset(why.names), is_free=is_free)
    made = collect(asked, lanes, prices, used=why.used, ceiling=why.ceiling)
    if made.needs:
        return Pass("rebase", needs=made.needs, survey=made.survey, faults=made.faults)
    if why.forced or (made.edits and _is_worth_it(why, made, limits)):
        return _rebased(view, lanes, why, made)
    return _extended(view, lanes, _declined(why, made))


def _is_worth_it(why: Causes, made: Collected, limits: Limits) -> bool:
    """Where the cache is lost anyway any saving is welcome; else it must be large, and pay unless there is need."""
    if why.free:
        return made.verdict.reclaimed > 0 or (made.says_more and set(why.free) != {"idle"})
    return made.verdict.reclaimed >= limits.min_reclaim and (why.urgent or made.verdict.pays)


def _declined(why: Causes, made: Collected) -> _Waiting:
    stuck = "overflow" in why.names
    return _Waiting(
        held=("overflow",) if stuck else (),
        declined=why.used if why.sample else 0,
        flushed="flush" in why.names,
        faults=made.faults,
        notices=(STUCK,) if stuck else (),
    )


def _extended(view: View, lanes: Sequence[Lane], waiting: _Waiting) -> Pass:
    """An extension is recorded even without edits: these messages are covered from now on."""
    session = view.session
    made = extension(view, lanes)
    forgone = _forgone(session)
    edits = (*forgone, *made.edits)
    found = tuple(dict.fromkeys([*waiting.faults, *made.faults]))
    held = [cause for cause in waiting.held if cause not in session.held]
    step = session.step
    says_something = edits or held or waiting.declined or waiting.flushed
    if step is None or (step.kept == step.last and not says_something):
        return Pass("replay", faults=found, notices=waiting.notices)
    after = served_tokens(with_edits(session, edits))
    events = [
        PlanExtended(
            revision=revision,
            step=step.step,
            as_of=session.seq,
            edits=encode_edits(page),
            edit_count=len(page),
            forgone=_names(forgone) if revision == session.revision + 1 else [],
            tokens_before=session.talk.tokens,
            tokens_after=after,
            held=held if revision == session.revision + 1 else [],
            declined=waiting.declined,
            inherited=sorted(view.inherited) if revision == session.revision + 1 else [],
        )
        for revision, page in _pages(session.revision, edits)
    ]
    return Pass("extend", tuple(events), found, notices=waiting.notices)


def extension(view: View, lanes: Sequence[Lane]) -> Extension:
    """What the lanes want of new messages. What a provider would refuse is left out, and so is what was sent before."""
    session = view.session
    kept = session.step.kept if session.step else 0
    fresh = list(session.talk.after(max(kept, session.cut - 1)))
    edits: list[AnyEdit] = []
    faults: list[str] = []
    for lane in lanes:
        wanted: tuple[AnyEdit, ...] = guarded(lane.name, faults, partial(_wanted, lane, view, fresh), ())
        for edit in wanted:
            if kept and place(session, edit) <= kept:
                faults.append(f"the lane {lane.name} wanted to edit {target(edit)}, which was sent before")
            else:
                edits.append(edit)
    refused = new_faults(session, edits)
    if refused:
        edits = [edit for edit in edits if not isinstance(edit, STRUCTURAL)]
    return Extension(last_wins(edits), (*faults, *refused))


def _wanted(lane: Lane, view: View, fresh: Sequence[Message]) -> tuple[AnyEdit, ...]:
    return tuple(lane.extend(view, fresh)) if view.mode in lane.modes else ()


def _forgone(session: Session) -> tuple[AnyEdit, ...]:
    """For what was sent without its newest edits: what it was sent with, or that it is as it was.

    The call before this one went out with an older revision. Its messages stay as they were sent until a rebase.
    A rebase among the revisions that were not served explains itself.
    """
    step = session.step
    if step is None or step.served < 0:
        return ()
    unserved = [session.revisions[number] for number in range(step.served + 1, session.revision + 1)]
    if any(revision.causes for revision in unserved):
        return ()
    missed = {target(edit) for revision in unserved for edit in revision.edits if _was_sent(session, edit)}
    served: dict[str, AnyEdit] = {}
    for number in range(step.served if missed else 0, 0, -1):
        for edit in session.revisions[number].edits:
            if target(edit) in missed:
                served.setdefault(target(edit), edit)
    return tuple(served.get(what) or _undone(what) for what in sorted(missed))


def _names(forgone: Sequence[AnyEdit]) -> list[str]:
    return [target(edit).removeprefix("part:") for edit in forgone]


def _was_sent(session: Session, edit: AnyEdit) -> bool:
    """Whether what this edit is about was sent already: the head stands before every list."""
    kept = session.step.kept if session.step else 0
    where = place(session, edit)
    return 0 < where <= kept or (where == 0 and isinstance(edit, SetHead | CutBefore))


def _undone(what: str) -> AnyEdit:
    kind, _, name = what.partition(":")
    return Restore(part=name) if kind == "part" else Withdraw(what=what)


def _rebased(view: View, lanes: Sequence[Lane], why: Causes, made: Collected) -> Pass:
    """What is new and what changes, together. Edits that did not reach the harness yet come to it with this."""
    session = view.session
    fresh = extension(replace(view, session=made.after), lanes)
    edits = last_wins([*made.edits, *fresh.edits]) if fresh.edits else made.edits
    verdict = made.verdict
    fact = PlanRebased(
        revision=0,
        step=session.step.step if session.step else "",
        as_of=session.seq,
        causes=list(why.names),
        tokens_before=served_tokens(session),
        tokens_after=served_tokens(with_edits(made.after, fresh.edits)),
        sample=why.sample,
        used=why.used,
        window=why.window,
        window_source=why.window_source,
        threshold=why.threshold,
        reclaimed=verdict.reclaimed,
        rewritten=verdict.rewritten,
        steps=verdict.steps,
        break_even=0.0 if why.forced or why.free else round(verdict.break_even, 2),
    )
    events = [
        replace(
            fact,
            revision=revision,
            edits=encode_edits(page),
            edit_count=len(page),
            dropped=[*made.dropped, *sorted(view.inherited)] if revision == session.revision + 1 else [],
            held=list(made.held) if revision == session.revision + 1 else [],
        )
        for revision, page in _pages(session.revision, edits)
    ]
    return Pass("rebase", tuple(events), tuple(dict.fromkeys([*fresh.faults, *made.faults])))


def _pages(revision: int, edits: Sequence[AnyEdit]) -> list[tuple[int, tuple[AnyEdit, ...]]]:
    """Edits as consecutive revisions; without any edits one empty revision."""
    starts = range(0, max(1, len(edits)), MAX_EDITS)
    return [(revision + n, tuple(edits[start : start + MAX_EDITS])) for n, start in enumerate(starts, 1)]
