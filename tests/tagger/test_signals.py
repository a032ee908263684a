"""Facts of the tagger apart from the conversation: runs of tools, files, things to do, tools, refusals, documents."""

import string
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.envelope import Envelope
from schemas.events import (
    AdapterConnected,
    CallFailed,
    DocumentCaptured,
    Event,
    FileTouched,
    NativeCompacted,
    ProjectClaimed,
    ProjectIdentified,
    ProjectMerged,
    StepOpened,
    TodoCaptured,
    ToolRan,
    ToolsetChanged,
    UsageSampled,
)
from schemas.inbox import (
    AdapterSeen,
    CompactionSeen,
    DocumentSeen,
    ErrorSeen,
    Inbound,
    MessageSeen,
    PartSeen,
    Seen,
    SessionIdle,
    SessionSeen,
    StepSeen,
    Todo,
    TodoSeen,
    ToolSeen,
    ToolsSeen,
    UsageSeen,
)
from services.domain.tools.request import MAX_TARGET_CHARACTERS, Request, Touch, below, request_of
from services.tagger.core import project
from services.tagger.core.decide import InboundContext, decide
from services.tagger.core.parts import tool_seen
from services.tagger.core.project import Project
from services.tagger.core.state import TaggedSession, evolve
from services.tagger.masking import mask_item
from tests.helpers.examples import examples
from tests.helpers.given import Given, drafted, envelope, given
from tests.helpers.reported_secrets import SECRET

AT = datetime(2026, 1, 1, tzinfo=UTC)
START = given(evolve, TaggedSession())
quick = settings(max_examples=examples(60), deadline=None)


def inbound(*items: Seen) -> Callable[[TaggedSession], list[Event]]:
    context = InboundContext("opencode", Inbound("i", AT, items))
    return lambda session: drafted(evolve, session, lambda draft: decide(draft, context))


def ran(tool: str, arguments: str = "{}", part: str = "p1", status: str = "completed", **more: object) -> PartSeen:
    """A finished call with its result in one part."""
    whole = PartSeen("a", "tool", part, tool=tool, call=f"c-{part}", input=arguments, output="out")
    return msgspec.structs.replace(whole, status=status, **more)


def arguments(**given: object) -> str:
    return msgspec.json.encode(given).decode()


# Runs


def test_a_call_that_ended_is_recorded_with_its_end_its_length_and_what_it_was_about() -> None:
    seen = ran(
        "bash",
        arguments(command="\n make  test\nmake bench", description="Run tests"),
        exit_code=2,
        began=AT,
        ended=AT + timedelta(milliseconds=1234),
    )
    START.when(inbound(seen)).then_only(
        ToolRan,
        ToolRan(message="a", part="p1", tool="bash", call="c-p1", exit_code=2, duration_ms=1234, target="make test"),
    )


@pytest.mark.parametrize("status", ["", "pending", "running"])
def test_a_call_that_goes_on_has_not_run(status: str) -> None:
    START.when(inbound(ran("bash", status=status))).then_only(ToolRan)


def test_a_call_made_for_one_request_only_has_not_run() -> None:
    START.when(inbound(ran("bash", ephemeral=True))).then()


def test_a_call_that_failed_has_run_and_touched_nothing() -> None:
    now = START.when(inbound(ran("edit", arguments(filePath="/x"), status="error")))
    now.then_only(ToolRan, ToolRan(message="a", part="p1", tool="edit", call="c-p1", status="error", target="/x"))
    now.then_only(FileTouched)


def test_a_call_that_ends_otherwise_than_was_known_has_run_again() -> None:
    now = START.when(inbound(ran("bash"))).when(inbound(ran("bash", exit_code=0)))
    now.then(ToolRan(message="a", part="p1", tool="bash", call="c-p1", exit_code=0))
    now.when(inbound(ran("bash", status="error"))).then_only(
        ToolRan, ToolRan(message="a", part="p1", tool="bash", call="c-p1", status="error")
    )


def test_what_a_later_sighting_of_a_run_does_not_say_stays() -> None:
    whole = ran("task", exit_code=0, began=AT, ended=AT + timedelta(seconds=1), child="ses_2")
    START.when(inbound(whole)).when(inbound(ran("task"))).then()


