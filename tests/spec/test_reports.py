"""What people and harnesses are told of a session: the report, the brief, the guide, and what these are made of."""

import json
import re

import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from schemas.asks import ASKS, Guide
from schemas.codec import encode
from schemas.commands import COMMANDS
from schemas.events import (
    CallFailed,
    Event,
    FileTouched,
    PlanRebased,
    SessionOpened,
    SessionRenamed,
    TodoCaptured,
    ToolRan,
    UsageSampled,
)
from schemas.inbox import SessionSeen, UsageSeen
from schemas.tools import LINES, TOOLS
from services.kit.tokens import tokens
from services.responder.brief import MAX_TOKENS, OPENING, brief
from services.responder.guide import ADDITIVE, GUIDE, PRIMARY, WITHOUT_TAGS
from services.responder.lanes.drops import placeholder, truncated
from services.responder.lanes.face import SHOWS_TAGS, tag
from services.responder.notes import MAX_FAILURES, MAX_FILES, MAX_REBASES, File, Notes, Rebase, noted
from services.responder.report import MAX_LINES, report
from services.responder.state import Session
from tests.spec.harness import LIMITS, Harness, ran, said

quick = settings(max_examples=60, deadline=None)


def notes(*events: Event) -> Notes:
    held = Notes()
    for event in events:
        held = noted(held, event)
    return held


def touched(path: str, action: str = "read") -> FileTouched:
    return FileTouched(path=path, action=action, message="m", part="p", tool="t")


def run(part: str, target: str = "make", status: str = "completed", code: int | None = None) -> ToolRan:
    return ToolRan(message="m", part=part, tool="bash", status=status, exit_code=code, target=target)


def todos(**lines: str) -> TodoCaptured:
    return TodoCaptured(contents=list(lines), statuses=list(lines.values()), priorities=[""] * len(lines))


def rebased(revision: int, step: str, before: int = 9000, after: int = 4000) -> PlanRebased:
    return PlanRebased(
        revision=revision, step=step, as_of=1, causes=["flush"], tokens_before=before, tokens_after=after
    )


# What is held


def test_a_session_has_its_newest_title() -> None:
    held = notes(SessionOpened(harness="pi", mode="primary", title="one"), SessionRenamed(title="two"))
    assert ("pi", "two") == (held.harness, held.title)


def test_what_is_to_be_done_are_the_open_lines_of_the_newest_list() -> None:
    held = notes(todos(old="pending"), todos(a="completed", b="in_progress", c="pending", d="cancelled"))
    assert ["b", "c"] == held.open_todos


def test_files_are_held_with_what_was_done_to_them_the_newest_last() -> None:
    held = notes(touched("x"), touched("y"), touched("x", "edited"), touched("x", "read"))
    assert (File("y", 1, 0, "read"), File("x", 2, 1, "read")) == held.files


def test_the_oldest_files_are_forgotten() -> None:
    held = notes(*(touched(f"f{n}") for n in range(MAX_FILES + 3)))
    assert [f"f{n}" for n in range(3, MAX_FILES + 3)] == [file.path for file in held.files]


@pytest.mark.parametrize(
    ("runs", "standing"),
    [
        ([run("a")], []),
        ([run("a", code=0)], []),
        ([run("a", code=2)], ["a"]),
        ([run("a", status="error")], ["a"]),
        ([run("a", code=2), run("b", code=0)], []),
        ([run("a", code=2), run("b")], ["a"]),
        ([run("a", status="error"), run("b")], []),
        ([run("a", code=2), run("b", "make test", code=0)], ["a"]),
        ([run("a", code=2), run("b", code=1)], ["b"]),
        ([run("a", code=2), run("a", code=0)], []),
        ([run("a", "", code=2), run("b", "", code=2)], ["a", "b"]),
        ([run("a", "", code=2), run("b", "", code=0)], ["a"]),
    ],
)
def test_a_failure_stands_until_the_same_is_done_with_success(runs: list[ToolRan], standing: list[str]) -> None:
    assert standing == [failure.part for failure in notes(*runs).failures]


def test_the_oldest_failures_are_forgotten() -> None:
    held = notes(*(run(f"p{n}", f"t{n}", code=1) for n in range(MAX_FAILURES + 2)))
    assert [f"p{n}" for n in range(2, MAX_FAILURES + 2)] == [failure.part for failure in held.failures]


