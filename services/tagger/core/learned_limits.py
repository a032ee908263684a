"""Limits of models that a session has learned and no other session knows yet. No clock, no I/O."""

from collections.abc import Iterator

from schemas.events import LimitLearned, LimitWithdrawn
from schemas.subjects import Address
from services.domain.window import Learned


def unknown_limits(common: Learned, own: Learned, address: Address) -> list[LimitLearned | LimitWithdrawn]:
    """The facts that all sessions should know of it. What is known already yields nothing.

    Of a model without a name nothing is learned, since it may be any.
    """
    return [*_withdrawn(common, own, address), *_learned(common, own, address)]


def _withdrawn(common: Learned, own: Learned, address: Address) -> Iterator[LimitWithdrawn]:
    for (provider, model), accepted in sorted(own.accepted.items()):
        limit = common.limits.get((provider, model), accepted)
        if accepted > limit:
            yield LimitWithdrawn(
                provider=provider,
                model=model,
                limit=limit,
                accepted=accepted,
                in_project=address.project,
                in_session=address.session,
            )


def _learned(common: Learned, own: Learned, address: Address) -> Iterator[LimitLearned]:
    for name, limit in sorted(own.limits.items()):
        provider, model = name
        answered = max(own.accepted.get(name) or 0, common.accepted.get(name) or 0)
        known = common.limits.get(name, limit + 1)
        if provider and model and limit >= answered and (limit < known or known < answered):
            yield LimitLearned(
                provider=provider,
                model=model,
                limit=limit,
                in_project=address.project,
                in_session=address.session,
            )
