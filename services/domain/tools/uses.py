"""Tool calls with their requests and files: enough to see that a later one makes an earlier one idle."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from schemas.events import Event, FileTouched, PartRecorded, PartRemoved
from services.domain.fold import Map
from services.domain.tools.names import READ_ONLY, READERS, plain

OFFSET_KEYS = ("offset", "start_line", "startLine")
LIMIT_KEYS = ("limit",)
END_KEYS = ("end_line", "endLine")
DEFAULT_LINES = 2000
"""The number of lines that a reader shows that was given no end: harnesses agree on it."""
MAX_DIGITS = 9
MAX_SURE_BYTES = 40_000
"""Harnesses cut long readings: of a longer one it is not known whether it shows all the lines it was to show."""

replace = msgspec.structs.replace
_decoder = msgspec.json.Decoder(dict[str, object])
_encoder = msgspec.json.Encoder(order="sorted")


class Lookup(msgspec.Struct, frozen=True, gc=False):
    """The question of a call that changes nothing."""

    digest: str
    """Of the tool's name and its arguments, whatever their order."""
    first: int = 0
    """The first line that a reader of files was to show."""
    end: int = 0
    """The line behind the last one that a reader of files was to show; 0: it reads no file by lines."""


class TouchedFile(msgspec.Struct, frozen=True, gc=False):
    """A file, and what a call did to it: read, edited, written or deleted."""

    path: str
    action: str


class Uses(msgspec.Struct, frozen=True):
    """The tool calls of a session."""

    asked: Map[str, Lookup] = Map()
    """By part; where call and result are two parts, by the call's id and the message that made it."""
    touched: Map[str, tuple[TouchedFile, ...]] = Map()
    """Part that ended the call -> files."""

    def question(self, part: PartRecorded) -> Lookup | None:
        return self.asked.get(_key(part))

    def questions(self, parts: Iterable[PartRecorded]) -> list[Lookup | None]:
        """The lookups of many parts, in their order."""
        known = self.asked.get
        return [known(part.part if part.kind == "tool" else _key(part)) for part in parts]

    def files(self, part: str) -> tuple[TouchedFile, ...]:
        return self.touched.get(part, ())


def uses_after(uses: Uses, event: Event) -> Uses:
    match event:
        case PartRecorded(kind="tool" | "tool_call") if plain(event.tool) in READ_ONLY:
            asked = _asked(event)
            key = _key(event)
            return uses if uses.asked.get(key) == asked else replace(uses, asked=uses.asked.insert(key, asked))
        case FileTouched(part=part, path=path, action=action):
            now = TouchedFile(path, action)
            before = uses.touched.get(part, ())
            return uses if now in before else replace(uses, touched=uses.touched.insert(part, (*before, now)))
        case PartRemoved(part=part) if part in uses.asked or part in uses.touched:
            return Uses(uses.asked.discard(part), uses.touched.discard(part))
        case _:
            return uses


def covers(later: Lookup, earlier: Lookup, size: int) -> bool:
    """Whether the later reading of a file, of so many bytes, shows all the lines of the earlier one."""
    if not (later.end and earlier.end):
        return False
    if (later.first, later.end) == (earlier.first, earlier.end):
        return True
    return later.first <= earlier.first and earlier.end <= later.end and size <= MAX_SURE_BYTES


def _key(part: PartRecorded) -> str:
    return part.part if part.kind == "tool" else f"{part.call}\0{part.owner}"


def _asked(part: PartRecorded) -> Lookup:
    given = _arguments(part.input)
    tool = plain(part.tool)
    text = _encoder.encode(given) if given is not None else part.input.encode()
    digest = blake2b(b"\0".join((tool.encode(), text, part.input_ref.encode())), digest_size=8).hexdigest()
    if tool not in READERS or given is None:
        return Lookup(digest)
    first, end = _lines(given) if len(given) > 1 else (0, DEFAULT_LINES)
    return Lookup(digest, first, end)


def _arguments(text: str) -> dict[str, object] | None:
    """The arguments without those that say nothing; none where they are no JSON object."""
    try:
        given = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return {key: value for key, value in given.items() if value is not None}


def _lines(given: dict[str, object]) -> tuple[int, int]:
    """The first line and the one behind the last. What is not understood, such as a count from the end, is no range."""
    first = _number(given, OFFSET_KEYS, 0)
    count = _number(given, LIMIT_KEYS, DEFAULT_LINES)
    last = _number(given, END_KEYS, first + count - 1)
    return (first, last + 1) if min(first, count) >= 0 and last >= first else (0, 0)


def _number(given: dict[str, object], keys: tuple[str, ...], otherwise: int) -> int:
    """The argument with one of these names; some models write numbers as words. Below 0: it is none."""
    value = next((given[key] for key in keys if key in given), None)
    if value is None:
        return otherwise
    if isinstance(value, str) and value.isdecimal() and len(value) <= MAX_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
