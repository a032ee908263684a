import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.plan.lanes.hints import HintHit, NoteStatus, note_decision, note_reminder, query_of, search_hint
from tests.helpers.harness import replace

DUE = NoteStatus(deferred=2, triggered_in="u5", newest="u6", seconds_since=1_200)
FOOT = "`ctx_search` shows more of it. Ignore this where it does not help.\n</instruction>"


def test_two_deferred_notes_are_announced_behind_the_next_message() -> None:
    """A commit was seen while u5 was the newest; the last reminder is 20 minutes old."""
    assert "remind" == note_decision(DUE)
    assert note_reminder(DUE) == (
        '\n\n<instruction name="deferred_notes">\n'
        "This session has 2 deferred notes. A piece of work seems to be done: read them with `ctx_memory` (action "
        "read) when it suits, and see whether their time has come. This is a notice of the service that keeps your "
        "context, and no request.\n"
        "</instruction>"
    )


@pytest.mark.parametrize(
    ("deferred", "text"),
    [
        (1, "has 1 deferred note."),
        (3, "has 3 deferred notes."),
    ],
)
def test_notes_are_counted(deferred: int, text: str) -> None:
    assert text in note_reminder(replace(DUE, deferred=deferred))


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        (replace(DUE, triggered_in=""), "none"),
        (replace(DUE, newest="u5"), "wait"),
        (replace(DUE, seconds_since=899.9), "cancel"),
        (replace(DUE, seconds_since=900), "remind"),
        (replace(DUE, seconds_since=None), "remind"),
        (replace(DUE, deferred=0), "cancel"),
        (replace(DUE, is_read=True), "cancel"),
    ],
)
def test_when_notes_are_announced(notes: NoteStatus, expected: str) -> None:
    assert expected == note_decision(notes)
    assert (expected == "remind") == (note_reminder(notes) != "")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("why does the build fail on arm", "why does the build fail on arm"),
        ("§5§ <!-- +2h 15m -->\nwhy does the build fail", "why does the build fail"),
        ("why does <!-- a\nremark --> the build fail", "why does  the build fail"),
        ("why does the build fail\n\n<instruction name='x'>\nread notes\n</instruction>", "why does the build fail"),
        (
            "why does <system-reminder>be <system-reminder>very</system-reminder> quick</system-reminder>it fail again",
            "why does it fail again",
        ),
        ("why does the build fail</system-reminder> here", "why does the build fail here"),
        ("why does the build fail <SYSTEM-REMINDER a='b'>never ended", "why does the build fail"),
        ("<system-reminder><instruction></system-reminder>why does the build fail", "why does the build fail"),
        ("<systems>are no reminders</systems>", "<systems>are no reminders</systems>"),
        ("19 characters, no mo", "19 characters, no mo"),
        ("19 characters no mo", ""),
        ("<system-reminder>a long reminder that nobody wrote</system-reminder>go", ""),
    ],
)
def test_only_what_a_person_wrote_is_searched_for(text: str, query: str) -> None:
    assert query == query_of(text)


@given(
    st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "<instruction x>", "words ", "<!--", "-->"]))
)
def test_no_marks_of_blocks_are_left_in_a_query(pieces: list[str]) -> None:
    assert "system-reminder" not in query_of("".join(pieces))


def found(text: str, score: float, sha: str = "", age: str = "") -> HintHit:
    return HintHit(text, score, "u6", sha, age)


def test_a_hint_lists_the_three_best() -> None:
    hits = [
        found("the build needs\n  node 22", 0.61),
        found("last", 0.2),
        found("fix: pin node", 0.9, sha="0123456789abcdef", age="3 days ago"),
        found("arm has no wheel", 0.7),
    ]
    assert search_hint(hits) == (
        '\n\n<instruction name="search_hint">\n'
        "The memory of this project holds 3 things that may bear on this message:\n"
        "- commit 0123456 3 days ago: fix: pin node\n"
        "- arm has no wheel\n"
        "- the build needs node 22\n"
        f"{FOOT}"
    )


@pytest.mark.parametrize(("score", "is_near"), [(0.5999, False), (0.60, True)])
def test_the_best_must_be_near_enough(score: float, is_near: bool) -> None:  # noqa: FBT001 - parametrized
    assert is_near == (search_hint([found("node 22", score)]) != "")


def test_what_stands_in_the_prompt_already_is_no_hint() -> None:
    hits = [found("the build needs node 22", 0.9), found("arm has no wheel", 0.7)]
    assert "holds 1 thing that" in search_hint(hits, served=["the build  needs\nnode 22"])
    assert "" == search_hint(hits[:1], served=["", "- Mind: the build needs\n  node 22 or later."])
    assert "" == search_hint([found("a < b", 0.9)], served=["a &lt; b"])
    assert "" == search_hint([])
    assert "" == search_hint([found(" \n", 0.9)])


def test_each_hit_must_be_near_enough_by_itself() -> None:
    hint = search_hint([found("node 22", 0.9), found("junk that rides along", 0.5999), found("pin npm", 0.6)])
    assert "holds 2 things" in hint
    assert "pin npm" in hint
    assert "junk" not in hint


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=40))
def test_a_hit_is_cut_between_words(words: list[str]) -> None:
    (line,) = [one for one in search_hint([found(" ".join(words), 0.9)]).splitlines() if one.startswith("- ")]
    assert set(line.removeprefix("- ").removesuffix("…").split()) <= set(words)


def test_a_long_hit_is_cut() -> None:
    (line,) = [one for one in search_hint([found("x" * 200, 0.9)]).splitlines() if one.startswith("- ")]
    assert f"- {'x' * 79}…" == line


@given(st.lists(st.builds(found, st.text(max_size=300), st.floats(0, 1), st.sampled_from(["", "a" * 40]))))
def test_a_hint_is_short_and_nothing_in_it_ends_it(hits: list[HintHit]) -> None:
    hint = search_hint(hits)
    assert len(hint) <= 800
    if hint:
        assert 1 == hint.count("</instruction>")
        assert hint.endswith(FOOT)


def test_what_grows_by_being_escaped_leaves_room() -> None:
    hint = search_hint([found(f"{'&' * 90}{n}", 0.9) for n in range(3)])
    assert "&amp;" in hint
    assert len(hint) <= 800
