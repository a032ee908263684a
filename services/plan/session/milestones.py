"""Ends of pieces of a session's work, and what the agent has read of its notes since."""

import msgspec

from schemas.events import (
    Event,
    HistoryAdvanced,
    HistoryRequested,
    PartRecorded,
    TodoCaptured,
    ToolRan,
)
from schemas.tools import MEMORY
from services.domain.compartments import AHEAD
from services.domain.conversation import Conversation
from services.domain.tools.arguments import arguments_of
from services.domain.tools.names import plain
from services.domain.tools.todos import UNDONE
from services.domain.transcript.commits import is_commit

LOOKING = frozenset({"read", "note", "dismiss"})
"""The actions of the memory tool by which an agent looks after its notes."""
_MEMORY = plain(MEMORY)

replace = msgspec.structs.replace


class Milestones(msgspec.Struct, frozen=True):
    """Milestones that make it worth looking at notes, and whether that was done."""

    reached_in: str = ""
    """The person's message in whose turn the newest came; empty: none has, or the agent has seen to its notes."""
    read: str = ""
    """The part that shows the notes as they were read last."""
    read_at: int = 0
    """The position in the log of the part `read`."""
    call: str = ""
    """The call whose result will show them."""
    ahead: str = ""
    """The run that only keeps history ready."""


def milestones_after(known: Milestones, event: Event, seq: int, conversation: Conversation, turn: int) -> Milestones:
    """The milestones after this fact; `turn`: the ordinal of the newest message that a person wrote."""
    match event:
        case ToolRan(status="completed", target=target) if is_commit(target) and not event.exit_code:
            return _reached(known, conversation, turn)
        case TodoCaptured(statuses=statuses) if statuses and UNDONE.isdisjoint(statuses):
            return _reached(known, conversation, turn)
        case HistoryRequested(run=run, reason=reason):
            return replace(known, ahead=run) if reason == AHEAD else known
        case HistoryAdvanced(run=run, done=True) if run != known.ahead:
            return _reached(known, conversation, turn)
        case PartRecorded(kind="tool" | "tool_call" | "tool_result"):
            return _called(known, event, seq)
        case _:
            return known


def with_history(known: Milestones, conversation: Conversation, turn: int) -> Milestones:
    """Compressed history has taken the place of messages."""
    return _reached(known, conversation, turn)


def _reached(known: Milestones, conversation: Conversation, turn: int) -> Milestones:
    name = conversation.order.get(turn, "")
    return replace(known, reached_in=name) if name else known


def _called(known: Milestones, part: PartRecorded, seq: int) -> Milestones:
    if part.kind == "tool_result":
        return replace(known, read=part.part, read_at=seq, call="") if part.call and part.call == known.call else known
    if not plain(part.tool).endswith(_MEMORY) or (part.kind == "tool" and part.status != "completed"):
        return known
    action = arguments_of(part.input).get("action")
    if action in LOOKING:
        known = replace(known, reached_in="")
    if action != "read":
        return known
    return replace(known, call=part.call) if part.kind == "tool_call" else replace(known, read=part.part, read_at=seq)
