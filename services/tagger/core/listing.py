"""The list: which messages are part of the conversation, and in which order."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.events import MessageListed, MessageRecorded, MessageRemoved
from schemas.inbox import Listed
from services.domain.conversation import Conversation
from services.tagger.core.numbering import MAX_NAMES_PER_EVENT
from services.tagger.core.state import TaggedSession


def removed(messages: Sequence[str], reason: str) -> list[MessageRemoved]:
    """The facts that these are gone, if there are any; none of them names more than an event has room for."""
    starts = range(0, len(messages), MAX_NAMES_PER_EVENT)
    return [
        MessageRemoved(messages=[*messages[start : start + MAX_NAMES_PER_EVENT]], reason=reason) for start in starts
    ]


def from_message(conversation: Conversation, message: str) -> list[str]:
    """List this message and all behind it."""
    known = conversation.messages.get(message)
    if known is None or not known.present:
        return []
    return [behind.recorded.message for behind in conversation.after(known.ordinal - 1)]


def listed(
    session: TaggedSession, after: str, messages: Sequence[Listed], *, is_last: bool
) -> list[MessageRemoved | MessageListed | MessageRecorded]:
    """Make the conversation behind `after` this list: those left out are removed, new ones get their places.

    What follows a piece that is not the last one stays as it was: the pieces to come report it.
    """
    conversation = session.conversation
    if after and not is_present(conversation, after):
        return []
    start = conversation.messages[after].ordinal if after else 0
    places = _places(session, start, messages)
    end = conversation.last_ordinal if is_last else max(places.values(), default=0)
    left_out = [
        message.recorded.message
        for message in conversation.after(start)
        if message.ordinal <= end and message.recorded.message not in places
    ]
    return [*removed(left_out, "unlisted"), *_placed(conversation, places), *_parts_listed(conversation, messages)]


def _places(session: TaggedSession, place: int, messages: Sequence[Listed]) -> dict[str, int]:
    """The place of each message of a list: where it was, if that is behind the one before it, else at the end.

    The end of a copy goes through the places of what was copied first: a message and its copy stand at the same one.
    """
    conversation = session.conversation
    last = conversation.last_ordinal
    places: dict[str, int] = {}
    for listed in messages:
        known = conversation.messages.get(listed.message)
        if known is not None and known.ordinal > place:
            place = known.ordinal
        else:
            place = last = _next(session.places, last)
        places[listed.message] = place
    return places


def _next(inherited: Sequence[int], last: int) -> int:
    """The place behind the last one that was given. `inherited`: the first and the last of each run."""
    runs = zip(inherited[::2], inherited[1::2], strict=True)
    return next((max(first, last + 1) for first, end in runs if last < end), last + 1)


def _placed(conversation: Conversation, places: Mapping[str, int]) -> Iterator[MessageListed]:
    """Places for messages that have none, lost theirs, or stand elsewhere now."""
    names = [name for name, place in places.items() if conversation.order.get(place) != name]
    for start in range(0, len(names), MAX_NAMES_PER_EVENT):
        piece = names[start : start + MAX_NAMES_PER_EVENT]
        yield MessageListed(messages=piece, ordinals=[places[name] for name in piece])


def _parts_listed(conversation: Conversation, messages: Sequence[Listed]) -> Iterator[MessageRecorded]:
    """Messages of which a harness sends other parts than those that are known, or in another order."""
    for listed in messages:
        known = conversation.messages.get(listed.message)
        if known is None:
            continue
        parts = [part for part in listed.parts if part in conversation.parts]
        exceptions = [] if tuple(parts) == known.parts or not listed.parts else parts
        if exceptions != known.recorded.listed:
            yield msgspec.structs.replace(known.recorded, listed=exceptions)


def is_present(conversation: Conversation, message: str) -> bool:
    """Whether a message is part of the conversation now."""
    known = conversation.messages.get(message)
    return known is not None and known.present
