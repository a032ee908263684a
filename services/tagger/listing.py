"""The list: which messages are part of the conversation, and in which order."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.events import Event, MessageListed, MessageRemoved
from schemas.inbox import Listed
from services.kit.conversation import Conversation
from services.tagger.numbering import MAX_NAMES_PER_EVENT
from services.tagger.state import Session


def removed(messages: Sequence[str], reason: str) -> list[Event]:
    """The fact that these are gone, if there are any."""
    return [MessageRemoved(messages=list(messages), reason=reason)] if messages else []


def from_message(talk: Conversation, message: str) -> list[str]:
    """List this message and all behind it."""
    known = talk.messages.get(message)
    if known is None or not known.present:
        return []
    return [behind.recorded.message for behind in talk.after(known.ordinal - 1)]


def listed(session: Session, after: str, messages: Sequence[Listed], *, is_last: bool) -> list[Event]:
    """Make the conversation behind `after` this list: those left out are removed, new ones get their places.

    What stands behind a piece that is not the last one stays as it was: the pieces to come tell of it.
    """
    talk = session.talk
    if after and not is_present(talk, after):
        return []
    start = talk.messages[after].ordinal if after else 0
    places = _places(talk, start, messages)
    end = talk.last_ordinal if is_last else max(places.values(), default=0)
    left_out = [
        message.recorded.message
        for message in talk.after(start)
        if message.ordinal <= end and message.recorded.message not in places
    ]
    return [*removed(left_out, "unlisted"), *_placed(talk, places), *_parts_listed(talk, messages)]


def _places(talk: Conversation, place: int, messages: Sequence[Listed]) -> dict[str, int]:
    """Where each message of a list stands: where it stood, if that is behind the one before it, else at the end."""
    last = talk.last_ordinal
    places: dict[str, int] = {}
    for listed in messages:
        known = talk.messages.get(listed.message)
        if known is not None and known.ordinal > place:
            place = known.ordinal
        else:
            place = last = last + 1
        places[listed.message] = place
    return places


def _placed(talk: Conversation, places: Mapping[str, int]) -> Iterator[Event]:
    """Places for messages that have none, lost theirs, or stand elsewhere now."""
    names = [name for name, place in places.items() if talk.order.get(place) != name]
    for start in range(0, len(names), MAX_NAMES_PER_EVENT):
        piece = names[start : start + MAX_NAMES_PER_EVENT]
        yield MessageListed(messages=piece, ordinals=[places[name] for name in piece])


def _parts_listed(talk: Conversation, messages: Sequence[Listed]) -> Iterator[Event]:
    """Where a harness sends other parts of a message than those that are known, or in another order."""
    for listed in messages:
        known = talk.messages.get(listed.message)
        if known is None:
            continue
        parts = [part for part in listed.parts if part in talk.parts]
        exceptions = [] if tuple(parts) == known.parts or not listed.parts else parts
        if exceptions != known.recorded.listed:
            yield msgspec.structs.replace(known.recorded, listed=exceptions)


def is_present(talk: Conversation, message: str) -> bool:
    """Whether a message is part of the conversation now."""
    known = talk.messages.get(message)
    return known is not None and known.present
