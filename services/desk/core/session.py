"""The desk's aggregate of a session: what a command about it becomes, or the reason why it becomes nothing."""

import msgspec

from schemas.commands import Command, DropQueue, FlushRequest, HistoryOrder, HistoryRebuild, HistoryRescore
from schemas.envelope import Envelope
from schemas.events import Event, FlushRequested, StepOpened
from services.desk.core import history, tags
from services.desk.core.decision import CommandContext, Decision
from services.desk.core.tags import Tags

replace = msgspec.structs.replace


class Session(msgspec.Struct, frozen=True):
    """A session at one position of the log, as far as commands about it are concerned."""

    tags: Tags = Tags()
    has_begun: bool = False
    """Whether it has made a model call."""


def evolve(session: Session, event: Event, envelope: Envelope) -> Session:
    match event:
        case StepOpened():
            return session if session.has_begun else replace(session, has_begun=True)
        case _:
            held = tags.evolve(session.tags, event, envelope)
            return session if held is session.tags else replace(session, tags=held)


def decide(session: Session, command: Command, context: CommandContext) -> Decision:
    """Decide on the newest state of the session."""
    match command:
        case DropQueue(drop=text):
            return tags.drop(session.tags, text, context.protected)
        case FlushRequest(reason=reason):
            text = "Everything that waits will be applied at the next model call."
            return Decision(ok=True, text=text, events=(FlushRequested(reason=reason),))
        case HistoryOrder() | HistoryRebuild() | HistoryRescore():
            return history.order(command, _standing(session, context))
        case _:
            raise TypeError(f"no rule for {command!r}")


def _standing(session: Session, context: CommandContext) -> history.Standing:
    if not context.history:
        return history.Standing.OFF if not context.is_history_own else history.Standing.OFF_HERE
    return history.Standing.READY if session.has_begun else history.Standing.BEFORE