def test_a_result_in_another_message_is_about_what_its_call_was_about() -> None:
    called = PartSeen("a", "tool_call", "p1", tool="Read", call="c1", input=arguments(file_path="/w/x.py"))
    answered = PartSeen("b", "tool_result", "p2", call="c1", output="text", exit_code=0)
    START.when(inbound(SessionSeen(directory="/w"), called, answered)).when(inbound(answered)).then()
    now = START.when(inbound(SessionSeen(directory="/w"), called)).when(inbound(answered))
    now.then_only(ToolRan, ToolRan(message="b", part="p2", tool="Read", call="c1", exit_code=0, target="/w/x.py"))
    now.then_only(FileTouched, FileTouched(path="x.py", action="read", message="b", part="p2", tool="Read"))


def test_a_result_without_a_known_call_is_about_nothing() -> None:
    START.when(inbound(PartSeen("b", "tool_result", "p2", call="c1", output="text"))).then_only(
        ToolRan, ToolRan(message="b", part="p2", tool="", call="c1")
    )


def test_a_call_whose_arguments_are_stored_apart_is_about_what_was_found_in_them() -> None:
    seen = msgspec.structs.replace(ran("write", ""), input_ref="r1")
    about = Request("write", "edit", "/x", ("/x",), (Touch("/x", "written"),))
    run, touched = tool_seen(TaggedSession(), seen, {"r1": about}, None)
    assert ToolRan(message="a", part="p1", tool="write", call="c-p1", target="/x") == run
    assert FileTouched(path="/x", action="written", message="a", part="p1", tool="write") == touched


# What a call is about


@pytest.mark.parametrize(
    ("tool", "given_arguments", "target"),
    [
        ("read", {"filePath": "/w/x.py", "offset": 5}, "/w/x.py"),
        ("Read", {"file_path": "/w/x.py"}, "/w/x.py"),
        ("NotebookEdit", {"notebook_path": "/w/x.ipynb"}, "/w/x.ipynb"),
        ("grep", {"path": "/w", "pattern": "def "}, "def"),
        ("glob", {"pattern": "**/*.py", "path": "/w"}, "**/*.py"),
        ("list", {"path": "/w"}, "/w"),
        ("bash", {"description": "List", "command": "ls -l\ncat x"}, "ls -l"),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ("webfetch", {"url": "https://example.org", "format": "text"}, "https://example.org"),
        ("task", {"description": "Look around", "prompt": "..."}, "Look around"),
        ("skill", {"name": "weaving"}, "weaving"),
        ("read", {"filePath": " ", "path": "y"}, "y"),
        ("read", {"filePath": 7}, ""),
        ("bash", {"command": []}, ""),
        ("todowrite", {"todos": []}, ""),
    ],
)
def test_what_a_call_is_about_stands_in_its_arguments(tool: str, given_arguments: object, target: str) -> None:
    assert target == request_of(tool, msgspec.json.encode(given_arguments).decode()).target


def test_what_a_call_is_about_has_a_bounded_length() -> None:
    assert "x" * MAX_TARGET_CHARACTERS == request_of("bash", arguments(command="x" * 1000)).target


@pytest.mark.parametrize("broken", ["", "{", "[1]", '"text"', "null", "[" * 100_000, '{"a":' * 50_000])
def test_arguments_that_are_no_object_say_nothing(broken: str) -> None:
    assert Request("read") == request_of("read", broken)


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ("read", "read"),
        ("Read", "read"),
        ("read_file", "read"),
        ("edit", "edited"),
        ("MultiEdit", "edited"),
        ("NotebookEdit", "edited"),
        ("Write", "written"),
        ("write_file", "written"),
    ],
)
def test_a_tool_that_works_on_a_file_touches_it(tool: str, action: str) -> None:
    assert (Touch("x.py", action),) == request_of(tool, arguments(path="x.py")).touches


@pytest.mark.parametrize("tool", ["bash", "grep", "glob", "list", "reader", "github_read"])
def test_another_tool_touches_no_file(tool: str) -> None:
    assert () == request_of(tool, arguments(path="x.py", command="rm x.py")).touches


PATCH = """*** Begin Patch
*** Add File: new.py
+x
*** Update File: old.py
*** Move to: moved.py
@@
-a
+b
*** Update File: stays.py
*** Delete File: gone.py
*** End Patch
"""
PATCHED = (
    Touch("new.py", "written"),
    Touch("old.py", "deleted"),
    Touch("moved.py", "written"),
    Touch("stays.py", "edited"),
    Touch("gone.py", "deleted"),
)


