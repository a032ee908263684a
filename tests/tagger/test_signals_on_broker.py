"""Facts of the tagger apart from the conversation, over a real broker: long bodies, documents, repetition."""

import hashlib
from collections.abc import AsyncIterator

import pytest

from schemas.codec import decode_envelope, encode
from schemas.events import (
    AdapterConnected,
    DocumentCaptured,
    Event,
    FileTouched,
    ProjectIdentified,
    SessionOpened,
    TodoCaptured,
    ToolRan,
    ToolsetChanged,
)
from schemas.inbox import (
    AdapterSeen,
    DocumentSeen,
    ErrorSeen,
    Inbound,
    PartSeen,
    Seen,
    SessionSeen,
    Todo,
    TodoSeen,
    ToolSeen,
    ToolsSeen,
)
from schemas.streams import BODIES, DEAD, INBOUND_BODIES, LOG, MAX_BODY_BYTES
from schemas.subjects import Address
from services.kit.bus import Bodies, Bus
from services.tagger.worker import Tagger
from tests.helpers.broker_world import HARBOUR, NOON, facts, opened, quick_settings, stored
from tests.helpers.reported_secrets import SECRET, holding_the_secret
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

MASK = "[masked:github-token]"
PROJECT = Address(HARBOUR.project)


@pytest.fixture
async def tagger(bus: Bus) -> AsyncIterator[Tagger]:
    room = Tagger()
    async with opened(room, bus, quick_settings()):
        yield room


async def see(bus: Bus, name: str, *items: Seen, address: Address = HARBOUR) -> None:
    await bus.publish(address.inbound("pi"), encode(Inbound(name, NOON, items)), name)


async def worked(bus: Bus, tagger: Tagger) -> list[Event]:
    """All facts, once nothing waits; nothing was refused."""
    await until(tagger.idle)
    assert [] == [dead.headers["Annals-Reason"] for dead in await stored(bus, DEAD.name)]
    return await facts(bus)


# Long bodies


async def test_the_arguments_of_a_call_are_read_before_they_are_stored_apart(bus: Bus, tagger: Tagger) -> None:
    arguments = encode({"content": "x" * MAX_BODY_BYTES, "filePath": "/w/a.py"}).decode()
    reference = await Bodies(bus, INBOUND_BODIES).put(arguments)
    seen = PartSeen("m1", "tool", "p1", tool="write", call="c1", input_ref=reference, status="completed")
    await see(bus, "1", SessionSeen(directory="/w"), seen)
    found = await worked(bus, tagger)
    assert ToolRan(message="m1", part="p1", tool="write", call="c1", target="/w/a.py") in found
    assert FileTouched(path="a.py", action="written", message="m1", part="p1", tool="write") in found


async def test_definitions_of_tools_that_are_long_are_masked_and_referred_to(bus: Bus, tagger: Tagger) -> None:
    tools = (ToolSeen("read", "x" * MAX_BODY_BYTES + f" token={SECRET}"), ToolSeen("edit", "Edits"))
    await see(bus, "1", ToolsSeen("d1", tools))
    (changed,) = [event for event in await worked(bus, tagger) if isinstance(event, ToolsetChanged)]
    assert ("", ["read", "edit"]) == (changed.definitions, changed.names)
    assert MASK in await Bodies(bus, BODIES).get(changed.definitions_ref)
    assert [] == await holding_the_secret(bus)


async def test_a_long_document_is_masked_and_referred_to(bus: Bus, tagger: Tagger) -> None:
    text = "a line\n" * 50_000 + f"token={SECRET}\n"
    reference = await Bodies(bus, INBOUND_BODIES).put(text)
    await see(bus, "1", DocumentSeen("README.md", "d1", text_ref=reference))
    (captured,) = [event for event in await worked(bus, tagger) if isinstance(event, DocumentCaptured)]
    stored_body = await Bodies(bus, BODIES).get(captured.text_ref)
    assert text.replace(SECRET, MASK) == stored_body
    assert (len(stored_body.encode()), hashlib.sha256(stored_body.encode()).hexdigest()) == (
        captured.bytes,
        captured.text_ref,
    )
    assert [] == await holding_the_secret(bus)


# Projects


