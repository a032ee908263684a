"""Messages a page at a time: as many as fit into memory at once with their contents."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from services.domain.conversation import Conversation, Message

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


def arcs(messages: Sequence[Message], conversation: Conversation) -> Iterator[tuple[Message, ...]]:
    """These messages in their order, together from a tool's call to its result, where several messages have these."""
    answers = {owner: at for at, one in enumerate(messages) for owner in _answered(one, conversation)}
    start = end = 0
    for at, one in enumerate(messages):
        if at > end:
            yield tuple(messages[start:at])
            start = end = at
        end = max(end, answers.get(one.recorded.message, at))
    if messages:
        yield tuple(messages[start:])


def whole(messages: Sequence[Message], conversation: Conversation) -> Sequence[Message]:
    """These messages up to the first arc that goes on behind them. A call that was never answered holds nothing up."""
    if not messages:
        return messages
    open_ = {owner for one in conversation.after(messages[-1].ordinal) for owner in _answered(one, conversation)}
    if open_.isdisjoint(one.recorded.message for one in messages):
        return messages
    complete = []
    for arc in arcs(messages, conversation):
        if not open_.isdisjoint(one.recorded.message for one in arc):
            break
        complete.append(arc)
    return tuple(chain.from_iterable(complete))


def _answered(message: Message, conversation: Conversation) -> Iterator[str]:
    """The messages whose calls this one answers."""
    for _, part in conversation.sent_parts(message):
        if part.recorded.kind == "tool_result" and part.recorded.owner != message.recorded.message:
            yield part.recorded.owner
