"""The answer to `ask.expand`: which messages are meant, and their texts, a page at a time."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from shlex import quote

import msgspec

from schemas.asks import ExpandAsk, Expanded
from schemas.events import CompartmentSealed
from schemas.subjects import Address, BadSubject
from services.domain.attachments import attachment, attachment_in_words, file_name
from services.domain.conversation import Message
from services.domain.often import quantity
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.texts.markup import defused, escaped
from services.domain.texts.posing import unposed
from services.domain.tokens import BYTES_PER_TOKEN
from services.domain.transcript.reader import read
from services.kit.contents import Contents
from services.memory.state import Book, source_key
from services.plan.session.state import Session
from services.responder.answers.base import LONG, Context, Question, UnknownSession, remembered_of
from services.responder.answers.session_names import LONGEST_NAME, session_meant
from services.responder.projections.folds import SESSION

PAGE_TOKENS = 15_000
MOST_MESSAGES = 2_000
"""Of one answer; what is behind them is named as the next range."""
LONGEST_NUMBER = 18
"""Digits of a number that a place may have."""
ONE = "name one of start (with end), message, tag or compartment"

LATER = "(put here later, not known to be a person's words) "
_PLACE = re.compile(r"\[\d{1,18}\] \w")


class BadAsk(ValueError):
    """A request that cannot be answered, with the reason."""


class Span(msgspec.Struct, frozen=True):
    """The part of a session that was asked for."""

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
        known = session.conversation.last_ordinal + len(unnumbered(session))
        raise BadAsk(f"there is no message from {start} to {end}: this session has those from 1 to {known}")
    behind = messages[MOST_MESSAGES].ordinal if len(messages) > MOST_MESSAGES else 0
    first_page = messages[:MOST_MESSAGES]
    return Span(first_page, f"Messages {first_page[0].ordinal}-{first_page[-1].ordinal}", behind=behind)


def _between(session: Session, start: int, end: int) -> tuple[Message, ...]:
    found: list[Message] = []
    for message in session.conversation.after(start - 1):
        if message.ordinal > end:
            return tuple(found)
        found.append(message)
    return (*found, *(one for one in unnumbered(session) if start <= one.ordinal <= end))


def unnumbered(session: Session) -> tuple[Message, ...]:
    """The newest answers, which no call has sent yet: in a session that has ended nothing ever numbers them.

    They are numbered here as the next call would.
    """
    conversation = session.conversation
    newest = conversation.messages.get(conversation.order.get(conversation.last_ordinal, ""))
    behind = _first_seq(session, newest) if newest else 0
    found = [
        (seq, one)
        for one in conversation.messages.values()
        if not one.ordinal and one.recorded.role and (seq := _first_seq(session, one)) > behind
    ]
    ordered = sorted(found, key=lambda pair: pair[0])
    return tuple(
        msgspec.structs.replace(one, ordinal=number)
        for number, (_, one) in enumerate(ordered, conversation.last_ordinal + 1)
    )


def _first_seq(session: Session, message: Message) -> int:
    """The log position of its first part; 0: the log has none."""
    return min((session.conversation.parts[name].seq for name in message.parts), default=0)


def _message(session: Session, name: str) -> Span:
    conversation, number = session.conversation, _number(name)
    message = conversation.messages.get(conversation.order.get(number) or name)
    if message is None or not message.ordinal:
        newest = unnumbered(session)
        found = (one for one in newest if one.recorded.message == name or one.ordinal == number)
        message = next(found, message)
    if message is None:
        last = conversation.last_ordinal + len(newest)
        raise BadAsk(f"there is no message {name[:LONGEST_NAME]}: take a number from 1 to {last}")
    return Span((message,), f"Message {message.ordinal}")


def _tagged(session: Session, number: int) -> Span:
    name = session.conversation.numbered.get(number, "")
    part = session.conversation.parts.get(name)
    if part is None:
        raise BadAsk(f"there is no tag §{number}§: the numbers go up to {session.conversation.last_number}")
    message = session.conversation.messages[part.recorded.message]
    kind = f"the output of {part.recorded.tool}" if part.recorded.tool else f"a {part.recorded.kind}"
    return Span((message,), f"Tag §{number}§, {kind} in message {message.ordinal}", part=name)


def _compartment(session: Session, name: str) -> Span:
    sealed = session.history.sealed
    number = _number(name)
    found = [one for one in sealed if one.compartment == name or one.first <= number <= one.last]
    if not found:
        raise BadAsk(f"there is no part of history {name[:LONGEST_NAME]}: {_ranges(sealed)}")
    span = _range(session, found[0].first, found[0].last)
    return msgspec.structs.replace(span, what=f"{span.what} ({escaped(unposed(found[0].title))})")


def _number(name: str) -> int:
    """A place in the conversation; 0: the name is none."""
    return int(name) if name.isdecimal() and len(name) <= LONGEST_NUMBER else 0


def _ranges(sealed: Sequence[CompartmentSealed]) -> str:
    return f"it covers messages {sealed[0].first} to {sealed[-1].last}" if sealed else "nothing is compressed yet"


def permit(book: Book, ask: ExpandAsk, messages: Iterable[Message]) -> None:
    """Raise `BadAsk` where a person has taken back all that came of these messages: only their session reads them."""
    if ask.asker == ask.session or not len(book.quarantines):
        return
    kinds = (("session", ask.session), *(("message", one.recorded.message) for one in messages))
    found = next(((kind, value) for kind, value in kinds if source_key(kind, value) in book.quarantines), None)
    if found is not None:
        kind, value = found
        remedy = f"a person releases it with `annals memory quarantine {kind} {quote(value)} --undo`"
        raise BadAsk(f"a person has quarantined the {kind} {value}: go on without it, {remedy}")


def expanded(span: Span, recorded: Sequence[RecordedMessage], ask: ExpandAsk) -> Expanded:
    """The answer: a line that says what it is, then the page."""
    if ask.asker and ask.asker != ask.session:
        span = msgspec.structs.replace(span, what=f"{span.what} of session {escaped(unposed(ask.session))}")
    if not (span.part or ask.message or ask.verbose):
        return _transcript(span, recorded)
    pieces = [(one, piece) for one in recorded for piece in one.pieces if span.part in ("", piece.part)]
    pages = _pages(_lines(pieces))
    if not 1 <= ask.page <= len(pages):
        raise BadAsk(f"there is no page {ask.page}: they are numbered from 1 to {len(pages)}")
    has_more = ask.page < len(pages)
    more = f" The next is page={ask.page + 1}." if has_more else _next(span)
    text = f"{span.what}, page {ask.page} of {len(pages)}, word for word.{more}\n\n{defused(pages[ask.page - 1])}"
    return Expanded(text, next_page=ask.page + 1 if has_more else 0, next=0 if has_more else span.behind)


def _transcript(span: Span, recorded: Sequence[RecordedMessage]) -> Expanded:
    chunk = read(recorded, PAGE_TOKENS, keeps_lines=True)
    rest = [one.ordinal for one in recorded if one.ordinal > chunk.last]
    more = f" Cut for its length: go on with start={rest[0]} end={recorded[-1].ordinal}." if rest else _next(span)
    what = span.what.replace(f"-{recorded[-1].ordinal}", f"-{chunk.last}", 1)
    size = f"{quantity(chunk.messages, 'message')}, about {quantity(chunk.tokens, 'token')}"
    text = f"{what} ({size}).{more}\n\n{defused(chunk.text)}"
    return Expanded(text, next=rest[0] if rest else span.behind)


def _next(span: Span) -> str:
    return f" More follows from start={span.behind}." if span.behind else ""


def _lines(pieces: Iterable[tuple[RecordedMessage, Piece]]) -> Iterator[str]:
    before = 0
    for one, piece in pieces:
        if one.ordinal != before:
            yield f"[{one.ordinal}] {'task' if one.is_task else one.role}"
            before = one.ordinal
        if piece.tool or piece.call:
            yield f"{piece.tool} {piece.input}".rstrip()
            yield from _unposed(piece.output) if piece.output else ()
            yield from (f"[{attachment_in_words(attached)}]" for attached in piece.attachments)
        elif piece.kind == "file":
            yield f"[{attachment_in_words(attachment(piece.text, piece.mime, file_name(piece.text, piece.filename)))}]"
        elif piece.text:
            label = LATER if piece.is_late else "" if piece.kind == "text" else f"({piece.kind}) "
            yield from _unposed(f"{label}{piece.text}")


def _unposed(text: str) -> Iterator[str]:
    """Its lines; one that looks like the beginning of a message is moved in by a blank."""
    return (f" {line}" if _PLACE.match(line) else line for line in text.split("\n"))


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


def _open(context: Context) -> Callable[[ExpandAsk], Awaitable[Expanded]]:
    contents = Contents(context.kit.bus, context.kit.reader)

    async def answer(ask: ExpandAsk) -> Expanded:
        try:
            name = await session_meant(context, ask.project, ask.session)
            ask = msgspec.structs.replace(ask, session=name)
            session = await context.cache.state(SESSION, Address(ask.project, name))
            span = resolve(session, ask)
            permit((await remembered_of(context.cache, ask.project)).book, ask, span.messages)
            recorded = await contents.recorded(
                Address(ask.project, ask.session),
                session.conversation,
                span.messages,
                is_subagent=session.is_subagent,
            )
            reply = await asyncio.to_thread(expanded, span, recorded, ask)
        except (BadAsk, BadSubject, UnknownSession) as error:
            return Expanded(error=f"Nothing is shown: {error}.")
        return msgspec.structs.replace(reply, title=session.activity.title)

    return answer


EXPAND = Question(ExpandAsk, _open, lambda reason: Expanded(error=reason), LONG)
