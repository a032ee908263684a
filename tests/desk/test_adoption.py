"""The memory of a project that had another name before, over a real broker: it goes on, once, under the new one."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import (
    MemoryArchive,
    MemoryPin,
    MemoryReinforce,
    MemoryRevise,
    MemoryWrite,
    NoteWrite,
    PolicySet,
    ProjectMerge,
    ProjectRename,
    ProjectSeparate,
)
from schemas.events import (
    AliasAdded,
    AliasProposed,
    AliasRemoved,
    MemoryJudged,
    MemoryMoved,
    MemoryWritten,
    ProjectClaimed,
    ProjectIdentified,
    ProjectMerged,
)
from schemas.subjects import Address
from services.desk.worker import Desk
from services.domain.aliases import GLOBAL
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.kit.project_name import directory_name
from services.memory.book import Book
from services.memory.entry import Memory
from services.settings import MemoryLimits as Limits
from tests.desk.test_books import AGENT, PROJECT, send
from tests.desk.test_intake import REQUEST, publish, rested, words
from tests.helpers.broker_world import HARBOUR, connected, facts, opened, quick_settings
from tests.helpers.memory_books import named_in
from tests.helpers.memory_writers import folded
from tests.helpers.repositories import Checkout, Made
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

FORMER = Address("dir-harbour")
RULE, OTHER, GONE = "Always run the tests before a commit.", "Use pnpm instead of npm here.", "Ports begin at 9100."


def merged(former: str = FORMER.project) -> Sequence[ProjectMerged]:
    return [ProjectMerged(former=former)]


async def remembering(bus: Bus, address: Address = FORMER) -> dict[str, str]:
    """A project that remembers something, in all the ways; text -> id."""
    names = {}
    for number, text in enumerate((RULE, OTHER, GONE)):
        names[text] = named_in((await send(bus, MemoryWrite(text=text), f"w{number}", address=address)).text)
    commands = (
        MemoryArchive(names[GONE], reason="they do not"),
        MemoryPin(names[RULE]),
        MemoryReinforce(names[OTHER]),
        MemoryRevise(names[OTHER], text="Use pnpm instead of npm in this repository."),
        NoteWrite(text="Ask Ada."),
        PolicySet("agent", "held"),
    )
    for number, command in enumerate(commands):
        answer = await send(bus, command, f"c{number}", address=address)
        assert answer.ok, answer.text
    return names


def plain(memory: Memory) -> Memory:
    """A memory without the positions of its facts."""
    sources = tuple(replace(one, seq=0) for one in memory.sources)
    return replace(memory, seq=0, facts=(), sources=sources)


def stands(one: Book, other: Book) -> bool:
    """Whether both say the same."""
    assert {name: plain(one.memories[name]) for name in one.memories} == {
        name: plain(other.memories[name]) for name in other.memories
    }
    assert {name: one.candidates[name].verdict for name in one.candidates} == {
        name: other.candidates[name].verdict for name in other.candidates
    }
    assert [note.text for note in one.notes.values()] == [note.text for note in other.notes.values()]
    return dict(one.policy.items()) == dict(other.policy.items())


async def moved(bus: Bus) -> bool:
    return any(isinstance(one, MemoryMoved) for one in await facts(bus, FORMER))


async def test_what_was_remembered_under_the_former_name_is_under_the_new_one_as_it_was(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await remembering(bus)
        before = await folded(bus, FORMER)
        await publish(bus, merged(), PROJECT)
        await until(lambda: moved(bus))
        await rested(bus)
        assert stands(before, await folded(bus))
        assert PROJECT.project == (await folded(bus, FORMER)).moved_to
        assert 3 == sum(isinstance(one, MemoryWritten) for one in await facts(bus, PROJECT))


async def test_a_decision_of_several_facts_that_comes_last_is_copied_as_a_whole(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await send(bus, MemoryWrite(text=RULE), "w", address=FORMER)  # judged and written: two facts
        await publish(bus, merged(), PROJECT)
        await until(lambda: moved(bus))
        await rested(bus)
        assert [MemoryJudged, MemoryWritten] == [
            type(one) for one in await facts(bus, PROJECT) if not isinstance(one, ProjectMerged)
        ]


async def test_what_still_comes_under_the_former_name_is_decided_under_the_new_one(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        names = await remembering(bus)
        await publish(bus, merged(), PROJECT)
        await rested(bus)
        count = len(await facts(bus, FORMER))
        again = await send(bus, MemoryWrite(text=RULE), "w0", address=FORMER)
        assert (True, names[RULE]) == (again.ok, named_in(again.text))  # it was decided before it moved
        answer = await send(bus, MemoryWrite(text="Dates are stored in UTC, always."), "late", address=FORMER)
        assert answer.ok
        assert named_in(answer.text) in (await folded(bus)).memories
        refused = await send(bus, MemoryArchive(names[RULE]), "a", AGENT, Address(FORMER.project, "s1"))
        assert "has a person's own words" in refused.text
        await publish(bus, words(REQUEST), Address(FORMER.project, "s1"))
        await rested(bus)
        assert any("French" in one.text for one in (await folded(bus)).memories.values())
        of_project = [one for one in await facts(bus, FORMER) if not type(one).TYPE.startswith(("message.", "part."))]
        assert count == len(of_project)


async def test_what_was_decided_under_the_new_name_stays(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        names = await remembering(bus)
        await send(bus, MemoryWrite(text=RULE), "n1")
        await send(bus, MemoryArchive(names[RULE], reason="not here"), "n2")
        await send(bus, PolicySet("agent", "refused"), "n3")
        await publish(bus, merged(), PROJECT)
        await rested(bus)
        now = await folded(bus)
    assert ("archived", False, 2) == (
        now.memories[names[RULE]].status,
        now.memories[names[RULE]].is_pinned,
        now.memories[names[RULE]].seen,
    )
    assert ("active", "refused") == (now.memories[names[OTHER]].status, now.policy["agent"])


async def test_it_is_taken_in_once_by_two_desks_and_however_often_it_is_reported(broker: Broker, bus: Bus) -> None:
    other = await connected(broker)
    try:
        async with opened(Desk(), bus, quick_settings()):
            await remembering(bus)
            before = await folded(bus, FORMER)
        await publish(bus, merged(), PROJECT)
        async with opened(Desk(), bus, quick_settings()), opened(Desk(), other, quick_settings()):
            await until(lambda: moved(bus))
            await rested(bus)
    finally:
        await other.close()
    async with opened(Desk(), bus, quick_settings()):
        await publish(bus, merged(), PROJECT)
        await rested(bus)
        await asyncio.gather(*(send(bus, MemoryWrite(text=f"Page {n} is read first."), f"p{n}") for n in range(3)))
    assert 3 == sum(isinstance(one, MemoryWritten) for one in await facts(bus, PROJECT)) - 3
    now = await folded(bus)
    assert before.memories.keys() <= now.memories.keys()
    assert 1 == len(now.notes)


async def test_what_a_desk_has_left_undone_another_one_does_when_it_starts(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        await remembering(bus)
        before = await folded(bus, FORMER)
    async with opened(Desk(), bus, replace(quick_settings(), memory=Limits(enabled=False))):
        await publish(bus, merged(), PROJECT)
        await rested(bus)
        assert [] == [one for one in await facts(bus, PROJECT) if not isinstance(one, ProjectMerged)]
    await publish(bus, [MemoryMoved(name=PROJECT.project)], FORMER)  # one that was killed behind this
    async with opened(Desk(), bus, quick_settings()):
        await until(lambda: holds(bus, before))
    assert stands(before, await folded(bus))


async def holds(bus: Bus, before: Book) -> bool:
    now = await folded(bus)
    return len(now.notes) == len(before.notes) and len(now.policy) == len(before.policy)


async def test_a_memory_moves_on_and_never_back(bus: Bus) -> None:
    newest = Address("git-harbour")
    async with opened(Desk(), bus, quick_settings()):
        names = await remembering(bus)
        await publish(bus, merged(), PROJECT)
        await rested(bus)
        await publish(bus, merged(PROJECT.project), newest)
        await rested(bus)
        await publish(bus, [*merged(newest.project), *merged(PROJECT.project)], FORMER)
        await rested(bus)
        answer = await send(bus, MemoryPin(names[OTHER]), "late", address=FORMER)
        assert answer.ok, answer.text
        assert (await folded(bus, newest)).memories[names[OTHER]].is_pinned
        assert "" == (await folded(bus, newest)).moved_to


async def test_of_a_home_directory_nothing_is_remembered(bus: Bus) -> None:
    home = [ProjectIdentified(directory="/home/ada", harness="pi", home=True)]
    async with opened(Desk(), bus, quick_settings()):
        await publish(bus, home, PROJECT)
        for command, address, actor in (
            (MemoryWrite(text=RULE), PROJECT, None),
            (NoteWrite(text="Ask Ada."), HARBOUR, AGENT),
        ):
            answer = await send(bus, command, f"h{address.session}", *([actor] if actor else []), address=address)
            assert (False, 0) == (answer.ok, answer.seq)
            assert "this is a home directory" in answer.text
        await publish(bus, words(REQUEST))
        await rested(bus)
        assert home == await facts(bus, PROJECT)
        await publish(bus, merged(PROJECT.project), FORMER)
        await rested(bus)
        assert not (await folded(bus)).moved_to


# What a harness claims, and what a person says of it


async def claims(bus: Bus, project: Address, former: str, folder: Path) -> None:
    await publish(bus, [ProjectClaimed(former=former, directory=str(folder), root=str(folder), harness="pi")], project)
    await rested(bus)


def shop(folder: Path) -> tuple[Checkout, Address]:
    """A repository and its project."""
    checkout = Checkout(folder)
    checkout.add(Made(1, f"Begin {folder.name}"))
    return checkout, Address(f"git-{checkout.sha(1)}")


async def names(bus: Bus) -> list[object]:
    return [type(one) for one in await facts(bus, GLOBAL)]


async def test_a_directory_that_became_a_repository_brings_its_memory_along(bus: Bus, tmp_path: Path) -> None:
    _, project = shop(tmp_path)
    former = Address(directory_name(tmp_path))
    async with opened(Desk(), bus, quick_settings()):
        await remembering(bus, former)
        before = await folded(bus, former)
        await claims(bus, project, former.project, tmp_path)
        assert stands(before, await folded(bus, project))
        assert [AliasAdded(alias=former.project, leads_to=project.project, how="derived")] == await facts(bus, GLOBAL)


async def test_no_harness_takes_what_it_only_claims(bus: Bus, tmp_path: Path) -> None:
    """Whatever a name is made of that the thief may guess: no directory says of both that they are one."""
    thief_checkout, thief = shop(tmp_path / "thief")
    victim_checkout, victim = shop(tmp_path / "victim")
    (tmp_path / "plain").mkdir()
    victims = [
        FORMER,
        victim,
        Address(directory_name(tmp_path / "plain")),
        Address(directory_name(victim_checkout.folder)),
    ]
    async with opened(Desk(), bus, quick_settings()):
        for number, one in enumerate(victims):
            answer = await send(bus, MemoryWrite(text=RULE), f"v{number}", address=one)
            assert answer.ok, answer.text
        for folder in (
            thief_checkout.folder,
            victim_checkout.folder,
            tmp_path / "plain",
            tmp_path / "missing",
            Path("-x"),
            Path("/a\0b"),
        ):
            for one in victims:
                await claims(bus, thief, one.project, folder)
        for one in victims:
            assert not (await folded(bus, one)).moved_to
        assert {} == dict((await folded(bus, thief)).memories.items())
        assert {AliasProposed} == {*await names(bus)}
        assert len(victims) == len(await names(bus))
        assert not await bus.messages("DEAD")
        by_thief = await send(bus, ProjectMerge(FORMER.project), "t", AGENT, Address(thief.project))
        assert (False, True) == (by_thief.ok, "come from people" in by_thief.text)
        in_session = await send(bus, ProjectMerge(FORMER.project), "s", address=Address(thief.project, "s1"))
        assert (False, True) == (in_session.ok, "about the whole project" in in_session.text)
        for number, command in enumerate((ProjectRename("mine"), ProjectSeparate())):
            assert not (await send(bus, command, f"u{number}", AGENT, Address(thief.project))).ok


async def test_a_person_merges_two_projects_and_what_was_is_there_again_when_they_take_it_back(bus: Bus) -> None:
    own = "Ports are given by the harbour master."
    async with opened(Desk(), bus, quick_settings()):
        names_of = await remembering(bus)
        await send(bus, MemoryWrite(text=own), "own")
        before, here = await folded(bus, FORMER), await folded(bus)
        merged_by = await send(bus, ProjectMerge(FORMER.project), "m")
        assert merged_by.ok, merged_by.text
        await rested(bus)
        assert PROJECT.project == (await folded(bus, FORMER)).moved_to
        await send(bus, MemoryWrite(text=OTHER), "again")  # people of this project say so, too
        undone = await send(bus, ProjectSeparate(), "u")
        assert undone.ok, undone.text
        await rested(bus)
        now = await folded(bus)
        assert stands(before, replace(await folded(bus, FORMER), moved_to=""))
        assert "" == (await folded(bus, FORMER)).moved_to
        assert {*here.memories} <= {one.id for one in now.memories.values() if one.status == "active"}
        assert "archived" == now.memories[names_of[RULE]].status
        assert "applied" == now.policy["agent"]
        assert ["dismissed"] == [one.status for one in now.notes.values()]
        late = await send(bus, MemoryWrite(text="Tides are in metres, always."), "late", address=FORMER)
        assert named_in(late.text) in (await folded(bus, FORMER)).memories


async def test_what_was_taken_back_can_be_merged_again_and_holds_again(bus: Bus) -> None:
    async with opened(Desk(), bus, quick_settings()):
        of_former = await remembering(bus)
        for number in range(2):
            assert (await send(bus, ProjectMerge(FORMER.project), f"m{number}")).ok
            await rested(bus)
            assert (await send(bus, ProjectSeparate(FORMER.project), f"u{number}")).ok
            await rested(bus)
        assert (await send(bus, ProjectMerge(FORMER.project), "last")).ok
        await rested(bus)
        now = await folded(bus)
    assert ["active", "active", "archived"] == [now.memories[of_former[text]].status for text in (RULE, OTHER, GONE)]
    async with opened(Desk(), bus, quick_settings()):  # another life of the desk does nothing twice
        await rested(bus)
        assert PROJECT.project == (await folded(bus, FORMER)).moved_to
        assert [AliasAdded, AliasRemoved, AliasAdded, AliasRemoved, AliasAdded] == await names(bus)


async def test_what_an_earlier_release_has_merged_leads_there_by_name_as_well(bus: Bus) -> None:
    await publish(bus, merged(), PROJECT)
    async with opened(Desk(), bus, quick_settings()):
        await until(lambda: is_alias(bus))
        undone = await send(bus, ProjectSeparate(FORMER.project), "u")
        assert undone.ok, undone.text
    async with opened(Desk(), bus, quick_settings()):  # which is not made good by the old fact
        await rested(bus)
        assert [AliasAdded, AliasRemoved] == await names(bus)


async def is_alias(bus: Bus) -> bool:
    added = AliasAdded(alias=FORMER.project, leads_to=PROJECT.project, how="recorded")
    return added in await facts(bus, GLOBAL)
