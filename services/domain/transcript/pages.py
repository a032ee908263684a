"""Messages a page at a time: as many as fit into memory at once with their contents."""

from collections.abc import Sequence
from itertools import islice

from services.domain.conversation import Conversation, Message
from services.domain.transcript.tool_pairs import arcs

PAGE_BYTES = 8 * 1024 * 1024
"""Bytes of contents in memory at once, unless one message is longer, or messages cannot be separated."""


def page(messages: Sequence[Message], conversation: Conversation) -> Sequence[Message]:
    """As many of these, from the first on, as fit into memory; a call and its result are never separated."""
    size = count = 0
    for arc in arcs(messages, conversation):
        size += sum(
            part.recorded.bytes + part.recorded.input_bytes for one in arc for _, part in conversation.sent_parts(one)
        )
        if size > PAGE_BYTES and count:
            return tuple(islice(messages, count))
        count += len(arc)
    return messages
