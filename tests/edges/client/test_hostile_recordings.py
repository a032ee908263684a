"""Recordings that somebody has made or damaged: each is read, or refused in a sentence."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from schemas.inbox import SessionSeen
from services.edges.client.readers import read
from services.edges.client.readers.builder import MessageBuilder
from services.edges.client.readers.common import moment, transcripts
from services.edges.client.transcript import UnreadableTranscript
from tests.helpers.cost import bare_operations

DEEP = "[" * 20_000 + "]" * 20_000
FIRST_KEYS = {
    "neutral": {"session_id": "s", "messages": 1},
    "OpenCode": {"info": {"id": "s"}, "messages": 1},
    "Codex": {"timestamp": "t", "type": "response_item", "payload": 1},
    "Gemini CLI": {"sessionId": "s", "projectHash": "h", "messages": 1},
    "Pi": {"type": "session", "id": "s", "timestamp": "t", "cwd": "/"},
    "Claude Code": {"type": "user", "sessionId": "s", "message": 1},
}
"""Format -> the fields by which it is known."""


@pytest.mark.parametrize("keys", FIRST_KEYS.values(), ids=FIRST_KEYS)
def test_what_is_nested_too_deeply_is_refused_or_left_out(tmp_path: Path, keys: dict[str, object]) -> None:
    file = tmp_path / "session.jsonl"
    for field in (*keys, "of another version"):
        deep = json.dumps({**keys, field: "DEEP"}).replace('"DEEP"', DEEP)
        file.write_text(deep)
        try:
            assert [] == list(read(file))
        except UnreadableTranscript as error:
            assert "session.jsonl" in str(error)  # noqa: PT017 - some are refused, and some have nothing else
        file.write_text(f"{json.dumps(keys)}\n{deep}\n")
        try:
            list(read(file))
        except UnreadableTranscript as error:
            assert "session.jsonl" in str(error)  # noqa: PT017 - as above


@pytest.mark.parametrize(
    "time", [1e300, -1e300, 10**17, -(10**17), "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "soon", ""]
)
def test_a_time_that_no_calendar_has_is_none(time: str | float) -> None:
    assert moment(time) is None


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as made:
        made.execute("CREATE TABLE session (id, title, directory, parent_id, time_created)")
        made.execute("CREATE TABLE message (id, session_id, data, time_created)")
        made.execute("CREATE TABLE part (id, message_id, session_id, data)")
        yield made


@pytest.mark.parametrize("value", [None, 7, 1.5, b"\xff", "not JSON", DEEP])
@pytest.mark.parametrize("field", ["session", "message", "part"])
def test_a_store_may_have_any_value_in_any_column(
    store: sqlite3.Connection, tmp_path: Path, field: str, value: object
) -> None:
    given = {"session": "s", "message": '{"role": "user"}', "part": '{"type": "text", "text": "Hello."}', field: value}
    store.execute("INSERT INTO session VALUES ('s', ?, '/', NULL, 1)", (given["session"],))
    store.execute("INSERT INTO message VALUES ('m', 's', ?, 1)", (given["message"],))
    store.execute("INSERT INTO part VALUES ('p', 'm', 's', ?)", (given["part"],))
    store.commit()
    try:
        list(read(tmp_path / "opencode.db"))
    except UnreadableTranscript as error:
        assert "opencode.db" in str(error)  # noqa: PT017 - what has no title, or another one, is read


def built(count: int) -> MessageBuilder:
    """A recording in which masks gave all messages one id, and the provider counted behind each of them."""
    made = MessageBuilder()
    for _ in range(count):
        made.message("user", None, name="masked")
        made.text("Hello.")
    return made


def test_many_messages_of_one_id_take_a_time_in_proportion_to_their_number() -> None:
    many = [*built(12_000).messages()]
    assert bare_operations(lambda: list(transcripts("h", "s", SessionSeen(), many)), tries=1) < 40
    (one,) = transcripts("h", "s", SessionSeen(), built(3).messages())
    assert ["masked", "masked~2", "masked~3"] == [message.message for message in one.messages]
    assert 3 == len({part.part for message in one.messages for part in message.parts})
