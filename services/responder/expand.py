"""The answer to `ask.expand`: which messages are meant, and what was said in them, a page at a time."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from schemas.asks import ExpandAsk
from schemas.events import CompartmentSealed
from services.kit.conversation import Message
from services.kit.history.reader import read
from services.kit.history.said import Piece, Said
from services.kit.tokens import BYTES_PER_TOKEN
from services.responder.state import Session

PAGE_TOKENS = 15_000
MOST_MESSAGES = 2_000
"""Of one answer; what is behind them is named as the next range."""
ONE = "name one of start (with end), message, tag or compartment"


class BadAsk(ValueError):
    """What was asked for cannot be found, and why."""


class Span(msgspec.Struct, frozen=True):
    """What was meant."""

    messages: tuple[Message, ...]
    what: str
    """The same in words."""
    part: str = ""
    """Only this part of it."""
    behind: int = 0
    """The first ordinal of the range that is left out; 0: none is."""


def resolve(session: Session, ask: ExpandAsk) -> Span:
    """The messages that are asked for. Raises `BadAsk`."""
    given = [bool(ask.start or ask.end), bool(ask.message), bool(ask.tag), bool(ask.compartment)]
    if sum(given) != 1:
        raise BadAsk(f"{'nothing' if not any(given) else 'more than one thing'} is named: {ONE}")
    if ask.tag:
        return _tagged(session, ask.tag)
    if ask.message:
        return _message(session, ask.message)
    if ask.compartment:
        return _compartment(session, ask.compartment)
    return _range(session, ask.start, ask.end or ask.start)


def _range(session: Session, start: int, end: int) -> Span:
    if start < 1 or end < start:
        raise BadAsk(f"start is {start} and end is {end}: both are numbers from 1 on, and start is not behind end")
    messages = _between(session, start, end)
    if not messages:
        known = session.talk.last_ordinal
        raise BadAsk(f"there is no message from {start} to {end}: this session has those from 1 to {known}")
    behind = messages[MOST_MESSAGES].ordinal if len(messages) > MOST_MESSAGES else 0
    held = messages[:MOST_MESSAGES]
    return Span(held, f"Messages {held[0].ordinal}-{held[-1].ordinal}", behind=behind)


def _between(session: Session, start: int, end: int) -> tuple[Message, ...]:
    found = []
    for message in session.talk.after(start - 1):
        if message.ordinal > end:
            break
        found.append(message)
    return tuple(found)


def _message(session: Session, name: str) -> Span:
    wanted = session.talk.order.get(int(name)) if name.isdecimal() else None
    message = session.talk.messages.get(wanted or name)
    if message is None:
        raise BadAsk(f"there is no message {name}: take a number from 1 to {session.talk.last_ordinal}")
    return Span((message,), f"Message {message.ordinal}")


def _tagged(session: Session, number: int) -> Span:
    name = session.talk.numbered.get(number, "")
    part = session.talk.parts.get(name)
    if part is None:
        raise BadAsk(f"there is no tag §{number}§: the numbers go up to {session.talk.last_number}")
    message = session.talk.messages[part.recorded.message]
    kind = f"the output of {part.recorded.tool}" if part.recorded.tool else f"a {part.recorded.kind}"
    return Span((message,), f"Tag §{number}§, {kind} in message {message.ordinal}", part=name)


def _compartment(session: Session, name: str) -> Span:
    sealed = session.history.sealed
    number = int(name) if name.isdecimal() else 0
    found = [one for one in sealed if one.compartment == name or one.first <= number <= one.last]
    if not found:
        raise BadAsk(f"there is no part of history {name}: {_ranges(sealed)}")
    span = _range(session, found[0].first, found[0].last)
    return msgspec.structs.replace(span, what=f"{span.what} ({found[0].title})")


def _ranges(sealed: Sequence[CompartmentSealed]) -> str:
    return f"it covers messages {sealed[0].first} to {sealed[-1].last}" if sealed else "nothing is compressed yet"


def shown(span: Span, said: Sequence[Said], ask: ExpandAsk) -> str:
    """The answer's text: a line that says what it is, then the page."""
    if not (span.part or ask.message or ask.verbose):
        return _transcript(span, said)
    pieces = [(one, piece) for one in said for piece in one.pieces if span.part in ("", piece.part)]
    pages = _pages(_lines(pieces))
    if ask.page > len(pages):
        raise BadAsk(f"there is no page {ask.page}: the last one is {len(pages)}")
    more = f" The next is page={ask.page + 1}." if ask.page < len(pages) else _next(span)
    return f"{span.what}, page {ask.page} of {len(pages)}, word for word.{more}\n\n{pages[ask.page - 1]}"


def _transcript(span: Span, said: Sequence[Said]) -> str:
    chunk = read(said, PAGE_TOKENS)
    rest = [one.ordinal for one in said if one.ordinal > chunk.last]
    more = f" Cut for its length: go on with start={rest[0]} end={said[-1].ordinal}." if rest else _next(span)
    what = span.what.replace(f"-{said[-1].ordinal}", f"-{chunk.last}", 1)
    return f"{what} ({chunk.messages} messages, about {chunk.tokens} tokens).{more}\n\n{chunk.text}"


def _next(span: Span) -> str:
    return f" More follows from start={span.behind}." if span.behind else ""


def _lines(pieces: Iterable[tuple[Said, Piece]]) -> Iterator[str]:
    before = 0
    for one, piece in pieces:
        if one.ordinal != before:
            yield f"[{one.ordinal}] {one.role}"
            before = one.ordinal
        if piece.tool or piece.call:
            yield f"{piece.tool} {piece.input}".rstrip()
            yield from piece.output.split("\n") if piece.output else ()
        elif piece.text:
            label = "" if piece.kind == "text" else f"({piece.kind}) "
            yield from f"{label}{piece.text}".split("\n")


def _pages(lines: Iterable[str]) -> list[str]:
    """Whole lines as far as a page goes; a line that is longer than a page is cut into several."""
    most = PAGE_TOKENS * BYTES_PER_TOKEN
    pages: list[list[str]] = [[]]
    size = 0
    for line in (piece for one in lines for piece in _cut(one, most)):
        cost = len(line.encode()) + 1
        if size + cost > most and pages[-1]:
            pages.append([])
            size = 0
        pages[-1].append(line)
        size += cost
    return ["\n".join(page) for page in pages]


def _cut(line: str, most: int) -> Iterator[str]:
    """Pieces of a line that fit on a page each, cut between characters."""
    while len(line.encode()) >= most:
        piece = line.encode()[: most - 1].decode(errors="ignore")
        yield piece
        line = line[len(piece) :]
    yield line
