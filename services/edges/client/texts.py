"""The texts of messages, as measuring what is still in sight needs them."""

from collections.abc import Iterable, Iterator, Sequence

from schemas.inbox import MessageSeen, PartSeen
from services.domain.edits import ServedMessage
from services.edges.client.changes import argument_texts, edits
from services.edges.client.recall import AgentOutput, VisibleText


class PromptTexts:
    """All texts of a prompt, message by message; the texts of a message are cached until it changes."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[ServedMessage, tuple[str, ...]]] = {}

    def of(self, messages: Sequence[ServedMessage]) -> tuple[str, ...]:
        return tuple(text for message in messages for text in self._of(message))

    def _of(self, message: ServedMessage) -> tuple[str, ...]:
        known = self._read.get(message.id)
        if known is None or known[0] != message:
            known = self._read[message.id] = (message, tuple(_texts(message)))
        return known[1]


def _texts(message: ServedMessage) -> Iterator[str]:
    for part in message.parts:
        yield from filter(None, (part.text, *(argument_texts(part.input) if part.input else ()), part.output))


def texts_by_agent(answer: MessageSeen) -> AgentOutput:
    """The output of an agent: its words and the arguments of its calls, not its thoughts."""
    parts = [part for part in answer.parts if not part.ignored]
    words = [part.text for part in parts if part.type == "text"]
    inputs = [part.input for part in parts if part.input]
    arguments = [text for one in inputs for text in argument_texts(one)]
    return AgentOutput(answer.message, (*words, *arguments), tuple(edit for one in inputs for edit in edits(one)))


def texts_for_agent(messages: Iterable[MessageSeen]) -> Iterator[VisibleText]:
    """The texts that these show to the agent: all but its own words."""
    for message in messages:
        for part in message.parts:
            text = _shows(message, part)
            if text and not part.ignored:
                yield VisibleText(part.part, text)


def _shows(message: MessageSeen, part: PartSeen) -> str:
    return part.output or (part.text if message.role != "assistant" or part.type == "compaction" else "")
