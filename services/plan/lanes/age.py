"""Ages, counted in tags, and which old parts are about to be dropped."""

from collections.abc import Set as AbstractSet

import msgspec

from services.domain.conversation import Part
from services.plan.lanes.base import View

NOTHING_OLD = 0


class Ages(msgspec.Struct, frozen=True):
    """The age limits of one rebase: what is old enough to be touched."""

    first_protected: int
    """The lowest of the newest tags, which no lane touches of its own accord; 0: all tags are among them."""
    going: AbstractSet[int] = frozenset()
    """Tags whose drop was asked for, and is served by this very rebase."""

    def is_old(self, number: int) -> bool:
        return 0 < number < self.first_protected

    def is_going(self, number: int) -> bool:
        """Whether the drop of this tag is served by this very rebase."""
        return number in self.going


def ages(view: View) -> Ages:
    session, guarded = view.session, view.protected
    is_full = len(guarded) >= view.limits.protected_tags
    first = min(guarded, default=session.conversation.last_number + 1) if is_full else NOTHING_OLD
    queued = session.drops.queued
    return Ages(first, frozenset([number for change in view.made for number in change.dropped if number in queued]))


def is_free(view: View, part: Part) -> bool:
    """Whether it is neither dropped nor queued to be dropped."""
    return part.number not in view.session.drops.dropped and part.number not in view.session.drops.queued
