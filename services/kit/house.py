"""What all sessions have learned of models' limits: one book, beside those of the projects."""

import msgspec

from schemas.envelope import Envelope
from schemas.events import Event, LimitLearned, LimitWithdrawn
from schemas.subjects import Address
from services.kit.window import Learned

HOUSE = Address("")
"""Where its facts stand in the log. No harness can speak of a project without a name."""

replace = msgspec.structs.replace


def evolve(house: Learned, event: Event, _: Envelope) -> Learned:
    """The least limit that was told holds, unless a longer prompt than that was answered anywhere."""
    match event:
        case LimitLearned(limit=limit):
            model = (event.provider, event.model)
            known, answered = house.limits.get(model), house.accepted.get(model) or 0
            if limit < answered or (known is not None and limit >= known):
                return house
            return replace(house, limits=house.limits.insert(model, limit))
        case LimitWithdrawn():
            model = (event.provider, event.model)
            longest = max(event.accepted, house.accepted.get(model) or 0)
            holds = house.limits.get(model, longest) >= longest
            limits = house.limits if holds else house.limits.remove(model)
            return replace(house, limits=limits, accepted=house.accepted.insert(model, longest))
        case _:
            return house
