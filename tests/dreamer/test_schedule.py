"""When runs are due: no slot is missed and none comes twice, whatever clocks do and however long a machine sleeps."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.events import (
    DreamFinished,
    DreamOrdered,
    DreamStarted,
    MemoryMoved,
    NoteWritten,
    PolicyChanged,
    ProjectIdentified,
    SettingsApplied,
    TaskFinished,
)
from services.domain.dream_times import DreamTimes
from services.domain.project_settings import checked_values, with_own
from services.dreamer.core.schedule import Timetable, timetable_of
from services.dreamer.core.state import LATER, MOST_CHANGES
from tests.helpers.dreaming import ROOM, Project, timetable
from tests.helpers.examples import examples as number_of

ZONES = ("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe")
DAYS = 400
START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=DAYS)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

Sleep = tuple[datetime, datetime]


def moment(day: date, at: time, zone: ZoneInfo) -> datetime:
    """When a clock on the wall first shows this time of a day, or first a later one where it leaves that out."""
    naive = datetime.combine(day, at)
    found = naive.replace(tzinfo=zone).astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None) == naive:
        return found
    found -= 3 * HOUR
    while found.astimezone(zone).replace(tzinfo=None) < naive:
        found += MINUTE
    return found


def slots(at: time, zone: ZoneInfo) -> list[datetime]:
    """All slots of a day's time, without a look at how the dreamer finds them."""
    days = [(START + timedelta(days=number)).date() for number in range(-1, DAYS + 2)]
    return [slot for day in days if START < (slot := moment(day, at, zone)) <= END]


def sleeps(random: Random) -> list[Sleep]:
    """Times in which the machine sleeps: from minutes to a week, often over the night."""
    found, at = [], START
    while at < END:
        begin = at + HOUR * random.uniform(0.5, 60)
        at = begin + HOUR * random.choice([0.1, 1, 9, 9, 30, 170]) * random.uniform(0.5, 1.5)
        found.append((begin, at))
    return found


def awake(at: datetime, asleep: Sequence[Sleep]) -> datetime:
    """This moment, or that at which the machine wakes behind it."""
    return next((end for begin, end in asleep if begin <= at < end), at)


def expected(of_slots: Sequence[datetime], changes: Sequence[datetime], asleep: Sequence[Sleep]) -> list[datetime]:
    """When runs must begin: at each slot behind a change that no run has seen, or when the machine wakes behind it."""
    found, last = [], START
    for slot in of_slots:
        if slot > last and bisect_left(changes, slot) > bisect_right(changes, last):
            last = awake(slot, asleep)
            found.append(last)
    return [one for one in found if one <= END]


def played(project: Project, changes: Sequence[datetime], asleep: Sequence[Sleep], dreamers: int = 1) -> None:
    """Let time pass: a dreamer looks when its moment has come, and behind each change."""
    waiting, now = list(changes), START
    while True:
        moments = [*waiting[:1], *([slot] if (slot := project.next_due(START)) else [])]
        if not moments or (now := awake(max(now, min(moments)), asleep)) > END:
            return
        while waiting and waiting[0] <= now:
            project.changes(waiting.pop(0))
        for _ in range(dreamers):
            project.looks(now, START)


@pytest.mark.parametrize("name", ZONES)
@given(seed=st.integers(0, 10**6), hour=st.integers(0, 23), minute=st.sampled_from([0, 15, 30, 45]))
@settings(max_examples=number_of(6), deadline=None)
def test_no_slot_of_four_hundred_days_is_missed_or_doubled(name: str, seed: int, hour: int, minute: int) -> None:
    zone, random = ZoneInfo(name), Random(seed)
    changes = [START + HOUR * (number + random.uniform(0.1, 0.9)) for number in range(0, DAYS * 24, 11)]
    project = Project(timetable(zone, verify=f"{minute} {hour} * * *"))
    played(project, changes, [], dreamers=2)
    of_slots = slots(time(hour, minute), zone)
    assert expected(of_slots, changes, []) == [at for at, _ in project.runs]
    assert DAYS - 1 <= len(project.runs) <= DAYS


