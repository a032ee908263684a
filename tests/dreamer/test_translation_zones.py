"""The translation of a note's words in the time zone of its project: what a model sees, and what the desk records."""

import msgspec

from schemas.commands import NoteTranslate, NoteWrite
from services.domain.conditions import words_of
from services.dreamer.core.task import Scene
from services.dreamer.core.tasks.translate_notes import TASK
from tests.domain.test_condition_zones import BERLIN
from tests.helpers.memory_books import Desk


def test_a_model_sees_the_moment_in_the_zone_of_the_project_and_the_note_names_the_zone() -> None:
    desk = Desk()
    send = desk.say
    assert send(NoteWrite("Ship it.", condition="once it is tomorrow"), "agent", "s1").ok
    (note,) = desk.book.notes.values()
    assert note.asked is not None
    written = note.asked.astimezone(BERLIN)
    assert TASK.model is not None
    sheet = TASK.model.sheet(Scene(desk.book, note.asked, zone=BERLIN), 1)
    assert sheet is not None
    assert f"{written.isoformat(timespec='seconds')} (Europe/Berlin)" in sheet.prompt

    def answer(hour: str) -> object:
        at = f"{written.date().replace(day=written.day + 1)}T{hour}"
        return msgspec.convert({"condition": {"kind": "date", "at": at}}, sheet.shape)

    assert "another time zone" in sheet.check(answer("00:00:00Z"))
    right = answer(f"00:00:00{written.isoformat()[-6:]}")
    assert "" == sheet.check(right)
    (change,) = sheet.judge(right).changes
    assert isinstance(change.command, NoteTranslate)
    assert send(change.command, "dreamer", "").ok
    (after,) = desk.book.notes.values()
    assert after.waits_for is not None
    assert words_of(after.waits_for, after.zone).endswith("(Europe/Berlin)")
