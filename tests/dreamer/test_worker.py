"""Runs of the dreamer over a real broker: ordered, scheduled, killed, and by two dreamers at once."""

import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from schemas.commands import DreamOrder, MemoryWrite, NoteWrite, SettingsApply
from schemas.envelope import Actor
from schemas.events import (
    DreamFinished,
    DreamOrdered,
    DreamRequested,
    DreamStarted,
    Event,
    NoteDismissed,
    StepOpened,
    TaskFinished,
)
from schemas.subjects import Address
from services.commit_indexer.worker import CommitIndexer
from services.desk.worker import Desk
from services.domain.envelopes import envelopes
from services.dreamer import watch
from services.dreamer.core.outcome import NO_TREE, NO_TREES
from services.dreamer.core.task import DreamTask, Scene, TaskChange
from services.dreamer.core.tasks.repeated_notes import RepeatedNotes
from services.dreamer.tree import Checkout
from services.dreamer.worker import Dreamer
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus
from services.kit.model import BudgetExhausted
from services.kit.project_name import ROOT
from services.settings import Commits, Dream, Settings
from tests.desk.test_books import TEXT, send
from tests.helpers import repositories
from tests.helpers.broker_world import HARBOUR, connected, facts, impatient_settings, opened, quick_settings
from tests.helpers.room_process import room
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

PROJECT = Address(HARBOUR.project)
NOTES = "repeated_notes"


def settings(**dream: object) -> Settings:
    return replace(quick_settings(), dream=Dream(**dream))  # type: ignore[arg-type] # settings of several types


@pytest.fixture
async def desk(bus: Bus) -> AsyncIterator[Bus]:
    """A project with three notes, of which two say the same, next to an open desk."""
    async with opened(Desk(), bus, quick_settings()):
        for number, text in enumerate(("Ask Ada.", "Ask Grace.", "Ask Ada.")):
            assert (await send(bus, NoteWrite(text=text), f"n{number}")).ok
        yield bus


def using(monkeypatch: pytest.MonkeyPatch, *tasks: DreamTask) -> None:
    """Let a dreamer have these tasks and no others."""
    monkeypatch.setattr("services.dreamer.worker.TASKS", {task.NAME: task for task in tasks})


async def dreamt(bus: Bus) -> Sequence[Event]:
    """The facts of the dreamer's runs, and of what they did."""
    kinds = (DreamOrdered, DreamRequested, DreamStarted, TaskFinished, DreamFinished, NoteDismissed)
    return [event for event in await facts(bus, PROJECT) if isinstance(event, kinds)]


async def finished(bus: Bus, count: int = 1) -> bool:
    return count == sum(isinstance(event, DreamFinished) for event in await dreamt(bus))


async def tasks_of(bus: Bus) -> list[tuple[str, str, str]]:
    """How the tasks have ended: task, outcome and code."""
    return [(one.task, one.outcome, one.code) for one in await dreamt(bus) if isinstance(one, TaskFinished)]


async def ordered(bus: Bus, task: str = "", name: str = "o1") -> int:
    answer = await send(bus, DreamOrder(task), name)
    assert answer.ok, answer.text
    return answer.seq


async def test_an_order_becomes_a_run_whose_task_says_what_it_did(desk: Bus) -> None:
    order = await ordered(desk, NOTES)
    async with opened(dreamer := Dreamer(), desk, settings()):
        await until(lambda: finished(desk))
        await until(dreamer.idle)
    found = await dreamt(desk)
    (ended,) = [event for event in found if isinstance(event, TaskFinished)]
    (dismissed,) = [event for event in found if isinstance(event, NoteDismissed)]
    assert [
        DreamOrdered(tasks=[NOTES]),
        DreamRequested(run="d1", reason="order", tasks=[NOTES], answers=order),
        DreamStarted(run="d1"),
        dismissed,
        TaskFinished(run="d1", task=NOTES, outcome="completed", backlog=1, applied=1, seconds=ended.seconds),
        DreamFinished(run="d1"),
    ] == found