@pytest.mark.parametrize("given_arguments", [arguments(patchText=PATCH), arguments(input=PATCH), PATCH])
@pytest.mark.parametrize("tool", ["apply_patch", "patch"])
def test_a_patch_touches_every_file_that_it_names(tool: str, given_arguments: str) -> None:
    files = tuple(touch.path for touch in PATCHED)
    assert Request(tool, "edit", "new.py", files, PATCHED) == request_of(tool, given_arguments)


def test_a_patch_without_files_is_about_nothing() -> None:
    assert Request("patch") == request_of("patch", "*** Move to: nowhere\n".replace("Move to", "Begin"))
    assert (Touch("x", "written"),) == request_of("patch", "*** Move to: x").touches


@pytest.mark.parametrize(
    ("directory", "path", "seen"),
    [
        ("/w", "/w/a/b.py", "a/b.py"),
        ("/w/", "/w/a/../b.py", "b.py"),
        ("/", "/etc/hosts", "etc/hosts"),
        ("/w", "/src/b.py", "/src/b.py"),
        ("/w", "./a/b.py", "a/b.py"),
        ("/w", "../b.py", "../b.py"),
        ("", "/w/b.py", "/w/b.py"),
        ("/w", "/w", "/w"),
    ],
)
def test_a_path_is_recorded_as_seen_from_the_session_s_directory(directory: str, path: str, seen: str) -> None:
    assert seen == below(directory, path)


@quick
@given_any(st.text(string.printable), st.text(string.printable))
def test_no_arguments_at_all_break_the_table(tool: str, given_arguments: str) -> None:
    for name in (tool, "patch", "read"):
        assert len(request_of(name, given_arguments).target) <= MAX_TARGET_CHARACTERS


def test_a_file_is_touched_once_by_each_part() -> None:
    seen = ran("edit", arguments(filePath="/w/x.py"))
    now = START.when(inbound(SessionSeen(directory="/w"), seen, ran("edit", arguments(filePath="/w/x.py"), part="p2")))
    now.then_only(
        FileTouched,
        FileTouched(path="x.py", action="edited", message="a", part="p1", tool="edit"),
        FileTouched(path="x.py", action="edited", message="a", part="p2", tool="edit"),
    )
    now.when(inbound(msgspec.structs.replace(seen, output="else"))).then_only(FileTouched)


def test_of_several_touches_of_a_path_in_one_call_the_last_counts() -> None:
    patch = "*** Delete File: x\n*** Add File: ./x\n"
    START.when(inbound(ran("patch", arguments(patch=patch)))).then_only(
        FileTouched, FileTouched(path="x", action="written", message="a", part="p1", tool="patch")
    )


# Things to do, tools, adapters, refusals, counts


def test_a_list_of_things_to_do_is_recorded_whenever_it_differs_from_the_last() -> None:
    one, two = TodoSeen((Todo("mend", "in_progress", "high"),)), TodoSeen((Todo("mend", "completed"), Todo("paint")))
    now = START.when(inbound(one)).then(TodoCaptured(contents=["mend"], statuses=["in_progress"], priorities=["high"]))
    now = now.when(inbound(one, two)).then(
        TodoCaptured(contents=["mend", "paint"], statuses=["completed", "pending"], priorities=["", ""])
    )
    now.when(inbound(two)).then()
    now.when(inbound(TodoSeen(()))).then(TodoCaptured(contents=[], statuses=[], priorities=[]))


def test_an_empty_list_of_things_to_do_is_no_news_at_the_beginning() -> None:
    START.when(inbound(TodoSeen(()))).then()


def test_a_set_of_tools_is_recorded_when_it_is_another_one() -> None:
    one = ToolsSeen("d1", (ToolSeen("read", "Reads", '{"a":1}'), ToolSeen("ä")))
    changed = ToolsetChanged(
        digest="d1",
        names=["read", "ä"],
        tokens=[4, 1],
        definitions='[{"name":"read","description":"Reads","parameters":"{\\"a\\":1}"},{"name":"ä"}]',
    )
    now = START.when(inbound(one)).then(changed)
    now.when(inbound(one)).then()
    now.when(inbound(ToolsSeen("d2", ()), one)).then_only(
        ToolsetChanged, ToolsetChanged(digest="d2", names=[], tokens=[], definitions="[]"), changed
    )


