"""A session, a memory or a project is erased: it is found nowhere, and other sessions are served the same bytes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.codec import decode_envelope
from schemas.commands import MemoryWrite
from schemas.envelope import Actor
from schemas.inbox import SessionSeen
from schemas.streams import BODIES, DEAD
from schemas.subjects import Address
from services.domain.erasure.scope import ERASED
from services.domain.erasure.secret import MASK
from services.edges.launcher.leftover import end_leftover
from services.kit.bus.rewriting import RewrittenBodies
from services.plan.session.waits import ERASURE
from tests.helpers.broker_world import HARBOUR
from tests.helpers.erasing import Running, erase, files_with, running
from tests.helpers.memory_sessions import Harness, asked, begun, done, heads
from tests.helpers.sql import select

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SENTENCE = "The kestrel nests at the old quay of the harbour, next to the red crane"
FOUND = "Kestrels nest at the old quay, so nobody may paint it in spring."
RULE = "Always run the tests before a commit."
LEAKY = Address(HARBOUR.project, "leaky")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


async def planted(now: Running) -> tuple[Harness, Harness]:
    """A session with a child, a long body and a dead letter, and another one that shows none of it."""
    leaky = await begun(now.bus, "opencode", "leaky")
    await leaky.says(SENTENCE)
    await leaky.says(f"{'crane ' * 60_000}{SENTENCE}")
    await leaky.step(now.rooms)
    child = Harness(now.bus, "opencode", "child", "subagent")
    await child.report(SessionSeen(directory="/w", parent="leaky"))
    await child.says(f"count: {SENTENCE}")
    await child.step(now.rooms)
    await now.bus.js.publish(
        "dead.tagger", SENTENCE.encode(), headers={"Annals-Subject": LEAKY.inbound("opencode"), "Annals-Reason": "torn"}
    )
    other = await begun(now.bus, "pi", "other")
    await other.says("look at the harbour")
    await other.step(now.rooms)
    return leaky, other


async def test_a_session_goes_with_its_children_and_others_are_served_the_same_bytes(data: Path) -> None:
    async with running(data) as now:
        leaky, other = await planted(now)
        before, plan = await now.log(), await now.plan(other)
        assert 1 == len(await RewrittenBodies(now.bus, BODIES).names())
    spool = data.parent / "state" / "annals" / "opencode" / "spool" / "1-a.jsonl"
    spool.parent.mkdir(parents=True)
    lines = [json.dumps({"subject": one.inbound("opencode"), "id": "1", "data": "{}"}) for one in (LEAKY, HARBOUR)]
    spool.write_text("\n".join(lines) + "\n")
    assert files_with(data, SENTENCE)

    dry_run = erase(data, "session", "leaky")
    assert 0 == dry_run.returncode, dry_run.stderr
    for line in (
        "leaky of harbour",
        "child of harbour",
        "prompts    0 of sessions that stay",
        "DEAD       1 ",
        str(spool),
    ):
        assert line in dry_run.stdout
    assert spool.read_text() == "\n".join(lines) + "\n"
    gone = erase(data, "session", "leaky", "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    assert "Nothing of it is left here." in gone.stdout
    assert ([], f"{lines[1]}\n") == (files_with(data, SENTENCE), spool.read_text())

    async with running(data) as now:
        after = await now.log()
        for was, fact in zip(before, after[: len(before)], strict=True):
            first, then = decode_envelope(was.data), decode_envelope(fact.data)
            assert (was.seq, was.subject, first.id, first.at) == (fact.seq, fact.subject, then.id, then.at)
            assert (then.v == ERASED) == (then.session in {"leaky", "child"})
            assert then.v == ERASED or was.data == fact.data
        assert plan == await now.plan(other)
        assert [] == [edit for edit in await now.goes_on(other, "on") if SENTENCE in str(edit)]
        assert plan == (await now.plan(other))[: len(plan)]
        assert (("other",),) == await select(now.bus, "select session from sessions")
        assert 0 == await now.bus.messages(DEAD.name)
        assert [] == await RewrittenBodies(now.bus, BODIES).names()
        await now.goes_on(leaky, "and on")  # its harness has it still, and a call of it is answered as any other


async def test_what_an_agent_remembered_in_it_goes_and_prompts_that_showed_it_are_rebased_once(data: Path) -> None:
    async with running(data) as now:
        await planted(now)
        await done(now.bus, MemoryWrite(text=FOUND), LEAKY, Actor("agent", "a"))
        await done(now.bus, MemoryWrite(text=RULE))
        third = await begun(now.bus, "pi", "third")
        (head,) = heads(await third.step(now.rooms))
        assert FOUND in head
    gone = erase(data, "session", "leaky", "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    await assert_rebased_once(data, third)


async def assert_rebased_once(data: Path, session: Harness) -> None:
    """A session whose head showed what is gone: one rebase with the cause `erasure`, then the bytes stay."""
    assert [] == files_with(data, FOUND)
    async with running(data) as now:
        (head,) = heads(await now.goes_on(session, "one"))
        assert (True, False, False) == (RULE in head, FOUND in head, MASK in head)
        plan = await now.plan(session)
        assert [(ERASURE,)] == [causes for causes, _ in plan if causes]
        await now.goes_on(session, "two")
        await done(now.bus, MemoryWrite(text="Dates are always stored in UTC."))
    async with running(data) as now:
        await now.goes_on(session, "three")
        after = await now.plan(session)
        assert plan == after[: len(plan)]
        assert [(ERASURE,)] == [causes for causes, _ in after if causes]


async def test_a_memory_goes_with_its_text_wherever_it_occurs(data: Path) -> None:
    async with running(data) as now:
        await done(now.bus, MemoryWrite(text=FOUND))
        await done(now.bus, MemoryWrite(text=RULE))
        session = await begun(now.bus, "pi", "one")
        await session.says(f"as before: {FOUND}")
        (head,) = heads(await session.step(now.rooms))
        other = await begun(now.bus, "pi", "two", "subagent")
        await other.step(now.rooms)
        known = {one.text: one.id for one in (await asked(now.bus, "list")).memories}
        plan = await now.plan(other)
    assert FOUND in head
    dry_run = erase(data, "memory", known[FOUND])
    assert "prompts    1 of sessions that stay" in dry_run.stdout, dry_run.stdout + dry_run.stderr
    gone = erase(data, "memory", known[FOUND], "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    assert "Nothing of it is left here." in gone.stdout
    await assert_rebased_once(data, session)
    async with running(data) as now:
        status = {one.id: (one.status, one.text) for one in (await asked(now.bus, "list")).memories}
        assert ("archived", MASK) == status[known[FOUND]]
        assert plan == await now.plan(other)
    again = erase(data, "memory", known[FOUND], "--yes")
    assert 0 == again.returncode, again.stdout + again.stderr


async def test_prompts_that_showed_a_secret_are_rebased_once(data: Path) -> None:
    async with running(data) as now:
        await done(now.bus, MemoryWrite(text=f"Nobody says so: {FOUND}"))
        await done(now.bus, MemoryWrite(text=RULE))
        session = await begun(now.bus, "pi", "one")
        await session.step(now.rooms)
    gone = erase(data, "secret", "--yes", word=FOUND)
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    async with running(data) as now:
        for words in ("one", "two", "three"):
            await now.goes_on(session, words)
        plan = await now.plan(session)
        assert [(ERASURE,)] == [causes for causes, _ in plan if causes]
        assert FOUND not in str(plan)


async def test_a_project_goes_and_another_stays(data: Path) -> None:
    async with running(data) as now:
        await planted(now)
        await done(now.bus, MemoryWrite(text=FOUND))
        elsewhere = await begun(now.bus, "pi", "elsewhere", project="quarry")
        await elsewhere.step(now.rooms)
        plan = await now.plan(elsewhere)
    mirror = data / "mirrors" / "harbour.git"
    mirror.mkdir(parents=True)
    (mirror / "HEAD").write_text("ref: refs/heads/main\n")
    dry_run = erase(data, "project", "harbour")
    assert "project    harbour: 3 sessions, 1 memories" in dry_run.stdout, dry_run.stdout + dry_run.stderr
    gone = erase(data, "project", "harbour", "--yes")
    assert 0 == gone.returncode, gone.stdout + gone.stderr
    assert ([], [], False) == (files_with(data, FOUND), files_with(data, SENTENCE), mirror.exists())
    async with running(data) as now:
        assert (("quarry",),) == await select(now.bus, "select distinct project from sessions")
        assert plan == await now.plan(elsewhere)
        assert 0 == (await asked(now.bus, "list")).total


def test_what_is_not_there_is_refused_in_a_sentence(data: Path) -> None:
    refused = erase(data, "session", "nobody")
    assert (1, True) == (refused.returncode, "no installation has run" in refused.stderr)
