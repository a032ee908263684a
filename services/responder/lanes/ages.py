"""How old things are, counted in tags, and which of them are about to be dropped."""

import msgspec

from services.kit.conversation import Part
from services.responder.lanes.base import Placed, View
from services.responder.lanes.drops import protected

NOTHING_OLD = 0


class Ages(msgspec.Struct, frozen=True):
    """What is old enough to be touched, in one rebase."""

    first_protected: int
    """The lowest of the newest tags, which no lane touches of its own accord; 0: all tags are among them."""
    going: frozenset[int]
    """Tags whose drop is served by this very rebase."""

    def is_old(self, number: int) -> bool:
        return 0 < number < self.first_protected


def ages(view: View) -> Ages:
    session, count = view.session, view.limits.protected_tags
    guarded = protected(session, count)
    first = min(guarded, default=session.talk.last_number + 1) if len(guarded) >= count else NOTHING_OLD
    return Ages(first, frozenset(number for number in session.queued if number not in guarded))


def tag_of(placed: Placed) -> int:
    """A message's tag is the highest of its parts; 0: it has none."""
    highest = 0
    for _, part in placed.parts:  # a loop, since it runs over whole sessions
        highest = max(part.number, highest)
    return highest


def is_free(view: View, part: Part) -> bool:
    """Whether nobody has dropped it or wishes to."""
    return part.number not in view.session.dropped and part.number not in view.session.queued
