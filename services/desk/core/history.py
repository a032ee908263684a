"""Orders about history: what is to be done, and with which messages."""

from collections.abc import Mapping
from enum import Enum

from schemas.commands import HistoryOrder, HistoryRebuild, HistoryRescore
from schemas.events import HistoryOrdered
from services.domain.decision import Decision
from services.domain.ranges import MAX_ECHO, BadRange, ends_of

STOP = "stop"
REBUILD, ABANDON = "rebuild", "abandon"
OF_REBUILDS: Mapping[str, bool] = {REBUILD: True, ABANDON: False}
"""Orders about a rebuild -> whether one is wanted behind them."""
LAST_ORDINAL = 10**9


class HistoryState(Enum):
    """Whether the history of a session is compressed at all."""

    READY = "ready"
    BEFORE = "before"
    """The session has made no model call yet: an order waits for the first one."""
    OFF = "off"
    OFF_HERE = "off here"
    """By the project's own settings."""
    NO_MODEL = "no model"
    """It is compressed by rules alone: no model is set."""
    NONE = "none"
    """Nothing of it is compressed yet."""


REFUSED = {
    HistoryState.OFF: "no history is compressed here: it is switched off (ANNALS_HISTORY__ENABLED)",
    HistoryState.OFF_HERE: "no history of this project is compressed: its settings switch it off (history.enabled); "
    "a person sees them with `annals project settings`",
}


NO_MODEL = (
    "Nothing was ordered: no model is set that could judge history, which rules alone compress; name one in "
    "ANNALS_MODEL__CHAIN."
)


NO_HISTORY = (
    "Nothing was ordered: this session has no compressed history yet, which could be made or judged anew; "
    "`/ctx-wrapup` has all compressed that can be."
)
NO_REBUILD = "Nothing was given up: no rebuild was ordered in this session since the last one was given up."


def order(command: HistoryOrder | HistoryRebuild | HistoryRescore, state: HistoryState, newest: int = 0) -> Decision:
    """Order it, or refuse what nobody would do. To give a rebuild up is refused only where none was ordered.

    `newest`: the number of the session's newest message; 0: it is not known.
    """
    if is_stop(command):
        text = "A rebuild that waits or is under way is given up, and what it has made; otherwise nothing changes."
        return Decision(ok=True, text=text, events=(HistoryOrdered(order=ABANDON),))
    if state in REFUSED:
        return Decision(ok=False, text=f"Nothing was ordered: {REFUSED[state]}.")
    if state is HistoryState.NONE and not isinstance(command, HistoryOrder):
        return Decision(ok=False, text=NO_HISTORY)
    when = "in the background"
    if state is HistoryState.BEFORE:
        when += ", after the first model call of this session"
    match command:
        case HistoryOrder():
            text = f"All history that can be compressed will be, {when}."
            return Decision(ok=True, text=text, events=(HistoryOrdered(order="wrapup"),))
        case HistoryRebuild(range=named):
            return _rebuild(named.strip(), when, newest)
        case HistoryRescore() if state is HistoryState.NO_MODEL:
            return Decision(ok=False, text=NO_MODEL)
        case HistoryRescore():
            text = (
                f"A model (ANNALS_MODEL__CHAIN) will judge anew, {when}, how long each part of the compressed history "
                "is worth keeping. No prompt changes before it is rewritten for another reason."
            )
            return Decision(ok=True, text=text, events=(HistoryOrdered(order="rescore"),))


def is_stop(command: HistoryOrder | HistoryRebuild | HistoryRescore) -> bool:
    """Whether a rebuild is to be given up."""
    return isinstance(command, HistoryRebuild) and command.range.strip().lower() == STOP


def _rebuild(named: str, when: str, newest: int) -> Decision:
    """Of a range, or of everything."""
    try:
        first, last = parse_range(named) if named else (0, 0)
    except BadRange as error:
        return Decision(ok=False, text=f"Nothing was ordered: {error}.")
    if newest and last > newest:
        reason = (
            f"this session has {newest} messages, so that {first}-{last} is not in it: name a range within 1-{newest}"
        )
        return Decision(ok=False, text=f"Nothing was ordered: {reason}.")
    which = f"Messages {first}-{last}, out to the bounds of their compartments," if first else "All compressed history"
    text = f"{which} will be made anew {when}. What is there now holds until then."
    return Decision(ok=True, text=text, events=(HistoryOrdered(order=REBUILD, first=first, last=last),))


def parse_range(text: str) -> tuple[int, int]:
    """`12-80` as its two ordinals."""
    remedy = f'is no range of messages: write "12-80", or "{STOP}"'
    ends = [end.strip() for end in text.split("-")]
    if len(ends) == 1:
        raise BadRange(f"{text.strip()[:MAX_ECHO]!r} {remedy}")
    if any(end and not end.strip("0") for end in ends):
        raise BadRange(f"the range {text.strip()[:MAX_ECHO]!r} names message 0, and they are counted from 1")
    first, last = ends_of(text, remedy)
    if last > LAST_ORDINAL:
        raise BadRange(f"the range {text.strip()!r} names more messages than any session has")
    return first, last
