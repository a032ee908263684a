"""Messages as lines of a transcript: each with its author, and one line for each use of a tool."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from services.domain.attachments import file_name, short_name
from services.domain.texts.bounds import beginning, flat, shortened
from services.domain.texts.clean import cleaned
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.texts.posing import unposed_line
from services.domain.tokens import tokens
from services.domain.tools.call import TOOLS, Call, call_of
from services.domain.transcript import commits

PERSON, AGENT, HARNESS, TASK = "U", "A", "S", "Task"
_POSING = re.compile(r"\[\d{1,18}|TC:|commits:|(?:[UAS]|Task):")
"""Beginnings of a transcript's lines: a line of somebody's text must not pose as one of these."""
LONGEST_TARGET = 120
MOST_FILES = 4
"""Of one answer that are named."""
LONGEST_DESCRIPTION = 80
LONGEST_REPORT = 600
"""Bytes of what someone answered whom a tool asked."""
LONGEST_NOTICE = 300
"""Bytes of what only the harness says."""
LONGEST_SUMMARY = 1200
"""Bytes of a summary that the harness made: its content is in earlier history."""


class MessageEntry(msgspec.Struct, frozen=True):
    """One message, read."""

    ordinal: int
    message: str
    speaker: str
    """U: a person, A: the agent and its tools, S: the harness, Task: the agent that started the session; empty: it says
    nothing."""
    lines: tuple[str, ...] = ()
    """Texts, and lines that begin with `TC:`."""
    commits: tuple[str, ...] = ()


class Block(msgspec.Struct, frozen=True):
    """Neighbouring messages of one side."""

    first: int
    last: int
    speaker: str
    text: str
    tokens: int
    tool_only: bool = False


def entry(message: RecordedMessage, most: int, *, keeps_lines: bool = False) -> MessageEntry:
    """A message as texts of at most `most` bytes each. What a harness adds to a person's words is left out.

    `keeps_lines`: line breaks of texts stay, for whoever reads the messages again; else each text is on one line.
    """
    mechanical = message.synthetic or message.role == "system"
    speaks = any(
        not (mechanical or piece.synthetic or piece.ignored) and _text(message, piece, most) for piece in message.pieces
    )
    lines: list[str] = []
    confirmed: list[str] = []
    listed: list[str] = []
    for piece in message.pieces:
        if piece.ignored or (speaks and piece.synthetic and message.role == "user" and piece.kind not in TOOLS):
            continue
        if piece.kind in TOOLS:
            used = call_of(piece)
            lines += _tool(piece, used)
            confirmed += commits.made_commits(used)
            listed += commits.listed_hashes(used)
        elif line := _text(message, piece, most, keeps_lines=keeps_lines):
            lines.append(line)
            confirmed += commits.mentioned(line) if message.role == "assistant" else ()
    found = tuple(dict.fromkeys((*confirmed, *listed)))[: commits.MOST]
    return MessageEntry(message.ordinal, message.message, _speaker(message, lines, speaks=speaks), tuple(lines), found)


def block(entries: Sequence[MessageEntry], most: int, *, keeps_lines: bool = False) -> Block:
    """Entries of one speaker as one block of at most `most` bytes; those that say nothing are covered by it."""
    with_lines = [one for one in entries if one.lines]
    speaker = with_lines[0].speaker if with_lines else ""
    found = tuple(dict.fromkeys(one for each in with_lines for one in each.commits))[: commits.MOST]
    first, last = entries[0].ordinal, entries[-1].ordinal
    place = f"[{first}]" if first == last else f"[{first}-{last}]"
    lines = [line for one in with_lines for line in one.lines]
    hashes = [f"commits: {', '.join(found)}"] if found else []
    body = "\n".join(_joined([*hashes, *lines], "\n" if keeps_lines else " / "))
    separator = "\n" if body.startswith("TC:") else " "
    text = shortened(f"{place} {speaker}:{separator}{body}", most)
    return Block(
        first=first,
        last=last,
        speaker=speaker,
        text=text,
        tokens=tokens(len(text.encode()) + 1),
        tool_only=all(line.startswith("TC:") for line in lines),
    )


def atoms(recorded: Sequence[RecordedMessage]) -> Iterator[tuple[RecordedMessage, ...]]:
    """Messages that belong together: from a tool's call to its result, where these stand in several messages."""
    ends = _ends(recorded)
    start = end = 0
    for at, last in enumerate(ends):
        if at > end:
            yield tuple(recorded[start:at])
            start = end = at
        end = max(end, last)
    if recorded:
        yield tuple(recorded[start:])


