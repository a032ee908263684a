"""What calls asked for and which files they touched, folded from facts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import Event, FileTouched, PartRecorded, PartRemoved
from services.domain.fold import fold
from services.domain.tools.uses import DEFAULT_LINES, Lookup, TouchedFile, Uses, uses_after


def asking(arguments: str, tool: str = "read", *, part: str = "p", reference: str = "") -> PartRecorded:
    return PartRecorded(message="m", part=part, kind="tool", tool=tool, input=arguments, input_ref=reference)


def asked(arguments: str, tool: str = "read", *, reference: str = "") -> Lookup:
    event = asking(arguments, tool, reference=reference)
    question = uses_after(Uses(), event).question(event)
    assert question is not None
    return question


def test_the_order_of_arguments_and_those_that_say_nothing_do_not_matter() -> None:
    assert asked('{"filePath": "a.py", "offset": 3}') == asked('{"offset":3,"limit":null,"filePath":"a.py"}')


def test_other_arguments_or_another_tool_ask_something_else() -> None:
    questions = {
        asked('{"path":"a"}', "grep").digest,
        asked('{"path":"b"}', "grep").digest,
        asked('{"path":"a"}', "glob").digest,
        asked('{"path":["a"]}', "glob").digest,
    }

    assert len(questions) == 4


@pytest.mark.parametrize("tool", ["read", "Read", "mcp_read", "MCP_READ", "mcp_Read"])
def test_a_tool_is_known_under_all_its_spellings(tool: str) -> None:
    assert asked('{"filePath":"a"}', tool) == asked('{"filePath":"a"}')


@pytest.mark.parametrize("tool", ["bash", "edit", "write", "task", "mcp__wiki__read", "readme", ""])
def test_only_of_tools_that_change_nothing_the_question_stays(tool: str) -> None:
    assert uses_after(Uses(), asking('{"filePath":"a"}', tool)) == Uses()


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ('{"filePath":"a"}', (0, DEFAULT_LINES)),
        ('{"filePath":"a","offset":10,"limit":5}', (10, 15)),
        ('{"filePath":"a","offset":"10","limit":"5"}', (10, 15)),
        ('{"filePath":"a","limit":5}', (0, 5)),
        ('{"filePath":"a","start_line":3,"end_line":9}', (3, 10)),
        ('{"filePath":"a","offset":-100}', (0, 0)),
        ('{"filePath":"a","offset":true}', (0, 0)),
        ('{"filePath":"a","limit":"many"}', (0, 0)),
        ('{"filePath":"a","limit":0}', (0, 0)),
        ('{"filePath":"a","offset":' + '"' + "9" * 5000 + '"}', (0, 0)),
        ("no json", (0, 0)),
    ],
)
def test_a_reading_says_which_lines_it_was_to_show(arguments: str, lines: tuple[int, int]) -> None:
    question = asked(arguments)

    assert (question.first, question.end) == lines


def test_long_arguments_are_distinguished_by_their_reference() -> None:
    assert asked("", "grep", reference="aa") == asked("", "grep", reference="aa")
    assert asked("", "grep", reference="aa") != asked("", "grep", reference="bb")


def test_the_result_of_a_call_in_another_part_knows_its_question() -> None:
    call = PartRecorded("m1", "p1", "tool_call", tool="read", call="c", owner="m1", input='{"filePath":"a"}')
    result = PartRecorded("m2", "p2", "tool_result", tool="read", call="c", owner="m1")
    other = PartRecorded("m4", "p4", "tool_result", tool="read", call="c", owner="m3")

    uses = fold(uses_after, [call, result], Uses())

    assert uses.question(result) == asked('{"filePath":"a"}')
    assert uses.question(other) is None


def test_files_are_known_by_the_part_that_ended_the_call() -> None:
    uses = fold(
        uses_after,
        [
            FileTouched(path="a.py", action="edited", message="m", part="p", tool="patch"),
            FileTouched(path="b.py", action="written", message="m", part="p", tool="patch"),
            FileTouched(path="a.py", action="edited", message="m", part="p", tool="patch"),
        ],
        Uses(),
    )

    assert uses.files("p") == (TouchedFile("a.py", "edited"), TouchedFile("b.py", "written"))
    assert uses.files("q") == ()


def test_a_part_that_is_gone_is_forgotten() -> None:
    facts: list[Event] = [
        asking('{"filePath":"a"}'),
        FileTouched(path="a", action="read", message="m", part="p", tool="read"),
        PartRemoved(message="m", part="p"),
    ]

    assert fold(uses_after, facts, Uses()) == Uses()


def test_a_call_that_was_changed_asks_what_it_asks_now() -> None:
    uses = fold(uses_after, [asking('{"filePath":"a"}'), asking('{"filePath":"b"}')], Uses())

    assert uses.question(asking("")) == asked('{"filePath":"b"}')


ARGUMENTS = st.text() | st.dictionaries(
    st.sampled_from(["filePath", "path", "offset", "limit", "pattern"]), st.none() | st.integers() | st.text(max_size=8)
).map(json.dumps)


@given(ARGUMENTS, ARGUMENTS, st.sampled_from(["read", "grep"]))
def test_whatever_arguments_a_call_has_it_asks_what_it_asked_last(before: str, arguments: str, tool: str) -> None:
    uses = fold(uses_after, [asking(before, tool), asking(arguments, tool)], Uses())

    assert uses.question(asking("")) == asked(arguments, tool)