def test_definitions_that_are_stored_apart_are_recorded_by_reference() -> None:
    inbound = Inbound("i", AT, (ToolsSeen("d1", (ToolSeen("read"),)),))
    context = InboundContext("pi", inbound, definitions={"d1": "r1"})
    (changed,) = drafted(evolve, TaggedSession(), lambda draft: decide(draft, context))
    assert ToolsetChanged(digest="d1", names=["read"], tokens=[1], definitions_ref="r1") == changed


def test_an_adapter_is_recorded_once_in_a_session_as_it_is() -> None:
    one, two = AdapterSeen("plugin", "1.0", "1.18", "d1"), AdapterSeen("plugin", "1.1", "1.18", "d2")
    now = START.when(inbound(one, two, one))
    now.then(
        AdapterConnected(harness="opencode", name="plugin", version="1.0", harness_version="1.18", digest="d1"),
        AdapterConnected(harness="opencode", name="plugin", version="1.1", harness_version="1.18", digest="d2"),
    )
    now.when(inbound(two)).then()
    neighbour = AdapterSeen("plugin", "1.1", "1.18", "d2", "pruner")
    now.when(inbound(neighbour)).then(
        AdapterConnected(
            harness="opencode", name="plugin", version="1.1", harness_version="1.18", digest="d2", rival="pruner"
        )
    )


def test_any_refusal_is_recorded_with_its_name_its_status_and_the_beginning_of_its_words() -> None:
    START.when(inbound(ErrorSeen("busy " * 100, "a", "APIError", 529))).then(
        CallFailed(message="a", name="APIError", status=529, text=("busy " * 100)[:240])
    )


def test_one_refusal_reported_of_the_session_and_of_the_answer_is_one_until_the_next_step() -> None:
    one, two = ErrorSeen("busy", "", "APIError", 529), ErrorSeen("busy", "a", "APIError", 529)
    now = START.when(inbound(one, two)).then(CallFailed(name="APIError", status=529, text="busy"))
    now = now.when(inbound(ErrorSeen("busy", "a", "Aborted"))).then(
        CallFailed(message="a", name="Aborted", text="busy")
    )
    now.when(inbound(StepSeen("s1"), two)).then_only(
        CallFailed, CallFailed(message="a", name="APIError", status=529, text="busy")
    )


def at(seconds: float, *items: Seen) -> Callable[[Given[TaggedSession]], Given[TaggedSession]]:
    """What a harness says so many seconds after the beginning, by its clock."""
    context = InboundContext("opencode", Inbound("i", AT + timedelta(seconds=seconds), items))

    def reported(now: Given[TaggedSession]) -> Given[TaggedSession]:
        state = now.state

        def evolved(before: TaggedSession, event: Event, envelope: Envelope) -> TaggedSession:
            return evolve(before, event, msgspec.structs.replace(envelope, at=context.at))

        made = drafted(evolved, state, lambda draft: decide(draft, context))
        for event in made:
            state = evolved(state, event, envelope(event, 0))
        return Given(evolve, state, (*now.log, *made), tuple(made))

    return reported


REPORTS = [
    pytest.param((ErrorSeen("prompt is too long"),), 2, id="a refusal"),
    pytest.param((SessionIdle(),), 1, id="idle"),
    pytest.param((CompactionSeen(),), 1, id="a compaction"),
]


@pytest.mark.parametrize(("items", "facts"), REPORTS)
def test_a_clock_that_goes_back_loses_nothing(items: tuple[Seen, ...], facts: int) -> None:
    now = at(-60, *items)(START)
    now = at(300, MessageSeen("u", "user"), StepSeen("s1"))(now)
    now = at(10, *items)(now)
    assert facts == len(now.made)
    now = at(20, StepSeen("s2"))(now)
    assert facts == len(at(30, *items)(now).made)


@pytest.mark.parametrize(("items", "facts"), REPORTS)
def test_what_is_reported_again_after_a_step_was_judged_before(items: tuple[Seen, ...], facts: int) -> None:
    now = at(10, *items)(START)
    assert facts == len(now.made)
    now = at(20, StepSeen("s1"))(now)
    at(10, *items)(now).then()
    at(11, *items)(now).then()  # at that time it reported nothing new
    assert facts == len(at(21, *items)(now).made)


