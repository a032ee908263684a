"""Messages a page at a time: as many as are well held at once with their contents."""

from collections.abc import Sequence
from itertools import islice

from services.domain.conversation import Conversation, Message
from services.domain.transcript.tool_pairs import arcs

PAGE_BYTES = 8 * 1024 * 1024
"""Of contents that are held at once, as long as one message is not longer, or messages that cannot be parted."""


def page(messages: Sequence[Message], conversation: Conversation) -> Sequence[Message]:
    """As many of these, from the first on, as are well held at once; a call and its result are never parted."""
    size = count = 0
    for arc in arcs(messages, conversation):
        size += sum(
            part.recorded.bytes + part.recorded.input_bytes for one in arc for _, part in conversation.sent_parts(one)
        )
        if size > PAGE_BYTES and count:
            return tuple(islice(messages, count))
        count += len(arc)
    return messages
