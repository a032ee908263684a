"""Which parts of a session show which files, for how long they lie idle, and what was changed since."""

import pytest

from schemas.events import Event, FileTouched, PartRecorded, PartRemoved, ToolRan
from services.domain.conversation import Conversation
from services.plan.session.readings import MOST, Readings, readings_after


def came(tokens: int, part: str = "p") -> PartRecorded:
    return PartRecorded(message="m", part=part, kind="tool", position=0, tokens=tokens)


def touched(path: str, action: str = "read", part: str = "r") -> FileTouched:
    return FileTouched(path=path, action=action, message="m", part=part, tool="read")


def ran(target: str, part: str = "r", tool: str = "bash", status: str = "completed") -> ToolRan:
    return ToolRan(message="m", part=part, tool=tool, status=status, target=target)


def folded(*events: Event) -> Readings:
    readings = Readings()
    for event in events:
        readings = readings_after(readings, event, Conversation())
    return readings


def files(readings: Readings) -> list[str]:
    return [one.file for one in readings.newest]


def test_a_reading_lies_idle_for_what_has_come_since() -> None:
    readings = folded(came(500), touched("src/a.py"), came(700), came(40))
    assert [readings.idle(one) for one in readings.newest] == [740]
    assert not readings.is_changed(readings.newest[0])


def test_a_file_that_was_changed_since_begins_to_lie_idle_then() -> None:
    readings = folded(touched("src/a.py"), came(700), touched("app/src/a.py", "edited", "e"), came(40))
    assert [readings.idle(one) for one in readings.newest] == [40]
    assert readings.is_changed(readings.newest[0])


def test_a_change_of_another_file_of_that_name_is_another_change() -> None:
    readings = folded(touched("src/a.py"), came(700), touched("tests/a.py", "edited", "e"))
    assert not readings.is_changed(readings.newest[0])


def test_a_file_that_is_read_after_its_change_was_not_changed_since() -> None:
    readings = folded(touched("src/a.py", "edited", "e"), came(10), touched("src/a.py"))
    assert not readings.is_changed(readings.newest[0])


def test_a_file_that_the_agent_wrote_is_one_that_it_has_before_it() -> None:
    readings = folded(touched("src/a.py", "written", "w"), came(10), touched("src/b.py", "edited", "e"))
    (written,) = readings.newest
    assert ("src/a.py", True, 1) == (written.file, written.is_written, written.changes)
    assert not readings.is_changed(written)
    assert readings_after(readings, touched("src/a.py", "edited", "e2"), Conversation()).is_changed(written)


def test_a_change_that_is_reported_twice_is_one() -> None:
    readings = folded(touched("src/a.py", "edited", "e"), touched("src/a.py", "edited", "e"))
    assert 1 == readings.changes("src/a.py")
    assert 0 == readings.changes("src/b.py")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cat src/a.py", "src/a.py"),
        ("cd app && sed -n '1,80p' src/a.py", "src/a.py"),
        ("bash -lc nl -ba app/src/a.py | head -50", "src/a.py"),
        ("git diff src/a.py", ""),
        ("cat > src/a.py", ""),
        ("cat <<EOF > src/a.py", ""),
        ("concatenate src/a.py", ""),
        ("pytest tests/test_a.py", ""),
        ("cat README", ""),
    ],
)
def test_what_a_command_of_the_shell_shows_is_a_reading(command: str, shown: str) -> None:
    assert files(folded(ran(command))) == ([shown] if shown else [])


def test_a_command_that_failed_shows_nothing_and_a_search_for_a_command_is_no_reading() -> None:
    assert files(folded(ran("cat src/a.py", status="error"), ran("cat src/a.py", tool="grep"))) == []


def test_a_call_that_is_reported_twice_shows_its_file_since_the_first_time() -> None:
    readings = folded(touched("src/a.py"), came(500), touched("src/a.py"))
    assert [readings.idle(one) for one in readings.newest] == [500]


def test_a_part_that_is_removed_shows_nothing() -> None:
    assert files(folded(touched("src/a.py"), PartRemoved(message="m", part="r"))) == []


def test_of_very_many_readings_the_newest_are_known() -> None:
    readings = folded(*(touched(f"src/{n}.py", part=f"r{n}") for n in range(MOST + 5)))
    assert files(readings) == [f"src/{n}.py" for n in range(5, MOST + 5)]
