"""A stretch of conversation, read as a transcript within a budget: for those who summarise it, or look it up again."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, groupby, islice

import msgspec

from services.domain.attachments import attachment_tokens, file_tokens
from services.domain.conversation import Conversation, Message
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.tokens import BYTES_PER_TOKEN, tokens
from services.domain.transcript.blocks import Block, MessageEntry, atoms, block, entry

SHARE = 4
"""A block takes at most this part of the budget."""
SMALLEST_BLOCK = 400
"""Bytes; below that a block says nothing."""


class Chunk(msgspec.Struct, frozen=True):
    """A stretch that was read. Every message from the first to the last is covered, also those without text."""

    first: int = 0
    """Ordinal; 0: nothing was there to be read."""
    last: int = 0
    messages: int = 0
    tokens: int = 0
    """Estimate of the text."""
    raw_tokens: int = 0
    """Estimate of the messages as they are."""
    has_more: bool = False
    ended: str = "end"
    """The reason why it ended there: end (of what was given) or budget."""
    text: str = ""
    """Lines `[3] U: …`, or `[3] Task: …` of the agent that started the session, `[4-9] A: …`, and below them `TC: …`
    for each use of a tool."""
    tool_only: tuple[tuple[int, int], ...] = ()
    """Ranges of ordinals without any text."""
    ordinals: tuple[tuple[int, str], ...] = ()
    """The messages and their places."""
    fingerprint: str = ""
    """Over places, ids and contents: another one means that the messages have changed."""
    recorded: tuple[RecordedMessage, ...] = ()
    """The messages themselves."""


def read(recorded: Sequence[RecordedMessage], budget: int, *, keeps_lines: bool = False) -> Chunk:
    """Read from the first message on as far as `budget` tokens of transcript go, and at least one block.

    A block is never longer than a quarter of the budget: it is split between messages, but never between a tool's
    call and its result; what is still too long is cut, and the cut says how much is missing.
    `keeps_lines`: texts keep their line breaks.
    """
    most = max(budget * BYTES_PER_TOKEN // SHARE, SMALLEST_BLOCK)
    taken: list[RecordedMessage] = []
    blocks: list[Block] = []
    total = 0
    ended = "end"
    for messages, made in _lumps(recorded, most, keeps_lines=keeps_lines):
        cost = sum(one.tokens for one in made)
        if total and total + cost > budget:
            ended = "budget"
            break
        taken += messages
        blocks += made
        total += cost
    return _chunk(recorded, taken, _whole(blocks, taken), ended)


def fingerprint(recorded: Sequence[RecordedMessage]) -> str:
    """A digest of these messages: places, ids and contents."""
    digest = sha256()
    for one in recorded:
        pieces = [
            (piece.part, piece.kind, piece.text, piece.tool, piece.call, piece.input, piece.output, piece.status)
            for piece in one.pieces
        ]
        digest.update(msgspec.json.encode((one.ordinal, one.message, one.role, pieces)))
    return digest.hexdigest()


def cost(recorded: Sequence[RecordedMessage]) -> int:
    """Estimated tokens of these messages as they are."""
    return sum(_cost(piece) for one in recorded for piece in one.pieces)


def _cost(piece: Piece) -> int:
    if piece.kind == "file":
        return file_tokens(piece.text, piece.mime)
    words = tokens(len(piece.text.encode()) + len(piece.input.encode()) + len(piece.output.encode()))
    return words + sum(map(attachment_tokens, piece.attachments))


_Lump = tuple[list[RecordedMessage], list[Block]]


def _lumps(recorded: Sequence[RecordedMessage], most: int, *, keeps_lines: bool) -> Iterator[_Lump]:
    """Messages that are taken together or not at all, and their blocks. Silent ones go with what follows."""
    lump: list[RecordedMessage] = []
    entries: list[MessageEntry] = []
    size = silent = 0
    for atom in atoms(recorded):
        now = [entry(one, most, keeps_lines=keeps_lines) for one in atom]
        weight = sum(len(line.encode()) + 1 for one in now for line in one.lines)
        speakers = _speakers(entries) | _speakers(now)
        if _speakers(entries) and weight and (len(speakers) > 1 or size + weight > most):
            until = len(lump) - silent
            yield lump[:until], _blocks(entries[:until], most, keeps_lines=keeps_lines)
            lump, entries, size = lump[until:], entries[until:], 0
        lump += atom
        entries += now
        size += weight
        silent = 0 if weight else silent + len(atom)
    if lump:
        yield lump, _blocks(entries, most, keeps_lines=keeps_lines)


def _speakers(entries: list[MessageEntry]) -> set[str]:
    return {one.speaker for one in entries if one.speaker}


def _blocks(entries: list[MessageEntry], most: int, *, keeps_lines: bool) -> list[Block]:
    """One block, or several where different sides speak between a call and its result."""
    speakers: list[str] = []
    for one in entries:
        speakers.append(one.speaker or (speakers[-1] if speakers else ""))
    start = next((speaker for speaker in speakers if speaker), "")
    if not start:
        return []
    sides = zip((speaker or start for speaker in speakers), entries, strict=True)
    grouped = [[one for _, one in group] for _, group in groupby(sides, key=lambda pair: pair[0])]
    return [block(group, most // len(grouped), keeps_lines=keeps_lines) for group in grouped]


def _whole(blocks: list[Block], taken: list[RecordedMessage]) -> list[Block]:
    """The last block also covers silent messages behind it."""
    if blocks and taken and blocks[-1].last < taken[-1].ordinal:
        blocks[-1] = msgspec.structs.replace(blocks[-1], last=taken[-1].ordinal)
    return blocks


def _chunk(recorded: Sequence[RecordedMessage], taken: list[RecordedMessage], blocks: list[Block], ended: str) -> Chunk:
    if not taken:
        return Chunk()
    text = "\n".join(one.text for one in blocks)
    return Chunk(
        first=taken[0].ordinal,
        last=taken[-1].ordinal,
        messages=len(taken),
        tokens=tokens(len(text.encode())),
        raw_tokens=cost(taken),
        has_more=len(taken) < len(recorded),
        ended=ended,
        text=text,
        tool_only=_tool_only(blocks),
        ordinals=tuple((one.ordinal, one.message) for one in taken),
        fingerprint=fingerprint(taken),
        recorded=tuple(taken),
    )


def _tool_only(blocks: list[Block]) -> tuple[tuple[int, int], ...]:
    runs = (list(run) for only, run in groupby(blocks, key=lambda one: one.tool_only) if only)
    return tuple((run[0].first, run[-1].last) for run in runs)


PAGE_BYTES = 8 * 1024 * 1024
"""Bytes of contents in memory at once, unless one message is longer, or messages cannot be separated."""


def page(messages: Sequence[Message], conversation: Conversation) -> Sequence[Message]:
    """As many of these, from the first on, as fit into memory; a call and its result are never separated."""
    size = count = 0
    for arc in arcs(messages, conversation):
        size += sum(
            part.recorded.bytes + part.recorded.input_bytes for one in arc for _, part in conversation.sent_parts(one)
        )
        if size > PAGE_BYTES and count:
            return tuple(islice(messages, count))
        count += len(arc)
    return messages


def arcs(messages: Sequence[Message], conversation: Conversation) -> Iterator[tuple[Message, ...]]:
    """These messages in their order, together from a tool's call to its result, where several messages have these."""
    answers = {owner: at for at, one in enumerate(messages) for owner in _answered(one, conversation)}
    start = end = 0
    for at, one in enumerate(messages):
        if at > end:
            yield tuple(messages[start:at])
            start = end = at
        end = max(end, answers.get(one.recorded.message, at))
    if messages:
        yield tuple(messages[start:])


def whole(messages: Sequence[Message], conversation: Conversation) -> Sequence[Message]:
    """These messages up to the first arc that goes on behind them. A call that was never answered holds nothing up."""
    if not messages:
        return messages
    open_ = {owner for one in conversation.after(messages[-1].ordinal) for owner in _answered(one, conversation)}
    if open_.isdisjoint(one.recorded.message for one in messages):
        return messages
    complete = []
    for arc in arcs(messages, conversation):
        if not open_.isdisjoint(one.recorded.message for one in arc):
            break
        complete.append(arc)
    return tuple(chain.from_iterable(complete))


def _answered(message: Message, conversation: Conversation) -> Iterator[str]:
    """The messages whose calls this one answers."""
    for _, part in conversation.sent_parts(message):
        if part.recorded.kind == "tool_result" and part.recorded.owner != message.recorded.message:
            yield part.recorded.owner