def test_a_count_is_recorded_with_its_cost_and_again_when_that_changes() -> None:
    now = START.when(inbound(UsageSeen("a", 10, cost=0.25))).then(UsageSampled(message="a", input=10, cost=0.25))
    now.when(inbound(UsageSeen("a", 10, cost=0.25))).then()
    now.when(inbound(UsageSeen("a", 10, cost=0.5))).then(UsageSampled(message="a", input=10, cost=0.5))


def test_a_compaction_records_whether_anybody_asked_for_it() -> None:
    START.when(inbound(CompactionSeen(auto=True))).then(NativeCompacted(auto=True))


def test_a_step_records_which_tools_it_offers_and_how_the_model_reasons() -> None:
    now = START.when(inbound(StepSeen("s1", toolset="d1", denied=("bash",), variant="high")))
    now.then(StepOpened(step="s1", toolset="d1", denied=["bash"], variant="high"))


# Projects


def about(now: Given[Project], *items: Seen, harness: str = "opencode") -> list[Event]:
    """What an inbound message holds about its project."""
    return drafted(project.evolve, now.state, lambda draft: project.decide(draft, harness, items, {"r1": 400_000}))


def document(path: str, digest: str, text: str = "") -> DocumentSeen:
    return DocumentSeen(path, digest, text)


BARE = given(project.evolve, Project())


def test_a_project_is_identified_once_in_each_directory_and_again_when_more_becomes_known() -> None:
    seen = SessionSeen(directory="/w", root="/w", vcs="git")
    now = BARE.and_given(*about(BARE, SessionSeen(directory="/w"), SessionSeen(title="no directory")))
    assert (ProjectIdentified(directory="/w", harness="opencode"),) == now.made
    now = now.and_given(*about(now, seen, harness="pi"))
    assert (ProjectIdentified(directory="/w", harness="opencode", root="/w", vcs="git"),) == now.made
    assert [] == about(now, SessionSeen(directory="/w"), seen)
    assert [ProjectIdentified(directory="/w/a", harness="pi")] == about(
        now, SessionSeen(directory="/w/a"), harness="pi"
    )


def test_what_a_harness_says_that_a_project_was_is_a_claim_recorded_once() -> None:
    renamed = SessionSeen(directory="/w/src", root="/w", formerly="dir-1")
    now = BARE.and_given(*about(BARE, renamed))
    claim = ProjectClaimed(former="dir-1", directory="/w/src", root="/w", harness="opencode")
    assert claim in now.made
    assert [] == about(now, renamed)
    more = msgspec.structs.replace(renamed, formerly="", former=("git-1", "dir-1", "dir-0", "dir-0", ""))
    claims = now.and_given(*about(now, more)).made
    assert ["dir-0", "git-1"] == [event.former for event in claims if isinstance(event, ProjectClaimed)]
    many = tuple(f"dir-{number}" for number in range(1_000))
    claims = BARE.and_given(*about(BARE, msgspec.structs.replace(renamed, formerly="", former=("x" * 300, *many)))).made
    assert 19 == sum(isinstance(event, ProjectClaimed) for event in claims)
    merged = BARE.and_given(*now.log[:1], ProjectMerged(former="dir-1"))  # as an earlier release wrote it
    assert [] == about(merged, renamed)


def test_a_home_directory_stays_one() -> None:
    now = BARE.and_given(*about(BARE, SessionSeen(directory="/h", home=True)))
    assert (ProjectIdentified(directory="/h", harness="opencode", home=True),) == now.made
    assert [] == about(now, SessionSeen(directory="/h"))


def test_a_document_is_captured_once_for_each_content_in_a_row() -> None:
    now = BARE.and_given(*about(BARE, document("A.md", "d1", "äh"), document("A.md", "d1", "äh")))
    assert (DocumentCaptured(path="A.md", digest="d1", bytes=3, text="äh"),) == now.made
    assert [] == about(now, document("A.md", "d1", "äh"))
    now = now.and_given(*about(now, document("A.md", "d2"), document("B.md", "d1"), document("A.md", "d1")))
    assert ["A.md d2", "B.md d1", "A.md d1"] == [
        f"{one.path} {one.digest}" for one in now.made if isinstance(one, DocumentCaptured)
    ]


