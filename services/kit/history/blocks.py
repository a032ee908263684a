"""Messages as lines of a transcript: who said what, and one line for each use of a tool."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from services.kit.history import commits
from services.kit.history.calls import TOOLS, Call, call
from services.kit.history.clean import beginning, cleaned, flat, shortened
from services.kit.history.said import Piece, Said
from services.kit.tokens import tokens

PERSON, AGENT, HARNESS = "U", "A", "S"
LONGEST_TARGET = 120
LONGEST_DESCRIPTION = 80
LONGEST_REPORT = 600
"""Bytes of what someone answered whom a tool asked."""
LONGEST_NOTICE = 300
"""Bytes of what only the harness says."""
LONGEST_SUMMARY = 1200
"""Bytes of a summary that the harness made: what it tells is in earlier history."""


class Entry(msgspec.Struct, frozen=True):
    """One message, read."""

    ordinal: int
    message: str
    letter: str
    """U: a person, A: the agent and its tools, S: the harness; empty: it says nothing."""
    lines: tuple[str, ...] = ()
    """Texts, and lines that begin with `TC:`."""
    commits: tuple[str, ...] = ()
    committed: bool = False
    """Whether the agent made a commit or speaks of one."""


class Block(msgspec.Struct, frozen=True):
    """Neighbouring messages of one side."""

    first: int
    last: int
    letter: str
    text: str
    tokens: int
    commits: tuple[str, ...] = ()
    committed: bool = False
    tool_only: bool = False


def entry(said: Said, most: int) -> Entry:
    """A message as lines of at most `most` bytes each."""
    mechanical = said.synthetic or said.role == "system"
    lines: list[str] = []
    confirmed: list[str] = []
    listed: list[str] = []
    spoken = False
    for piece in said.pieces:
        if piece.ignored:
            continue
        if piece.kind in TOOLS:
            used = call(piece)
            lines += _tool(piece, used)
            confirmed += commits.made(used)
            listed += commits.shown(used)
        elif line := _text(said, piece, most):
            lines.append(line)
            spoken = spoken or not (mechanical or piece.synthetic)
            confirmed += commits.said(line) if said.role == "assistant" else ()
    found = tuple(dict.fromkeys((*confirmed, *listed)))[: commits.MOST]
    return Entry(said.ordinal, said.message, _letter(said, lines, spoken=spoken), tuple(lines), found, bool(confirmed))


def block(entries: Sequence[Entry], most: int) -> Block:
    """Entries of one letter as one block of at most `most` bytes; those that say nothing are covered by it."""
    telling = [one for one in entries if one.lines]
    letter = telling[0].letter if telling else ""
    found = tuple(dict.fromkeys(one for each in telling for one in each.commits))[: commits.MOST]
    first, last = entries[0].ordinal, entries[-1].ordinal
    place = f"[{first}]" if first == last else f"[{first}-{last}]"
    lines = [line for one in telling for line in one.lines]
    hashes = [f"commits: {', '.join(found)}"] if found else []
    body = "\n".join(_joined([*hashes, *lines]))
    separator = "\n" if body.startswith("TC:") else " "
    text = shortened(f"{place} {letter}:{separator}{body}", most)
    return Block(
        first=first,
        last=last,
        letter=letter,
        text=text,
        tokens=tokens(len(text.encode()) + 1),
        commits=found,
        committed=any(one.committed for one in telling),
        tool_only=all(line.startswith("TC:") for line in lines),
    )


def atoms(said: Sequence[Said]) -> Iterator[tuple[Said, ...]]:
    """Messages that belong together: from a tool's call to its result, where these stand in several messages."""
    results: dict[str, int] = {}
    for at in range(len(said) - 1, -1, -1):
        results.update({piece.call: at for piece in said[at].pieces if piece.kind == "tool_result" and piece.call})
    start = end = 0
    for at, one in enumerate(said):
        if at > end:
            yield tuple(said[start:at])
            start = end = at
        end = max(end, *(results.get(piece.call, at) for piece in one.pieces if piece.kind == "tool_call"), at)
    if said:
        yield tuple(said[start:])


def _letter(said: Said, lines: list[str], *, spoken: bool) -> str:
    if not lines:
        return ""
    if said.role in {"assistant", "tool"}:
        return AGENT
    if said.role == "user":
        return PERSON if spoken else AGENT if all(line.startswith("TC:") for line in lines) else HARNESS
    return HARNESS


def _text(said: Said, piece: Piece, most: int) -> str:
    match piece.kind:
        case "text":
            text = piece.text if said.role == "assistant" else cleaned(piece.text)
            mechanical = said.synthetic or piece.synthetic or said.role == "system"
            return flat(shortened(text, LONGEST_NOTICE if mechanical else most))
        case "compaction":
            return flat(shortened(piece.text, LONGEST_SUMMARY))
        case "file":
            name = "" if piece.text.startswith("data:") else piece.text.rsplit("/", 1)[-1]
            return f"[file {beginning(flat(name), LONGEST_TARGET)}]" if name else "[file]"
        case _:
            return ""


def _tool(piece: Piece, used: Call) -> Iterator[str]:
    """A line for a call; for a result that stands alone only if it tells of a failure."""
    failure = f" -> error: {used.error}" if used.failed else ""
    if piece.kind == "tool_result":
        if failure:
            yield f"TC: {piece.tool or 'tool'}{failure}"
        return
    target = f"({_target(used)})" if used.target else ""
    more = f" {beginning(flat(used.description), LONGEST_DESCRIPTION)}" if used.description else ""
    others = f" and {len(used.files) - 1} more files" if len(used.files) > 1 else ""
    answer = f" -> {flat(shortened(used.report, LONGEST_REPORT))}" if used.report and not failure else ""
    yield f"TC: {used.tool or 'tool'}{target}{others}{more}{failure}{answer}"


def _target(used: Call) -> str:
    """Of a path the end tells more, of everything else the beginning."""
    if used.act in {"edit", "read"} and len(used.target) > LONGEST_TARGET:
        return f"…{used.target[1 - LONGEST_TARGET :]}"
    return beginning(used.target, LONGEST_TARGET)


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Texts that follow each other share a line."""
    text = ""
    for line in lines:
        if line.startswith("TC:"):
            if text:
                yield text
            yield line
            text = ""
        else:
            text = f"{text} / {line}" if text else line
    if text:
        yield text