@pytest.mark.parametrize("name", ZONES)
@given(seed=st.integers(0, 10**6), hour=st.integers(0, 23))
@settings(max_examples=number_of(6), deadline=None)
def test_a_machine_that_slept_makes_up_for_a_slot_once(name: str, seed: int, hour: int) -> None:
    zone, random = ZoneInfo(name), Random(seed)
    asleep = sleeps(random)
    changes = [START + HOUR * (number + random.uniform(0.1, 0.9)) for number in range(0, DAYS * 24, 7)]
    changes = [at for at in changes if awake(at, asleep) == at]
    project = Project(timetable(zone, verify=f"30 {hour} * * *"))
    played(project, changes, asleep, dreamers=2)
    assert expected(slots(time(hour, 30), zone), changes, asleep) == [at for at, _ in project.runs]


@given(seed=st.integers(0, 10**6), first=st.integers(0, 23), second=st.integers(0, 23))
@settings(max_examples=number_of(6), deadline=None)
def test_each_task_has_its_own_slots(seed: int, first: int, second: int) -> None:
    random, asleep = Random(seed), sleeps(Random(seed))
    changes = [START + HOUR * random.uniform(0, DAYS * 24) for _ in range(300)]
    changes = sorted(at for at in changes if awake(at, asleep) == at)
    project = Project(timetable(UTC, a=f"0 {first} * * *", b=f"10 {second} * * 1,4"))
    played(project, changes, asleep)
    mondays = [slot for slot in slots(time(second, 10), ZoneInfo("UTC")) if slot.weekday() in (0, 3)]
    for task, of_slots in (("a", slots(time(first), ZoneInfo("UTC"))), ("b", mondays)):
        runs = [at for at, request in project.runs if task in request.tasks]
        assert expected(of_slots, changes, asleep) == runs


def timed(times: DreamTimes, **own: object) -> Timetable:
    """The timetable of a project in an installation with these times."""
    settings, problems = checked_values({f"dream.{name}": value for name, value in own.items()})
    assert not problems
    times = with_own(times, settings)
    return timetable_of(times, ZoneInfo(times.zone), {"a": "0 3 * * *", "b": "0 4 * * *"}, timedelta(0), 12 * HOUR)


@pytest.mark.parametrize(("mine", "other"), [(ZONES[0], ZONES[1]), (ZONES[1], ZONES[2]), (ZONES[2], ZONES[0])])
@given(seed=st.integers(0, 10**6), hour=st.integers(0, 23))
@settings(max_examples=number_of(4), deadline=None)
def test_two_projects_in_two_zones_each_have_their_slots_over_clock_changes_and_sleep(
    mine: str, other: str, seed: int, hour: int
) -> None:
    """One has the times of the installation, and the other its own; both run on the one machine."""
    asleep, random = sleeps(Random(seed)), Random(seed)
    changes = [START + HOUR * (number + random.uniform(0.1, 0.9)) for number in range(0, DAYS * 24, 9)]
    changes = [at for at in changes if awake(at, asleep) == at]
    installation = DreamTimes(slots={"b": ""}, zone=mine)
    for table, zone, at in (
        (timed(installation), mine, time(3)),
        (timed(installation, zone=other, slots={"a": f"30 {hour} * * *"}), other, time(hour, 30)),
    ):
        project = Project(table)
        played(project, changes, asleep, dreamers=2)
        assert expected(slots(at, ZoneInfo(zone)), changes, asleep) == [one for one, _ in project.runs]
        assert {("a",)} == {tuple(request.tasks) for _, request in project.runs}


def test_a_slot_of_the_past_was_not_missed_by_who_did_not_have_it_then() -> None:
    """Something changed at noon, and at three somebody sets a slot that is at one."""
    project = changed()
    project.append(SettingsApplied(settings=json.dumps({"dream.slots": {"verify": "0 13 * * *"}})), NOON + 3 * HOUR)
    project.table = timetable(UTC, verify="0 13 * * *")
    assert NOON + 25 * HOUR == project.next_due(NOON + 3 * HOUR)
    assert not project.looks(NOON + 4 * HOUR, NOON + 4 * HOUR)
    project.append(SettingsApplied(settings='{"plan.context": "full"}'), NOON + 14 * HOUR)
    project.table = timetable(UTC, verify=NIGHT)
    assert NOON + 38 * HOUR == project.next_due(NOON + 14 * HOUR)
    project.append(SettingsApplied(settings='{"plan.context": "lean"}'), NOON + 39 * HOUR)
    assert project.looks(NOON + 40 * HOUR, NOON + 40 * HOUR), "other settings move no slot"


