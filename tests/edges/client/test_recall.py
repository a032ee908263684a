"""Names and edits of a session that still stand, or no longer, in the prompt as served."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.edges.client.changes import FileEdit, argument_texts, edits
from services.edges.client.recall import AgentOutput, Recall, RecallOfCalls, VisibleText, names, recalled, shows

WORDS = ["src/app.py", "app.py", "load_jobs", "JobQueue", "jobs.load_all", "54329", "9f3c2ab1", "and", "the", "12"]
PROMPT = 1000
CODE = "def load_jobs(path):\n    return read(path)\n\n\ndef other():\n    pass"


def wrote(*texts: str, old: str = "", source: str = "answer") -> AgentOutput:
    return AgentOutput(source, texts, (FileEdit(old),) if old else ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look into src/app.py, please", {"src/app.py"}),
        ("(see `setup.cfg`.)", {"setup.cfg"}),
        ("load_jobs(JobQueue)", {"load_jobs", "JobQueue"}),
        ("jobs.load_all() on port 54329", {"jobs.load_all", "54329"}),
        ("commit 9f3c2ab1 took 12 s", {"9f3c2ab1"}),
        ("TypeError: x is not a function of that name at all", {"x is not a function of", "TypeError"}),
        ("Nothing is named here, e.g. by and/or. 42 a/b", {"and/or"}),
        ("", set()),
    ],
)
def test_a_name_is_a_path_a_symbol_a_number_a_hash_or_an_error(text: str, found: set[str]) -> None:
    assert found == names(text)


def test_a_longer_name_shows_the_shorter_ones_in_it() -> None:
    assert {"src/lib/load_jobs.py", "lib/load_jobs.py", "load_jobs.py", "load_jobs"} == shows("src/lib/load_jobs.py")
    assert {"jobs.load_all", "load_all"} == shows("jobs.load_all")


def test_what_is_too_long_to_be_a_name_is_none() -> None:
    assert not names("a" * 1_000_000)
    assert not names("a_" * 1_000_000)
    assert not names("/a" * 1_000_000)
    assert len(names("Error: " * 100_000)) <= 1


def test_a_name_that_still_stands_is_found_and_one_that_was_taken_away_is_missing() -> None:
    recall = Recall()
    first = recall.call(
        ["Read it.", "load_jobs and 54329"], wrote("ok"), [VisibleText("out", "load_jobs and 54329")], PROMPT
    )
    assert (first.names, first.misses) == (0, 0)
    second = recall.call(["Read it.", "[dropped]"], wrote("I call load_jobs with 54329."), [], PROMPT)
    assert (2, 0, frozenset({"load_jobs", "54329"})) == (second.names, second.found, second.missing)
    third = recall.call(["Read it.", "load_jobs, in short"], wrote("load_jobs with 54329", source="b"), [], PROMPT)
    assert (2, 1, frozenset({"54329"})) == (third.names, third.found, third.missing)


def test_a_name_that_nobody_has_shown_is_not_counted() -> None:
    call = Recall().call(["Do it."], wrote("I add src/new.py"), [VisibleText("u", "Do it.")], PROMPT)
    assert (call.names, call.misses, call.units) == (0, 0, 0.0)


def test_a_name_is_counted_once_a_call_however_often_it_is_written() -> None:
    recall = Recall()
    call = recall.call(["JobQueue"], wrote("JobQueue JobQueue", "JobQueue"), [VisibleText("u", "JobQueue")], PROMPT)
    assert (1, 1) == (call.names, call.found)


def test_a_path_in_the_directory_of_the_session_is_found_in_its_short_form() -> None:
    recall = Recall("/home/ada/shop")
    recall.call(["x"], wrote("ok"), [VisibleText("out", "/home/ada/shop/src/app.py")], PROMPT)
    assert 1 == recall.call(["src/app.py"], wrote("/home/ada/shop/src/app.py"), [], PROMPT).found


def test_what_an_agent_wrote_itself_was_shown() -> None:
    recall = Recall()
    recall.call(["Do it."], wrote("I add src/new.py", source="a"), [], PROMPT)
    call = recall.call(["Do it."], wrote("src/new.py is there", source="b"), [], PROMPT)
    assert (1, 0, 1) == (call.names, call.found, call.misses)


def test_each_output_that_is_missed_is_paid_for_once_until_the_next_rebase() -> None:
    shown = [VisibleText("one", "JobQueue load_jobs " + "x" * 381), VisibleText("two", "54329")]
    recall = Recall()
    recall.call(["head"], wrote("ok"), shown, PROMPT)
    call = recall.call(["head", "a"], wrote("JobQueue load_jobs", source="a"), [], PROMPT)
    assert (1, 0.1 * PROMPT + 1.25 * 100) == (call.misses, call.units)
    assert 0 == recall.call(["head", "a", "b"], wrote("JobQueue", source="b"), [], PROMPT).misses
    again = recall.call(["other", "b"], wrote("load_jobs 54329", source="c"), [], 2 * PROMPT)
    assert 2 == again.misses
    assert again.units == pytest.approx(2 * 0.1 * 2 * PROMPT + 1.25 * (100 + 2))


@pytest.mark.parametrize(
    "stands",
    [
        CODE,
        "00012| def load_jobs(path):\n00013|     return read(path)",
        "12: def load_jobs(path):\n13:\treturn read(path)",
    ],
)
def test_an_edit_has_its_basis_where_the_old_text_stands_whatever_the_numbers_and_spaces(stands: str) -> None:
    recall = Recall()
    old = "def load_jobs(path):\n\treturn read(path)"
    call = recall.call([stands], wrote("Better.", old=old), [VisibleText("read", CODE)], PROMPT)
    assert (1, 1, 0) == (call.edits, call.based, call.misses)


def test_an_edit_without_its_basis_is_paid_for_and_one_of_what_was_never_shown_is_not_counted() -> None:
    recall = Recall()
    lost = recall.call(["[dropped]"], wrote("Better.", old="def other():"), [VisibleText("read", CODE)], PROMPT)
    assert (1, 0, 1) == (lost.edits, lost.based, lost.misses)
    new = recall.call(["[dropped]"], wrote("Better.", old="class Never:"), [], PROMPT)
    assert (0, 0, 0) == (new.edits, new.based, new.misses)


def test_the_old_texts_of_an_edit_are_found_whatever_the_tool_calls_them() -> None:
    several = msgspec.json.encode(
        {"filePath": "a", "edits": [{"oldString": "a b"}, {"old_string": "c"}, {"oldText": ""}]}
    )
    assert (FileEdit("a b"), FileEdit("c")) == edits(several.decode())
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n def a():\n-    old\n+    new\n@@\n tail\n+more\n*** End Patch"
    for arguments in (msgspec.json.encode(patch), msgspec.json.encode({"patchText": patch})):
        assert (FileEdit("def a():\n    old"), FileEdit("tail")) == edits(arguments.decode())
    assert () == edits('{"patchText": "*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch"}')
    assert () == edits('{"content": "x"')


def test_a_patch_shows_what_it_leaves_in_the_file() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n def a():\n-    old\n+    new\n*** End Patch"
    (text,) = argument_texts(msgspec.json.encode({"patchText": patch}).decode())
    assert "def a():\n    new" in text
    assert "old" not in text


def test_arguments_are_read_as_texts_without_their_escapes() -> None:
    assert ("a\nload_jobs", "12") == argument_texts('{"command": "a\\nload_jobs", "limit": 12, "all": true, "x": null}')
    assert ("{broken",) == argument_texts("{broken")


def test_sums_of_nothing_miss_nothing() -> None:
    assert (1.0, 1.0) == (recalled([]).seen, recalled([]).basis)
    total = recalled([RecallOfCalls(4, 3, 2, 1, 1, 10.0), RecallOfCalls(4, 4, 0, 0, 0, 0.0)])
    assert (7 / 8, 0.5, 10.0) == (total.seen, total.basis, total.units)


TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=5)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_what_stands_is_what_a_reading_of_the_whole_prompt_finds(calls: list[tuple[list[str], list[str]]]) -> None:
    recall = Recall()
    recall.call([], wrote("ok"), [VisibleText("all", " ".join(WORDS))], PROMPT)
    known = shows(" ".join(WORDS))
    for number, (served, texts) in enumerate(calls):
        call = recall.call(served, AgentOutput(str(number), tuple(texts)), [], PROMPT)
        standing = {name for text in served for name in shows(text)}
        wanted = {name for text in texts for name in names(text)} & known
        assert wanted - standing == call.missing
        assert len(wanted) == call.names


@given(st.text(max_size=300))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    assert names(text) <= shows(text)
    Recall().call([text], AgentOutput("a", (text,), edits(text)), [VisibleText("b", text)], PROMPT)


def test_a_lone_surrogate_does_no_harm() -> None:
    call = Recall().call(["\ud800 JobQueue"], wrote("JobQueue \ud800"), [VisibleText("b", "JobQueue \ud800")], PROMPT)
    assert 1 == call.found
