"""What a session works at now, folded over what its tools did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.texts.markup import escaped
from services.domain.tokens import tokens
from services.memory.hot_state import (
    BUDGET,
    HotState,
    after_decision,
    after_run,
    after_search,
    after_touch,
    after_words,
    fingerprint,
    hot_lines,
    without,
)
from tests.helpers.cost import bare_operations

FAILED = "FAILED tests/test_a.py::test_x - AssertionError\n1 failed in 0.1s"
TYPES = "src/a.ts(3,4): error TS2322: Type 'a' is not assignable to 'b'."


def ran(state: HotState, command: str, output: str = "", exit_code: int | None = None) -> HotState:
    return after_run(state, command, output, exit_code)


def failed(state: HotState | None = None, command: str = "pytest -q", output: str = FAILED) -> HotState:
    return ran(state or HotState(), command, output, 1)


def decisions(state: HotState) -> list[str]:
    return [one.text for one in state.decisions]


def errors(state: HotState) -> list[tuple[str, int]]:
    return [(one.category, one.seen) for one in state.errors]


def test_a_command_that_fails_opens_an_error_of_its_category() -> None:
    (error,) = failed().errors
    summary = "FAILED tests/test_a.py::test_x - AssertionError 1 failed in 0.1s"
    assert ("test", summary, "tests/test_a.py", 1) == (error.category, error.summary, error.path, error.seen)
    assert fingerprint("test", f"  {summary.upper()} ") == error.fingerprint
    assert 12 == len(error.fingerprint)


def test_the_same_error_is_seen_again() -> None:
    again = failed(failed(failed(), "npx tsc", TYPES))
    assert [("typecheck", 1), ("test", 2)] == errors(again)


def test_an_unknown_exit_code_neither_opens_nor_clears() -> None:
    assert HotState() == ran(HotState(), "pytest", FAILED)
    assert failed() == ran(failed(), "pytest", "3 passed")


@pytest.mark.parametrize("output", ["Exit code: 1", "exit status 2", "Process exited with code 3"])
def test_an_output_may_name_the_exit_code(output: str) -> None:
    assert [("test", 1)] == errors(ran(HotState(), "pytest", f"{output}\n{FAILED}"))
    assert () == ran(failed(), "pytest", "3 passed\nexit code 0").errors


def test_success_clears_its_category_and_no_other() -> None:
    both = failed(failed(), "npx tsc", TYPES)
    assert [("typecheck", 1)] == errors(ran(both, "pytest", "3 passed", 0))
    assert [("test", 1)] == errors(ran(both, "mypy .", "", 0))
    assert both == ran(both, "ls", "", 0)
    assert () == ran(both, "tsc && pytest", "", 0).errors


def test_success_of_a_pipe_is_none_where_its_output_reports_a_failure() -> None:
    assert [("test", 2)] == errors(ran(failed(), "pytest | tail -3", FAILED, 0))
    assert () == ran(failed(), "pytest | tail -3", "3 passed", 0).errors


def test_a_command_of_no_category_opens_only_what_is_certain() -> None:
    assert () == failed(command="./run.sh", output="something failed").errors
    assert [("runtime", 1)] == errors(failed(command="./run.sh", output="ValueError: x"))
    assert () == failed(output="no word of it").errors


def test_the_newest_five_errors_are_known() -> None:
    state = HotState()
    for number in range(7):
        state = failed(state, output=f"error {number}")
    assert [f"error {number}" for number in range(2, 7)] == [one.summary for one in state.errors]


@pytest.mark.parametrize(("path", "is_fixed"), [("/app/tests/test_a.py", True), ("test_a.py", True), ("b.py", False)])
def test_an_error_may_be_fixed_once_its_file_was_changed(path: str, is_fixed: bool) -> None:  # noqa: FBT001
    edited = after_touch(failed(), path, "edited")
    assert [is_fixed] == [one.maybe_fixed for one in edited.errors]
    assert [False] == [one.maybe_fixed for one in after_touch(failed(), path, "read").errors]


def test_files_are_weighed_by_what_was_done_to_them_and_how_often() -> None:
    state = HotState()
    for action, path in (("read", "/a/r.py"), ("written", "/a/w.py"), ("edited", "/a/e.py"), ("read", "/a/e.py")):
        state = after_touch(state, path, action)
    assert [("/a/e.py", "edited", 2), ("/a/w.py", "written", 1), ("/a/r.py", "read", 1)] == [
        (file.path, file.action, file.uses) for file in state.ranked_files
    ]
    assert [53 + 3, 45 + 3, 20 + 3] == [file.score for file in state.ranked_files]


def test_of_equals_the_newer_goes_first() -> None:
    state = after_touch(after_touch(HotState(), "a", "read"), "b", "read")
    assert ["b", "a"] == [file.path for file in state.ranked_files]
    assert ["a", "b"] == [file.path for file in after_touch(state, "a", "read").ranked_files]


def test_a_search_makes_few_files_active() -> None:
    output = "\n".join(f"/a/f{number}.py:\n  Line 3: x" for number in range(12)) + "\n/a/f0.py:\nnot/a.py:\n/a/x.png:"
    state = after_search(HotState(), output, "/a")
    assert 10 == len(state.files)
    assert {("found", 1)} == {(file.action, file.uses) for file in state.files}
    assert "f9.py" == state.ranked_files[0].path


def test_what_was_deleted_is_no_active_file() -> None:
    assert () == after_touch(after_touch(HotState(), "a.py", "edited"), "a.py", "deleted").files


def test_no_more_files_are_known_than_twenty() -> None:
    state = HotState()
    for number in range(30):
        state = after_touch(state, f"f{number}", "read")
    assert 20 == len(state.files)
    touched = after_touch(after_touch(state, "e", "edited"), "r", "read")
    assert ({"e", "r"}, 20) == ({"e", "r"} & {file.path for file in touched.files}, len(touched.files))


def test_marked_decisions_are_known_once_and_the_newest_eight() -> None:
    state = after_words(HotState(), "We take it. [Decision: use  ULIDs] and [decision: no ORM]\n[Decision: x\ny]")
    assert ["use ULIDs", "no ORM"] == decisions(state)
    assert ["no ORM", "Use ulids"] == decisions(after_decision(state, "Use ulids"))
    for number in range(9):
        state = after_decision(state, f"decision {number}")
    assert 8 == len(state.decisions)
    assert state == after_decision(state, " ")


def test_a_part_that_is_written_anew_decides_what_it_says_now() -> None:
    state = after_words(after_words(HotState(), "[Decision: use ULIDs]", "p1"), "[Decision: no ORM]", "p2")
    assert ["no ORM", "use UUIDs"] == decisions(after_words(state, "[Decision: use UUIDs]", "p1"))
    assert ["no ORM"] == decisions(after_words(state, "Never mind.", "p1"))


def test_nothing_is_quoted_of_parts_that_are_gone() -> None:
    state = after_run(after_words(HotState(), "[Decision: use ULIDs]", "p1"), "pytest", FAILED, 1, "p2")
    assert ([], [("test", 1)]) == (decisions(without(state, {"p1"})), errors(without(state, {"p1"})))
    assert (["use ULIDs"], []) == (decisions(without(state, {"p2"})), errors(without(state, {"p2"})))
    assert state is without(state, {"p3"})


def test_each_section_has_its_lines() -> None:
    state = after_words(failed(after_touch(after_touch(HotState(), "a.py", "edited"), "a.py", "read")), "")
    state = after_decision(state, "use ULIDs")
    assert (
        "file a.py (edited, 2x)",
        "open error [test] FAILED tests/test_a.py::test_x - AssertionError 1 failed in 0.1s",
        "decided: use ULIDs",
        "to be remembered [feedback] Use pnpm.",
        "to do: ship it",
    ) == hot_lines(state, [("feedback", "Use pnpm.")], ["ship it"])
    assert () == hot_lines(HotState())


def test_a_file_that_was_changed_is_listed_with_its_error() -> None:
    (_, line) = hot_lines(after_touch(failed(), "test_a.py", "edited"))
    assert line.endswith("(its file was changed since)")


def test_every_section_gets_its_first_line_before_any_gets_its_second() -> None:
    state = failed(after_decision(HotState(), "use ULIDs"))
    for number in range(9):
        state = after_touch(
            state, f"/a/very/long/path/to/some/file/of/number/{number}/in/the/project/module.py", "read"
        )
    lines = hot_lines(state, [("project", "one"), ("project", "two")], ["ship it"])
    assert {"file", "open", "decided:", "to"} == {line.split()[0] for line in lines}
    assert "to be remembered [project] two" in lines
    assert len([line for line in lines if line.startswith("file ")]) < 8


PATHS, ACTIONS = ("a.py", "b/c.py", ""), ("read", "edited", "written", "deleted", "x")
COMMANDS, OUTPUTS = ("pytest", "tsc", "ls", "make | tail"), (FAILED, TYPES, "", "Exit code 1")
USES = st.one_of(
    st.tuples(st.just(after_touch), st.sampled_from(PATHS), st.sampled_from(ACTIONS)),
    st.tuples(st.just(after_run), st.sampled_from(COMMANDS), st.sampled_from(OUTPUTS), st.sampled_from((0, 1, None))),
    st.tuples(st.just(after_decision), st.text(max_size=20)),
    st.tuples(st.just(after_words), st.text(max_size=40)),
    st.tuples(st.just(after_search), st.text(max_size=40)),
)


@given(st.lists(USES, max_size=40), st.integers(0, 300))
def test_everything_is_bounded(uses: list[tuple[object, ...]], budget: int) -> None:
    state = HotState()
    for use, *given_ in uses:
        assert callable(use)
        state = use(state, *given_)
    assert (len(state.files) <= 20, len(state.errors) <= 5, len(state.decisions) <= 8) == (True, True, True)
    lines = hot_lines(state, [("project", "x" * 500)] * 20, ["y < z"] * 20, budget=budget)
    assert tokens(sum(len(f"- {escaped(line)}\n".encode()) for line in lines)) <= budget
    assert all("\n" not in line for line in lines)
    assert len(hot_lines(state)) <= 8 + 3 + 8


@given(st.lists(USES, max_size=20), st.sampled_from((FAILED, TYPES, "")), st.sampled_from(("pytest", "tsc", "ls")))
def test_nothing_is_changed_by_a_command_whose_end_nobody_knows(
    uses: list[tuple[object, ...]], output: str, command: str
) -> None:
    state = HotState()
    for use, *given_ in uses:
        assert callable(use)
        state = use(state, *given_)
    assert state == after_run(state, command, output)


def test_the_budget_is_that_of_the_head() -> None:
    assert 175 == BUDGET


@pytest.mark.parametrize(
    "unit", ["a", "/a.py:\n", "error ", "/", "a/", "[Decision: ", "a.", "TS1234 ", "\0", "[", "\n"]
)
def test_a_flood_is_read_in_no_time(unit: str) -> None:
    text = (unit * 60_000)[:60_000]
    assert 8 > bare_operations(
        lambda: (after_run(HotState(), "pytest", text, 1), after_search(after_words(HotState(), text), text))
    )