NIGHT = "0 2 * * *"
NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
SLOT = datetime(2026, 3, 8, 2, tzinfo=UTC)


def changed(**slots: str) -> Project:
    """A project in which something was changed at noon."""
    project = Project(timetable(UTC, idle=timedelta(minutes=30), **(slots or {"verify": NIGHT})))
    project.changes(NOON)
    return project


def test_where_nothing_changes_nothing_is_ever_due() -> None:
    project = Project(timetable(UTC, idle=timedelta(minutes=30), verify=NIGHT))
    assert (None, None) == (project.next_due(NOON), project.due(SLOT + timedelta(days=400), NOON))


def test_where_nothing_changed_since_the_last_run_nothing_is_due() -> None:
    project = changed()
    assert project.looks(SLOT, SLOT)
    assert (None, None) == (project.next_due(SLOT), project.due(SLOT + timedelta(days=400), SLOT))


def test_what_the_dreamer_changes_itself_is_no_reason_for_another_run() -> None:
    project = changed()
    assert project.requested(SLOT, SLOT)
    project.append(NoteWritten(note="n1", text="x"), SLOT, ROOM, cause="dreamer/d1/verify/1")
    project.finishes(SLOT)
    assert None is project.next_due(SLOT)


def test_nothing_is_due_while_a_run_is_open() -> None:
    project = changed()
    assert project.requested(SLOT, SLOT)
    project.changes(SLOT + HOUR)
    assert (None, None) == (project.next_due(SLOT), project.due(SLOT + timedelta(days=3), SLOT))


def test_what_changes_before_a_run_begins_is_for_that_run() -> None:
    project = changed()
    assert project.requested(SLOT, SLOT)
    project.changes(SLOT + MINUTE)
    project.finishes(SLOT + 2 * MINUTE)
    assert None is project.next_due(SLOT)


def test_a_change_by_a_clock_that_is_behind_brings_no_slot_again() -> None:
    project = changed()
    assert project.looks(SLOT, SLOT)
    project.changes(SLOT - HOUR)
    assert not project.looks(SLOT + HOUR, SLOT + HOUR)
    assert project.looks(SLOT + timedelta(days=1), SLOT + timedelta(days=1))


def test_a_task_that_failed_has_its_next_slot_though_nothing_changed() -> None:
    project = changed()
    assert project.requested(SLOT, SLOT)
    project.finishes(SLOT, "failed", "RecursionError")
    assert SLOT + timedelta(days=1) == project.next_due(SLOT + timedelta(days=9))


def test_while_nobody_works_tasks_are_run_without_a_slot_and_twelve_hours_apart() -> None:
    project = changed()
    worked = NOON + 4 * HOUR
    assert worked + timedelta(minutes=30) == project.next_due(worked)
    assert not project.looks(worked + timedelta(minutes=29), worked)
    assert project.looks(worked + timedelta(minutes=30), worked)
    project.changes(worked + HOUR)
    assert SLOT == project.next_due(worked + HOUR)  # the slot comes before the twelve hours have passed
    assert project.looks(SLOT, worked)
    project.changes(SLOT + MINUTE)
    assert SLOT + timedelta(hours=12) == project.next_due(SLOT + MINUTE)
    assert ["idle", "slot"] == [request.reason for _, request in project.runs]


def test_only_a_note_with_words_calls_for_their_translation_within_minutes() -> None:
    project = Project(timetable(UTC, idle=30 * MINUTE, translate_notes="*/5 * * * *", verify="0 2 * * *"))
    project.changes(NOON)
    project.append(
        NoteWritten(note="n1", text="a", condition="a is there", waits_for='{"kind":"file","path":"a"}'), NOON
    )
    project.append(NoteWritten(note="n2", text="a"), NOON)
    assert SLOT == project.next_due(NOON + 14 * HOUR)
    project.append(NoteWritten(note="n3", text="a", condition="when CI is green"), NOON)
    assert NOON + 5 * MINUTE == project.next_due(NOON + 14 * HOUR)
    assert project.looks(NOON + 5 * MINUTE, NOON)
    assert [["translate_notes"]] == [request.tasks for _, request in project.runs]
    assert NOON + 30 * MINUTE == project.next_due(NOON)  # it does not put off what is done while nobody works


