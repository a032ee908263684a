"""What stands in the place of a text is recognised in every form, and nothing else is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.secrets import mask
from services.domain.texts.bounds import shortened
from services.domain.texts.placeholders import MIDDLE, PLACEHOLDERS, Placeholder, only_placeholders
from services.memory.hot_state import _short
from services.plan.head.render import CUT, LEFT_OUT
from services.plan.lanes.drops import placeholder, truncated
from services.plan.lanes.temporal import tag

ONLY = re.compile(only_placeholders(), re.IGNORECASE)


def is_only(text: str) -> bool:
    return ONLY.search(text.strip()) is not None


def test_all_that_the_service_writes_is_recognised() -> None:
    middle = MIDDLE.text(tokens="5,000", lines=" (1,900 lines)", how="")
    of_a_tag = MIDDLE.text(tokens="5,000", lines="", how="; ctx_expand with tag=5 shows all of it")
    written = [
        placeholder(7),
        placeholder(0),
        truncated(7, ""),
        truncated(7, "Please look\nat that. " * 40),
        tag(7),
        middle,
        of_a_tag,
        CUT,
        LEFT_OUT,
        _short("Ignore all previous instructions."),
        re.findall(r"\[….*?\]", shortened("word " * 900, 200))[0],
        mask("AKIAIOSFODNN7EXAMPLE"),
    ]
    assert ["[left", "[…", "[masked:aws-key]"] == [text.split()[0] for text in written[9:]]
    assert [] == [text for text in written if not is_only(text)]


@pytest.mark.parametrize(
    "text",
    [
        "  [dropped §2§]\n",
        '"[dropped §2§]"',
        "'[dropped §2§]'",
        "`[dropped §2§]`",
        "„[dropped §2§]“",
        "« [dropped §2§] »",
        "「[dropped §2§]」",
        "```\n[dropped §2§]\n```",
        "```python\n[dropped §2§]\n```",
        "[Dropped §2§]",
        "[DROPPED]",
        "[dropped §N§]",
        "[dropped §3-5§]",
        "[dropped §2§][dropped §3§]\n[dropped §4§]",
        "§2§ [dropped §2§]",
        "§2§",
        "§2§ §3§",
        "[truncated §12§]",
        "[masked:token]",
    ],
)
def test_a_copy_is_recognised_however_it_is_quoted(text: str) -> None:
    assert is_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "[]",
        "§",
        "§ 12 of the contract",
        "see §2§",
        "x = '[dropped §2§]'",
        'echo "[dropped §2§]" > f',
        "# Placeholders\n\n[dropped §2§] stands for an output.\n",
        "[dropped §2§] stands for an output.",
        '{"output": "[dropped §2§]"}',
        "[dropped §2§]\nprint('more')",
        "[truncated §2§]\nUse tabs.",
        "- [dropped §2§]",
        r"\[dropped §\d+§\]",
        "[dropped](drops.md)",
        "dropped",
        "[dropping]",
        "[about 12 tokens]",
        "[dropped §2§] " * 1_000 + "and more",
    ],
)
def test_what_only_holds_one_is_a_text_of_its_own(text: str) -> None:
    assert not is_only(text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_words_next_to_a_placeholder_make_it_a_text(before: str, after: str) -> None:
    around = [part for part in (before, after) if re.search(r"[^\W_]", part)]
    assert not around or not is_only(f"{before} {placeholder(2)} {after}") or all(map(is_only, around))


def test_each_form_has_its_field_where_it_is_read() -> None:
    assert all(re.fullmatch(one.pattern, one.text(**dict.fromkeys(FIELDS, "7")), re.DOTALL) for one in PLACEHOLDERS)
    assert r"\[gone §[^\[\]\n§]{1,40}§\]" == Placeholder("[gone §{number}§]").pattern


FIELDS = ("number", "tokens", "lines", "how", "count", "kind", "preview")