def test_a_refusal_stands_until_an_answer_is_counted() -> None:
    refused = CallFailed(name="APIError", status=529, text="busy")
    held = notes(refused)
    assert refused == held.refused
    assert noted(held, UsageSampled(message="a", input=1)).refused is None


def test_a_rebase_of_several_revisions_is_one() -> None:
    held = notes(rebased(2, "s1"), rebased(3, "s1"), rebased(5, "s2"))
    assert (Rebase(3, "s1", ("flush",), 9000, 4000), Rebase(5, "s2", ("flush",), 9000, 4000)) == held.rebases
    held = notes(*(rebased(n, f"s{n}") for n in range(9)))
    assert [6, 7, 8] == [rebase.revision for rebase in held.rebases]
    assert len(held.rebases) == MAX_REBASES


# The report


def busy() -> Harness:
    harness = Harness()
    harness.tell(SessionSeen(title="Mend the\nroof"))
    harness.user("go")
    harness.assistant(*(ran("word " * 1000, call=f"c{n}") for n in range(5)), said("done"))
    harness.user("on")
    harness.step()
    harness.tell(UsageSeen("a1", 5_000, 100, cache_read=45_000))
    harness.append(todos(tiles="in_progress", paint="completed"))
    return harness


def test_a_report_says_how_the_session_stands() -> None:
    harness = busy()
    harness.drop(2, 3, 5)
    assert report(harness.session, LIMITS, 0).splitlines() == [
        "**Mend the roof** (test, primary)",
        "",
        "- **Model**: anthropic/opus, window 100,000 tokens, of which 100,000 for the prompt",
        "- **Last call**: 50,000 tokens, 50 % of what is usable; 90 % from the cache",
        "- **Tags**: 8 given, 0 dropped",
        "- **Waiting to be dropped**: 2-3, 5 (about 3,753 tokens)",
        "- **Plan**: revision 1; about 6,267 tokens as served, 6,258 as the harness holds them",
        "- **To do**: 1 open of 2",
        "  - tiles",
        "- **Log**: read to its end",
    ]


def test_a_report_tells_the_last_rebases_with_what_they_saved() -> None:
    harness = busy()
    harness.drop(2, 3)
    harness.flush()
    harness.step()
    told = report(harness.session, LIMITS, 1234).splitlines()
    (rebase,) = harness.session.notes.rebases
    assert f"  - revision 2, flush: {rebase.before - rebase.after:,} tokens saved" in told
    assert "- **Tags**: 8 given, 2 dropped" in told
    assert not any("Waiting" in line for line in told)
    assert "- **Log**: 1,234 facts behind" in told


def test_a_report_of_a_session_without_a_call_says_so() -> None:
    assert report(Session(), LIMITS, 0).splitlines() == [
        "**This session** (no model call yet)",
        "",
        "- **Last call**: not counted yet",
        "- **Tags**: 0 given, 0 dropped",
        "- **Plan**: revision 0; about 0 tokens as served, 0 as the harness holds them",
        "- **Log**: read to its end",
    ]


def test_a_report_tells_what_is_presumed_what_was_refused_and_no_list_without_end() -> None:
    harness = busy()
    harness.context_limit = 0
    harness.user("more")
    harness.step()
    harness.append(CallFailed(name="APIError", status=529, text="busy " * 100))
    harness.append(todos(**{f"t{n}": "pending" for n in range(MAX_LINES + 2)}))
    told = report(harness.session, LIMITS, 0)
    assert "window (presumed) 128,000 tokens" in told
    assert "- **Last refusal**: APIError (529) busy busy" in told
    assert "  - and 2 more" in told
    assert all(len(line) < 200 for line in told.splitlines())


# The brief


def test_a_brief_says_what_must_be_carried_on_the_most_important_first() -> None:
    held = notes(
        todos(tiles="in_progress", paint="completed"),
        run("a", "make test\n", code=2),
        run("b", "x.py", status="error"),
        touched("x.py"),
        touched("y.py", "written"),
        touched("z.py", "deleted"),
    )
    told = brief(held).splitlines()
    assert list(OPENING) == "\n".join(told).split("\n\nStill")[0].splitlines()
    assert told[told.index("Still to do, by the agent's own list (keep these lines under Next steps):") :] == [
        "Still to do, by the agent's own list (keep these lines under Next steps):",
        "- tiles",
        "",
        "Calls that failed and were not repeated with success:",
        "- bash x.py: ended with an error",
        "- bash make test: ended with exit code 2",
        "",
        "Files worked with, the newest first:",
        "- z.py (deleted)",
        "- y.py (changed)",
        "- x.py (read)",
    ]