def test_a_translation_that_nobody_answered_is_tried_again_hours_later_or_with_the_next_note() -> None:
    project = Project(timetable(UTC, idle=30 * MINUTE, translate_notes="*/5 * * * *"))
    note = NoteWritten(note="n1", text="a", condition="when CI is green")
    project.append(note, NOON)
    assert project.requested(NOON + 5 * MINUTE, NOON)
    project.finishes(NOON + 5 * MINUTE, "skipped", "no_answer")
    assert NOON + 10 * MINUTE + LATER == project.next_due(NOON)
    project.append(replace(note, note="n2"), NOON + 6 * MINUTE)
    assert NOON + 10 * MINUTE == project.next_due(NOON)


def test_a_task_without_a_slot_is_run_only_when_it_is_ordered() -> None:
    project = changed(verify="")
    assert (None, None) == (project.next_due(NOON), project.due(NOON + timedelta(days=9), NOON))
    project.append(DreamOrdered(tasks=["verify"]), NOON)
    assert project.looks(NOON, None)


def test_in_its_first_two_minutes_a_dreamer_begins_only_what_is_ordered() -> None:
    project = changed()
    assert None is project.due(SLOT + HOUR, None)
    project.append(DreamOrdered(), SLOT + HOUR)
    assert project.looks(SLOT + HOUR, None)


def test_one_run_answers_all_orders_that_wait() -> None:
    project = changed(a=NIGHT, b=NIGHT, c=NIGHT)
    project.append(DreamOrdered(tasks=["c"]), NOON)
    project.append(DreamOrdered(tasks=["a", "gone"]), NOON)
    assert project.requested(NOON, NOON)
    project.append(DreamOrdered(), NOON)
    project.finishes(NOON)
    assert project.looks(NOON, NOON)
    assert [("d1", ["a", "c", "gone"], 3), ("d2", ["a", "b", "c"], 5)] == [
        (request.run, request.tasks, request.answers) for _, request in project.runs
    ]
    assert not project.looks(NOON, NOON)


@pytest.mark.parametrize(
    "event", [MemoryMoved(name="other"), ProjectIdentified(directory="/home/ada", harness="pi", home=True)]
)
def test_a_home_directory_and_a_name_of_old_have_no_slots(event: MemoryMoved | ProjectIdentified) -> None:
    project = changed()
    project.append(event, NOON)
    assert (None, None) == (project.next_due(NOON), project.due(SLOT + HOUR, NOON))


def test_a_task_with_more_to_send_than_one_run_may_has_its_next_slot_though_nothing_changed() -> None:
    project = changed()
    assert project.requested(SLOT, SLOT)
    project.append(DreamStarted(run="d1"), SLOT, ROOM)
    left = TaskFinished(
        run="d1", task="verify", outcome="completed", backlog=250, backlog_after=50, applied=MOST_CHANGES
    )
    project.append(left, SLOT, ROOM)
    project.append(DreamFinished(run="d1"), SLOT, ROOM)
    assert SLOT + timedelta(days=1) == project.next_due(SLOT + timedelta(days=9))


@pytest.mark.parametrize(
    ("applied", "refused", "backlog_after"), [(MOST_CHANGES, 0, 0), (MOST_CHANGES - 1, 0, 50), (0, MOST_CHANGES, 50)]
)
def test_what_is_left_though_all_was_sent_or_nothing_was_done_waits_for_a_change(
    applied: int, refused: int, backlog_after: int
) -> None:
    project = changed()
    assert project.requested(SLOT, SLOT)
    project.append(DreamStarted(run="d1"), SLOT, ROOM)
    counts = {"applied": applied, "refused": refused, "backlog": 250, "backlog_after": backlog_after}
    project.append(TaskFinished(run="d1", task="verify", outcome="completed", **counts), SLOT, ROOM)
    project.append(DreamFinished(run="d1"), SLOT, ROOM)
    assert project.next_due(SLOT) is None


def test_that_people_let_the_dreamer_change_something_is_a_reason_to_look() -> None:
    project = changed()
    assert project.looks(SLOT, SLOT)
    project.append(PolicyChanged(trust="dreamer", action="held"), SLOT + HOUR)
    assert SLOT + 12 * HOUR == project.next_due(SLOT)
