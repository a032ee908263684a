"""The recorder: what it hears, what it writes, and that nothing of the machine is in it."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.asks import TransformAsk
from schemas.inbox import MessageSeen, PartSeen
from schemas.streams import IN
from schemas.subjects import Address, ask, parse_inbound
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.kit.bus import Bus, Delivery, Pull
from tests.harness.isolation import OPENAI
from tests.harness.record import (
    HOME,
    PROVIDER,
    TRAFFIC,
    TRANSCRIPTS,
    WORKSPACE,
    Unfit,
    elsewhere,
    places,
    record,
)
from tests.harness.scenarios import delegating, planning
from tests.harness.traffic import Line, Tap, encoded, load
from tests.harness.transcripts import neutral
from tests.helpers.recordings import SHIPPED
from tests.helpers.waiting import PATIENCE

HERE = {"/var/run/9/workspace": WORKSPACE, "/var/run/9": HOME, "http://127.0.0.1:4711": PROVIDER}


def as_neutral(transcript: Transcript) -> Transcript:
    """A transcript without what a neutral file has no room for."""
    seen = replace(transcript.seen, agent="", version="")
    messages = [
        MessageSeen(
            message=message.message,
            role=message.role,
            at=message.at,
            synthetic=message.synthetic,
            parts=tuple(_bare(part) for part in message.parts if part.type != "file"),
        )
        for message in transcript.messages
    ]
    recorded = tuple(message for message in messages if message.parts or message.role == "assistant")
    return Transcript(transcript.harness, transcript.session, seen, recorded)


def _bare(part: PartSeen) -> PartSeen:
    name = f"{part.message}:p{part.position}"
    status = "pending" if part.status == "running" else part.status
    return replace(part, part=name, status=status, ignored=False, synthetic=False, signed=False)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_what_is_written_is_what_is_read(name: str, tmp_path: Path) -> None:
    transcripts = list(read(SHIPPED / f"{name}.json.gz"))
    file = tmp_path / TRANSCRIPTS
    file.write_bytes(gzip.compress(b"".join(map(neutral, transcripts))))

    assert any(transcript.seen.parent for transcript in transcripts)
    assert list(map(as_neutral, transcripts)) == list(read(file))


def test_what_happened_here_happened_elsewhere() -> None:
    written = b'{"cwd":"/var/run/9/workspace","at":"/var/run/9/data http://127.0.0.1:4711/v1"}'

    assert {"cwd": WORKSPACE, "at": f"{HOME}/data {PROVIDER}/v1"} == json.loads(elsewhere(written, HERE))


@pytest.mark.parametrize("written", [str(Path(__file__)), '"text_ref":"4f2a"'])
def test_what_cannot_be_recorded_is_refused(written: str) -> None:
    with pytest.raises(Unfit):
        elsewhere(f"... {written} ...".encode(), HERE)


def test_a_place_within_another_is_named_first(tmp_path: Path) -> None:
    here = places(tmp_path, "http://127.0.0.1:4711")

    assert b"/home/dev/orchard/a.py" == elsewhere(f"{tmp_path}/opencode/workspace/a.py".encode(), here)


@pytest.mark.broker
async def test_the_traffic_is_recorded_once_and_in_order_with_its_answers(bus: Bus) -> None:
    here = Address("garden", "s1")
    written, asked, wanted = here.inbound("opencode"), ask(TransformAsk.NAME, "garden"), here.command("drop.queue")
    worked = asyncio.Queue[Delivery]()
    await bus.consumer(IN.name, "tagger", ack_wait=30, max_ack_pending=10)
    tagger = Pull(bus, IN.name, "tagger", credit=10, deliver=worked.put_nowait)
    await bus.serve(asked, "responder", _reply(b'{"status":"ready"}'))
    await bus.serve(wanted, "desk", _reply(b'{"ok":true}'))
    async with Tap(bus) as tap:
        await tagger.start()
        await bus.publish(written, b"1", "one")
        await worked.get()
        await bus.request(asked, b"2", PATIENCE)
        await bus.publish(written, b"1", "one")
        await bus.publish(written, b"3", "two")
        await bus.request(wanted, b"4", PATIENCE)
        await worked.get()
        await tagger.stop()
    await bus.publish(written, b"5", "three")

    assert [(written, b"1", "one", b"null"), (asked, b"2", "", b'{"status":"ready"}'), (written, b"3", "two", b"null"),
            (wanted, b"4", "", b'{"ok":true}')] == list(map(_recorded, tap.lines))  # fmt: skip


@pytest.mark.broker
async def test_a_question_that_nobody_answers_is_a_line_without_a_reply(bus: Bus) -> None:
    async with Tap(bus) as tap:
        await bus.client.publish(ask(TransformAsk.NAME, "garden"), b"{}", reply=bus.client.new_inbox())

    assert [(False, "")] == [(line.is_answered, line.status) for line in tap.lines]


def _reply(answer: bytes) -> Callable[[str, bytes], Awaitable[bytes]]:
    async def handle(_subject: str, _data: bytes) -> bytes:
        return answer

    return handle


def _recorded(line: Line) -> tuple[str, bytes, str, bytes]:
    return line.subject, bytes(line.payload), line.id, bytes(line.reply)


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    asked = Line("ask.transform.b", msgspec.Raw(b"{}"), reply=msgspec.Raw(b'{"status":"late"}'))
    lines = [Line("in.a.b.c", msgspec.Raw(b'{"id":"1"}'), "1"), asked]
    file = tmp_path / TRAFFIC
    file.write_bytes(gzip.compress(encoded(lines)))

    assert list(map(_recorded, lines)) == list(map(_recorded, load(file)))


@pytest.mark.soak
@pytest.mark.harness
async def test_a_recording_has_the_sessions_and_all_traffic(tmp_path: Path) -> None:
    made = await record(OPENAI, [planning, delegating], tmp_path / "rooms")
    made.write(tmp_path / "recorded")

    main, parent, child = read(tmp_path / "recorded" / TRANSCRIPTS)
    assert ("Plan first", WORKSPACE) == (main.seen.title, main.seen.directory)
    assert (parent.session, "subagent") == (child.seen.parent, child.seen.mode)
    assert "status 2" in parent.messages[-1].parts[-1].text
    lines = load(tmp_path / "recorded" / TRAFFIC)
    sessions = {parse_inbound(line.subject)[1].session for line in lines if line.is_inbound}
    assert {main.session, parent.session, child.session} == sessions
    assert {"ready"} == {line.status for line in lines if line.is_asked}
    assert str(tmp_path).encode() not in made.traffic + made.transcripts
