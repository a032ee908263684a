"""`annals memory review`: what waits for a person, one by one, with the words that it came from.

Answers are read line by line, so that they can be typed or piped in. Whatever is not decided on goes on waiting.
"""

from collections.abc import Awaitable, Callable

from schemas.asks import MemoryEntry, MemoryReply
from schemas.commands import Answer, Command, MemoryDecide, MemoryRevise
from services.domain.often import often, quantity
from services.edges.terminal import LineReader, write

QUESTION = "approve, reject, edit, skip or quit? [a/r/e/s/q] "
_WORDS = {one[0]: one for one in ("approve", "reject", "edit", "skip", "quit")}

Send = Callable[[Command], Awaitable[Answer]]


async def review(reply: MemoryReply, send: Send) -> int:
    """Ask about each memory; the exit status: 1 where something was refused."""
    if not reply.memories:
        write("Nothing waits for a decision.")
        return 0
    status, decided, lines = 0, 0, LineReader()
    for number, entry in enumerate(reply.memories, 1):
        write(_proposal(entry, reply.quotes.get(entry.id, ""), number, len(reply.memories)))
        word = await _word(lines, entry)
        if word == "quit":
            break
        for command in await _commands(word, entry, lines):
            answer = await send(command)
            write(answer.text)
            if not answer.ok:
                status = 1
                break
        else:
            decided += word != "skip"
    left = len(reply.memories) - decided
    write(f"{decided} decided on, {quantity(left, 'waits', 'wait')}.")
    return status


def _proposal(entry: MemoryEntry, quote: str, number: int, count: int) -> str:
    source = entry.sources[0] if entry.sources else None
    lines = [f"\n{number} of {count}: {entry.text}", f"  {entry.id}, {entry.category}, from {entry.trust}"]
    lines += [f"  {number}. {part}" for number, part in enumerate(entry.parts, 1)]
    if entry.change:
        lines.append(f"  {_proposed(entry)}{f': {entry.reason}' if entry.reason else ''}")
    if source is not None:
        lines.append(
            f"  {'/'.join(filter(None, (source.actor, source.session, source.message)))}, seen {often(entry.seen)}"
        )
    if quote and quote != entry.text:
        lines.append(f'  its words: "{quote}"')
    return "\n".join(lines)


def _proposed(entry: MemoryEntry) -> str:
    """A sentence about the change of existing memories that a proposal would make."""
    names = ", ".join(entry.targets)
    match entry.change:
        case "merge":
            return f"it would make one memory with these words of {names}"
        case "split":
            return f"it would make these {len(entry.parts)} memories of {names}"
        case "revise":
            return f"these would be the words of {names}"
        case "importance":
            return f"{names} would have the importance {entry.importance}"
        case _:
            return f"{names} would be archived"


async def _word(lines: LineReader, entry: MemoryEntry) -> str:
    """Ask what is to be done; the end of the input ends the review."""
    while True:
        line = await lines.ask(QUESTION)
        if not line:
            return "quit"
        given = line.strip().lower()
        word = next((one for one in _WORDS.values() if given and one.startswith(given)), "")
        if word == "edit" and entry.change == "split":
            write("The parts cannot be edited here: approve it, and edit them then; or reject it.")
        elif word:
            return word
        else:
            write(f"{given!r} is none of these.")


async def _commands(word: str, entry: MemoryEntry, lines: LineReader) -> tuple[Command, ...]:
    match word:
        case "approve":
            return (MemoryDecide(entry.id, approve=True),)
        case "reject":
            return (MemoryDecide(entry.id, approve=False),)
        case "edit":
            text = (await lines.ask("what it shall say: ")).strip()
            approve = MemoryDecide(entry.id, approve=entry.change not in ("archive", "importance"))
            edited = entry.targets[0] if entry.targets else entry.id
            return (approve, MemoryRevise(edited, text)) if text and text != entry.text else (approve,)
        case _:
            return ()
