"""A body about another project or session than its subject's is refused by every room, over a real broker."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from schemas.ask import Ask
from schemas.codec import encode
from schemas.commands import Answer, Command
from schemas.inbox import Inbound
from schemas.room_health import HealthAsk
from schemas.streams import DEAD
from schemas.subjects import Address, ask
from services.console.worker import Console
from services.desk.core.commands import COMMANDS
from services.desk.worker import Desk
from services.embedder.worker import Embedder
from services.generate.schema import ASKS, reply_to
from services.indexer.worker import Indexer
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from services.settings import Embed, Settings
from services.tagger.worker import Tagger
from tests.helpers.bodies import least
from tests.helpers.broker_world import HARBOUR, NOON, facts, opened, quick_settings, stored
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

ABOUT_A_PROJECT = [one for one in ASKS if "project" in one.__struct_fields__]
REFUSED = "its body names the project 'island' and its subject the project 'harbour'"
ISLAND = Address("island", "s9")


@pytest.fixture
async def tagger(bus: Bus, tmp_path: Path) -> AsyncIterator[Tagger]:
    """Every room that answers or is sent something, in this process."""
    settings = quick_settings(tmp_path)
    quiet = Settings(data=tmp_path, loop=settings.loop, embed=Embed(provider="off"))
    room = Tagger()
    async with AsyncExitStack() as stack:
        for one in (room, Desk(), Responder(), Console(), Searcher(), Embedder(), Indexer()):
            await stack.enter_async_context(opened(one, bus, quiet))
        yield room


async def asked(bus: Bus, kind: type[Ask], subject: str, body: dict[str, object]) -> str:
    """Why this question has no answer, in the reply that is its own."""
    reply = msgspec.json.decode(await bus.request(subject, encode(body), PATIENCE), type=reply_to(kind))
    return str(getattr(reply, "error", "") or getattr(reply, "reason", ""))


async def sent(bus: Bus, address: Address, kind: type[Command], **fields: object) -> Answer:
    body = {"id": "c", "at": NOON, "actor": {"kind": "person"}, "data": least(kind), **fields}
    return msgspec.json.decode(await bus.request(address.command(kind.TYPE), encode(body), PATIENCE), type=Answer)


@pytest.mark.usefixtures("tagger")
async def test_no_room_answers_what_is_asked_of_another_project_than_its_subject_s(bus: Bus) -> None:
    for kind in ABOUT_A_PROJECT:
        assert REFUSED in await asked(bus, kind, ask(kind.NAME, "harbour"), least(kind, project="island"))
        assert "no project" in await asked(bus, kind, ask(kind.NAME), least(kind, project="island"))
        assert REFUSED not in await asked(bus, kind, ask(kind.NAME, "island"), least(kind, project="island"))


@pytest.mark.usefixtures("tagger")
async def test_no_room_answers_on_a_subject_that_is_not_written_as_ours(bus: Bus) -> None:
    for kind in ASKS:
        if kind is HealthAsk:
            continue  # it is about a room
        body = least(kind, project="harbour") if kind in ABOUT_A_PROJECT else least(kind)
        assert "the token 'harb=6Fur' is not how" in await asked(bus, kind, f"ask.{kind.NAME}.harb=6Fur", body)


@pytest.mark.usefixtures("tagger")
async def test_no_command_is_taken_for_another_project_or_session_than_its_subject_s(bus: Bus) -> None:
    for kind in COMMANDS:
        answer = await sent(bus, HARBOUR, kind, project="island")
        assert (False, True) == (answer.ok, REFUSED in answer.text)
        answer = await sent(bus, HARBOUR, kind, session="s9")
        assert (False, True) == (answer.ok, "its body names the session 's9'" in answer.text)
        if "session" in kind.__struct_fields__:
            answer = await sent(bus, HARBOUR, kind, data=least(kind, session="s9"))
            assert (False, True) == (answer.ok, "its body names the session 's9'" in answer.text)
    assert [] == await facts(bus)


async def test_what_was_seen_elsewhere_goes_to_the_dead_letters_with_the_reason(bus: Bus, tagger: Tagger) -> None:
    for name, claimed in (("project", "island"), ("session", "s9")):
        body = {**msgspec.to_builtins(Inbound(name, NOON, ())), "items": [{"kind": "session.idle"}], name: claimed}
        await bus.publish(HARBOUR.inbound("pi"), encode(body), name)
    await bus.publish("in.pi.harbour._", encode(Inbound("whole", NOON, ())), "whole")
    await until(tagger.idle)
    reasons = [dead.headers["Annals-Reason"] for dead in await stored(bus, DEAD.name)]
    assert 3 == len(reasons)
    for expected in (REFUSED, "its body names the session 's9'", "is not in.<harness>.<project>.<session>"):
        assert any(expected in reason for reason in reasons)
    assert [] == await facts(bus)


async def test_ids_of_another_project_s_session_mean_nothing_in_this_one(bus: Bus, tagger: Tagger) -> None:
    """What a session is a copy of, what it was started by and what a call started are looked for in its project."""
    message = {"kind": "message.seen", "message": "m1", "role": "user", "parts": [
        {"message": "m1", "part": "p1", "type": "text", "text": "the island's words"},
    ]}  # fmt: skip
    step = {"kind": "step.seen", "step": "t1", "messages": [{"message": "m1"}], "count": 1}
    await bus.publish(ISLAND.inbound("pi"), encode(inbound("i1", message, step)), "i1")
    await until(tagger.idle)
    before = await facts(bus, ISLAND)

    await bus.publish(
        HARBOUR.inbound("pi"),
        encode(
            inbound(
                "h1",
                {"kind": "session.seen", "title": "t", "parent": "s9", "forked_from": "s9", "forked_at": "m1"},
                {"kind": "part.gone", "message": "m1", "part": "p1"},
                {"kind": "message.gone", "message": "m1"},
                {"kind": "session.reverted", "message": "m1"},
                {"kind": "step.seen", "step": "t1", "messages": [{"message": "m1"}], "count": 1},
                {"kind": "usage.seen", "message": "m1", "input": 1},
            )
        ),
        "h1",
    )
    await until(tagger.idle)
    assert before == await facts(bus, ISLAND)
    assert b"the island's words" not in b"".join(encode(fact) for fact in await facts(bus, HARBOUR))


def inbound(name: str, *items: dict[str, object]) -> dict[str, object]:
    return {"id": name, "at": NOON, "items": [*items]}
