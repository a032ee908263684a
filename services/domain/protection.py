"""Protected tags: the newest ones of the conversation as it is now. The one rule, for all who ask.

What is protected stays, whoever asks to drop it, until newer tags have come. Where room is short, a prompt keeps no
more of it than it is to keep of its newest messages; where the model would refuse the prompt, nothing is protected.
"""

from collections.abc import Callable

from services.domain.conversation import Conversation


def newest(last: int, count: int, is_listed: Callable[[int], bool], *, behind: int = 0) -> frozenset[int]:
    """The `count` highest tags whose parts are in messages that are part of the conversation now.

    All who ask know that from the same facts, and give the same answer. What was dropped keeps its place among them:
    a drop makes nothing older. What is cut away is older than what is served, and takes no place from that.

    `last`: the highest tag there is; `behind`: one up to which none is listed, where the search may end.
    """
    found: list[int] = []
    number = last
    while number > behind and len(found) < count:
        if is_listed(number):
            found.append(number)
        number -= 1
    return frozenset(found)


def protected(conversation: Conversation, count: int, *, behind: int = 0) -> frozenset[int]:
    """The same of a conversation."""

    def is_listed(number: int) -> bool:
        return conversation.place(conversation.numbered.get(number, "")) > 0

    return newest(conversation.last_number, count, is_listed, behind=behind)


def protected_sentence(tags: str, count: int) -> str:
    """The answer to an agent that has asked to drop tags that are protected: this rule, in one sentence."""
    return f"Queued, and kept while among the newest {count} and there is room for it: {tags}."