def test_a_document_that_never_was_is_not_gone() -> None:
    assert [] == about(BARE, document("A.md", ""))
    now = BARE.and_given(*about(BARE, document("A.md", "d1", "x"))).and_given()
    assert [DocumentCaptured(path="A.md", digest="")] == about(now, document("A.md", ""))


def test_a_document_that_is_stored_apart_has_its_size() -> None:
    (captured,) = about(BARE, DocumentSeen("A.md", "d1", text_ref="r1"))
    assert DocumentCaptured(path="A.md", digest="d1", bytes=400_000, text_ref="r1") == captured


DOCUMENTS = st.lists(
    st.lists(st.builds(document, st.sampled_from("AB"), st.sampled_from(["", "d1", "d2"])), max_size=3), max_size=8
)


@quick
@given_any(DOCUMENTS)
def test_of_a_document_each_new_content_is_captured(seen: list[list[DocumentSeen]]) -> None:
    now = BARE
    for items in seen:
        now = now.and_given(*about(now, *items))
    state, log = now.state, [event for event in now.log if isinstance(event, DocumentCaptured)]
    latest = {event.path: event.digest for event in log}
    assert latest == dict(state.documents)
    for number, event in enumerate(log):
        before = [one.digest for one in log[:number] if one.path == event.path]
        assert event.digest != (before[-1] if before else "")


# Masking


def recorded_texts(items: Sequence[Seen]) -> str:
    return msgspec.json.encode(mask_item(tuple(items))).decode()


@pytest.mark.parametrize(
    "item",
    [
        SessionSeen(title=SECRET, directory=f"/{SECRET}", root=f"/{SECRET}"),
        ErrorSeen(f"bad key {SECRET}", name=SECRET),
        TodoSeen((Todo(f"use {SECRET}"),)),
        ToolsSeen("d", (ToolSeen("x", f"key {SECRET}", arguments(default=SECRET)),)),
        DocumentSeen("A.md", "d", f"token: {SECRET}"),
        ran("bash", arguments(command=f"curl -H {SECRET}")),
    ],
    ids=lambda item: type(item).__name__,
)
def test_no_secret_passes(item: Seen) -> None:
    assert SECRET not in recorded_texts([item])


# Properties

ITEMS: st.SearchStrategy[Seen] = st.one_of(
    st.builds(AdapterSeen, st.just("plugin"), st.sampled_from(["1.0", "1.1"])),
    st.builds(lambda n: TodoSeen(tuple(Todo(f"t{i}") for i in range(n))), st.integers(0, 2)),
    st.builds(lambda d: ToolsSeen(d, (ToolSeen(d),)), st.sampled_from(["d1", "d2"])),
    st.builds(ErrorSeen, st.sampled_from(["busy", "prompt is too long"]), st.sampled_from(["", "a"])),
    st.builds(StepSeen, st.sampled_from(["s1", "s2", "s3"])),
    st.builds(
        lambda tool, part, path, status, code: ran(tool, arguments(path=path), part, status, exit_code=code),
        st.sampled_from(["read", "edit", "patch"]),
        st.sampled_from(["p1", "p2"]),
        st.sampled_from(["x", "./x", "y"]),
        st.sampled_from(["running", "completed", "error"]),
        st.sampled_from([None, 0, 1]),
    ),
)


@quick
@given_any(st.lists(ITEMS, max_size=12))
def test_a_copy_of_any_item_right_behind_it_says_nothing_and_the_facts_alone_give_the_state(items: list[Seen]) -> None:
    now = START
    for item in items:
        now = now.when(inbound(item))
        now.when(inbound(item)).then()
    log = [msgspec.json.decode(msgspec.json.encode(event), type=type(event)) for event in now.log]
    assert now.state == given(evolve, TaggedSession(), *log).state


@quick
@given_any(st.lists(ITEMS, max_size=12))
def test_a_part_touches_a_path_once_and_two_runs_of_it_in_a_row_differ(items: list[Seen]) -> None:
    log = START.when(inbound(*items)).log
    touched = [(event.part, event.path) for event in log if isinstance(event, FileTouched)]
    assert sorted(set(touched)) == sorted(touched)
    for part in ("p1", "p2"):
        runs = [event for event in log if isinstance(event, ToolRan) and event.part == part]
        assert all(one != other for one, other in pairwise(runs))
