"""Recorded sessions as turns that can be played again in a real harness."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from schemas.inbox import MessageSeen, PartSeen
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from tests.harness.provider import Call
from tests.helpers.recordings import SHIPPED, foreign_files

ROOT = Path(__file__).parents[3]


class Recorded(msgspec.Struct, frozen=True):
    """One call as it was made."""

    tool: str
    input: str
    output: str


class Step(msgspec.Struct, frozen=True):
    """One answer of the model."""

    answer: MessageSeen
    text: str = ""
    reasoning: str = ""
    calls: tuple[Recorded, ...] = ()
    ready: tuple[Call, ...] = ()
    """Calls that need not be made into others."""


class Turn(msgspec.Struct, frozen=True):
    """A person's message, and the answers until the agent was done."""

    words: str
    steps: tuple[Step, ...]


def found(stem: str) -> Transcript | None:
    """A recording by a part of its file's name; those that come along are looked at last."""
    paths = [*foreign_files("transcripts/neutral/*.gz"), *sorted(SHIPPED.glob("*.gz"))]
    path = next((one for one in paths if stem in one.name), None)
    return _longest(read(path)) if path else None


def shipped() -> list[Transcript]:
    """The recordings that come along, the longest first."""
    sessions = [*read(SHIPPED)]
    with as_file(files("services.edges.client") / "recorded") as folder:
        sessions += read(folder)
    unique = {one.session: one for one in sessions if not one.seen.parent and len(one.messages) > 1}
    return sorted(unique.values(), key=lambda one: -len(one.messages))


def _longest(sessions: Iterator[Transcript]) -> Transcript:
    return max(sessions, key=lambda one: len(one.messages))


def turns(transcript: Transcript, most: int = 0) -> list[Turn]:
    """The session as turns, up to so many answers."""
    results = {
        part.call: part for message in transcript.messages for part in message.parts if part.type == "tool_result"
    }
    made: list[tuple[str, list[Step]]] = []
    count = 0
    for message in transcript.messages:
        if message.role == "user":
            words = _words(message)
            if words and made and not made[-1][1]:
                made[-1] = (f"{made[-1][0]}\n{words}", [])
            elif words:
                made.append((words, []))
        elif message.role == "assistant" and made:
            step = _step(message, results)
            made[-1][1].extend([step] if step.text or step.calls else [])
            count += 1
            if count == most:
                break
    return [Turn(words, tuple(_ended(steps))) for words, steps in made]


def _words(message: MessageSeen) -> str:
    texts = [part.text for part in message.parts if part.type in ("text", "compaction") and not part.ignored]
    return "\n".join(texts).strip()


def _step(message: MessageSeen, results: Mapping[str, PartSeen]) -> Step:
    parts = [part for part in message.parts if not part.ignored]
    return Step(
        answer=message,
        text="\n".join(part.text for part in parts if part.type == "text").strip(),
        reasoning="\n".join(part.text for part in parts if part.type == "reasoning").strip(),
        calls=tuple(
            Recorded(part.tool, part.input, part.output or (results[part.call].output if part.call in results else ""))
            for part in parts
            if part.type in ("tool", "tool_call")
        ),
    )


def _ended(steps: Sequence[Step]) -> Iterator[Step]:
    """A turn ends with words, and only there: words that were written without a call go with the next one."""
    waiting: list[Step] = []
    for step in steps:
        waiting.append(step)
        if step.calls:
            yield _joined(waiting)
            waiting = []
    yield _joined(waiting) if waiting else Step(MessageSeen("", "assistant"), text="That is done.")


def _joined(steps: Sequence[Step]) -> Step:
    last = steps[-1]
    parts = tuple(part for step in steps for part in step.answer.parts)
    return Step(
        answer=msgspec.structs.replace(last.answer, parts=parts),
        text="\n".join(step.text for step in steps if step.text),
        reasoning="\n".join(step.reasoning for step in steps if step.reasoning),
        calls=last.calls,
    )


def moved(turn: Turn, home: str, workspace: str) -> Turn:
    """The turn as it would have been in another directory."""
    if not home:
        return turn
    return msgspec.json.decode(msgspec.json.encode(turn).replace(home.encode(), workspace.encode()), type=Turn)
