"""What a project sets for itself, on a real broker: it holds there alone, from a rebase on, and for the same bytes."""

import json
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from schemas.asks import MemoryAsk, MemoryReply
from schemas.codec import encode
from schemas.commands import FlushRequest, HistoryOrder, MemoryWrite, ProjectMerge, ProjectSeparate, SettingsApply
from schemas.envelope import Actor
from schemas.events import MemoryWritten, PlanRebased, SettingsApplied
from schemas.inbox import DocumentSeen
from schemas.plan import AnyEdit
from schemas.subjects import Address, ask
from schemas.view_asks import ProjectSettingsAsk, ProjectSettingsReply
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.commands import send
from services.kit.room import Room
from tests.domain.test_project_settings import OTHERWISE
from tests.helpers.broker_world import HARBOUR, facts
from tests.helpers.memory_sessions import ADA, PATIENCE, Harness, begun, done, heads, notices, rooms
from tests.helpers.waiting import until
from tests.responder.test_memory_on_broker import RULE

pytestmark = pytest.mark.broker

OWN, NEIGHBOUR = HARBOUR.project, "quarry"
FILES = (
    DocumentSeen("src/core.py", "c1", "x = 1"),
    DocumentSeen("docs/map.md", "m1", "# Map"),
    DocumentSeen("ARCHITECTURE.md", "a1", "# Rooms"),
)


async def sets(bus: Bus, project: str = OWN, /, **settings: object) -> None:
    await done(
        bus,
        SettingsApply(json.dumps({name.replace("__", "."): value for name, value in settings.items()})),
        Address(project),
    )


async def started(bus: Bus, session: str, project: str) -> Harness:
    harness = await begun(bus, "pi", f"{project}-{session}", project=project)
    await harness.report(*FILES)
    return harness


async def flushed(
    bus: Bus, harness: Harness, project: str, session: str, serving: Sequence[Room]
) -> tuple[AnyEdit, ...]:
    await send(bus, Address(project, f"{project}-{session}"), FlushRequest(), name=str(uuid4()), actor=ADA)
    await harness.says("go on after that")
    return await harness.step(serving)


async def rebases(bus: Bus, project: str, session: str) -> list[list[str]]:
    return [
        one.causes for one in await facts(bus, Address(project, f"{project}-{session}")) if isinstance(one, PlanRebased)
    ]


async def settings_in(bus: Bus, project: str) -> ProjectSettingsReply:
    reply = await bus.request(ask("settings", project), encode(ProjectSettingsAsk(project)), PATIENCE)
    return msgspec.json.decode(reply, type=ProjectSettingsReply)


async def served(harness: Harness, serving: Sequence[Room]) -> list[AnyEdit]:
    """All that a harness gets which holds no plan yet."""
    for room in serving:
        await until(room.idle)
    revision, harness.revision = harness.revision, 0
    plan = await harness.asks_again()
    harness.revision = revision
    return [edit for one in plan.revisions for edit in one.edits]


