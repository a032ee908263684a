"""The edits in force: found by their targets, counted once, and marked by lanes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

import services.responder
from schemas.plan import AnyEdit, PrefixText, Restore, Target, Withdraw, parse_target, target
from services.plan.session.lane_marks import LaneMark, join_marks, lanes_of, mark_of, parse_marks
from services.plan.session.plan_state import PlanState, tagged
from tests.helpers.examples import examples
from tests.helpers.random_sessions import STORIES, Story, play, wildly
from tests.schemas.test_plan import EDITS

NAMES = st.text(st.characters(exclude_characters=":+"), min_size=1)
MARKS = st.builds(LaneMark, NAMES, st.lists(NAMES, max_size=3).map(tuple))
STRINGS = re.compile(r"^(part|append|pair|message|head):|^cut$")
"""How a target begins that is built or looked for by hand."""


@settings(max_examples=examples(100), deadline=None)
@given(EDITS)
def test_a_target_is_read_as_it_is_written(edits: tuple[AnyEdit, ...]) -> None:
    for edit in edits:
        assert target(edit) == parse_target(str(target(edit)))


@given(st.text())
def test_every_text_is_some_target_and_written_as_it_was(text: str) -> None:
    what = parse_target(text)
    assert isinstance(what, get_args(Target))
    assert text == str(what)


@given(st.lists(MARKS, max_size=4))
def test_marks_are_read_as_they_are_written(marks: list[LaneMark]) -> None:
    assert tuple(marks) == parse_marks(join_marks(*map(str, marks)))


def test_an_edit_of_several_lanes_is_marked_by_each() -> None:
    edit = Restore(part="p", lane="reminders+channel:firm:31000+notes:1767225600")
    assert {"reminders", "channel", "notes"} == lanes_of(edit)
    assert LaneMark("channel", ("firm", "31000")) == mark_of(edit, "channel")
    assert "1767225600" == (mark_of(edit, "notes") or LaneMark("")).detail
    assert mark_of(edit, "chan") is None
    assert mark_of(None, "notes") is None


@wildly
@given(STORIES)
def test_each_edit_in_force_is_found_by_its_target_and_no_other(story: Story) -> None:
    for moment in play(story):
        known: dict[Target, AnyEdit] = {}
        for number in range(1, moment.session.revision + 1):
            for edit in moment.session.revisions.made[number].edits:
                known.pop(target(edit), None)
                if not isinstance(edit, Restore | Withdraw):
                    known[target(edit)] = edit
        plan: PlanState = moment.session.plan
        assert known == {target(edit): edit for edit in plan.edits()}
        assert len(known) == plan.count
        assert all(plan.at(what) == edit for what, edit in known.items())


def test_nobody_but_the_language_writes_or_reads_targets_by_hand() -> None:
    assert [] == list(_by_hand(Path(services.responder.__path__[0])))


def _by_hand(folder: Path) -> Iterator[str]:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            literals = node.values[:1] if isinstance(node, ast.JoinedStr) else [node]
            for literal in literals:
                if isinstance(literal, ast.Constant) and STRINGS.match(str(literal.value)):
                    yield f"{file.name}:{node.lineno}"  # type: ignore[attr-defined]  # expressions have a line
                is_split = isinstance(node, ast.Attribute) and node.attr in ("partition", "split")
                if is_split and isinstance(node.value, ast.Attribute) and node.value.attr == "lane":
                    yield f"{file.name}:{node.lineno}"


def test_a_tag_waits_for_the_first_edit_of_its_part() -> None:
    plan = PlanState(prefixes=PlanState().prefixes.insert("b", PrefixText("b", "§2§ ")))
    after = tagged(plan, 1, ("a", "b", "c"))
    assert {"a": 1, "c": 3} == dict(after.untagged)
    assert plan is tagged(plan, 2, ("b",))
