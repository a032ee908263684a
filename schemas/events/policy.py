"""Facts about what a project's memory does with texts of which origin."""

from typing import ClassVar

from schemas.events.base import Event

ACTIONS = ("applied", "held", "refused")
"""The actions on a candidate that has passed the gate."""


class PolicyChanged(Event, frozen=True):
    """From now on candidates of this trust are applied, wait for review, or are refused."""

    TYPE: ClassVar[str] = "policy.changed"

    trust: str
    action: str


EVENTS: tuple[type[Event], ...] = (PolicyChanged,)
