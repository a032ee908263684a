"""What holds no more is archived, and what is worth keeping is not."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from schemas.commands import (
    MemoryArchive,
    MemoryPin,
    MemoryReinforce,
    MemoryRestore,
    MemoryRevise,
    MemoryVerify,
    MemoryWrite,
)
from services.dreamer.core.task import Scene
from services.dreamer.core.tasks.archive_stale import GRACE, TASK, VOLATILE
from tests.dreamer.made_project import MadeTree
from tests.helpers.memory_books import NOON, Desk, named

TEXT = "The parser of tides lives in services/tide.py."
LATER = NOON + VOLATILE + timedelta(days=1)
GONE = MadeTree({"services/crane.py": ""}, {})


def desk_with(text: str = TEXT, category: str = "ARCHITECTURE", trust: str = "agent") -> tuple[Desk, str]:
    """A memory that was found to be stale."""
    desk = Desk()
    name = named(desk.say(MemoryWrite(text=TEXT, category=category), "agent"))
    desk.book = desk.book.with_memory(replace(desk.of(name), text=text, trust=trust))
    desk.say(MemoryVerify(name, "stale"))
    return desk, name


def archived(desk: Desk, tree: MadeTree | None = GONE, *, after: timedelta = LATER - NOON) -> list[str]:
    found = [change.command for change in TASK.changes(Scene(desk.book, NOON + after, tree))]
    return [one.reason for one in found if isinstance(one, MemoryArchive)]


def test_what_is_stale_is_archived_and_can_be_restored() -> None:
    desk, name = desk_with()
    scene = Scene(desk.book, LATER, GONE)
    (change,) = TASK.changes(scene)
    assert MemoryArchive(name, "it was found to be no longer true", revision=1) == change.command
    assert 1 == TASK.backlog(scene)
    assert desk.say(change.command, "dreamer").ok
    assert 0 == TASK.backlog(Scene(desk.book, LATER, GONE))
    assert desk.say(MemoryRestore(name)).ok
    assert desk.of(name).is_active


def test_what_is_young_or_there_again_stays() -> None:
    desk, _ = desk_with()
    assert [] == archived(desk, after=GRACE - timedelta(hours=1))
    assert [] == archived(desk, MadeTree({"services/tide.py": ""}, {}))
    assert ["it was found to be no longer true"] == archived(desk, None)


@pytest.mark.parametrize(
    ("text", "category", "trust"),
    [
        (TEXT, "ARCHITECTURE", "person"),
        (TEXT, "ARCHITECTURE", "person_by_harness"),
        (TEXT, "PROJECT_RULES", "agent"),
        (TEXT, "CONSTRAINTS", "agent"),
        ("The parser of tides must live in services/tide.py.", "ARCHITECTURE", "agent"),
        ("Only services/tide.py parses tides.", "ARCHITECTURE", "agent"),
        ("The parser lives in services/tide.py because cranes read it.", "ARCHITECTURE", "agent"),
        ("The parser of services/tide.py crashed on leap years.", "ARCHITECTURE", "agent"),
        ("解析器不在 services/tide.py。", "ARCHITECTURE", "agent"),
    ],
)
def test_what_is_worth_keeping_stays(text: str, category: str, trust: str) -> None:
    desk, _ = desk_with(text, category, trust)
    assert [] == archived(desk)


def test_what_was_seen_again_weighs_much_or_is_pinned_stays() -> None:
    desk, name = desk_with()
    memory = desk.of(name)
    for changed in (
        replace(memory, seen=2),
        replace(memory, importance="high"),
        replace(memory, is_pinned=True),
        replace(memory, memory_class="project"),
    ):
        assert [] == [*TASK.changes(Scene(desk.book.with_memory(changed), LATER, GONE))]
    desk.say(MemoryReinforce(name), "agent")
    assert [] == archived(desk)
    other, pinned = desk_with()
    other.say(MemoryPin(pinned))
    assert [] == archived(other)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The parser of tides begins at services/tide.py:120.", "it names the number of a line"),
        ("The parser of tides begins in line 120 of the module of tides.", "it names the number of a line"),
        ("All 240 tests pass on commit 3f2a9c1 of the tide parser.", "it reports how"),
    ],
)
def test_what_is_of_a_moment_goes_after_a_while(text: str, reason: str) -> None:
    desk, name = desk_with()
    memory = replace(desk.of(name), text=text, verification="unverified")
    desk.book = desk.book.with_memory(memory)
    (found,) = archived(desk)
    assert found.startswith(reason)
    assert [] == archived(desk, after=GRACE - timedelta(hours=1))


def test_what_is_neither_stale_nor_of_a_moment_stays_for_ever() -> None:
    desk, name = desk_with()
    desk.say(MemoryVerify(name, "verified"))
    assert [] == archived(desk, after=timedelta(days=3_000))


def test_what_was_revised_meanwhile_is_not_archived() -> None:
    desk, name = desk_with()
    (change,) = TASK.changes(Scene(desk.book, LATER, GONE))
    assert desk.say(MemoryRevise(name, "The parser of tides lives in services/crane.py."), "agent").ok
    assert not desk.say(change.command, "dreamer").ok
    assert desk.of(name).is_active


@pytest.mark.parametrize(
    "text",
    [
        "潮汐の解析器 services/tide.py は同期で呼ばないこと。",
        "조석 파서 services/tide.py 는 동기로 호출하지 않는다.",
        "潮汐解析器 services/tide.py 不能同步调用。",
    ],
)
def test_what_binds_in_a_script_without_blanks_stays(text: str) -> None:
    desk, _ = desk_with(text)
    assert [] == archived(desk)
