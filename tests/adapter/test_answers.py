"""How OpenCode answers a question: in a session that it deletes, without tools, and outside of any conversation."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.adapter.played import FOLDER

Json = dict[str, Any]
Play = Callable[..., Any]
DRIVER = Path(__file__).with_name("answers.mjs")
HIDDEN = Path(__file__).with_name("hidden.mjs")
TITLE = "annals-questions 999999999 00000000-0000-4000-8000-000000000000"
"""Of a process that there cannot be."""
WITHOUT_A_SESSION = {"dispose", "config", "tool"}
"""What OpenCode calls for no session; tools are not offered to a hidden one."""


def node() -> str:
    found = shutil.which("node")
    assert found, "node is missing; the adapter is built with it: install Node.js 20 or later"
    return found


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    command = [node(), str(DRIVER), str(FOLDER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        given_in, answers_out = running.stdin, running.stdout
        assert given_in is not None
        assert answers_out is not None

        def call(way: str, *given: object) -> Any:  # noqa: ANN401 - JSON
            given_in.write(json.dumps({"way": way, "given": given}) + "\n")
            given_in.flush()
            return json.loads(answers_out.readline())

        yield call
        given_in.close()


def text(words: str, **fields: object) -> Json:
    return {"type": "text", "text": words, **fields}


def test_a_question_is_put_to_the_small_model_in_a_session_of_its_own_that_is_deleted(play: Play) -> None:
    tokens = {"input": 300, "output": 20, "reasoning": 5, "cache": {"read": 100, "write": 74}}
    reply = {"parts": [text("Much "), text("was done.")], "info": {"tokens": tokens, "cost": 0.002}}
    done = play("asked", {"reply": reply})
    assert ["create", "prompt", "delete"] == [call for call, _ in done["calls"]]
    created, prompted = done["calls"][0][1], done["calls"][1][1]
    assert created["title"].startswith("annals-questions ")
    assert [{"permission": "*", "pattern": "*", "action": "deny"}] == created["permission"]
    assert {"*": False, "bash": False, "read": False, "mcp_x": False} == prompted["tools"]
    assert {"providerID": "ac", "modelID": "mini"} == prompted["model"]
    assert ("Be brief.", [text("What was done?")]) == (prompted["system"], prompted["parts"])
    assert done["agent"] == prompted["agent"]
    counted = {"tokens_in": 474, "tokens_out": 25, "cached": 100, "usd": 0.002}
    assert {"text": "Much was done.", "failure": "", "model": "ac/mini", **counted} == done["answer"]
    assert done["isHidden"]


def test_its_agent_is_none_that_a_person_or_another_agent_is_offered(play: Play) -> None:
    agents = play("asked", {})["config"]["agent"]
    assert {"mine", "annals-questions"} == {*agents}
    agent = agents["annals-questions"]
    assert ("primary", True, {"*": "deny"}) == (agent["mode"], agent["hidden"], agent["permission"])
    assert agent["prompt"]


def test_it_is_a_child_of_the_session_that_it_is_about_where_that_is_there(play: Play) -> None:
    about = {"question": {"session": "s1"}}
    assert "s1" == play("asked", about | {"sessions": [{"id": "s1"}]})["calls"][0][1]["parentID"]
    assert "parentID" not in play("asked", about)["calls"][0][1]


def test_a_model_of_a_person_s_choice_may_have_slashes_in_its_name(play: Play) -> None:
    done = play("asked", {"question": {"model": "router/ac/large"}, "reply": {"parts": [text("x")]}})
    assert {"providerID": "router", "modelID": "ac/large"} == done["calls"][1][1]["model"]
    assert "router/ac/large" == done["answer"]["model"]


@pytest.mark.parametrize("config", [{}, {"small_model": ""}, {"small_model": 7}, {"small_model": "mini"}])
def test_where_opencode_has_no_small_model_nothing_is_asked(play: Play, config: Json) -> None:
    done = play("asked", {"config": config})
    assert [] == done["calls"]
    assert "refused: no small model is set in OpenCode" == done["answer"]["failure"]


def test_what_is_no_model_is_refused(play: Play) -> None:
    done = play("asked", {"question": {"model": "mini"}})
    assert [] == done["calls"]
    assert done["answer"]["failure"].startswith('refused: "mini" is no model of OpenCode')


FAILURES: dict[str, tuple[Json, str]] = {
    "aborted": ({"info": {"error": {"name": "MessageAbortedError"}}}, "aborted"),
    "too long": ({"info": {"error": {"name": "ContextOverflowError", "data": {"message": "no"}}}}, "overflow"),
    "busy": ({"info": {"error": {"name": "APIError", "data": {"message": "slow", "statusCode": 429}}}}, "busy"),
    "no key": ({"info": {"error": {"name": "ProviderAuthError", "data": {"message": "no key"}}}}, "refused: no key"),
    "forbidden": ({"info": {"error": {"data": {"message": "not you", "statusCode": 403}}}}, "refused: not you"),
    "unknown": ({"info": {"error": {"name": "UnknownError", "data": {"message": "it broke"}}}}, "it broke"),
    "without words": ({"info": {"error": {"name": "UnknownError"}}}, "UnknownError"),
    "empty": ({"parts": [text(" \n")]}, "empty"),
    "reminders alone": ({"parts": [text("hm", synthetic=True)]}, "empty"),
    "of the server": ({"error": {"name": "BadRequest", "data": {"message": "no such agent"}}}, "no such agent"),
}


@pytest.mark.parametrize(("reply", "failure"), FAILURES.values(), ids=FAILURES)
def test_what_fails_is_reported_as_a_failure_and_the_session_deleted(play: Play, reply: Json, failure: str) -> None:
    done = play("asked", {"reply": reply})
    assert (failure, "") == (done["answer"]["failure"], done["answer"]["text"])
    assert ["delete", "hidden"] == done["calls"][-1]


def test_what_a_failure_has_cost_is_reported(play: Play) -> None:
    info = {"tokens": {"input": 9, "output": 1}, "cost": 0.1, "error": {"name": "MessageAbortedError"}}
    answer = play("asked", {"reply": {"info": info}})["answer"]
    assert (9, 1, 0.1) == (answer["tokens_in"], answer["tokens_out"], answer["usd"])


def test_a_client_that_fails_leaves_no_session(play: Play) -> None:
    done = play("asked", {"reply": {"throws": "it broke"}})
    assert "Error: it broke" == done["answer"]
    assert ["delete", "hidden"] == done["calls"][-1]


def test_a_session_that_cannot_be_made_is_a_failure(play: Play) -> None:
    done = play("asked", {"created": {"error": {"name": "Full", "data": {"message": "the disk is full"}}}})
    assert "the disk is full" == done["answer"]["failure"]
    assert ["create"] == [call for call, _ in done["calls"]]


def test_a_session_that_cannot_be_deleted_is_answered_all_the_same(play: Play) -> None:
    done = play("asked", {"reply": {"parts": [text("Much.")]}, "undeletable": True})
    assert "Much." == done["answer"]["text"]
    assert ["Error: locked"] == done["noted"]


@pytest.mark.parametrize("reason", ["timeout", "aborted", "overflow"])
def test_an_answer_that_is_to_end_is_aborted_and_its_text_until_then_is_dropped(play: Play, reason: str) -> None:
    done = play("asked", {"aborts": reason, "reply": {"parts": [text("Half an")]}})
    assert ["create", "prompt", "abort", "delete"] == [call for call, _ in done["calls"]]
    assert (reason, "") == (done["answer"]["failure"], done["answer"]["text"])


def test_what_has_ended_before_it_began_is_put_to_no_model(play: Play) -> None:
    done = play("asked", {"early": "aborted"})
    assert "prompt" not in [call for call, _ in done["calls"]]
    assert ("aborted", ["delete", "hidden"]) == (done["answer"]["failure"], done["calls"][-1])


def test_at_a_start_what_a_killed_process_left_is_removed_and_nothing_else(play: Play) -> None:
    """A number that another process has by now says nothing after ten minutes."""
    mine = f"annals-questions {play('pid')} 00000000-0000-4000-8000-000000000001"
    now = 4_000_000_000_000
    sessions = [
        {"id": "left", "title": TITLE, "time": {"created": now}},
        {"id": "at work", "title": mine, "time": {"created": now}},
        {"id": "old", "title": mine, "time": {"created": 1}},
        {"id": "a person's", "title": "annals-questions", "time": {"created": 1}},
        {"id": "another's", "title": f"About {TITLE}", "time": {"created": 1}},
        {"id": "untitled", "time": {"created": 1}},
    ]
    done = play("left", sessions)
    assert ["left", "old"] == done["removed"]
    assert ["annals-questions"] == [query["search"] for query in done["queries"]]


def hooked(root: Path, title: str) -> Json:
    """What came of playing all hooks for a session of this title."""
    ended = subprocess.run(
        [node(), str(HIDDEN), str(FOLDER), str(root), title], capture_output=True, text=True, check=True
    )
    found: Json = json.loads(ended.stdout)
    return found


def test_no_hook_reports_changes_or_takes_part_in_a_hidden_session(tmp_path: Path) -> None:
    found = hooked(tmp_path, TITLE)
    assert {*found["hooks"]} - WITHOUT_A_SESSION == {*found["played"]}, "a new hook is not played"
    assert {"own"} == {*found["reported"]}
    assert ["read"] == found["tools"]
    assert [] == [name for name in found["records"] if "hidden" in name]
    outputs = found["outputs"]
    (entry,) = outputs["experimental.chat.messages.transform"]["messages"]
    assert ["§1§ go"] == [part["text"] for part in entry["parts"]]
    assert ["Today's date: Fri Nov 20 2026"] == outputs["experimental.chat.system.transform"]["system"]
    assert "§1§ done" == outputs["experimental.text.complete"]["text"]
    assert [] == outputs["experimental.session.compacting"]["context"]
    assert "tools" not in outputs["chat.message"]["message"]


def test_a_person_s_session_is_reported_by_the_same_hooks(tmp_path: Path) -> None:
    """So that the test before this one tests something."""
    found = hooked(tmp_path, "A talk")
    assert {"hidden", "own"} == {*found["reported"]}
    assert {"deploy", "read"} == {*found["tools"]}
    assert "done" == found["outputs"]["experimental.text.complete"]["text"]
