"""OpenCode without Annals: the same calls, shortened by its own compaction alone, in the rules of its release 1.18.

When the last call's tokens reach what the window has without the longest answer, the messages but a tail are
summarised by a call of its own, and the conversation goes on with a question, the summary, the tail, and a request to
continue. A refused call is compacted without the running turn, whose prompt is then sent again. Pruning is off, as it
is by default.
"""

import re
from collections.abc import Sequence
from datetime import datetime

import msgspec

from schemas.asks import Plan
from schemas.codec import encode
from schemas.commands import Answer, Command
from schemas.envelope import Actor
from schemas.inbox import MessageSeen, Seen, StepSeen, UsageSeen
from services.domain.edits import ServedMessage, ServedPart
from services.domain.tokens import tokens
from services.edges.client.adapter import ServedCall, as_sent

TAIL = (2_000, 15_000)
"""Tokens of recent turns that stay as they are: a quarter of what is usable, within these bounds."""
OUTPUT_SHOWN = 2_000
"""Characters of a tool's output that the summariser is shown."""
TEMPLATE = 700
"""Tokens of the summariser's instructions."""
QUESTION = "What did we do so far?"
CONTINUE = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."

PERSON, PERSONS = 300, 40
ANSWER, ANSWERS = 80, 30
"""A summary's content: the last so many lines of the messages, each of so many characters."""
_SPEECH = re.compile(r"^\[(User|Assistant)\]: (.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)

replace = msgspec.structs.replace


class Alone:
    """One session of OpenCode, with the same face as an adapter."""

    def __init__(self, limit: int, output: int) -> None:
        self._limit = limit
        self._usable = limit - output
        self._visible: list[ServedMessage] = []
        self._summary = ""
        self._compactions = 0
        self._sent_messages = 0
        self._used = 0
        self._overflowed = False

    async def publish(self, _name: str, _at: datetime, /, *items: Seen) -> None:
        """Nobody listens."""

    async def saw(self, *messages: MessageSeen) -> None:
        """Nobody listens."""

    async def send(self, _name: str, _command: Command, _at: datetime, _actor: Actor, /) -> Answer:
        return Answer(ok=False, text="There is no tool for that in OpenCode alone.")

    async def answered(self, usage: UsageSeen, _at: datetime, /) -> None:
        self._used = usage.input + usage.cache_read + usage.cache_write + usage.output

    async def refused(self, _text: str, _at: datetime, /) -> None:
        self._overflowed = True

    async def step(self, step: StepSeen, messages: Sequence[MessageSeen], _at: datetime, /) -> ServedCall:
        """The call as OpenCode sends it, after a compaction if one is due."""
        self._visible += [as_sent(message) for message in messages[self._sent_messages :]]
        self._sent_messages = len(messages)
        aside = self._compacted() if self._overflowed or self._used >= self._usable else 0
        self._used, self._overflowed = 0, False
        causes = ("compaction",) if aside else ()
        return ServedCall(step.step, (*self._head(), *self._visible), Plan("ready"), 0.0, causes, aside=aside)

    def _head(self) -> tuple[ServedMessage, ...]:
        if not self._compactions:
            return ()
        name = f"compaction:{self._compactions}"
        return _message(f"{name}:u", "user", QUESTION), _message(f"{name}:a", "assistant", self._summary)

    def _compacted(self) -> int:
        """Summarise, and go on with what is left; the tokens of that call. What is too long for it stays: 0."""
        replayed = _last_prompt(self._visible) if self._overflowed else None
        if replayed is not None and not any(map(_is_prompt, self._visible[:replayed])):
            replayed = None
        before = self._visible[:replayed]
        start = tail(before, max(TAIL[0], min(TAIL[1], self._usable // 4)))
        text = transcript(before[:start])
        request = tokens(len(f"{self._summary}{text}".encode())) + TEMPLATE
        if request > self._limit:
            return 0
        self._summary = summarise(f"{self._summary}\n{text}")
        self._compactions += 1
        name = f"continue:{self._compactions}"
        again = _message(name, "user", CONTINUE) if replayed is None else replace(self._visible[replayed], id=name)
        recent = self._visible[start:] if start < len(before) else []
        self._visible = [*recent, again]
        return request + tokens(len(self._summary.encode()))


def tail(messages: Sequence[ServedMessage], budget: int) -> int:
    """The beginning of the tail: whole turns while they fit, then as much of one as fits; the end, if nothing does."""
    sizes = [tokens(len(encode(message))) for message in messages]
    start = end = len(messages)
    for turn in [at for at, message in enumerate(messages) if _is_prompt(message)][::-1]:
        if sum(sizes[turn:]) <= budget:
            start, end = turn, turn
            continue
        start = next((at for at in range(turn + 1, end) if sum(sizes[at:]) <= budget and _begins(messages[at])), start)
        break
    return start or len(messages)


def transcript(messages: Sequence[ServedMessage]) -> str:
    """The messages as the summariser is shown them."""
    return "\n\n".join(filter(None, ("\n".join(_lines(message)) for message in messages)))


def _lines(message: ServedMessage) -> list[str]:
    who = "User" if message.role == "user" else "Assistant"
    lines: list[str] = []
    for part in message.parts:
        if part.kind in ("tool", "tool_call"):
            lines.append(f"[Assistant tool call]: {part.tool}({part.input})")
        elif part.text:
            lines.append(f"[{who} reasoning]: {part.text}" if part.kind == "reasoning" else f"[{who}]: {part.text}")
        if part.output:
            cut = "\n[truncated]" if len(part.output) > OUTPUT_SHOWN else ""
            lines.append(f"[Tool result]: {part.output[:OUTPUT_SHOWN]}{cut}")
    return lines


def summarise(text: str) -> str:
    """A summary by rules, the same for everybody: a person's words and the answers, cut."""
    persons = [line for line in text.splitlines() if line.startswith("- User: ")]
    answers = [line for line in text.splitlines() if line.startswith("- Agent: ")]
    for who, words in _SPEECH.findall(text):
        flat = " ".join(words.split())
        if who == "User":
            persons.append(f"- User: {flat[:PERSON]}")
        else:
            answers.append(f"- Agent: {flat[:ANSWER]}")
    return "\n".join(["## Goal and instructions", *persons[-PERSONS:], "## Progress", *answers[-ANSWERS:]])


def _last_prompt(messages: Sequence[ServedMessage]) -> int | None:
    return next((at for at in range(len(messages) - 1, -1, -1) if _is_prompt(messages[at])), None)


def _is_prompt(message: ServedMessage) -> bool:
    return message.role == "user" and any(part.kind in ("text", "file") for part in message.parts)


def _begins(message: ServedMessage) -> bool:
    """Whether a list may begin with this message: none of its results has its call before it."""
    return all(part.kind != "tool_result" for part in message.parts)


def _message(name: str, role: str, text: str) -> ServedMessage:
    return ServedMessage(name, role, (ServedPart(f"{name}:p0", "text", text=text),))
