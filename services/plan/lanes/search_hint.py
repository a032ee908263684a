"""The lane that adds to a person's newest message what is known that may bear on it."""

from collections.abc import Sequence

from schemas.plan import AppendText
from services.domain.conversation import Message
from services.plan.lanes import hints
from services.plan.lanes.base import Lane, View
from services.plan.lanes.turns import appended, unsent

NAME = "hints"
MODES = frozenset({"primary", "reduce_off"})


def extend(view: View, fresh: Sequence[Message]) -> tuple[AppendText, ...]:
    """One hint, if something was found about this very message before it is sent. What is found later is left out."""
    place = unsent(view.session, fresh) if view.hits else None
    if place is None:
        return ()
    message, part = place
    hits = [hit for hit in view.hits if hit.message == message.recorded.message]
    return appended(view.session, part, hints.search_hint(hits, view.session.plan.head_texts, view.least), NAME)


LANE = Lane(NAME, extend=extend, modes=MODES, order=220)