async def test_an_order_from_a_session_is_for_its_project(desk: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    using(monkeypatch, RepeatedNotes())
    answer = await send(desk, DreamOrder(), "o1", Actor("agent", "build"), HARBOUR)
    assert answer.ok, answer.text
    async with opened(Dreamer(), desk, settings()):
        await until(lambda: finished(desk))
    assert DreamOrdered(origin=HARBOUR.session) == (await dreamt(desk))[0]
    assert [(NOTES, "completed", "")] == await tasks_of(desk)


async def test_what_was_seen_before_is_skipped_with_the_reason(desk: Bus) -> None:
    async with opened(dreamer := Dreamer(), desk, settings()):
        for number in range(1, 3):
            await ordered(desk, NOTES, f"o{number}")
            await until(lambda number=number: finished(desk, number))
        await until(dreamer.idle)
    assert [(NOTES, "completed", ""), (NOTES, "skipped", "nothing_changed")] == await tasks_of(desk)


async def test_a_slot_that_the_machine_slept_through_is_made_up_for_once(
    broker: Broker, desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes were written months ago, by the log; and there are two dreamers."""
    using(monkeypatch, RepeatedNotes())
    other = await connected(broker)
    first, second = Dreamer(), Dreamer()
    async with opened(first, desk, settings(quiet=0)), opened(second, other, settings(quiet=0)):
        await until(lambda: finished(desk))
        for one in (first, second):
            await one.look(PROJECT.project)
            await until(one.idle)
        assert (0, 0) == (len(first.watch), len(second.watch))
    await other.close()
    (request,) = [event for event in await dreamt(desk) if isinstance(event, DreamRequested)]
    assert ("slot", [NOTES]) == (request.reason, request.tasks)
    assert 1 == sum(isinstance(event, NoteDismissed) for event in await dreamt(desk))


async def test_a_project_has_the_slots_and_the_zone_that_it_sets_itself(
    desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two projects with notes of the same age: the one has the installation's zone, and the other its own times."""
    using(monkeypatch, RepeatedNotes())
    own = Address("quay")
    applied = SettingsApply(settings='{"dream.slots": {"repeated_notes": "0 12 * * *"}, "dream.zone": "Asia/Kolkata"}')
    assert (await send(desk, applied, "s1", Actor("person", "ada"), own)).ok
    for number in range(2):
        assert (await send(desk, NoteWrite(text="Ask Ada."), f"q{number}", address=own)).ok
    slots = dict[str, datetime | None]()
    async with opened(Dreamer(), desk, settings(quiet=0, zone="Europe/Berlin")):
        for address in (PROJECT, own):
            request: list[DreamRequested] = []

            async def is_requested(address: Address = address, request: list[DreamRequested] = request) -> bool:
                request[:] = [one for one in await facts(desk, address) if isinstance(one, DreamRequested)]
                return bool(request)

            await until(is_requested)
            slots[address.project] = request[0].slot
    found = {
        name: slot.astimezone(ZoneInfo(zone)).time()
        for (name, slot), zone in zip(slots.items(), ("Europe/Berlin", "Asia/Kolkata"), strict=True)
        if slot
    }
    assert {"harbour": time(2, 15), "quay": time(12)} == found


async def test_two_dreamers_answer_ten_orders_each_once(broker: Broker, desk: Bus) -> None:
    other = await connected(broker)
    first, second = Dreamer(), Dreamer()
    async with opened(first, desk, settings()), opened(second, other, settings()):
        newest = [await ordered(desk, NOTES, f"o{number}") for number in range(10)][-1]

        async def answered() -> bool:
            requests = [event for event in await dreamt(desk) if isinstance(event, DreamRequested)]
            return bool(requests) and requests[-1].answers == newest and await finished(desk, len(requests))

        await until(answered)
        for one in (first, second):
            await until(one.idle)
    await other.close()
    found = await dreamt(desk)
    names = [event.run for event in found if isinstance(event, DreamRequested)]
    assert [f"d{number}" for number in range(1, len(names) + 1)] == names
    for kind in (DreamStarted, TaskFinished, DreamFinished):
        assert names == [event.run for event in found if isinstance(event, kind)]
    assert 1 == sum(isinstance(event, NoteDismissed) for event in found)
    order = [event for event in found if isinstance(event, DreamRequested | DreamFinished)]
    assert [DreamRequested, DreamFinished] * len(names) == [type(event) for event in order]


@pytest.mark.own_broker
async def test_what_a_killed_dreamer_had_done_is_counted_and_done_once(desk: Bus, tmp_path: Path) -> None:
    order = {"ANNALS_LOOP__ACK_WAIT": "1"}
    await ordered(desk, NOTES)
    async with room("dreamer", tmp_path, module="tests.helpers.falling_dreamer", **order) as process:
        assert -signal.SIGKILL == await process.ends()
    assert [DreamOrdered, DreamRequested, DreamStarted, NoteDismissed] == [type(one) for one in await dreamt(desk)]
    async with opened(dreamer := Dreamer(), desk, replace(impatient_settings(), dream=Dream())):
        await until(lambda: finished(desk))
        await until(dreamer.idle)
    found = await dreamt(desk)
    (ended,) = [event for event in found if isinstance(event, TaskFinished)]
    assert ("completed", 1, 0, 1, 0) == (
        ended.outcome,
        ended.backlog,
        ended.backlog_after,
        ended.applied,
        ended.waiting,
    )
    assert 1 == sum(isinstance(event, NoteDismissed) for event in found)


class Made(RepeatedNotes):
    """A task that does what a test wants."""

    def __init__(
        self, name: str, *changes: TaskChange, error: Exception | None = None, needs_tree: bool = False
    ) -> None:
        self.NAME = name
        self.needs_tree = needs_tree
        self._changes = changes
        self._error = error

    def backlog(self, _: Scene) -> int:
        return 1 + len(self._changes)

    def changes(self, _: Scene) -> Sequence[TaskChange]:
        if self._error:
            raise self._error
        return self._changes


async def test_three_equal_failures_end_a_run_and_what_is_left_is_seen_to_be_skipped(
    desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    using(monkeypatch, *(Made(name, error=RecursionError("too deep")) for name in "abcde"))
    await ordered(desk)
    async with opened(Dreamer(), desk, settings()):
        await until(lambda: finished(desk))
    assert [
        *((name, "failed", "RecursionError") for name in "abc"),
        *((name, "skipped", "equal_failures") for name in "de"),
    ] == await tasks_of(desk)
    assert DreamFinished(run="d1", outcome="cut_short", code="RecursionError") == (await dreamt(desk))[-1]


async def test_the_end_of_a_task_is_derived_from_the_log(desk: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    proposal = TaskChange(MemoryWrite(text=TEXT), "it was seen")
    using(
        monkeypatch,
        Made("held", proposal),
        Made("no_effect"),
        Made("refused", TaskChange(MemoryWrite(text=""), "nothing")),
        Made("no_tree", needs_tree=True),
        Made("budget", error=BudgetExhausted("half of the day's budget is spent")),
        Made("failing", error=ValueError("x")),
    )
    await ordered(desk)
    async with opened(Dreamer(), desk, settings()):
        await until(lambda: finished(desk))
    ended = {event.task: event for event in await dreamt(desk) if isinstance(event, TaskFinished)}
    assert {
        "held": ("completed", "", 0, 1, 0),
        "no_effect": ("no_effect", "", 0, 0, 0),
        "refused": ("no_effect", "", 0, 0, 1),
        "no_tree": ("skipped", "no_tree", 0, 0, 0),
        "budget": ("skipped", "budget", 0, 0, 0),
        "failing": ("failed", "ValueError", 0, 0, 0),
    } == {name: (one.outcome, one.code, one.applied, one.waiting, one.refused) for name, one in ended.items()}


@pytest.mark.parametrize(
    ("is_there", "checkouts", "expected"),
    [
        (True, True, ("completed", "", "")),
        (False, True, ("skipped", "no_tree", NO_TREE)),
        (True, False, ("skipped", "no_tree", NO_TREES)),
    ],
)
async def test_a_person_orders_a_task_that_needs_files_in_the_tree_that_has_them(
    bus: Bus, tmp_path: Path, *, is_there: bool, checkouts: bool, expected: tuple[str, str, str]
) -> None:
    """No harness has been there. What another directory has is not looked at."""
    mine, other = repository(tmp_path / "mine", "a.py"), repository(tmp_path / "other", "b.py")
    project = Address(f"{ROOT}{mine.sha(1)}")
    chosen = replace(settings(), commits=Commits(checkouts=checkouts))
    async with opened(Desk(), bus, chosen), opened(Dreamer(), bus, chosen):
        write = MemoryWrite(text="The parser of tides lives in `a.py`.", category="ARCHITECTURE")
        assert (await send(bus, write, "w1", Actor("agent", "build"), Address(project.project, "s1"))).ok
        tree = str(mine.folder if is_there else other.folder)
        assert (await send(bus, DreamOrder("verify", tree), "o1", address=project)).ok
        await until(lambda: has_ended(bus, project))
    (ended,) = [event for event in await facts(bus, project) if isinstance(event, TaskFinished)]
    assert expected == (ended.outcome, ended.code, ended.detail)


async def test_without_a_work_tree_paths_are_looked_for_in_the_mirror_of_the_remote(bus: Bus, tmp_path: Path) -> None:
    remote = repositories.Checkout(tmp_path / "remote", bare=True)
    remote.git("config", "uploadpack.allowFilter", "true")
    remote.add(repositories.Made(1, "One", {"src/a.py": "a"}), repositories.Made(2, "Two", {"src/b.py": "b"}, (1,)))
    address = f"file://{remote.folder}"
    for project in (PROJECT, Address("quay")):
        write = MemoryWrite(text="The parser of tides lives in `src/a.py`.", category="ARCHITECTURE")
        chosen = replace(
            settings(), data=tmp_path, commits=Commits(checkouts=False, remotes={PROJECT.project: address})
        )
        async with opened(Desk(), bus, chosen), opened(indexer := CommitIndexer(), bus, chosen):
            await until(indexer.idle)
            written = await send(
                bus, write, f"w-{project.project}", Actor("agent", "build"), Address(project.project, "s1")
            )
            assert written.ok, written.text
            for task in ("verify", "key_files"):
                assert (await send(bus, DreamOrder(task), f"{task}-{project.project}", address=project)).ok
            async with opened(Dreamer(), bus, chosen):
                await until(lambda project=project: has_ended(bus, project))
        ended = {one.task: one for one in await facts(bus, project) if isinstance(one, TaskFinished)}
        assert ("skipped", "no_tree") == (ended["key_files"].outcome, ended["key_files"].code)
        if project != PROJECT:
            assert ("skipped", "no_tree") == (ended["verify"].outcome, ended["verify"].code)
            continue
        assert ("completed", 1) == (ended["verify"].outcome, ended["verify"].applied)
        assert (remote.sha(2), True) == (ended["verify"].commit, ended["verify"].is_of_mirror)


async def test_the_second_run_of_verify_looks_at_what_has_changed(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = repository(tmp_path / "mine", "a.py")
    project = Address(f"{ROOT}{mine.sha(1)}")
    looked: list[str] = []
    exists = Checkout.exists
    monkeypatch.setattr(Checkout, "exists", lambda self, path: looked.append(path) or exists(self, path))
    async with opened(Desk(), bus, settings()), opened(Dreamer(), bus, settings()):

        async def runs(number: int) -> set[str]:
            looked.clear()
            order = DreamOrder("verify", str(mine.folder))
            assert (await send(bus, order, f"o{number}", address=project)).ok
            await until(lambda: has_ended(bus, project, number))
            return {*looked}

        for name in ("a.py", "docs/b.md"):
            write = MemoryWrite(text=f"The parser of tides lives in `{name}`.", category="ARCHITECTURE")
            assert (await send(bus, write, name, Actor("agent", "build"), Address(project.project, "s1"))).ok
        assert {"a.py", "docs/b.md"} <= await runs(1)
        assert {"a.py"} == await runs(2), "its mark is new"
        assert set() == await runs(3)
        (mine.folder / "docs").mkdir()
        (mine.folder / "docs" / "b.md").write_text("")
        assert {"docs/b.md"} == await runs(4)
    ended = [one for one in await facts(bus, project) if isinstance(one, TaskFinished)]
    assert [False, True, True, True] == [one.is_partial for one in ended]


def repository(folder: Path, file: str) -> repositories.Checkout:
    made = repositories.Checkout(folder)
    made.add(repositories.Made(1, file, {file: ""}))
    made.git("checkout", "--quiet", "-f", "main")
    (made.folder / ".git" / "info").mkdir(exist_ok=True)
    (made.folder / ".git" / "info" / "exclude").write_text(".marks\n")
    return made


async def has_ended(bus: Bus, project: Address, count: int = 1) -> bool:
    return count <= sum(isinstance(event, DreamFinished) for event in await facts(bus, project))


async def test_an_idle_room_asks_nothing_of_the_log(desk: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model calls of a project where nothing is to be done are heard, and lead to no look at it."""
    looks: list[str] = []
    look = Dreamer.look

    async def counted(self: Dreamer, project: str) -> None:
        looks.append(project)
        await look(self, project)

    monkeypatch.setattr(Dreamer, "look", counted)
    using(monkeypatch, RepeatedNotes())
    async with opened(dreamer := Dreamer(), desk, settings(quiet=0)):
        await until(lambda: finished(desk))
        await until(lambda: not len(dreamer.watch) and looks[-1:] == [PROJECT.project])
        await until(dreamer.idle)
        before, head = len(looks), len(await dreamt(desk))
        moment = dreamer.watch.last_worked(PROJECT.project)
        steps = [StepOpened(step=f"{number}") for number in range(20)]
        await Appender(desk).append(
            envelopes(steps, HARBOUR, {}, at=moment + timedelta(hours=1), actor=Actor("harness"), cause=""), {}
        )
        await until(lambda: dreamer.watch.last_worked(PROJECT.project) > moment)
        assert (before, head, 0) == (len(looks), len(await dreamt(desk)), len(dreamer.watch))


async def test_a_change_is_looked_at_when_it_was_heard_and_a_slot_is_known_then(
    desk: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "SOON", timedelta(0))
    using(monkeypatch, RepeatedNotes())
    async with opened(dreamer := Dreamer(), desk, settings(quiet=0)):
        await until(lambda: finished(desk))
        await until(lambda: not len(dreamer.watch))
        data = NoteWrite(text="Ask Hedy.")
        assert (await send(desk, data, "n9")).ok
        await until(lambda: len(dreamer.watch) or finished(desk, 2))


@pytest.mark.parametrize("given", [{"enabled": False}, {}])
async def test_a_dreamer_that_is_switched_off_opens_nothing(desk: Bus, given: Mapping[str, bool]) -> None:
    off = settings(**given)
    if not given:
        off = replace(off, memory=replace(off.memory, enabled=False))
    async with opened(dreamer := Dreamer(), desk, off):
        assert await dreamer.idle()
        assert None is await desk.lag("LOG", "dreamer")
