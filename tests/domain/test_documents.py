"""Edits of documents: what is protected stays byte for byte, an edit is made once, and is named by its text alone."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.domain.documents.edits import EditMisfit, TextEdit, compared, edited, edits_of, with_hunks
from services.domain.documents.lines import lines_of, protected_lines, read_lines

MARK, END = "<!-- annals:protected -->\n", "<!-- /annals:protected -->\n"
PIECES = (
    "a\n", "b\n", "\n", "# A\n", "## B\n", "```\n", "~~~~\n", "~~~\n", "---\n", "+++\n", MARK, END, "  " + END,
    "<!-- x -->\n", "<!--\n", "-->\n", "x <!-- y\n", "<!-- ANNALS:protected-->\r\n", "c\r\n", "\r\n", "- a\n", "d",
    "\ufeff", "\u2028\n", "<!-->\n",
)  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def protected(text: str) -> list[str]:
    return [line.strip() for line in protected_lines(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n", []),
        (f"a\n{MARK}b\n{END}c\n", [MARK.strip(), "b", END.strip()]),
        (f"a\n{MARK}b\nc", [MARK.strip(), "b", "c"]),
        (f"{MARK}a\n{MARK}b\n{END}c\n{END}d\n", [MARK.strip(), "a", MARK.strip(), "b", END.strip(), "c", END.strip()]),
        (f"```\n{MARK}```\nb\n", [MARK.strip(), "```", "b"]),
        (f"{MARK}```\n{END}```\nb\n{END}c\n", [MARK.strip(), "```", END.strip(), "```", "b", END.strip()]),
        (f"{MARK}a\n<!--\n{END}b\n{END}c\n", [MARK.strip(), "a", "<!--", END.strip(), "b", END.strip()]),
        (f"{MARK}a {END}b\n", [MARK.strip(), f"a {END}".strip(), "b"]),
        ("<!--Annals:Protected-->a\nb", ["<!--Annals:Protected-->a", "b"]),
        ("a <!-- b --> c\nd\n", ["a <!-- b --> c"]),
        ("a <!-- b\nc\nd --> e\nf\n", ["a <!-- b", "c", "d --> e"]),
        ("<!-- a --> <!-- b\nc\n", ["<!-- a --> <!-- b", "c"]),
        ("---\na: b\n---\nc\n", ["---", "a: b", "---"]),
        ("+++\r\na\r\n+++\r\nb\r\n", ["+++", "a", "+++"]),
        ("---\na\n", []),
        ("\ufeff---\na\n---\nb\n", ["\ufeff---", "a", "---"]),
        ("a\n---\nb\n---\n", []),
    ],
)
def test_what_is_protected(text: str, expected: list[str]) -> None:
    assert expected == protected(text)


def test_lines_in_fences_are_code_and_a_longer_fence_is_closed_by_a_longer_one() -> None:
    text = "a\n````\n```\nb\n`````\nc\n``` x `y`\nd\n  ~~~ py\ne\n```\n  ~~~\nf\n"
    assert ["````", "```", "b", "`````", "  ~~~ py", "e", "```", "  ~~~"] == [
        line.text.rstrip("\n") for line in read_lines(text) if line.is_code
    ]


@given(documents)
def test_lines_are_read_without_loss(text: str) -> None:
    assert text == "".join(line.text for line in read_lines(text)) == "".join(lines_of(text))


@given(documents, documents)
@example("x\nx\ny\n", "z\ny\n")
@example("a\n", "")
@example("", "a\n")
@example(f"a\n{MARK}b\n{END}c\n", f"a\n{MARK}x\n{END}d\n")
def test_edits_leave_what_is_protected_and_are_made_once(before: str, after: str) -> None:
    assert after == with_hunks(before, compared(before, after))
    edits = edits_of(before, compared(before, after))
    result = edited(before, edits)
    assert protected_lines(before) == protected_lines(result)
    assert result == edited(result, edits)
    assert (result != before) == bool(edits)
    for edit in edits:
        assert edit.old
        assert edit.new


@given(st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n"]), min_size=1, max_size=20), st.data())
def test_without_protected_lines_the_edits_make_the_whole_change(lines: list[str], data: st.DataObject) -> None:
    before = "".join(lines)
    at = data.draw(st.integers(0, len(lines) - 1))
    lines[at] = data.draw(st.sampled_from(["new\r\n", "a\nnew\n"]))
    after = "".join(lines)
    edits = edits_of(before, compared(before, after))
    assert after == edited(before, edits)


@given(documents, documents, st.data())
def test_edits_of_anybody_leave_what_is_protected_or_are_refused(text: str, other: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    edit = TextEdit(text[start : data.draw(st.integers(start, len(text)))], other)
    try:
        result = edited(text, [edit])
    except EditMisfit:
        result = text
    assert protected_lines(text) == protected_lines(result)


def test_an_edit_that_no_longer_fits_is_refused_with_a_sentence() -> None:
    for text, edits, why in (
        ("b\n", [TextEdit("a\n", "c\n")], "the text of its change 1 is no longer there"),
        ("a\na\n", [TextEdit("a\n", "c\n")], "the text of its change 1 is there more than once"),
        ("aaa", [TextEdit("aa", "c")], "more than once"),
        (f"{MARK}a\n", [TextEdit("a\n", "c\n")], "its change 1 is about protected lines"),
        ("a\nb\n", [TextEdit("a\n", "c\n"), TextEdit("a\nb\n", "d\n")], "about the same lines"),
        (f"a\n{END}", [TextEdit("a\n", MARK)], "protected lines"),
        ("a\n", [TextEdit("", "c\n")], "the text of its change 1"),
    ):
        with pytest.raises(EditMisfit, match=why):
            edited(text, edits)


def test_of_two_edits_one_may_have_been_made_before() -> None:
    edits = edits_of("a\nb\nc\nd\n", compared("a\nb\nc\nd\n", "x\nb\nc\ny\n"))
    assert 2 == len(edits)
    assert "x\nb\nc\ny\n" == edited("x\nb\nc\nd\n", edits) == edited("a\nb\nc\ny\n", edits)


def test_a_place_that_is_there_twice_is_named_with_the_lines_around_it() -> None:
    before = "# A\n- x\n# B\n- x\n"
    assert (TextEdit("# B\n- x\n", "# B\n- y\n"),) == edits_of(before, compared(before, "# A\n- x\n# B\n- y\n"))
    closed = f"{MARK}- x\n{END}- x\n{MARK}- x\n{END}"
    assert () == edits_of(closed, compared(closed, closed.replace(f"{END}- x", f"{END}- y")))


@pytest.mark.slow
def test_a_long_document_of_equal_lines_is_one_change_and_line_endings_stay() -> None:
    before = "x\ny\n" * 16_000
    assert 1 == len(edits_of(before, compared(before, before.replace("x", "z"))))
    assert "c\r\nb\r\n" == edited("a\r\nb\r\n", edits_of("a\r\nb\r\n", compared("a\r\nb\r\n", "c\r\nb\r\n")))
