"""Edits of JSON with comments."""

import json

import pytest
from hypothesis import given, settings

from services.edges.connect.edit import append, patch, remove, replace
from services.edges.connect.jsonc import UnreadableConfig, parse, value
from tests.helpers.examples import examples
from tests.helpers.jsonc_texts import comments, configurations

bounded = settings(max_examples=examples(100), deadline=None)

SPREAD = """{
  // what we like
  "model": "x/y", // the fast one
  "plugin": [
    "a@1.0.0", // keep
    "b",
  ],
  /* the end */
}
"""


def test_an_item_goes_behind_the_last_one_in_its_layout() -> None:
    assert SPREAD.replace('"b",\n', '"b",\n    ["c", {"d": 1}],\n') == append(SPREAD, ("plugin",), ["c", {"d": 1}])


def test_a_name_goes_behind_the_last_one_and_its_comments() -> None:
    assert SPREAD.replace("/* the end */\n", '/* the end */\n  "new": [],\n') == append(SPREAD, (), [], "new")


def test_a_text_without_last_commas_gets_none() -> None:
    assert '{\n\t"a": 1, // one\n\t"b": 2\n}' == append('{\n\t"a": 1 // one\n}', (), 2, "b")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "a": 1\n}'),
        ('{"b":2}', '{"b":2, "a": 1}'),
        ('{"b":2,}', '{"b":2, "a": 1,}'),
        ("{\r\n}", '{\r\n  "a": 1\r\n}'),
    ],
)
def test_a_short_text_stays_short(before: str, after: str) -> None:
    assert after == append(before, (), 1, "a")


def test_of_two_of_one_name_the_last_counts() -> None:
    assert '{"a": 1, "a": 3}' == replace('{"a": 1, "a": 2}', ("a",), 3)


def test_a_removed_item_takes_its_line_and_its_comma_along() -> None:
    assert SPREAD.replace('    "b",\n', "") == remove(SPREAD, ("plugin", 1))
    assert '["a"]' == remove('["a", "b"]', (1,))
    assert '["b"]' == remove('["a", "b"]', (0,))
    assert "[]" == remove('[\n  "a"\n]', (0,))
    assert '[\r\n  "a"\r\n]' == remove('[\r\n  "a",\r\n  "b"\r\n]', (1,))


def test_the_comment_of_a_removed_item_stays_and_swallows_nothing() -> None:
    text = '[\n  "a", // one\n  "b", "c"\n]'
    assert ["a", "c"] == value(remove(text, (1,)))
    assert ["a"] == value(remove('[\n  "a", // one\n  "b"]', (1,)))


@bounded
@given(configurations())
def test_what_is_appended_and_removed_leaves_the_same_values_and_comments(text: str) -> None:
    longer = append(text, (), {"x": [1]}, "new")
    assert value(text) | {"new": {"x": [1]}} == value(longer)  # type: ignore[operator] - configurations are objects
    shorter = remove(longer, ("new",))
    assert value(text) == value(shorter)
    assert comments(text) == comments(longer) == comments(shorter)


@bounded
@given(configurations())
def test_every_member_can_be_removed(text: str) -> None:
    content = value(text)
    assert isinstance(content, dict)
    for name in content:
        rest = {other: member for other, member in content.items() if other != name}
        assert rest == value(remove(text, (name,)))


@bounded
@given(configurations(), configurations())
def test_a_patch_is_undone_to_the_byte(before: str, after: str) -> None:
    assert before == patch(before, after).undo(after)


@bounded
@given(configurations())
def test_a_parsed_value_is_where_it_says(text: str) -> None:
    for member in parse(text).members:
        assert member.node.value == value(text[member.node.start : member.node.end])


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1]', "line 1, column 8"),
        ('{\n  "a" 1}', "line 2, column 7"),
        ("[1,,]", "line 1, column 4"),
        ("{a: 1}", "line 1, column 2"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": yes}', "line 1, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ("/* {}", "line 1, column 1"),
        ('{"a": [1,', "ends too early"),
        ("", "ends too early"),
    ],
)
def test_what_opencode_could_not_read_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(UnreadableConfig, match=where):
        parse(text)


def test_plain_json_is_read_as_python_reads_it() -> None:
    text = json.dumps({"a": [1.5e3, -0.1, "\\u00e9\n", None], "b": {"c": True}})
    assert json.loads(text) == value(text)
