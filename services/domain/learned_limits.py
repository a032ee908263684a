"""Limits of models that all sessions have learned: one aggregate of the installation, belonging to no project."""

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, LimitLearned, LimitWithdrawn
from schemas.subjects import Address
from services.domain.window import Learned

GLOBAL = Address("")
"""The address of its facts in the log. No harness can send anything about a project without a name."""

replace = msgspec.structs.replace


def evolve(learned: Learned, event: Event, _: Envelope) -> Learned:
    """The least limit that was reported holds, unless a longer prompt than that was answered anywhere."""
    match event:
        case LimitLearned(limit=limit):
            model = (event.provider, event.model)
            known, answered = learned.limits.get(model), learned.accepted.get(model) or 0
            if limit < answered or (known is not None and limit >= known):
                return learned
            return replace(learned, limits=learned.limits.insert(model, limit))
        case LimitWithdrawn():
            model = (event.provider, event.model)
            longest = max(event.accepted, learned.accepted.get(model) or 0)
            holds = learned.limits.get(model, longest) >= longest
            limits = learned.limits if holds else learned.limits.remove(model)
            return replace(learned, limits=limits, accepted=learned.accepted.insert(model, longest))
        case _:
            return learned
