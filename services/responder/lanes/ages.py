"""How old things are, counted in tags, and which of them are about to be dropped."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

from services.kit.conversation import Part
from services.responder.lanes.base import View
from services.responder.lanes.drops import protected

NOTHING_OLD = 0


class Ages(msgspec.Struct, frozen=True):
    """What is old enough to be touched, in one rebase."""

    first_protected: int
    """The lowest of the newest tags, which no lane touches of its own accord; 0: all tags are among them."""
    guarded: AbstractSet[int] = frozenset()
    """The newest tags."""
    queued: Mapping[int, int] = {}
    """Tags that somebody wishes to drop."""

    def is_old(self, number: int) -> bool:
        return 0 < number < self.first_protected

    def is_going(self, number: int) -> bool:
        """Whether the drop of this tag is served by this very rebase."""
        return number in self.queued and number not in self.guarded


def ages(view: View) -> Ages:
    session, count = view.session, view.limits.protected_tags
    guarded = protected(session, count)
    first = min(guarded, default=session.talk.last_number + 1) if len(guarded) >= count else NOTHING_OLD
    return Ages(first, guarded, session.queued)


def is_free(view: View, part: Part) -> bool:
    """Whether nobody has dropped it or wishes to."""
    return part.number not in view.session.dropped and part.number not in view.session.queued
