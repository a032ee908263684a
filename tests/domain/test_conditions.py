"""What a note may wait for: the right forms, the wrong ones, and how each reads."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.conditions import (
    KINDS,
    AddressCondition,
    CommandCondition,
    CommitCondition,
    Condition,
    DateCondition,
    FileCondition,
    MergeCondition,
    decode_condition,
    encode_condition,
)
from services.domain.conditions import FORMS, LONGEST, BadCondition, condition_of, fault_of, words_of

MOMENT = datetime(2026, 12, 1, 9, tzinfo=UTC)
RIGHT: dict[str, Condition] = {
    "it is 2026-12-01 09:00 UTC": DateCondition(MOMENT),
    "docs/map.md is there": FileCondition("docs/map.md"),
    "docs/map.md is not there": FileCondition("docs/map.md", "absent"),
    "docs/map.md was changed": FileCondition("docs/map.md", "changed"),
    "docs/map.md contains 'North'": FileCondition("docs/map.md", "contains", "North"),
    "the commit 0123abc is there": CommitCondition(sha="0123abc"),
    "the tag v2.0 is there": CommitCondition(tag="v2.0"),
    "there is a commit with 'Dredge' in its first line": CommitCondition(subject="Dredge"),
    "quay is merged into main": MergeCondition("quay", "main"),
    "quay is merged into the default branch": MergeCondition("quay"),
    "`make test` has passed in a session": CommandCondition("make test"),
    "https://example.org/a answers": AddressCondition("https://example.org/a"),
    "https://example.org/a answers with 404": AddressCondition("https://example.org/a", 404),
    "https://example.org/a answers and contains 'x'": AddressCondition("https://example.org/a", contains="x"),
}


@pytest.mark.parametrize("words", RIGHT)
def test_a_condition_reads_as_it_is_and_is_the_same_in_the_log(words: str) -> None:
    condition = RIGHT[words]
    assert (words, "", condition) == (
        words_of(condition),
        fault_of(condition),
        decode_condition(encode_condition(condition)),
    )
    assert condition == condition_of(encode_condition(condition))


def test_each_kind_has_a_form_and_each_form_is_right() -> None:
    assert [*KINDS] == [*FORMS]
    for kind, form in FORMS.items():
        found = condition_of(form[: form.index("}") + 1])
        assert found is not None
        assert kind == found.__struct_config__.tag


@pytest.mark.parametrize("words", ["", "after the release", "when CI is green", '"quoted"', "[1]"])
def test_other_words_are_no_condition(words: str) -> None:
    assert None is condition_of(words)


FIELDS = st.sampled_from(["at", "path", "state", "text", "tag", "branch", "into", "command", "url", "status", "x"])
VALUES = st.text() | st.integers() | st.none() | st.sampled_from(["exists", "v1", "https://example.org"])


@given(st.sampled_from(KINDS), st.dictionaries(FIELDS, VALUES, max_size=3))
def test_whatever_is_given_is_a_condition_or_refused_with_the_right_form(kind: str, fields: dict[str, object]) -> None:
    try:
        found = condition_of({"kind": kind, **fields})
    except BadCondition as error:
        refused = str(error)
    else:
        assert found is not None
        refused = fault_of(found) and '{"kind": '
    assert not refused or '{"kind": ' in refused


@given(st.text(max_size=60))
def test_a_text_of_the_log_that_is_no_condition_is_none(text: str) -> None:
    found = decode_condition(text)
    assert found is None or isinstance(found, tuple(type(one) for one in RIGHT.values()))


WRONG: list[tuple[object, str]] = [
    ({}, "has a kind, one of date, file"),
    ({"kind": ["date"]}, "has a kind"),
    ({"kind": "shell", "run": "rm -rf /"}, "has a kind"),
    ("{", "no JSON"),
    ("{" * 100_000, "no JSON"),
    ({"kind": "date", "at": "2026-12-01T09:00:00"}, "timezone"),
    ({"kind": "date", "at": "tomorrow"}, "Invalid RFC3339"),
    ({"kind": "date", "at": "0001-01-01T00:00:00Z"}, "year 1 is not waited for"),
    ({"kind": "file", "path": 7}, "Expected `str`"),
    ({"kind": "file", "path": "a", "contains": "x"}, "no field 'contains'"),
    ({"kind": "file", "path": "a", "state": "contains"}, "the text is empty"),
    ({"kind": "file", "path": "a", "text": "x"}, "goes with the state contains"),
    ({"kind": "file", "path": "a", "state": "contains", "text": "x" * (LONGEST + 1)}, "may have 240"),
    ({"kind": "file", "path": "a" * 1_000_000}, "no path within the project"),
    ({"kind": "commit"}, "exactly one of sha, subject and tag"),
    ({"kind": "commit", "sha": "0123abc", "tag": "v1"}, "exactly one"),
    ({"kind": "commit", "sha": "HEAD"}, "is no sha"),
    ({"kind": "commit", "tag": "--exec=x"}, "no name of a tag"),
    ({"kind": "merged", "branch": "a..b", "into": "main"}, "no name of a branch"),
    ({"kind": "merged", "branch": "main@{1}", "into": "main"}, "no name of a branch"),
    ({"kind": "merged", "branch": "main", "into": "main"}, "not merged into itself"),
    ({"kind": "merged", "into": "main"}, "missing required field"),
    ({"kind": "merged", "branch": ""}, "no name of a branch"),
    ({"kind": "passed", "command": "  "}, "the command is empty"),
    ({"kind": "passed", "command": "a\nb"}, "control characters"),
    ({"kind": "passed", "command": "a\0"}, "control characters"),
    ({"kind": "address", "url": "https://example.org", "status": 0.5}, "Expected `int`"),
    ({"kind": "address", "url": "https://example.org", "status": 7}, "7 is no status"),
]


@pytest.mark.parametrize(("wanted", "wrong"), WRONG)
def test_a_wrong_condition_is_answered_with_the_right_form(wanted: dict[str, object] | str, wrong: str) -> None:
    with pytest.raises(BadCondition) as refused:
        condition_of(wanted)
    assert wrong in str(refused.value)
    assert '{"kind": ' in str(refused.value)
    assert len(str(refused.value)) < 700
