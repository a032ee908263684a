"""The desk's aggregate of a session: what a command about it becomes, or the reason why it becomes nothing."""

import msgspec

from schemas.commands import DropQueue, FlushRequest, HistoryOrder, HistoryRebuild, HistoryRescore
from schemas.envelope import Envelope
from schemas.events import DropRequested, Event, FlushRequested, HistoryOrdered, MessageListed, StepOpened
from services.desk.core import history, tags
from services.desk.core.tags import Tags
from services.domain.command import AddressKind, command
from services.domain.decision import CommandContext, Decision

replace = msgspec.structs.replace


NOTHING_WAITS = (
    "Nothing was ordered: nothing waits in this session, which has made no model call yet. Do this when it has."
)


class DeskSession(msgspec.Struct, frozen=True):
    """A session at one position of the log, as far as commands about it are concerned."""

    tags: Tags = Tags()
    has_begun: bool = False
    """Whether it has made a model call."""
    newest: int = 0
    """The highest number of a message; 0: none is listed."""


def evolve(session: DeskSession, event: Event, envelope: Envelope) -> DeskSession:
    match event:
        case StepOpened():
            return session if session.has_begun else replace(session, has_begun=True)
        case _:
            if isinstance(event, MessageListed) and (newest := max(event.ordinals, default=0)) > session.newest:
                session = replace(session, newest=newest)
            queued = tags.evolve(session.tags, event, envelope)
            return session if queued is session.tags else replace(session, tags=queued)


@command(DropQueue, on=DeskSession, writes=(DropRequested,))
def drop(session: DeskSession, command: DropQueue, context: CommandContext) -> Decision:
    """Queue the tags that an agent names."""
    return tags.drop(session.tags, command.drop, context.protected)


@command(FlushRequest, on=DeskSession, writes=(FlushRequested,))
def flush(session: DeskSession, command: FlushRequest, _: CommandContext) -> Decision:
    """Have everything that waits applied at the next model call. What that came to, the plan of that call says."""
    if not session.has_begun and not session.tags.last:
        return Decision(ok=False, text=NOTHING_WAITS)
    text = "Everything that waits will be applied at the next model call."
    return Decision(ok=True, text=text, events=(FlushRequested(reason=command.reason),))


@command(HistoryOrder, on=DeskSession, writes=(HistoryOrdered,), address=AddressKind.SESSION)
def order(session: DeskSession, command: HistoryOrder, context: CommandContext) -> Decision:
    """Have all history compressed that can be."""
    return history.order(command, _history_state(session, context), session.newest)


@command(HistoryRebuild, on=DeskSession, writes=(HistoryOrdered,), address=AddressKind.SESSION)
def rebuild(session: DeskSession, command: HistoryRebuild, context: CommandContext) -> Decision:
    """Have compressed history made anew, or give that up."""
    return history.order(command, _history_state(session, context), session.newest)


@command(HistoryRescore, on=DeskSession, writes=(HistoryOrdered,), address=AddressKind.SESSION)
def rescore(session: DeskSession, command: HistoryRescore, context: CommandContext) -> Decision:
    """Have a model judge anew how long each part of the history is worth keeping."""
    state = _history_state(session, context)
    has_none = not context.has_models and state not in history.REFUSED
    return history.order(command, history.HistoryState.NO_MODEL if has_none else state)


def _history_state(session: DeskSession, context: CommandContext) -> history.HistoryState:
    if not context.history:
        return history.HistoryState.OFF if not context.is_history_own else history.HistoryState.OFF_HERE
    return history.HistoryState.READY if session.has_begun else history.HistoryState.BEFORE
