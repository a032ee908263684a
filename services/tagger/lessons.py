"""What a session has learned of models' limits and nobody else knows. No clock, no I/O."""

from collections.abc import Iterator

from schemas.events import Event, LimitLearned, LimitWithdrawn
from schemas.subjects import Address
from services.kit.window import Learned


def lessons(house: Learned, own: Learned, address: Address) -> list[Event]:
    """What all sessions should know of it. It can be told again at any time: what is known already yields nothing.

    Of a model that nobody has named nothing is learned, since it may be any.
    """
    return [*_withdrawn(house, own, address), *_learned(house, own, address)]


def _withdrawn(house: Learned, own: Learned, address: Address) -> Iterator[Event]:
    for (provider, model), accepted in sorted(own.accepted.items()):
        limit = house.limits.get((provider, model), accepted)
        if accepted > limit:
            yield LimitWithdrawn(
                provider=provider,
                model=model,
                limit=limit,
                accepted=accepted,
                in_project=address.project,
                in_session=address.session,
            )


def _learned(house: Learned, own: Learned, address: Address) -> Iterator[Event]:
    for name, limit in sorted(own.limits.items()):
        provider, model = name
        answered = max(own.accepted.get(name) or 0, house.accepted.get(name) or 0)
        known = house.limits.get(name, limit + 1)
        if provider and model and limit >= answered and (limit < known or known < answered):
            yield LimitLearned(
                provider=provider,
                model=model,
                limit=limit,
                in_project=address.project,
                in_session=address.session,
            )
