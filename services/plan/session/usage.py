"""Providers' counts of a session's prompts, model by model."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Sequence
from datetime import datetime

import msgspec

from schemas.events import OverflowDetected, StepOpened, ToolsetChanged, UsageSampled
from services.domain.conversation import Conversation, precedes
from services.domain.fold import Map
from services.domain.window import Learned, Model, prompt_tokens, with_shortest_refused
from services.plan.session import calibration
from services.plan.session.calibration import SYSTEM, Calibration

replace = msgspec.structs.replace


class Usage(msgspec.Struct, frozen=True):
    """The newest count."""

    sample: UsageSampled | None = None
    called: datetime | None = None
    """When the call was made that it is of: since then the provider's cache lies idle, however long the answer took."""
    model: Model | None = None
    """The model in work; none: no call was made yet."""
    calibration: Calibration = Calibration()
    """The calibration of the model in work: of one that was never in work, that of the model before it."""
    others: Map[Model, Calibration] = Map()
    """The calibrations of the models that were in work before."""
    tools: ToolsetChanged | None = None
    """The tools that a model is offered; none: not known."""
    before: Calibration = Calibration()
    """The calibration before the newest call."""
    count: UsageSampled | OverflowDetected | None = None
    """The count or the refusal of the newest call by its provider; None: there is none yet."""


def opened(usage: Usage, event: StepOpened) -> Usage:
    """A model is called: what was counted of it before holds again."""
    model = (event.provider, event.model)
    known, others = usage.calibration, usage.others
    if usage.model is not None and usage.model != model:
        known = others.get(model) or calibration.presumed(known)
        others = others.discard(model).insert(usage.model, usage.calibration)
    known = _with_overhead(known, usage.tools, event.denied)
    return replace(usage, model=model, calibration=known, others=others, before=known, count=None)


def offered(usage: Usage, event: ToolsetChanged) -> Usage:
    """From now on a model is offered these tools."""
    return replace(usage, tools=event, calibration=_with_overhead(usage.calibration, event))


def _with_overhead(known: Calibration, tools: ToolsetChanged | None, denied: Sequence[str] = ()) -> Calibration:
    """With the prompt outside the messages, as its size was estimated: all but the tools that are switched off."""
    if tools is None:
        return known
    sizes = zip(tools.names, tools.tokens, strict=False)
    return replace(known, overhead=SYSTEM + sum(size for name, size in sizes if name not in denied))


def answered(usage: Usage, event: UsageSampled, called: datetime, sent: int) -> Usage:
    """A model has answered a prompt of so many estimated tokens."""
    counted = replace(usage, sample=event if prompt_tokens(event) else usage.sample, called=called)
    if _is_of_another(usage, event):
        return counted
    return replace(counted, calibration=calibration.answered(usage.calibration, event, sent), count=event)


def is_late(usage: Usage, conversation: Conversation, event: UsageSampled) -> bool:
    """Whether a sample speaks of an older answer than the newest one: it never replaces that."""
    return usage.sample is not None and precedes(conversation, event.message, usage.sample.message)


def refused(usage: Usage, event: OverflowDetected, sent: int) -> Usage:
    """A prompt of so many estimated tokens was too long."""
    if _is_of_another(usage, event):
        return usage
    return replace(usage, calibration=calibration.refused(usage.calibration, event, sent), count=event)


def corrected(usage: Usage, gone_out: int) -> Usage:
    """The newest call went out otherwise than planned, with so many estimated tokens; -1: nobody knows how many."""
    known = usage.before
    match usage.count:
        case UsageSampled() if gone_out >= 0:
            known = calibration.answered(known, usage.count, gone_out)
        case OverflowDetected() if gone_out >= 0:
            known = calibration.refused(known, usage.count, gone_out)
    return replace(usage, calibration=known)


def learned_by_session(usage: Usage, learned: Learned) -> Learned:
    """The limits that the session has learned, with what the model in work has refused without saying why."""
    return learned if usage.model is None else with_shortest_refused(learned, usage.model, usage.calibration.refused)


def _is_of_another(usage: Usage, event: UsageSampled | OverflowDetected) -> bool:
    """Whether it speaks of a model that was in work before: the prompt of that call is not the newest one."""
    return bool(event.model) and (event.provider, event.model) in usage.others
