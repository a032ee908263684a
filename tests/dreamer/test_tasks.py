"""The tasks that there are, where they are found, and those that are simple enough for a page."""

from datetime import timedelta

import pytest

from schemas.commands import NoteDismiss, NoteWrite
from services.domain.cron import check
from services.domain.secret_paths import is_secret
from services.dreamer.core.found import TASKS, in_order
from services.dreamer.core.task import Scene
from services.dreamer.core.tasks.repeated_notes import RepeatedNotes
from services.settings.dream_tasks import TASKS as NAMES
from tests.helpers.memory_books import NOON, Desk


def test_a_task_is_called_as_its_module_and_found_by_its_place() -> None:
    assert sorted(TASKS) == list(NAMES)
    for task in TASKS.values():
        if task.CRON:
            check(task.CRON)


class _At(RepeatedNotes):
    def __init__(self, name: str, cron: str) -> None:
        self.NAME, self.CRON = name, cron


def test_tasks_are_run_in_the_order_of_their_own_slots() -> None:
    found = [_At("d", ""), _At("c", "30 4 * * SUN"), _At("b", "0 2 * * *"), _At("a", "0 2 * * *")]
    assert ["a", "b", "c", "d"] == [*in_order(found)]


def test_notes_that_say_the_same_become_the_newest_of_them() -> None:
    desk = Desk()
    for number, (text, session) in enumerate(
        [("Ask Ada.", "s1"), ("Ask  Ada. ", "s1"), ("Ask Ada.", "s2"), ("Ask Grace.", "s1"), ("Ask Ada.", "s1")]
    ):
        desk.say(NoteWrite(text=text), "agent", session, at=NOON + timedelta(minutes=number))
    task, scene = RepeatedNotes(), Scene(desk.book, NOON)
    names = [note.id for note in sorted(desk.book.notes.values(), key=lambda one: one.seq)]
    assert 2 == task.backlog(scene)
    changes = task.changes(scene)
    assert [NoteDismiss(names[1], session="s1"), NoteDismiss(names[0], session="s1")] == [
        change.command for change in changes
    ]
    assert {f"{names[4]} says the same"} == {change.reason for change in changes}
    for change in changes:
        answer = desk.say(change.command, "dreamer", "s1")
        assert answer.ok, answer.text
    after = Scene(desk.book, NOON)
    assert (0, []) == (task.backlog(after), [*task.changes(after)])


@pytest.mark.parametrize(
    "path",
    [".env", "app/.env.local", ".git/config", "secrets/a.txt", "k.pem", "home/.SSH/config", ".npmrc", "x/id_rsa.pub"],
)
def test_files_that_hold_secrets_are_known_by_their_names(path: str) -> None:
    assert is_secret(path)


@pytest.mark.parametrize("path", ["src/environment.py", "README.md", "keys.py", "monkey.py"])
def test_other_files_are_read(path: str) -> None:
    assert not is_secret(path)
