"""What a model sets as a person's words is what that person meant."""

import pytest

from services.domain.transcript.reader import read
from services.historian.core.from_answer import to_summary
from services.historian.core.model_answer import Compartment, Output, bounds
from services.historian.core.quotations import is_quoted
from tests.helpers.conversations import agent, transcript, user
from tests.helpers.cost import bare_operations

TEXT = "Do not delete the tests. Keep the theme after a restart, and run `make check` first"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, "Do not delete the tests."),
        (TEXT, "Do not delete the tests"),
        (TEXT, '"Do not delete the tests."'),
        (TEXT, "Keep the theme after a restart, and run `make check` first"),
        (TEXT, "Keep the theme after a restart …"),
        (TEXT, "Keep the theme after a restart..."),
        (TEXT, "… run `make check` first"),
        (TEXT, "Do not delete the tests … run `make check` first"),
        ("Fix the bug\nDo not push", "Do not push"),
        ("Fix the bug\nDo not push", "Fix the bug"),
        ("Fix the bug\nDo not push", "Fix the bug Do not push"),
        ("Yes. Go on", "Yes."),
        ("- no tabs\n- no blanks (1. ever)", "no tabs"),
        ("Use v1.2. It is new.", "It is new."),
        ("Wait … then do it", "Wait … then do it"),
        ("不要删除测试。使用 pnpm。", "使用 pnpm。"),
        ("不要删除测试和备份文件。", "不要删除测试…"),
    ],
)
def test_whole_sentences_and_those_with_signs_where_they_were_cut_are_quotations(text: str, line: str) -> None:
    assert is_quoted(line, ["Another text.", text])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, "delete the tests"),
        (TEXT, "delete the tests."),
        (TEXT, "Do not delete the"),
        (TEXT, "Do not delete the tes…"),
        (TEXT, "…lete the tests."),
        (TEXT, "… tests."),
        (TEXT, "Keep the theme after a restart"),
        (TEXT, "run `make check` first … Do not delete the tests."),
        (TEXT, "Do … delete the tests."),
        (TEXT, "… delete the tests."),
        ("You should not delete the tests.", "… delete the tests."),
        ("不要删除测试和备份文件。", "…删除测试和备份文件。"),
        (TEXT, "…"),
        (TEXT, "."),
        (TEXT, ""),
        ("Should I delete the tests?", "Should I delete the tests"),
        ("He said (delete the tests)", "delete the tests"),
        ("Never do this: delete the tests", "delete the tests"),
        ("Never do this:\n- delete the tests", "delete the tests"),
        ("Do not, e.g. delete the tests", "delete the tests"),
        ("Look at a.b for it", "b for it"),
        ("不要删除测试。", "删除测试。"),
    ],
)
def test_a_part_of_a_sentence_is_no_quotation(text: str, line: str) -> None:
    assert not is_quoted(line, ["Another text.", text])


def test_a_line_that_turns_a_person_s_words_round_is_written_as_the_agent_s() -> None:
    recorded = transcript(user("Do not delete the tests.\nBe quick"), agent("I see."))
    p1 = "U: delete the tests\nU: Do not delete the tests.\nU: Be quick"
    shown = bounds(read(recorded, 8_000), 0)
    (draft,) = to_summary(
        Output((Compartment(1, 2, "Tests", 40, p1, "U: delete the tests", "Tests"),)), shown
    ).compartments
    assert "- delete the tests\nU: Do not delete the tests.\nU: Be quick" == draft.p1
    assert "- delete the tests" == draft.p2


@pytest.mark.parametrize("unit", ["a ", "a", "(a) ", "a, ", "a. ", "-a", "… a", ", "])
def test_looking_for_a_quotation_costs_in_proportion(unit: str) -> None:
    text = unit * 20_000
    lines = ["a", "a …", "… a", f"{unit * 100}b", f"{unit * 100}…", f"… {unit * 100}"]
    for line in lines:
        assert bare_operations(lambda line=line: is_quoted(line, [f"b{text}b"])) < 12