def _ends(recorded: Sequence[RecordedMessage]) -> list[int]:
    """The place of the last result of each message's calls, or of the message itself.

    Ids of calls come back in a conversation: a result belongs to the nearest call before it that has none yet.
    """
    ends = list(range(len(recorded)))
    open_: dict[str, list[int]] = {}
    for at, one in enumerate(recorded):
        for piece in one.pieces:
            if piece.kind == "tool_call" and piece.call:
                open_.setdefault(piece.call, []).append(at)
            elif piece.kind == "tool_result" and (waiting := open_.get(piece.call)):
                ends[waiting.pop()] = at
    return ends


def _speaker(message: RecordedMessage, lines: list[str], *, speaks: bool) -> str:
    if not lines:
        return ""
    if message.role in {"assistant", "tool"}:
        return AGENT
    if message.role == "user":
        if speaks:
            return TASK if message.is_task else PERSON
        return AGENT if all(line.startswith("TC:") for line in lines) else HARNESS
    return HARNESS


def _text(message: RecordedMessage, piece: Piece, most: int, *, keeps_lines: bool = False) -> str:
    """The text of a message; a line that looks like a place or a tool's use in a transcript is marked as neither.

    Only what a person wrote may look like a person's words.
    """
    text = _words_of(message, piece, most)
    lines = [line.rstrip() for line in text.split("\n")] if keeps_lines else [flat(text)]
    if message.role != "user" or message.is_task or message.synthetic or piece.synthetic or piece.kind != "text":
        lines = [unposed_line(line) for line in lines]
    return "\n".join(f"- {line}" if _POSING.match(line) else line for line in lines).strip("\n")


def _words_of(message: RecordedMessage, piece: Piece, most: int) -> str:
    match piece.kind:
        case "text":
            text = piece.text if message.role == "assistant" else cleaned(piece.words)
            mechanical = message.synthetic or piece.synthetic or message.role == "system"
            return shortened(text, LONGEST_NOTICE if mechanical else most)
        case "compaction":
            return shortened(piece.text, LONGEST_SUMMARY)
        case "file":
            return _file(file_name(piece.text, piece.filename))
        case _:
            return ""


def _tool(piece: Piece, used: Call) -> Iterator[str]:
    """A line for a call; for a result without its call, only if it reports a failure or shows something."""
    failure = f" -> error: {used.error}" if used.failed else ""
    files = "".join(f" {_file(short_name(one.filename))}" for one in piece.attachments[:MOST_FILES])
    if piece.kind == "tool_result":
        if failure or files:
            yield f"TC: {flat(piece.tool) or 'tool'}{failure}{files}"
        return
    target = f"({_target(used)})" if used.about else ""
    more = f" {beginning(flat(used.description), LONGEST_DESCRIPTION)}" if used.description else ""
    others = f" and {len(used.files) - 1} more files" if len(used.files) > 1 else ""
    answer = f" -> {flat(shortened(used.report, LONGEST_REPORT))}" if used.report and not failure else ""
    yield f"TC: {flat(used.tool) or 'tool'}{target}{others}{more}{failure}{answer}{files}"


def _file(name: str) -> str:
    """A picture or a document, by its name."""
    return f"[file {name}]" if name else "[file]"


def _target(used: Call) -> str:
    """A shortened text: of a path the end is more informative, of everything else the beginning."""
    if used.kind in {"edit", "read"} and len(used.about) > LONGEST_TARGET:
        return f"…{used.about[1 - LONGEST_TARGET :]}"
    return beginning(used.about, LONGEST_TARGET)


def _joined(lines: Iterable[str], separator: str) -> Iterator[str]:
    """Texts that follow each other with this between them; each use of a tool is a line of its own."""
    text = ""
    for line in lines:
        if line.startswith("TC:"):
            if text:
                yield text
            yield line
            text = ""
        else:
            text = f"{text}{separator}{line}" if text else line
    if text:
        yield text
