"""OpenCode's own store on disk: a SQLite database, only ever read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

import msgspec

from schemas.codec import mended
from services.edges.client.readers import opencode
from services.edges.client.transcript import Transcript, UnreadableTranscript

_MAGIC = b"SQLite format 3\x00"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY message_id, id"


def named(name: str) -> bool:
    """Whether a file is called like the store: opencode.db, opencode-<channel>.db."""
    return name.startswith("opencode") and name.endswith(".db")


def knows(path: Path) -> bool:
    """Whether the file is a database."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: Path) -> Iterator[Transcript]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
            store.row_factory = sqlite3.Row
            # One view of it all, though OpenCode may be writing.
            store.execute("BEGIN")
            for row in store.execute("SELECT * FROM session ORDER BY time_created, id"):
                session = _session(row)
                yield from opencode.from_entries(session, _entries(store, session.id))
    except (sqlite3.Error, ValueError) as error:
        raise UnreadableTranscript(f"not a store of OpenCode ({error})") from error


def _session(row: sqlite3.Row) -> opencode.OpenCodeSession:
    # Older stores lack some of the columns.
    fields = dict(zip(row.keys(), row, strict=True))
    known = {name: fields.get(name) for name in ("id", "title", "directory", "agent", "version")}
    return msgspec.convert({**known, "parentID": fields.get("parent_id")}, opencode.OpenCodeSession)


def _entries(store: sqlite3.Connection, session: str) -> list[opencode.OpenCodeMessage]:
    rows = groupby(store.execute(_PARTS, (session,)), key=lambda row: row[0])
    parts = {message: [_part(name, data) for _, name, data in those] for message, those in rows}
    return [
        opencode.OpenCodeMessage(_info(name, data), parts.get(name, []))
        for name, data in store.execute(_MESSAGES, (session,))
    ]


def _info(name: object, data: object) -> opencode.Info:
    info = msgspec.json.decode(mended(_text(data).encode()), type=opencode.Info)
    return msgspec.structs.replace(info, id=_text(name))


def _part(name: object, data: object) -> opencode.OpenCodePart:
    part = msgspec.json.decode(mended(_text(data).encode()), type=opencode.OpenCodePart)
    return msgspec.structs.replace(part, id=_text(name))


def _text(value: object) -> str:
    """A value of a row that must be a text: a column of SQLite may have values of any type."""
    if isinstance(value, str):
        return value
    raise ValueError("a row has no text where there must be one")
