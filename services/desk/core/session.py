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
WAITS_ALREADY = "Nothing was ordered: a flush is waiting already, and is made at the next model call."
NOTHING_NEW = (
    "Nothing was ordered: nothing is waiting. No text of this session is old enough to leave its prompt, no drop is "
    "queued, and its history and what is remembered are in the prompt as they are."
)


class DeskSession(msgspec.Struct, frozen=True):
    """A session at one position of the log, as far as commands about it are concerned."""

    tags: Tags = Tags()
    has_begun: bool = False
    """Whether it has made a model call."""
    is_flushed: bool = False
    """Whether a flush was ordered since its newest model call."""
    has_rebuild: bool = False
    """Whether a rebuild of history was ordered, and none was given up since."""
    newest: int = 0
    """The highest number of a message; 0: none is listed."""


def evolve(session: DeskSession, event: Event, envelope: Envelope) -> DeskSession:
    match event:
        case StepOpened():
            is_same = session.has_begun and not session.is_flushed
            return session if is_same else replace(session, has_begun=True, is_flushed=False)
        case FlushRequested():
            return replace(session, is_flushed=True)
        case HistoryOrdered(order=ordered) if ordered in history.OF_REBUILDS:
            return replace(session, has_rebuild=history.OF_REBUILDS[ordered])
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
def flush(session: DeskSession, command: FlushRequest, context: CommandContext) -> Decision:
    """Have everything that waits applied at the next model call. What that came to, the plan of that call says.

    It is refused where the facts show that nothing waits: no lane touches one of the newest tags of its own accord.
    """
    if not session.has_begun and not session.tags.last:
        return Decision(ok=False, text=NOTHING_WAITS)
    if session.is_flushed:
        return Decision(ok=False, text=WAITS_ALREADY)
    if session.has_begun and not (context.has_news or tags.has_old(session.tags, context.protected)):
        return Decision(ok=False, text=NOTHING_NEW)
    text = "Everything that waits will be applied at the next model call."
    return Decision(ok=True, text=text, events=(FlushRequested(reason=command.reason),))


@command(HistoryOrder, on=DeskSession, writes=(HistoryOrdered,), address=AddressKind.SESSION)
def order(session: DeskSession, command: HistoryOrder, context: CommandContext) -> Decision:
    """Have all history compressed that can be."""
    return history.order(command, _history_state(session, context), session.newest)


@command(HistoryRebuild, on=DeskSession, writes=(HistoryOrdered,), address=AddressKind.SESSION)
def rebuild(session: DeskSession, command: HistoryRebuild, context: CommandContext) -> Decision:
    """Have compressed history made anew, or give that up."""
    if history.is_stop(command) and not session.has_rebuild:
        return Decision(ok=False, text=history.NO_REBUILD)
    return history.order(command, _past_state(session, context), session.newest)


@command(HistoryRescore, on=DeskSession, writes=(HistoryOrdered,), address=AddressKind.SESSION)
def rescore(session: DeskSession, command: HistoryRescore, context: CommandContext) -> Decision:
    """Have a model judge anew how long each part of the history is worth keeping."""
    state = _past_state(session, context)
    has_none = not context.has_models and state not in history.REFUSED
    return history.order(command, history.HistoryState.NO_MODEL if has_none else state)


def _past_state(session: DeskSession, context: CommandContext) -> history.HistoryState:
    """For an order about what is compressed already."""
    state = _history_state(session, context)
    return state if context.has_history or state in history.REFUSED else history.HistoryState.NONE


def _history_state(session: DeskSession, context: CommandContext) -> history.HistoryState:
    if not context.history:
        return history.HistoryState.OFF if not context.is_history_own else history.HistoryState.OFF_HERE
    return history.HistoryState.READY if session.has_begun else history.HistoryState.BEFORE
