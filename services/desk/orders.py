"""Orders about history: what is to be done, and with which messages."""

import re

from schemas.commands import HistoryRebuild
from schemas.events import HistoryOrdered
from services.desk.grammar import MAX_ECHO, BadRange
from services.desk.verdict import Verdict

STOP = "stop"
LAST_ORDINAL = 10**9
_RANGE = re.compile(r"\s*([0-9]{1,18})\s*-\s*([0-9]{1,18})\s*", re.ASCII)


def wrapup() -> Verdict:
    text = "All history that can be compressed will be, in the background."
    return Verdict(ok=True, text=text, events=(HistoryOrdered(order="wrapup"),))


def rebuild(wish: HistoryRebuild) -> Verdict:
    """Of a range, of everything, or to be given up."""
    named = wish.range.strip()
    if named.lower() == STOP:
        text = "A rebuild that waits or is under way is given up, and what it has made; otherwise nothing changes."
        return Verdict(ok=True, text=text, events=(HistoryOrdered(order="abandon"),))
    try:
        first, last = parse_range(named) if named else (0, 0)
    except BadRange as error:
        return Verdict(ok=False, text=f"Nothing was ordered: {error}.")
    which = f"Messages {first}-{last}, out to the bounds of their compartments," if first else "All compressed history"
    text = f"{which} will be made anew in the background. What is there now holds until then."
    return Verdict(ok=True, text=text, events=(HistoryOrdered(order="rebuild", first=first, last=last),))


def rescore() -> Verdict:
    text = (
        "A model (ANNALS_MODEL__CHAIN) will judge anew, in the background, how long each part of the compressed "
        "history is worth keeping. No prompt changes before it is rewritten for another reason."
    )
    return Verdict(ok=True, text=text, events=(HistoryOrdered(order="rescore"),))


def parse_range(text: str) -> tuple[int, int]:
    """`12-80` as its two ordinals."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise BadRange(f'{text.strip()[:MAX_ECHO]!r} is no range of messages: write "12-80", or "{STOP}"')
    first, last = int(found[1]), int(found[2])
    if not first or not last:
        raise BadRange(f"the range {text.strip()!r} names message 0, and they are counted from 1")
    if last < first:
        raise BadRange(f'the range {text.strip()!r} runs backwards: write "{last}-{first}"')
    if last > LAST_ORDINAL:
        raise BadRange(f"the range {text.strip()!r} names more messages than any session has")
    return first, last
