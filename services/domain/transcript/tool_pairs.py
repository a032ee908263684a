"""Messages that cannot be parted: from a tool's call to its result, where these stand in several messages."""

from collections.abc import Iterator, Sequence
from itertools import chain

from services.domain.conversation import Conversation, Message


def arcs(messages: Sequence[Message], conversation: Conversation) -> Iterator[tuple[Message, ...]]:
    """These messages in their order, those together that belong together."""
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
