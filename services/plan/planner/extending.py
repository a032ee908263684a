"""Edits of messages that no call has sent before, as the lanes want them."""

from collections.abc import Sequence
from functools import partial

import msgspec

from schemas.plan import AnyEdit, target
from services.domain.conversation import Message
from services.plan.lanes import Lane, View
from services.plan.planner.compose import last_wins
from services.plan.planner.texts import guarded
from services.plan.provider_rules.check import STRUCTURAL, new_faults
from services.plan.provider_rules.signed_thinking import place
from services.plan.session.state import Session


class Extension(msgspec.Struct, frozen=True):
    """Edits of messages that no call has sent before."""

    edits: tuple[AnyEdit, ...] = ()
    faults: tuple[str, ...] = ()


def extension(view: View, lanes: Sequence[Lane]) -> Extension:
    """The lanes' edits of new messages, without what a provider would refuse and what was sent before."""
    session = view.session
    unchanged = session.step.unchanged if session.step else 0
    fresh = _new_messages(session)
    edits: list[AnyEdit] = []
    faults: list[str] = []
    for lane in lanes:
        wanted: tuple[AnyEdit, ...] = guarded(lane.name, faults, partial(_wanted, lane, view, fresh), ())
        for edit in wanted:
            if unchanged and place(session, edit) <= unchanged:
                faults.append(f"the lane {lane.name} wanted to edit {target(edit)}, which was sent before")
            else:
                edits.append(edit)
    refused = new_faults(session, edits)
    if refused:
        edits = [edit for edit in edits if not isinstance(edit, STRUCTURAL)]
    return Extension(last_wins(edits), (*faults, *refused))


def _new_messages(session: Session) -> list[Message]:
    """The messages that no call has sent before."""
    unchanged = session.step.unchanged if session.step else 0
    return list(session.conversation.after(max(unchanged, session.cut - 1)))


def _wanted(lane: Lane, view: View, fresh: Sequence[Message]) -> tuple[AnyEdit, ...]:
    return tuple(lane.extend(view, fresh)) if lane.works(view) else ()
