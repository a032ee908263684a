"""The work of a session, folded from a harness's reports."""

import json

from msgspec.structs import replace

from schemas.events import MessageRemoved
from schemas.inbox import PartSeen, SessionSeen
from services.plan.session.work import MOST_CALLS, Work
from tests.helpers.harness import Harness, fold, text_part
from tests.helpers.tool_calls import called, requested, returned

FAILED = "FAILED tests/test_a.py::test_x - AssertionError\n1 failed in 0.1s"


def bash(command: str, output: str = FAILED, exit_code: int | None = 1, *, call: str = "c") -> PartSeen:
    return replace(called("bash", {"command": command}, output, call=call), exit_code=exit_code)


def after(*answers: PartSeen | tuple[PartSeen, ...]) -> Harness:
    """A session in which an agent has given these answers."""
    harness = Harness()
    harness.report(SessionSeen(directory="/app"))
    harness.user("go")
    for answer in answers:
        harness.assistant(*(answer if isinstance(answer, tuple) else (answer,)))
    harness.step()
    return harness


def work(harness: Harness) -> Work:
    assert harness.session.work == fold(harness.log).work
    return harness.session.work


def errors(harness: Harness) -> list[tuple[str, int]]:
    return [(one.category, one.seen) for one in work(harness).state.errors]


def test_a_command_that_fails_opens_an_error_and_success_clears_its_category_alone() -> None:
    types = bash("npx tsc", "a.ts(1,2): error TS2322: no", 2)
    assert [("test", 1), ("typecheck", 1)] == errors(after(bash("pytest"), types))
    assert [("typecheck", 1)] == errors(after(bash("pytest"), types, bash("pytest -q", "3 passed", 0)))
    assert [("test", 2)] == errors(after(bash("pytest"), bash("pytest"), bash("ls", "", 0)))


def test_an_unknown_exit_code_changes_nothing() -> None:
    assert [] == errors(after(bash("pytest", exit_code=None)))
    assert [("test", 1)] == errors(after(bash("pytest"), bash("pytest", "3 passed", None)))


def test_an_exit_code_that_is_reported_later_counts() -> None:
    harness = after(bash("pytest", exit_code=None))
    harness.change("m2.0", exit_code=1)
    harness.step()
    assert [("test", 1)] == errors(harness)


def test_a_call_and_its_result_may_come_in_two_parts() -> None:
    result = replace(returned("bash", call="c1", output=FAILED), exit_code=1)
    command = "cd /app &&\npytest -q"
    harness = after(requested("bash", {"command": command}, call="c1"), result)
    assert [("test", 1)] == errors(harness)
    assert () == work(harness).newest_calls


def test_only_commands_open_errors() -> None:
    report = called("task", {"prompt": "run pytest"}, f"exit code 1\n{FAILED}")
    assert [] == errors(after(report))


def test_no_more_is_stored_of_the_outputs_of_calls_than_of_a_few() -> None:
    harness = after(*(bash("pytest", exit_code=None, call=f"c{number}") for number in range(MOST_CALLS + 4)))
    assert MOST_CALLS == len(work(harness).newest_calls)
    assert () == work(after(bash("pytest"), called("read", {"filePath": "a.py"}, call="r"))).newest_calls


def test_files_are_active_by_what_is_done_to_them_and_seen_from_the_session_s_directory() -> None:
    found = "/app/src/b.py:\n  Line 3: x\n/other/c.py:\n"
    harness = after(
        called("read", {"filePath": "/app/src/a.py"}, call="r"),
        called("edit", {"filePath": "/app/src/a.py", "oldString": "a", "newString": "b"}, call="e"),
        called("grep", {"pattern": "x"}, found, call="g"),
    )
    assert [("src/a.py", "edited", 2), ("/other/c.py", "found", 1), ("src/b.py", "found", 1)] == [
        (file.path, file.action, file.uses) for file in work(harness).state.ranked_files
    ]


def test_an_edit_of_the_file_that_an_error_names_may_have_fixed_it() -> None:
    edit = called("edit", {"filePath": "/app/tests/test_a.py", "oldString": "a", "newString": "b"}, call="e")
    assert [True] == [one.maybe_fixed for one in work(after(bash("pytest"), edit)).state.errors]


def test_what_the_agent_marks_as_decided_is_known_and_what_others_write_decides_nothing() -> None:
    harness = after(text_part("We take it. [Decision: use ULIDs]"))
    harness.user("[Decision: no tests]")
    harness.step()
    assert ["use ULIDs"] == [one.text for one in work(harness).state.decisions]
    harness.change("m2.0", text=json.dumps("[Decision: use UUIDs]"))
    harness.step()
    assert ["use UUIDs"] == [one.text for one in work(harness).state.decisions]


def test_nothing_is_quoted_of_messages_that_were_taken_back() -> None:
    harness = after((text_part("[Decision: use ULIDs]"), bash("pytest")), text_part("[Decision: no ORM]"))
    harness.append(MessageRemoved(messages=["m2"], reason="reverted"))
    assert ([], ["no ORM"]) == (errors(harness), [one.text for one in work(harness).state.decisions])
    harness.append(MessageRemoved(messages=["m3"], reason="unlisted"))
    assert ["no ORM"] == [one.text for one in work(harness).state.decisions]
