from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.events import EVENTS as EVERY_EVENT
from schemas.events import (
    AdapterConnected,
    CallFailed,
    CommitMentioned,
    CommitsAdvanced,
    CommitSeen,
    DocumentCaptured,
    DropRequested,
    Event,
    FileTouched,
    FlushRequested,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    ModelChanged,
    NativeCompacted,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    PlanExtended,
    PlanRebased,
    ProjectIdentified,
    SessionClosed,
    SessionForked,
    SessionIdled,
    SessionOpened,
    SessionRenamed,
    StepOpened,
    TagAssigned,
    TodoCaptured,
    ToolRan,
    ToolsetChanged,
    UsageSampled,
)
from services.generate.golden import sample
from services.responder.views.store import Store
from tests.helpers import view_facts
from tests.helpers.examples import examples
from tests.helpers.view_facts import (
    START,
    VIEWS,
    Fact,
    Given,
    Row,
    close,
    commit,
    empty,
    fact,
    happened,
    numbered,
    open_store,
    snapshot,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store()
    yield opened
    close(opened)


def tags(first: int, *parts: str) -> TagAssigned:
    return TagAssigned(first=first, parts=list(parts), messages=["m"] * len(parts), kinds=["message"] * len(parts))


def rebased(*dropped: int, revision: int = 2, step: str = "s2") -> PlanRebased:
    return PlanRebased(
        revision=revision,
        step=step,
        as_of=1,
        causes=["flush"],
        edit_count=len(dropped),
        dropped=list(dropped),
        tokens_before=900,
        tokens_after=100,
    )


EXTENDED = PlanExtended(revision=1, step="s1", as_of=1, edit_count=3, tokens_before=500, tokens_after=510)


# tags


def test_a_tag_is_active_from_its_assignment(store: Store) -> None:
    Given(store, tags(1, "a", "b")).view("tags").is_(
        {"number": 1, "part": "a", "message": "m", "kind": "message", "status": "active", "seq": 1, "asked_seq": None},
        {"number": 2, "part": "b", "message": "m", "kind": "message", "status": "active", "seq": 1, "asked_seq": None},
    )


def test_a_tag_is_queued_once_its_drop_was_asked_for(store: Store) -> None:
    Given(store, tags(1, "a", "b"), DropRequested(tags=[2]), DropRequested(tags=[2])).view("tags").is_(
        {"number": 1, "status": "active", "asked_seq": None},
        {"number": 2, "status": "queued", "asked_seq": 2},
    )


def test_a_tag_is_dropped_once_its_drop_is_served(store: Store) -> None:
    Given(store, tags(1, "a"), DropRequested(tags=[1]), rebased(1), rebased(1, revision=3)).view("tags").is_(
        {"number": 1, "status": "dropped", "asked_seq": 2, "dropped_seq": 3}
    )


def test_tags_of_messages_that_left_the_conversation_are_gone_unless_they_were_dropped(store: Store) -> None:
    tagged = TagAssigned(first=3, parts=["c"], messages=["tagged"], kinds=["message"])
    gone = MessageRemoved(messages=["m"], reason="unlisted")
    events = (tags(1, "a", "b"), tagged, DropRequested(tags=[1, 2]), rebased(1), NativeCompacted(last_tag=3), gone)
    Given(store, *events).view("tags").is_(
        {"number": 1, "status": "dropped"}, {"number": 2, "status": "gone"}, {"number": 3, "status": "active"}
    )


def test_a_tag_whose_message_is_listed_again_is_active_again(store: Store) -> None:
    gone, back = MessageRemoved(messages=["m"], reason="unlisted"), MessageListed(messages=["m"], ordinals=[7])
    Given(store, tags(1, "a"), gone, back).view("tags").is_({"number": 1, "status": "active"})


def test_what_was_dropped_or_queued_in_the_origin_of_a_copy_is_so_in_the_copy(store: Store) -> None:
    begun = replace(EXTENDED, origin="o", inherited=[1], queued=[2])
    Given(store, tags(1, "a", "b", "c"), begun).view("tags").is_(
        {"number": 1, "status": "dropped"}, {"number": 2, "status": "queued"}, {"number": 3, "status": "active"}
    )


def test_a_tag_that_is_assigned_again_belongs_to_the_newest_part(store: Store) -> None:
    Given(store, tags(1, "a"), tags(1, "b")).view("tags").is_({"number": 1, "part": "b", "seq": 2})


def test_tags_of_different_sessions_are_different(store: Store) -> None:
    Given(store, tags(1, "a"), ("other", tags(1, "a")), ("other", DropRequested(tags=[1]))).view("tags").is_(
        {"session": "s", "number": 1, "status": "active"}, {"session": "other", "number": 1, "status": "queued"}
    )


# messages


def test_a_message_is_as_last_recorded_with_its_place(store: Store) -> None:
    Given(
        store,
        MessageRecorded(message="m", role="user"),
        MessageListed(messages=["m"], ordinals=[1]),
        MessageRecorded(message="m", role="user", agent="build"),
    ).view("messages").is_({"message": "m", "agent": "build", "ordinal": 1, "seq": 3, "happened": happened(3)})


def test_a_message_that_was_never_listed_has_no_place(store: Store) -> None:
    Given(store, MessageRecorded(message="m", role="user")).view("messages").is_({"message": "m", "ordinal": None})


def test_a_removed_message_has_no_place(store: Store) -> None:
    Given(
        store,
        MessageRecorded(message="m", role="user"),
        MessageListed(messages=["m"], ordinals=[1]),
        MessageRemoved(messages=["m"], reason="deleted"),
    ).view("messages").is_({"message": "m", "ordinal": None})


def test_a_message_that_comes_back_has_its_new_place(store: Store) -> None:
    Given(
        store,
        MessageRecorded(message="m", role="user"),
        MessageListed(messages=["m"], ordinals=[1]),
        MessageRemoved(messages=["m"], reason="unlisted"),
        MessageListed(messages=["m"], ordinals=[7]),
    ).view("messages").is_({"message": "m", "ordinal": 7})


# parts


def part(name: str, size: int = 0) -> PartRecorded:
    return PartRecorded(message="m", part=name, kind="text", bytes=size)


def test_a_part_is_as_last_recorded_with_its_tag(store: Store) -> None:
    Given(store, part("a", size=1), tags(4, "a"), part("a", size=2), part("b")).view("parts").is_(
        {"part": "a", "bytes": 2, "tag": 4, "seq": 3}, {"part": "b", "bytes": 0, "tag": None, "seq": 4}
    )


def test_a_deleted_part_is_left_out(store: Store) -> None:
    Given(store, part("a"), part("b"), PartRemoved(message="m", part="a")).view("parts").is_({"part": "b"})


def test_a_part_that_comes_back_after_its_deletion_is_there(store: Store) -> None:
    Given(store, part("a"), PartRemoved(message="m", part="a"), part("a", size=3)).view("parts").is_(
        {"part": "a", "bytes": 3}
    )


def test_a_part_that_another_session_deletes_stays(store: Store) -> None:
    Given(store, part("a"), ("other", PartRemoved(message="m", part="a"))).view("parts").is_({"part": "a"})


# plans, steps


def test_every_revision_of_a_plan_is_listed_with_what_it_saved(store: Store) -> None:
    Given(store, EXTENDED, rebased(4, 5)).view("plans").is_(
        {
            "revision": 1,
            "pass": "extend",
            "causes": [],
            "dropped": [],
            "edit_count": 3,
            "tokens_held": 500,
            "tokens_before": 510,
            "tokens_after": 510,
        },
        {
            "revision": 2,
            "pass": "rebase",
            "causes": ["flush"],
            "dropped": [4, 5],
            "edit_count": 2,
            "tokens_held": 500,
            "tokens_before": 900,
            "tokens_after": 100,
        },
    )


def test_what_the_harness_stores_and_what_is_served_are_two_columns_of_every_plan(store: Store) -> None:
    """The sum of what rebases save is what is served less, and a chart of either has no leap but theirs."""
    plans = (
        PlanExtended(revision=1, step="s1", as_of=1, tokens_before=500, tokens_after=510),
        PlanRebased(
            revision=2, step="s2", as_of=2, causes=["cost"], tokens_held=900, tokens_before=910, tokens_after=300
        ),
        PlanRebased(
            revision=3, step="s2", as_of=2, causes=["cost"], tokens_held=900, tokens_before=910, tokens_after=300
        ),
        PlanExtended(revision=4, step="s3", as_of=3, tokens_before=1_000, tokens_after=400),
    )
    given = Given(store, *plans)
    given.view("plans").is_(
        {"revision": 1, "tokens_held": 500, "tokens_before": 510, "tokens_after": 510},
        {"revision": 2, "tokens_held": 900, "tokens_before": 910, "tokens_after": 300},
        {"revision": 3, "tokens_held": 900, "tokens_before": 300, "tokens_after": 300},
        {"revision": 4, "tokens_held": 1_000, "tokens_before": 400, "tokens_after": 400},
    )
    saved = view_facts.rows(store, "select sum(tokens_before - tokens_after) as tokens from plans")
    assert [{"tokens": 610}] == saved


def test_a_step_is_listed_with_the_plan_that_was_made_for_it(store: Store) -> None:
    step = StepOpened(step="s2", last=3, count=3, provider="anthropic", model="opus")
    Given(store, StepOpened(step="s1"), EXTENDED, step, rebased(4), rebased(revision=3)).view("steps").is_(
        {"step": "s1", "model": "", "pass": "extend", "revision": 1, "causes": [], "tokens_after": 510},
        {"step": "s2", "model": "opus", "pass": "rebase", "revision": 3, "causes": ["flush"], "tokens_after": 100},
    )


def test_a_step_that_needed_no_plan_is_listed_without_one(store: Store) -> None:
    Given(store, StepOpened(step="s1"), StepOpened(step="s1", last=9)).view("steps").is_(
        {"step": "s1", "last": 0, "pass": None, "revision": None}
    )


# sessions, projects, usage


def test_a_session_is_listed_with_its_newest_title_its_model_and_its_end(store: Store) -> None:
    Given(
        store,
        SessionOpened(harness="opencode", mode="primary", title="first"),
        StepOpened(step="s1", provider="anthropic", model="opus"),
        SessionRenamed(title="second"),
        StepOpened(step="s2", provider="openai", model="gpt"),
        SessionClosed(),
    ).view("sessions").is_(
        {
            "session": "s",
            "harness": "opencode",
            "opened_at": happened(1),
            "title": "second",
            "steps": 2,
            "last_step_at": happened(4),
            "provider": "openai",
            "model": "gpt",
            "closed_at": happened(5),
        }
    )


def test_a_session_that_only_began_has_no_steps_yet(store: Store) -> None:
    Given(store, SessionOpened(harness="pi", mode="subagent", title="t", parent="s0")).view("sessions").is_(
        {"title": "t", "parent": "s0", "mode": "subagent", "steps": None, "closed_at": None}
    )


def test_a_project_is_listed_with_its_directories_and_sessions(store: Store) -> None:
    opened = SessionOpened(harness="pi", mode="primary")
    Given(
        store,
        ("", ProjectIdentified(directory="/b", harness="pi")),
        ("", ProjectIdentified(directory="/a", harness="pi")),
        opened,
        ("t", opened),
    ).view("projects").is_({"project": "p", "sessions": 2, "directories": ["/a", "/b"], "last_seen": happened(4)})


def test_a_project_as_of_a_position_has_the_directories_that_were_known_then(store: Store) -> None:
    Given(
        store,
        SessionOpened(harness="pi", mode="primary"),
        ("", ProjectIdentified(directory="/a", harness="pi")),
        ("", ProjectIdentified(directory="/b", harness="pi")),
    ).view("projects", as_of=2).is_({"project": "p", "directories": ["/a"]})


def test_a_project_is_listed_with_the_newest_root_that_is_known(store: Store) -> None:
    Given(
        store,
        SessionOpened(harness="pi", mode="primary"),
        ("", ProjectIdentified(directory="/a", harness="pi", root="/a", vcs="git")),
        ("", ProjectIdentified(directory="/a/b", harness="pi")),
    ).view("projects").is_({"project": "p", "directories": ["/a", "/a/b"], "root": "/a", "vcs": "git"})


def test_usage_is_the_newest_count_of_each_answer(store: Store) -> None:
    Given(
        store,
        UsageSampled(message="a", input=1),
        UsageSampled(message="a", input=2, cache_read=30, cache_write=400, output=5),
        UsageSampled(message="b", input=7),
    ).view("usage").is_(
        {"message": "a", "prompt": 432, "output": 5, "seq": 2}, {"message": "b", "prompt": 7, "output": 0, "seq": 3}
    )


# todos, files, tool_runs, adapters, documents, call_failures, toolsets


def todos(*contents: str, status: str = "pending") -> TodoCaptured:
    return TodoCaptured(contents=list(contents), statuses=[status] * len(contents), priorities=[""] * len(contents))


def test_what_there_is_to_do_are_the_lines_of_the_newest_list(store: Store) -> None:
    Given(store, todos("a"), todos("b", "c", status="done"), ("other", todos("d"))).view("todos").is_(
        {"session": "s", "place": 1, "content": "b", "status": "done", "priority": "", "seq": 2},
        {"session": "s", "place": 2, "content": "c", "status": "done", "priority": "", "seq": 2},
        {"session": "other", "place": 1, "content": "d", "status": "pending", "priority": "", "seq": 3},
    )


def test_a_list_that_was_emptied_has_no_lines(store: Store) -> None:
    Given(store, todos("a"), todos()).view("todos").is_()


def touched(path: str, action: str, part: str = "p") -> FileTouched:
    return FileTouched(path=path, action=action, message="m", part=part, tool="t")


def test_a_file_is_listed_with_its_reads_its_edits_and_what_was_last(store: Store) -> None:
    Given(
        store,
        touched("x", "read", "a"),
        touched("x", "edited", "b"),
        touched("x", "written", "c"),
        touched("y", "read", "d"),
        ("other", touched("x", "deleted", "e")),
    ).view("files").is_(
        {"session": "s", "path": "x", "reads": 1, "edits": 2, "last_action": "written", "last_part": "c", "seq": 3},
        {"session": "s", "path": "y", "reads": 1, "edits": 0, "last_action": "read", "last_part": "d", "seq": 4},
        {"session": "other", "path": "x", "reads": 0, "edits": 1, "last_action": "deleted", "last_part": "e", "seq": 5},
    )


def test_a_tool_run_is_as_last_recorded(store: Store) -> None:
    Given(
        store,
        ToolRan(message="m", part="a", tool="bash", target="make"),
        ToolRan(message="m", part="a", tool="bash", target="make", exit_code=2, duration_ms=7),
        ToolRan(message="m", part="b", tool="read", status="error"),
    ).view("tool_runs").is_(
        {"part": "a", "tool": "bash", "status": "completed", "exit_code": 2, "duration_ms": 7, "seq": 2},
        {"part": "b", "tool": "read", "status": "error", "exit_code": None, "duration_ms": 0, "seq": 3},
    )


def test_an_adapter_is_listed_at_its_newest_version(store: Store) -> None:
    one = AdapterConnected(harness="pi", name="plugin", version="1")
    two = AdapterConnected(harness="pi", name="plugin", version="2")
    Given(store, one, two, ("other", one)).view("adapters").is_(
        {"session": "s", "name": "plugin", "version": "2"}, {"session": "other", "name": "plugin", "version": "1"}
    )


def test_a_document_is_listed_with_its_newest_content_until_it_is_gone(store: Store) -> None:
    one, two = DocumentCaptured(path="A.md", digest="d1", bytes=3), DocumentCaptured(path="A.md", digest="d2", bytes=5)
    other = DocumentCaptured(path="B.md", digest="d1", bytes=7)
    gone = DocumentCaptured(path="B.md", digest="")
    now = Given(store, ("", one), ("", other), ("", two), ("", gone))
    now.view("documents").is_({"project": "p", "path": "A.md", "digest": "d2", "bytes": 5, "seq": 3})
    now.view("documents", 3).is_({"path": "A.md", "digest": "d2"}, {"path": "B.md", "digest": "d1"})


def test_a_failed_call_is_listed_with_whether_the_prompt_was_too_long(store: Store) -> None:
    Given(
        store,
        CallFailed(name="APIError", status=529, text="busy"),
        CallFailed(message="m", name="APIError", status=400, text="too long"),
        OverflowDetected(text="too long"),
    ).view("call_failures").is_(
        {"name": "APIError", "status": 529, "text": "busy", "overflow": False, "seq": 1},
        {"name": "APIError", "status": 400, "text": "too long", "overflow": True, "seq": 2},
    )


def test_sets_of_tools_are_listed_with_their_cost_and_which_is_in_force(store: Store) -> None:
    Given(
        store,
        ToolsetChanged(digest="d1", names=["a", "b"], tokens=[3, 4]),
        ToolsetChanged(digest="d2", names=[], tokens=[]),
    ).view("toolsets").is_(
        {"digest": "d1", "names": ["a", "b"], "tokens": [3, 4], "total_tokens": 7, "in_force": False},
        {"digest": "d2", "names": [], "tokens": [], "total_tokens": 0, "in_force": True},
    )


@pytest.mark.parametrize("name", VIEWS)
def test_without_facts_a_view_has_no_rows(store: Store, name: str) -> None:
    Given(store).view(name).is_()


# Rebuilding, growing, going back


def names(expected: str) -> st.SearchStrategy[str]:
    return st.sampled_from(expected)


def several(expected: str) -> st.SearchStrategy[list[str]]:
    return st.lists(names(expected), min_size=1, max_size=3, unique=True)


SHAS = names("abc").map(lambda letter: letter * 40)
NUMBERS = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(ProjectIdentified, directory=names("/xyz"), harness=st.just("pi"), root=names("/xy") | st.just("")),
    st.builds(DocumentCaptured, path=names("AB"), digest=names("xy") | st.just(""), bytes=st.integers(0, 9)),
    st.builds(AdapterConnected, harness=st.just("pi"), name=names("ab"), version=names("12")),
    st.builds(SessionOpened, harness=st.just("pi"), mode=st.just("primary"), title=names("pq")),
    st.builds(SessionRenamed, title=names("rst")),
    st.just(SessionIdled()),
    st.builds(SessionClosed, reason=names("xy")),
    st.builds(SessionForked, origin=st.just("s"), tags=NUMBERS),
    st.builds(MessageRecorded, message=names("mno"), role=st.sampled_from(["user", "assistant"])),
    several("mno").map(lambda found: MessageListed(messages=found, ordinals=list(range(1, len(found) + 1)))),
    st.builds(MessageRemoved, messages=several("mno"), reason=st.just("unlisted")),
    st.builds(PartRecorded, message=names("mno"), part=names("abcd"), kind=st.just("text"), bytes=st.integers(0, 9)),
    st.builds(PartRemoved, message=names("mno"), part=names("abcd")),
    st.builds(lambda first, found: tags(first, *found), st.integers(1, 6), several("abcd")),
    st.builds(ToolRan, message=names("mno"), part=names("abcd"), tool=names("xy"), exit_code=st.none() | st.just(1)),
    st.builds(touched, names("xyz"), st.sampled_from(["read", "edited"]), names("abcd")),
    st.lists(names("xyz"), max_size=3).map(lambda found: todos(*found)),
    st.builds(CallFailed, text=names("xy"), status=st.integers(0, 9)),
    st.builds(lambda found: ToolsetChanged(digest=found[0], names=found, tokens=[1] * len(found)), several("xyz")),
    st.builds(UsageSampled, message=names("mno"), input=st.integers(1, 9)),
    st.builds(ModelChanged, provider=names("vw"), model=names("xy")),
    st.builds(NativeCompacted, last_tag=st.integers(0, 6)),
    st.builds(OverflowDetected, text=st.text(max_size=5) | names("xy")),
    st.builds(StepOpened, step=names("123"), model=names("xy"), capabilities=st.lists(names("xy"), max_size=2)),
    st.builds(DropRequested, tags=NUMBERS),
    st.just(FlushRequested()),
    st.builds(PlanExtended, revision=st.integers(1, 9), step=names("123"), as_of=st.just(1)),
    st.builds(lambda dropped, step: rebased(*dropped, step=step), NUMBERS, names("123")),
    st.builds(
        CommitSeen,
        sha=SHAS,
        committed=st.integers(0, 90).map(lambda seconds: START + timedelta(seconds=seconds)),
        authored=st.just(START),
        files=several("xyz"),
        partial=st.booleans(),
    ),
    st.builds(
        CommitsAdvanced, source=names("xy"), head=SHAS, count=st.integers(0, 3), removed=st.lists(SHAS, max_size=2)
    ),
    st.builds(
        lambda message, part, sha, made: CommitMentioned(
            message=message, part=part, hashes=[sha[:7]], made=[sha[:7]] if made else []
        ),
        names("mno"),
        names("abcd"),
        SHAS,
        st.booleans(),
    ),
)
LOGS = st.lists(st.tuples(names("st"), EVENTS), min_size=10, max_size=60).map(
    lambda pairs: [fact(seq, event, session) for seq, (session, event) in enumerate(pairs, 1)]
)
bounded = settings(max_examples=examples(20), deadline=None)


