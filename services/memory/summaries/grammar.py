"""The block of candidates and commands at the end of a summary, read strictly.

    Memory candidates:
    Memory ref snapshot id: 4f7c…
    REINFORCE [M3]
    REPLACE [M5] [project] The port is 8080.
    - [decision] The log lives in JetStream.
    (none)

Only the last block counts. A line in it that is none of these voids all of it, and no earlier block is looked at: a
summary is written by a model that has read what others wrote, so what is not certain is left out.
"""

import re
from collections.abc import Sequence

import msgspec

from services.memory.classes import Placement, is_class, placed, placed_by_class

MOST_LINES = 200
"""Lines of a block; a longer one is void."""
LONGEST_ID = 64


class CandidateLine(msgspec.Struct, frozen=True):
    """A line that says something new."""

    text: str
    place: Placement


class Reinforce(msgspec.Struct, frozen=True):
    """A line that says that a memory holds."""

    ref: int
    """Its number among those that the summary's writer was shown."""


class Replace(msgspec.Struct, frozen=True):
    """A line that corrects a memory."""

    ref: int
    text: str
    place: Placement


class MalformedLine(msgspec.Struct, frozen=True):
    """A line that is meant as a command and is none."""

    reason: str
    """invalid_memory_ref, invalid_memory_type, empty_replacement_text or invalid_memory_command."""
    line: str


Line = CandidateLine | Reinforce | Replace | MalformedLine


class MemoryBlock(msgspec.Struct, frozen=True):
    """The requests of a summary."""

    lines: tuple[Line, ...] = ()
    snapshot: str = ""
    """The id of the list of memories that the numbers are of; empty: none is given."""
    void: str = ""
    """The line for which all of it counts for nothing."""
    is_present: bool = False
    """Whether there is a block at all."""


_LABEL = re.compile(
    r"(?:memory candidates:|#{1,6} +(?:workspace )?memory candidates:?(?: +#+)?|<workspace_memory_candidates>)\s*",
    re.IGNORECASE,
)
_CLOSING = "</workspace_memory_candidates>"
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_NONE = re.compile(r"(?:[-*] )?\(none\)\.?", re.IGNORECASE)
_SNAPSHOT = re.compile(rf"(?:[-*] )?memory ref snapshot id:\s*([\w-]{{1,{LONGEST_ID}}})", re.IGNORECASE)
_COMMAND = re.compile(r"(?:[-*] )?(?P<verb>REINFORCE|REPLACE)\b[ \t:]*(?P<rest>.*)", re.IGNORECASE)
_REF = re.compile(r"\[M([1-9]\d{0,5})\][ \t]*", re.IGNORECASE)
_BRACKETED = re.compile(r"\[([\w-]{1,40})\][ \t]*")
_CANDIDATE = re.compile(r"[-*] \[(?P<kind>[\w-]{1,40})\] *(?P<text>\S.*)")


def read_block(summary: str) -> MemoryBlock:
    """Read the last block of a summary."""
    lines = _last_block(summary)
    if lines is None:
        return MemoryBlock()
    given = [line.strip() for line in lines if line.strip()]
    if len(given) > MOST_LINES:
        return MemoryBlock(void=given[MOST_LINES], is_present=True)
    found: list[Line] = []
    snapshot = ""
    for line in given:
        if named := _SNAPSHOT.fullmatch(line):
            if snapshot not in ("", named[1].lower()):
                return MemoryBlock(void=line, is_present=True)
            snapshot = named[1].lower()
        elif not _NONE.fullmatch(line):
            read = _line(line)
            if read is None:
                return MemoryBlock(void=line, is_present=True)
            found.append(read)
    return MemoryBlock(tuple(found), snapshot, is_present=True)


def _last_block(summary: str) -> Sequence[str] | None:
    """The lines below the last label that is in no code and no quotation, up to the next heading."""
    block: list[str] | None = None
    is_open = False
    fence = ""
    for line in summary.splitlines():
        is_code = bool(fence)
        if found := _FENCE.match(line):
            if not fence:
                fence, is_code = found["mark"], True
            elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        plain = line.strip()
        if not is_code and _LABEL.fullmatch(plain):
            block, is_open = [], True
        elif not is_code and (_HEADING.match(plain) or plain.lower() == _CLOSING):
            is_open = False
        elif is_open and block is not None:
            block.append(line)
    return block


def _line(line: str) -> Line | None:
    if command := _COMMAND.fullmatch(line):
        return _command(command["verb"].upper(), command["rest"].strip(), line)
    candidate = _CANDIDATE.fullmatch(line)
    place = place_of(candidate["kind"], candidate["text"]) if candidate else None
    return CandidateLine(candidate["text"], place) if candidate and place else None


def _command(verb: str, rest: str, line: str) -> Line:
    ref = _REF.match(rest)
    if ref is None:
        return MalformedLine("invalid_memory_ref", line)
    number, rest = int(ref[1]), rest[ref.end() :]
    if verb == "REINFORCE":
        return MalformedLine("invalid_memory_command", line) if rest else Reinforce(number)
    kind = _BRACKETED.match(rest)
    text = rest[kind.end() :].strip() if kind else ""
    place = place_of(kind[1], text) if kind else None
    if place is None:
        return MalformedLine("invalid_memory_type", line)
    return Replace(number, text, place) if text else MalformedLine("empty_replacement_text", line)


def place_of(kind: str, text: str) -> Placement | None:
    """The place of a line that names its class or its category; None for what is neither."""
    memory_class = kind.lower()
    if is_class(memory_class):
        return placed_by_class(memory_class, text)
    return placed(kind.upper())
