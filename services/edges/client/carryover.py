"""`annals bench carryover`: what of a session survives when its beginning is compressed by rules alone.

A case is a recorded session and a message at which it is cut. The part before the cut is read, summarised and
rendered as the installation would do it, stretch after stretch; the text is left for the scorer.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from schemas.events import CompartmentSealed
from services.domain.misread import misread
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.transcript.reader import read
from services.edges.client.readers import neutral
from services.edges.client.transcript import Transcript, UnreadableTranscript
from services.edges.terminal import write_error
from services.historian.core.rules.summary import summarise
from services.historian.core.summary import CompartmentDraft
from services.plan.head.history import render_history

CHUNK = 32_000
"""Tokens of transcript that are summarised at once."""


class _Case(msgspec.Struct):
    """A session and how many of its messages are compressed. What else a case says is for the scorer."""

    case: str
    session: str
    cut: int


def carryover(cases: Path, transcripts: Path, out: Path, budget: int) -> int:
    """Write one JSON line {case, text} for each case; the exit status."""
    try:
        wanted = msgspec.json.decode(cases.read_bytes(), type=list[_Case])
    except (OSError, ValueError, RecursionError) as error:
        why = (error.strerror or "it is damaged") if isinstance(error, OSError) else misread(error)
        write_error(f"{cases} cannot be read as a list of cases: {why}; name another")
        return 1
    if not wanted:
        write_error(f"{cases} has no case, so that nothing was compressed; name another")
        return 1
    missing = sorted({one.session for one in wanted if not _file(transcripts, one.session)})
    if missing:
        write_error(f"{transcripts} has no session {missing[0]}: name the folder of neutral transcripts.")
        return 1
    try:
        lines = [
            msgspec.json.encode({"case": one.case, "text": text(transcripts, one.session, one.cut, budget)})
            for one in wanted
        ]
    except UnreadableTranscript as error:
        write_error(str(error))
        return 1
    out.write_bytes(b"".join(line + b"\n" for line in lines))
    return 0


def text(transcripts: Path, session: str, cut: int, budget: int) -> str:
    """The history of a session's first messages in at most `budget` tokens."""
    return render_history(compartments(_before(transcripts, session, cut)), budget)


def compartments(transcript: Transcript) -> tuple[CompartmentSealed, ...]:
    """All of a transcript, compressed."""
    made = _drafts(recorded(transcript), transcript.seen.directory)
    return tuple(sealed_from(draft) for draft in made)


def recorded(transcript: Transcript) -> tuple[RecordedMessage, ...]:
    """The messages in their places, with what they hold."""
    return tuple(
        RecordedMessage(
            ordinal=ordinal,
            message=one.message,
            role=one.role,
            at=one.at,
            pieces=tuple(
                Piece(
                    part=part.part,
                    kind=part.type,
                    text=part.text,
                    tool=part.tool,
                    call=part.call,
                    input=part.input,
                    output=part.output,
                    status=part.status,
                    mime=part.mime,
                    filename=part.filename,
                    attachments=part.attachments,
                    ignored=part.ignored,
                    synthetic=part.synthetic,
                )
                for part in one.parts
            ),
            synthetic=one.synthetic,
            is_task=bool(transcript.seen.parent) and one.role == "user",
        )
        for ordinal, one in enumerate(transcript.messages, start=1)
    )


def _drafts(messages: Sequence[RecordedMessage], directory: str) -> Iterator[CompartmentDraft]:
    while messages:
        chunk = read(messages, CHUNK)
        summary = summarise(chunk, directory)
        yield from summary.compartments
        done = summary.unprocessed_from - 1 if summary.unprocessed_from else chunk.last
        messages = [one for one in messages if one.ordinal > done]


def sealed_from(draft: CompartmentDraft) -> CompartmentSealed:
    """As if a run had published it."""
    return CompartmentSealed(
        compartment=f"{draft.first}",
        run="bench",
        generation=0,
        first=draft.first,
        last=draft.last,
        first_message="",
        last_message="",
        title=draft.title,
        episode=list(draft.episode),
        importance=draft.importance,
        p1=draft.p1,
        p2=draft.p2,
        p3=draft.p3,
        p4=draft.p4,
        anchors=list(draft.anchors),
        names=list(draft.names),
    )


def _before(transcripts: Path, session: str, cut: int) -> Transcript:
    """The beginning of a session, without its sub-agents. The last line of a file is the one that counts.

    Raises `UnreadableTranscript`.
    """
    path = _file(transcripts, session)
    try:
        raw = b"" if path is None else path.read_bytes()
        data = gzip.decompress(raw) if path is not None and path.suffix == ".gz" else raw
        line = next(reversed(data.splitlines()), b"")
        whole = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        messages = msgspec.json.decode(whole.get("messages", b"[]"), type=list[dict[str, Any]])
        main = [message for message in messages if not message.get("sidechain")]
        found = next(neutral.read(msgspec.json.encode({**whole, "messages": main[:cut]})), None)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        why = (error.strerror or "it is damaged") if isinstance(error, OSError) else misread(error)
        raise UnreadableTranscript(f"{path} cannot be read as a session: {why}; record it anew") from error
    if found is None:
        raise UnreadableTranscript(f"{path} has no message before the cut at {cut}; name a later one")
    return found


def _file(transcripts: Path, session: str) -> Path | None:
    names = (f"{session}.jsonl", f"{session}.jsonl.gz")
    return next((path for name in names if (path := transcripts / name).exists()), None)