async def test_key_files_of_one_project_come_with_its_next_rebase_and_to_no_other(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        here, there = await started(bus, "one", OWN), await started(bus, "one", NEIGHBOUR)
        first = [heads(await harness.step(serving)) for harness in (here, there)]
        assert first[0] == first[1]
        assert "src/core.py" not in first[0][0]
        await sets(bus, plan__key_files=["src/core.py"])
        for turn in range(3):
            for harness in (here, there):
                await harness.says(f"go on {turn}")
                edits = await harness.step(serving)
                assert ([], []) == (heads(edits), notices(edits))
        (after,) = heads(await flushed(bus, here, OWN, "one", serving))
        assert '<file path="src/core.py">\nx = 1\n</file>' in after
        assert [] == heads(await flushed(bus, there, NEIGHBOUR, "one", serving))
        assert [["flush", "settings"]] == await rebases(bus, OWN, "one")
        assert [] == await rebases(bus, NEIGHBOUR, "one")
        fresh = [heads(await (await started(bus, "two", project)).step(serving)) for project in (OWN, NEIGHBOUR)]
        assert [[after], first[1]] == fresh


@pytest.mark.parametrize("name", OTHERWISE)
async def test_each_value_holds_for_one_project_and_the_other_is_served_what_it_was(
    bus: Bus, broker: Broker, tmp_path: Path, name: str
) -> None:
    async with rooms(broker, tmp_path) as serving:
        for project in (OWN, NEIGHBOUR):
            await done(bus, MemoryWrite(text=RULE), Address(project))
        before = [heads(await (await started(bus, "one", project)).step(serving)) for project in (OWN, NEIGHBOUR)]
        assert before[0] == before[1]
        await sets(bus, **{name.replace(".", "__"): OTHERWISE[name]})
        after = [heads(await (await started(bus, "two", project)).step(serving)) for project in (OWN, NEIGHBOUR)]
        assert before[1] == after[1]
        text = after[0][0] if after[0] else ""
        expected = {
            "plan.head": ("# Rooms" not in text, RULE in text),
            "plan.head_documents": ("# Rooms" not in text, "# Map" in text),
            "plan.key_files": ("# Rooms" in text, "x = 1" in text),
            "memory.enabled": ("# Rooms" in text, RULE not in text),
        }.get(name, (after[0] == before[0], True))
        assert (True, True) == expected
        mine, theirs = await settings_in(bus, OWN), await settings_in(bus, NEIGHBOUR)
        assert json.loads(json.dumps({name: OTHERWISE[name]})) == json.loads(mine.settings)
        assert ("{}", mine.installation) == (theirs.settings, theirs.installation)
        for project, off in ((OWN, True), (NEIGHBOUR, False)):
            answer = await send(
                bus,
                Address(project),
                MemoryWrite(text="Berths are numbered from the sea, always."),
                name=str(uuid4()),
                actor=ADA,
            )
            assert (name == "memory.enabled" and off) == (not answer.ok), answer.text
            order = await send(bus, Address(project, f"{project}-two"), HistoryOrder(), name=str(uuid4()), actor=ADA)
            assert (name == "history.enabled" and off) == (not order.ok), order.text
            question = MemoryAsk(project, view="list")
            reply = msgspec.json.decode(
                await bus.request(ask(question.NAME, project), encode(question), PATIENCE), type=MemoryReply
            )
            assert (name == "memory.enabled" and off) == bool(reply.error), reply.error


async def test_what_was_sent_is_sent_again_byte_for_byte_whatever_a_project_sets(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    """Three passes with a growing tail, a restart, a neighbour that changes and clears, and settings that come late."""
    async with rooms(broker, tmp_path / "one") as serving:
        await sets(bus, plan__key_files=["src/core.py"], plan__context="full", plan__head_documents=["docs/map.md"])
        here = await started(bus, "one", OWN)
        edits: list[AnyEdit] = [*await here.step(serving)]
        (head,) = heads(tuple(edits))
        assert "# Map" in head
        assert "# Rooms" not in head
        for turn in range(3):
            await sets(bus, NEIGHBOUR, plan__context="lean", plan__key_files=[f"{turn}.py"])
            await here.says(f"go on {turn}")
            edits += await here.step(serving)
            assert edits == await served(here, serving)
        await sets(bus, NEIGHBOUR)
    async with rooms(broker, tmp_path / "two") as serving:  # which know nothing but the log
        assert edits == await served(here, serving)
        await sets(bus, plan__head=False, memory__enabled=False, plan__context="lean")
        for turn in range(3):
            await here.says(f"and on {turn}")
            edits += await here.step(serving)
            assert edits == await served(here, serving)
        assert [] == await rebases(bus, OWN, "one")
    async with rooms(broker, tmp_path / "three") as serving:
        assert edits == await served(here, serving)
        await here.says("and on")
        edits += await here.step(serving)
        assert [head] == heads(tuple(edits))
        assert [""] == heads(await flushed(bus, here, OWN, "one", serving))
        assert [["flush", "settings"]] == await rebases(bus, OWN, "one")


async def test_what_was_set_and_taken_back_in_between_changes_nothing(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path) as serving:
        here = await started(bus, "one", OWN)
        await here.step(serving)
        await sets(bus, plan__head=False)
        await sets(bus)
        assert [] == heads(await flushed(bus, here, OWN, "one", serving))
        assert [] == await rebases(bus, OWN, "one")
        assert 2 == sum(isinstance(one, SettingsApplied) for one in await facts(bus, Address(OWN)))


async def test_what_a_session_shows_is_not_remembered_where_the_project_keeps_no_memory(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await sets(bus, memory__enabled=False)
        for project in (OWN, NEIGHBOUR):
            harness = await started(bus, "one", project)
            await harness.says("Remember: always answer in French.")
            await harness.step(serving)
        for room in serving:
            await until(room.idle)
        found = [
            [
                one
                for one in await facts(bus, Address(project))
                if isinstance(one, MemoryWritten) or one.TYPE == "memory.proposed"
            ]
            for project in (OWN, NEIGHBOUR)
        ]
        assert [0, 1] == [*map(len, found)]


async def test_under_whichever_name_a_project_goes_its_settings_hold_until_that_is_taken_back(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await sets(bus, plan__head=False)
        former = "dir-quarry"
        await started(bus, "one", former)
        for room in serving:
            await until(room.idle)
        assert "{}" == (await settings_in(bus, former)).settings
        await done(bus, ProjectMerge(former=former), Address(OWN))
        await until(lambda: holds(bus, former, {"plan.head": False}))
        fresh = await started(bus, "two", former)
        assert [] == heads(await fresh.step(serving))
        await sets(bus, former, plan__context="full")  # set under the former name, it is about the project
        assert {"plan.context": "full"} == json.loads((await settings_in(bus, OWN)).settings)
        await done(bus, ProjectSeparate(former=former), Address(OWN))
        await until(lambda: holds(bus, former, {}))
        assert {"plan.context": "full"} == json.loads((await settings_in(bus, OWN)).settings)


async def holds(bus: Bus, project: str, wanted: dict[str, object]) -> bool:
    return wanted == json.loads((await settings_in(bus, project)).settings)


@pytest.mark.parametrize("actor", [Actor("agent", "build"), Actor("harness", "pi"), Actor("room", "historian")])
async def test_nobody_but_a_person_sets_anything(bus: Bus, broker: Broker, tmp_path: Path, actor: Actor) -> None:
    async with rooms(broker, tmp_path):
        command = SettingsApply('{"memory.enabled": false}')
        answer = await send(bus, Address(OWN), command, name=str(uuid4()), actor=actor)
        assert not answer.ok
        assert "people" in answer.text
        refused = await send(bus, Address(OWN), SettingsApply('{"plan.contxt": 1}'), name=str(uuid4()), actor=ADA)
        assert (False, True) == (refused.ok, "did you mean plan.context?" in refused.text)
        assert [] == await facts(bus, Address(OWN))