def rebuilt(store: Store, facts: list[Fact]) -> dict[str, list[Row]]:
    """The views after all of these facts at once."""
    empty(store)
    if facts:
        commit(store, facts)
    return snapshot(store)


@bounded
@given_any(facts=LOGS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5), again=st.integers(0, 9))
def test_views_that_were_rebuilt_are_those_that_grew_in_batches_with_some_facts_delivered_twice(
    store: Store, facts: list[Fact], sizes: list[int], again: int
) -> None:
    expected = rebuilt(store, facts)
    empty(store)
    start = 0
    while start < len(facts):
        end = start + sizes[start % len(sizes)]
        commit(store, facts[max(0, start - again) : end])
        start = end
    assert snapshot(store) == expected


@bounded
@given_any(facts=LOGS, share=st.integers(0, 100))
def test_a_view_as_of_a_position_says_what_it_did_then(store: Store, facts: list[Fact], share: int) -> None:
    at = len(facts) * share // 100
    then = rebuilt(store, facts[:at])
    rebuilt(store, facts)
    assert snapshot(store, as_of=at) == then


EXTREMES = (2**63 - 1, -(2**63), 2**53 - 1, 1.7e308, -1.7e308)


def extreme(event: type[Event], number: float) -> Event:
    """An event whose every number of this kind is this one."""

    def walk(value: object) -> object:
        if isinstance(value, dict):
            return {name: walk(one) for name, one in value.items()}
        if isinstance(value, list):
            return [walk(one) for one in value]
        return number if type(value) is type(number) else value

    return msgspec.convert(walk(msgspec.to_builtins(sample(event))), event)


@pytest.mark.parametrize("number", EXTREMES)
def test_whatever_numbers_a_log_holds_every_view_can_be_asked(store: Store, number: float) -> None:
    """Logs of earlier releases have texts of harnesses of any length, some of them several times."""
    empty(store)
    events = [extreme(event, number) for event in EVERY_EVENT for _ in range(3)]
    commit(store, numbered((session, one) for session in ("s", "t") for one in events))
    found = snapshot(store)
    assert set(VIEWS) == set(found)
    assert found["usage"]
    assert found["tags"]