async def test_documents_belong_to_the_project_and_are_captured_once_for_all_its_sessions(
    bus: Bus, tagger: Tagger
) -> None:
    document, gone = DocumentSeen("AGENTS.md", "d1", "Be kind."), DocumentSeen("AGENTS.md", "")
    await see(bus, "1", document)
    await see(bus, "2", document, address=Address(HARBOUR.project, "s2"))
    await until(tagger.idle)
    await see(bus, "3", gone, document, gone)
    captured = DocumentCaptured(path="AGENTS.md", digest="d1", bytes=8, text="Be kind.")
    left = DocumentCaptured(path="AGENTS.md", digest="")
    assert [captured, left, captured, left] == await worked(bus, tagger)
    assert [PROJECT.log(DocumentCaptured.TYPE)] * 4 == [one.subject for one in await stored(bus, LOG.name)]


async def test_many_sessions_of_a_project_report_it_at_once(bus: Bus, tagger: Tagger) -> None:
    """They write with one pen about one thing: none of it is lost and nothing is recorded twice."""
    for number in range(20):
        items = (SessionSeen(directory=f"/w{number % 3}"), DocumentSeen(f"{number % 5}.md", "d1", "text"))
        await see(bus, f"i{number}", *items, address=Address(HARBOUR.project, f"s{number}"))
    found = await worked(bus, tagger)
    documents = [event.path for event in found if isinstance(event, DocumentCaptured)]
    assert [f"{number}.md" for number in range(5)] == sorted(documents)
    directories = [event.directory for event in found if isinstance(event, ProjectIdentified)]
    assert ["/w0", "/w1", "/w2"] == sorted(directories)


async def test_a_project_s_root_is_recorded_when_it_becomes_known(bus: Bus, tagger: Tagger) -> None:
    await see(bus, "1", SessionSeen(directory="/w"))
    await see(bus, "2", SessionSeen(directory="/w", root="/w", vcs="git"))
    await see(bus, "3", SessionSeen(directory="/w"))
    found = [event for event in await worked(bus, tagger) if isinstance(event, ProjectIdentified)]
    assert [
        ProjectIdentified(directory="/w", harness="pi"),
        ProjectIdentified(directory="/w", harness="pi", root="/w", vcs="git"),
    ] == found


async def test_what_an_inbound_message_led_to_names_it_as_its_cause(bus: Bus, tagger: Tagger) -> None:
    await see(bus, "1", SessionSeen(directory="/w"), DocumentSeen("A.md", "d1"), DocumentSeen("B.md", "d1"))
    await worked(bus, tagger)
    log = [decode_envelope(one.data) for one in await stored(bus, LOG.name)]
    assert {"1"} == {envelope.cause for envelope in log}
    last = [envelope.type for envelope in log if envelope.last]
    assert [SessionOpened.TYPE, DocumentCaptured.TYPE] == last


# Repetition

REPORTS: tuple[Seen, ...] = (
    AdapterSeen("plugin", "1.0", "1.18", "d"),
    SessionSeen(title="a session", directory="/w", root="/w", vcs="git"),
    PartSeen("m1", "tool", "p1", tool="edit", call="c1", input='{"filePath":"/w/x"}', status="completed", exit_code=0),
    TodoSeen((Todo(f"use {SECRET}"),)),
    ToolsSeen("d1", (ToolSeen("read", f"Reads with {SECRET}", "{}"),)),
    DocumentSeen("AGENTS.md", "d1", f"token: {SECRET}"),
    ErrorSeen(f"bad key {SECRET}", "m1", "APIError", 401),
)


async def test_what_is_reported_twice_is_written_once_and_without_secrets(bus: Bus, tagger: Tagger) -> None:
    await see(bus, "1", *REPORTS)
    once = await worked(bus, tagger)
    kinds = {type(event) for event in once}
    assert kinds >= {AdapterConnected, ToolRan, FileTouched, TodoCaptured, ToolsetChanged, DocumentCaptured}
    await see(bus, "2", *REPORTS)
    await see(bus, "3", *REPORTS, *REPORTS)
    assert once == await worked(bus, tagger)
    assert [] == await holding_the_secret(bus)


async def test_a_tagger_that_starts_anew_knows_what_was_noted(bus: Bus) -> None:
    async with opened(first := Tagger(), bus, quick_settings()):
        await see(bus, "1", *REPORTS)
        once = await worked(bus, first)
    async with opened(second := Tagger(), bus, quick_settings()):
        await see(bus, "2", *REPORTS)
        assert once == await worked(bus, second)
