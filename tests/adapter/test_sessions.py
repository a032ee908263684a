"""A session in the adapter, hook by hook: its mode, and the calls that are none of its own."""

import json
from pathlib import Path

import pytest

from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.played import PROMPT, Harness, Json


def replacing(text: str, revision: int = 1, *, causes: tuple[str, ...] = (), more: bool = False) -> Json:
    """A plan that says something else in the place of the first message."""
    edits = [{"op": "replace_text", "part": "m0.0", "text": text}]
    return {
        "status": "ready",
        "revisions": [{"revision": revision, "edits": edits, "causes": list(causes)}],
        "more": more,
    }


def guided(mode: str) -> list[str]:
    return [f"{PROMPT}\n\n{MANIFEST.system[mode]}"]  # type: ignore[index] # each of them is one


# The mode


def test_a_session_is_what_its_first_step_finds_it_and_stays_so_over_restarts(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    assert ["primary"] == [step["mode"] for step in harness.steps]
    assert guided("primary") == harness.system()

    harness.start()
    harness.user("on", agent="quiet", tools={"ctx_reduce": False})
    harness.serve()

    assert ["primary"] == [step["mode"] for step in harness.steps]
    assert guided("primary") == harness.system()


@pytest.mark.parametrize(
    ("message", "session"),
    [
        ({"agent": "quiet"}, {}),
        ({"tools": {"ctx_reduce": False}}, {}),
        ({}, {"permission": [{"permission": "ctx_*", "pattern": "*", "action": "deny"}]}),
        ({}, {"permission": [{"permission": "*", "pattern": "*", "action": "deny"}]}),
    ],
    ids=["agent", "message", "session", "all of the session"],
)
def test_without_the_tool_a_session_has_no_tags_in_its_instructions(
    harness: Harness, message: Json, session: Json
) -> None:
    harness.learns(**session)
    harness.user("go", **message)
    harness.serve()

    assert ["reduce_off"] == [step["mode"] for step in harness.steps]
    assert guided("reduce_off") == harness.system()


def test_that_an_agent_leads_it_is_learned_once_and_its_guidance_changes_with_a_rebase(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    assert guided("primary") == harness.system()

    harness.learns(parentID="another")
    harness.add_message("looking")
    harness.serve()
    assert ["subagent"] == [step["mode"] for step in harness.steps]
    assert guided("primary") == harness.system()

    harness.start()
    harness.learns(parentID="another")
    harness.serve()
    assert guided("primary") == harness.system()

    harness.answer(replacing("go", causes=("flush",)))
    harness.serve()
    assert guided("subagent") == harness.system()

    harness.start()
    harness.serve()
    assert ["subagent"] == [step["mode"] for step in harness.steps]
    assert guided("subagent") == harness.system()


def test_with_a_rival_new_sessions_are_only_added_to_and_the_person_is_notified_once(harness: Harness) -> None:
    harness.meet("file:///a/annals.mjs", ["opencode-dcp@1.0.0", {}])
    harness.user("go")
    harness.serve()
    assert ["additive"] == [step["mode"] for step in harness.steps]
    (notice,) = harness.notices
    assert notice.startswith("opencode-dcp changes the same prompts")

    harness.serve()
    assert [] == harness.notices


def test_a_session_from_before_the_rival_goes_on_as_it_was(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    harness.start()
    harness.meet("opencode-dcp")
    harness.serve()
    assert ["primary"] == [step["mode"] for step in harness.steps]


def test_where_another_compactor_is_meant_to_work_nobody_is_warned(harness: Harness) -> None:
    harness.start(compaction="observe")
    harness.user("go")
    harness.serve()
    assert ["additive"] == [step["mode"] for step in harness.steps]
    assert [] == harness.notices


# Calls that are none of the session's own


@pytest.mark.parametrize(
    "message",
    [{"agent": "historian"}, {"agent": "title"}, {"agent": "untouched"}, {"system": "Shh. <!-- annals: skip -->"}],
    ids=["hidden", "title", "marked agent", "marked message"],
)
def test_a_helper_s_call_changes_nothing_of_the_session(harness: Harness, message: Json) -> None:
    harness.user("go")
    harness.answer(replacing("§1§ go"))
    assert ["§1§ go"] == harness.serve()
    harness.system()
    harness.add_message("done")

    harness.user("aside", **message)
    assert ["§1§ go", "done", "aside"] == harness.serve()
    assert ([], []) == (harness.steps, harness.questions)
    assert ["Another prompt."] == harness.system("Another prompt.")
    harness.add_message("on the side", agent=message.get("agent", "build"))
    if "agent" in message:
        assert ["message.seen"] == [item["kind"] for item in harness.items]

    harness.user("on")
    harness.serve()
    (step,) = harness.steps
    assert step["system_digest"]
    assert 1 == step["served"]
    harness.system()
    harness.serve()
    assert [step["system_digest"]] == [again["system_digest"] for again in harness.steps]


def test_a_helper_that_works_in_the_background_is_known_by_its_prompt(harness: Harness) -> None:
    """It may be there before the session's own first call."""
    harness.user("go")
    assert ["Name this talk."] == harness.system("Name this talk.")
    harness.serve()
    assert ["Name this talk."] == harness.system("Name this talk.")
    assert guided("primary") == harness.system()
    harness.serve()
    (step,) = harness.steps
    assert ["Name this talk."] == harness.system("Name this talk.")
    harness.serve()
    assert [step["system_digest"]] == [again["system_digest"] for again in harness.steps]


def test_where_the_whole_prompt_is_marked_the_session_is_left_alone_from_its_second_call_on(harness: Harness) -> None:
    marked = f"{PROMPT}\n<!-- annals: skip -->"
    harness.user("go")
    harness.serve()
    assert [marked] == harness.system(marked)
    harness.add_message("done")
    harness.serve()
    assert ([], []) == (harness.steps, harness.questions)


def test_an_unknown_helper_s_prompt_marks_nobody(harness: Harness) -> None:
    """A title of an earlier release, whose prompt the list of agents does not hold."""
    opening = "You are a title generator. You output ONLY a thread title. Nothing else."
    harness.user("go")
    harness.serve()
    assert [opening] == harness.system(opening)
    harness.serve()
    assert 1 == len(harness.steps)


def test_a_hidden_agent_that_was_given_a_task_works_as_any_subagent(harness: Harness) -> None:
    harness.learns(parentID="another")
    state = {"status": "running", "metadata": {"sessionId": "s"}}
    part = {"id": "t", "messageID": "m", "sessionID": "another", "type": "tool", "tool": "task", "state": state}
    harness.hear("message.part.updated", sessionID="another", part=part)
    harness.user("look around", agent="historian")
    harness.serve()
    assert ["subagent"] == [step["mode"] for step in harness.steps]


def test_the_harness_s_own_compaction_is_no_step_and_its_count_no_count(harness: Harness) -> None:
    harness.user("go")
    harness.answer(replacing("§1§ go"))
    harness.serve()
    harness.system()
    harness.compacts()
    assert ["§1§ go"] == harness.serve()
    assert ([], []) == (harness.steps, harness.questions)
    assert ["Whatever the next release says."] == harness.system("Whatever the next release says.")

    harness.add_message("## Goal", agent="compaction", tokens=150_000, summary=True)
    assert ["message.seen"] == [item["kind"] for item in harness.items]
    harness.serve()
    assert 1 == len(harness.steps)
    assert guided("primary") == harness.system()
    harness.add_message("on it", tokens=20)
    assert [20] == [item["input"] for item in harness.items if item["kind"] == "usage.seen"]


def test_a_compaction_names_its_summary_and_the_next_one_another(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    for summary in ("## Goal", "## Goal, once more"):
        harness.compacts()
        harness.add_message(summary, agent="compaction", summary=True)
        name = harness.entries[-1]["info"]["id"]
        harness.hear("session.compacted")
        assert [{"kind": "compaction.seen", "summary": name}] == harness.items
    harness.add_message("on it")
    harness.user("on", summary={"title": "On", "diffs": []})
    harness.hear("message.updated", info=harness.entries[-1]["info"])
    harness.hear("session.compacted")
    assert [{"kind": "compaction.seen"}] == harness.items


def test_a_compaction_with_nothing_to_transform_takes_no_step_of_the_session(harness: Harness) -> None:
    harness.user("go")
    harness.compacts()
    harness.hear("session.compacted")
    harness.serve()
    assert 1 == len(harness.steps)


# A rebase that does not come whole


def test_half_a_rebase_is_not_served_and_asked_for_again(harness: Harness) -> None:
    harness.user("go")
    harness.answer(replacing("half", 1, causes=("flush",), more=True), None)
    assert ["go"] == harness.serve()
    assert [0, 1] == [question["base_revision"] for question in harness.questions]

    harness.add_message("looking")
    harness.answer(replacing("half", 1, causes=("flush",), more=True), None)
    assert ["go", "looking"] == harness.serve()
    assert [0, 1] == [question["base_revision"] for question in harness.questions]
    assert [0] == [step["served"] for step in harness.steps]


def test_in_another_turn_it_is_asked_for_from_where_it_stopped(harness: Harness) -> None:
    harness.user("go")
    harness.answer(replacing("half", 1, causes=("flush",), more=True), None)
    harness.serve()
    harness.user("on")
    harness.answer(replacing("whole", 2, causes=("flush",)))
    assert ["whole", "on"] == harness.serve()
    assert [1] == [question["base_revision"] for question in harness.questions]

    harness.start()
    harness.answer(None)
    assert ["whole", "on"] == harness.serve()
    assert [2] == [question["base_revision"] for question in harness.questions]


# A service that has lost what it has answered


def test_a_plan_of_which_the_service_knows_less_is_fetched_anew(harness: Harness) -> None:
    """An older copy of its log was put back: what it has answered since is no plan of anybody."""
    harness.user("go")
    lost, known = replacing("lost", 3), replacing("known", 1)
    harness.answer({**lost, "revisions": [replacing("known", 1)["revisions"][0], *lost["revisions"]]})
    assert ["lost"] == harness.serve()

    harness.user("on")
    harness.answer({"status": "ready", "revision": 1}, {**known, "revision": 1})
    assert ["known", "on"] == harness.serve()
    assert [3, 0] == [question["base_revision"] for question in harness.questions]

    harness.start()
    harness.answer(None)
    assert ["known", "on"] == harness.serve()
    assert [1] == [question["base_revision"] for question in harness.questions]


def test_a_plan_of_which_the_service_knows_nothing_is_no_plan(harness: Harness) -> None:
    harness.user("go")
    harness.answer(replacing("lost", 3))
    assert ["lost"] == harness.serve()
    harness.user("on")
    harness.answer({"status": "ready"}, {"status": "ready"})
    assert ["go", "on"] == harness.serve()
    assert [3, 0] == [question["base_revision"] for question in harness.questions]


def test_a_rebase_of_several_revisions_is_stored_as_one(harness: Harness, tmp_path: Path) -> None:
    """A crash while it is written leaves all of it or none."""
    harness.user("go")
    first, second = replacing("half", 1, causes=("flush",)), replacing("whole", 2, causes=("flush",))
    harness.answer({**first, "revisions": [*first["revisions"], *second["revisions"]]})
    assert ["whole"] == harness.serve()
    lines = [json.loads(line) for line in (tmp_path / "sessions" / "s.jsonl").read_text().splitlines()]
    assert [2] == [line["revision"] for line in lines if "revision" in line]


# A project that is called otherwise by now


def projects(harness: Harness) -> set[str]:
    """The projects under which something was reported, or asked for, since the start."""
    return {subject.split(".")[2] for subject in (*harness.reported(), *harness.subjects)}


MOVED = {"id": "git-2", "former": ["git-1"]}


def test_a_running_session_stays_in_the_project_that_it_began_in(harness: Harness) -> None:
    harness.start(project={"id": "git-1"})
    harness.user("go")
    harness.serve()
    harness.start(project=MOVED)
    harness.add_message("looking")
    harness.serve()
    assert ["ask.transform.git-1"] == harness.subjects
    assert {"git-1"} == projects(harness)
    harness.start(project={"id": "git-3", "former": ["git-2", "git-1"]})
    harness.serve()
    assert {"git-1"} == projects(harness)


def test_a_session_that_an_older_adapter_began_stays_where_that_reported_it(harness: Harness, tmp_path: Path) -> None:
    harness.user("go")
    harness.serve()
    record = tmp_path / "sessions" / "s.jsonl"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    record.write_text("".join(json.dumps({**line, "project": None}) + "\n" for line in lines))
    harness.start(project=MOVED)
    harness.serve()
    assert {"git-1"} == projects(harness)


def test_a_new_session_begins_in_the_project_as_it_is_called_now(harness: Harness) -> None:
    harness.start(project=MOVED)
    harness.learns()
    harness.user("go")
    harness.serve()
    assert [["git-1"]] == [item["former"] for item in harness.items if item["kind"] == "session.seen"]
    assert {"git-2"} == projects(harness)


def test_a_document_that_sessions_share_is_reported_to_each_of_their_projects(harness: Harness, tmp_path: Path) -> None:
    """A session that goes on in the former project comes first: the new one has the document all the same."""
    (tmp_path / "map.md").write_text("The quay is in the north.")
    harness.start(project={"id": "git-1"})
    harness.user("go")
    harness.serve()
    harness.start(project=MOVED, documents=["map.md"])
    reported = [documents(harness)]
    for session in ("new", "s", "new"):
        harness.is_written_to(session)
        reported.append(documents(harness))
    assert [["map.md"], ["map.md"], [], []] == reported
    assert {"git-1", "git-2"} == projects(harness)


def documents(harness: Harness) -> list[str]:
    """The documents in the newest reports."""
    return [item["path"] for item in harness.items if item["kind"] == "document.seen"]


def test_a_sub_agent_works_in_the_project_of_its_agent(harness: Harness) -> None:
    harness.start(project={"id": "git-1"})
    harness.user("go")
    harness.serve()
    harness.start(project=MOVED)
    info = {"id": "child", "parentID": "s", "title": "A part of it"}
    harness.hear("session.created", sessionID="child", info=info)
    assert {"git-1"} == projects(harness)