def test_a_brief_of_nothing_is_what_holds_for_every_session() -> None:
    told = brief(Notes())
    assert told == "\n".join(OPENING)
    for words in ("same agent", "## Goal", "## Relevant files", "§7§", "copy none of them"):
        assert words in told


TEXTS = st.text(max_size=60) | st.text("ä𝄞§ \n", min_size=200, max_size=400)


@quick
@examples(st.lists(TEXTS, max_size=60), st.lists(TEXTS, max_size=60), st.lists(TEXTS, max_size=60))
def test_a_brief_keeps_its_budget_by_whole_lines(lines: list[str], paths: list[str], targets: list[str]) -> None:
    held = notes(
        TodoCaptured(contents=lines, statuses=["pending"] * len(lines), priorities=[""] * len(lines)),
        *(touched(path) for path in paths),
        *(run(f"p{n}", target, code=1) for n, target in enumerate(targets)),
    )
    told = brief(held)
    assert tokens(len(told.encode())) <= MAX_TOKENS
    wide = [line for line in told.splitlines() if line.startswith("- ")]
    assert all(len(line) < 260 for line in wide)
    assert told == brief(held)


def test_a_brief_that_is_full_has_used_its_room() -> None:
    held = notes(todos(**{f"line {n} {'x' * 150}": "pending" for n in range(200)}))
    assert MAX_TOKENS - 60 <= tokens(len(brief(held).encode())) <= MAX_TOKENS


# The guide


def test_a_guide_is_named_by_what_it_says() -> None:
    assert json.loads(encode(GUIDE))["digest"] == GUIDE.digest
    assert len(GUIDE.digest) == 16
    assert len(encode(GUIDE)) < 64 * 1024
    assert isinstance(GUIDE, Guide)


def test_every_tool_and_line_leads_to_a_command_or_a_question() -> None:
    wishes, asks = {command.TYPE: command for command in COMMANDS}, {ask.NAME: ask for ask in ASKS}
    for tool in TOOLS:
        target = wishes[tool.subject] if tool.verb == "wish" else asks[tool.subject]
        properties = tool.parameters["properties"]
        assert isinstance(properties, dict)
        assert set(properties) <= set(target.__struct_fields__)
    for line in LINES:
        target = wishes[line.subject] if line.verb == "wish" else asks[line.subject]
        assert line.argument in ("", *target.__struct_fields__)


def test_the_guidance_names_tags_and_their_tool_only_where_they_are_shown() -> None:
    assert {mode for mode, text in GUIDE.system.items() if "§" in text} == SHOWS_TAGS
    assert {mode for tool in TOOLS for mode in tool.modes if tool.name == "ctx_reduce"} == SHOWS_TAGS
    assert "ctx_expand" in PRIMARY
    assert TOOLS[0].name in PRIMARY
    assert tag(12).strip() in PRIMARY
    assert placeholder(12) in PRIMARY
    assert truncated(12, "").strip() in PRIMARY
    for text in (WITHOUT_TAGS, ADDITIVE):
        assert "ctx_reduce" not in text
        assert "tag" not in text.split()
    assert "hidden" not in GUIDE.system


def test_the_guidance_is_short_and_says_nothing_that_changes() -> None:
    assert 250 <= len(PRIMARY.split()) <= 450
    assert len(WITHOUT_TAGS.split()) < 150
    for text in GUIDE.system.values():
        assert not re.search(r"\b20\d\d\b|\b\d+ (newest|tags|tokens)\b", text)


def test_the_date_is_found_in_a_harness_s_prompt() -> None:
    found = re.search(GUIDE.date, "  Platform: linux\n  Today's date: Fri Nov 21 2026\n</env>")
    assert found is not None
    assert "Today's date: Fri Nov 21 2026" == found[0]
    assert "(?" not in GUIDE.date  # what only one of the two languages knows


def test_the_guidance_itself_is_no_sign_of_a_helper_agent() -> None:
    assert not [text for text in GUIDE.system.values() for sign in GUIDE.skip if sign in text]
