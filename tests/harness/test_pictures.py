"""Pictures that tools answer with, and texts that OpenCode cuts through a character."""

import struct
import zlib
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest
import pytest_asyncio

from schemas.codec import decode_attachments
from schemas.events import PartRecorded, PlanExtended, StepOpened
from services.settings import Limits
from tests.conftest import running_installation
from tests.harness.connected import Connected, connected, rebases
from tests.harness.isolation import ANTHROPIC, Family, Json
from tests.harness.provider import Provider, Reply
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_plain import breaks
from tests.harness.test_tools import command, dropping
from tests.harness.wires import played_on

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

SIDE = 1500
COST = 3000
"""Tokens of a picture of that many pixels on each side."""
SEES = {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}


def png(shade: int, side: int = SIDE) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([shade]) * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def seeing(family: Family) -> Json:
    """Settings in which the models take pictures."""
    return {"provider": {family.provider: {"models": {family.main.name: SEES}}}}


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=played_on(ANTHROPIC), ids=lambda family: family.format
)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    settings = {"plan": Limits(protected_tags=2)}
    root = tmp_path_factory.mktemp(family.provider)
    async with connected(
        root, running_installation, provider, family, settings=settings, config=seeing(family)
    ) as all_of_it:
        for shade in range(1, 5):
            (all_of_it.oc.workspace / f"shot{shade}.png").write_bytes(png(shade))
        yield all_of_it


def digest(shade: int) -> str:
    return sha256(png(shade)).hexdigest()


async def recorded(running: Connected, session: str, tool: str = "read") -> list[PartRecorded]:
    return [
        event
        for envelope, event in await running.log()
        if envelope.session == session and isinstance(event, PartRecorded) and event.tool == tool
    ]


async def test_a_picture_that_a_tool_showed_is_recorded_counted_and_dropped(running: Connected) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Look"), Calls(running.oc)
    await conversation.send("Look.", calls(on.read("shot1.png"), on.read("README.md")), Reply(text="Grey."))
    shown = running.provider.of(conversation.session)[-1]
    (part,) = [
        one for one in await recorded(running, conversation.session) if one.attachments and one.status == "completed"
    ]
    (attachment,) = decode_attachments(part.attachments)

    assert [digest(1)] == shown.pictures
    assert any("§" in output and "read successfully" in output for output in shown.outputs.values())
    assert ("image/png", SIDE, SIDE, len(png(1)), digest(1)) == (
        *(attachment.mime, attachment.width, attachment.height, attachment.bytes),
        attachment.digest,
    )
    assert COST == part.attachment_tokens
    assert shown.usage.prompt - running.provider.of(conversation.session)[0].usage.prompt >= COST

    await conversation.send("Drop it.", dropping("read successfully"), Reply(text="Dropped."))
    await conversation.send("Read the readme again.", calls(on.read("README.md")), Reply(text="Read."))
    await conversation.send("And this.", calls(on.read("docs/ideas.md")), Reply(text="Read that, too."))
    before = running.provider.of(conversation.session)[-1]
    await command(running, conversation.session, "ctx-flush")
    await conversation.send("Go on.", Reply(text="On it."))
    await conversation.send("And on.", Reply(text="On and on."))

    first, last = running.provider.of(conversation.session)[-2:]
    assert [digest(1)] == before.pictures
    assert [] == first.pictures == last.pictures
    assert first.usage.prompt < before.usage.prompt - COST // 2
    assert [] == running.provider.faults
    (rebase,) = rebases(await running.log(), conversation.session)
    assert rebase.tokens_before - rebase.tokens_after >= COST
    assert 1 == len(breaks(running.provider.of(conversation.session))), breaks(
        running.provider.of(conversation.session)
    )


async def test_an_old_picture_goes_by_itself_at_the_next_rebase_and_the_newest_stays(running: Connected) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Look around"), Calls(running.oc)
    for shade in (2, 3, 4):
        await conversation.send(f"Look at {shade}.", calls(on.read(f"shot{shade}.png")), Reply(text="Grey."))
    sent = running.provider.of(conversation.session)
    await conversation.send("Drop the first.", dropping("read successfully"), Reply(text="Dropped."))
    await command(running, conversation.session, "ctx-flush")
    await conversation.send("Go on.", Reply(text="On it."))

    assert [digest(2), digest(3), digest(4)] == sent[-1].pictures
    assert [] == breaks(sent)
    left = running.provider.of(conversation.session)[-1].pictures
    assert digest(2) not in left
    assert len(left) < 3
    assert [] == running.provider.faults


async def test_a_text_that_is_cut_through_a_character_is_recorded_and_its_step_is_planned(running: Connected) -> None:
    line = "x" * 1999 + "\N{GRINNING FACE}" + "y" * 50
    (running.oc.workspace / "long.txt").write_text(f"{line}\nend\n")
    conversation, on = await Conversation.open(running.oc, running.provider, "Cut"), Calls(running.oc)

    await conversation.send("Read.", calls(on.read("long.txt")), Reply(text="Long."))

    (shortened,) = await conversation.outputs("read")
    assert any("\ud800" <= character <= "\udfff" for character in shortened), "OpenCode cuts lines in another way now"
    log = await running.log()
    (part,) = [one for one in await recorded(running, conversation.session) if one.status == "completed"]
    assert shortened.encode("utf-16", "surrogatepass").decode("utf-16", "replace") == part.output
    assert len(part.output.encode()) == part.bytes
    steps = [
        event.step
        for envelope, event in log
        if envelope.session == conversation.session and isinstance(event, StepOpened)
    ]
    planned = [
        event.step
        for envelope, event in log
        if envelope.session == conversation.session and isinstance(event, PlanExtended)
    ]
    assert steps == planned
    assert any(output.startswith("§") for output in running.provider.of(conversation.session)[-1].outputs.values())
