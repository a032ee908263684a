"""Calls of the tools that the service defines: where each goes, and what is answered where it goes nowhere."""

from typing import get_args

import msgspec
import pytest

from schemas.commands import CommandMessage, MemoryWrite
from schemas.inbox import Mode
from schemas.offered import ACTIONS, TOOLS
from schemas.tools import MEMORY, Tool
from services.domain.limits import Limits, MemoryLimits
from services.responder.answers.client_manifest import client_manifest
from tests.adapter.conftest import Adapter
from tests.adapter.played import NOBODY, Harness, Json
from tests.helpers.wrong_input import VALUES

TOOL = next(tool for tool in TOOLS if tool.name == MEMORY)
REDUCE = TOOLS[0]
EXPAND, SEARCH = (next(tool for tool in TOOLS if tool.name == name) for name in ("ctx_expand", "ctx_search"))


def routed(adapter: Adapter, given: Json, mode: Mode | str = "primary", tool: Tool = TOOL) -> Json:
    route: Json = adapter("routed", msgspec.to_builtins(tool), given, mode)
    return route


# Where a call goes


def test_a_tool_without_actions_is_taken_in_its_modes_alone(adapter: Adapter) -> None:
    taken = {mode: "to" in routed(adapter, {"drop": "3"}, mode, REDUCE) for mode in (*get_args(Mode), "")}
    assert {"primary", ""} == {mode for mode, is_taken in taken.items() if is_taken}
    refused = routed(adapter, {"drop": "3"}, "subagent", REDUCE)
    assert {"refusal": "Nothing was done: ctx_reduce does nothing in this session; go on without it."} == refused


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_goes_where_it_is_defined_to_without_its_name(adapter: Adapter, action: str) -> None:
    route = routed(adapter, {"action": action, "id": "m1", "text": "It is so."})
    assert (ACTIONS[action].verb, ACTIONS[action].subject) == (route["to"]["verb"], route["to"]["subject"])
    assert {"id": "m1", "text": "It is so."} == route["given"]


def test_a_tool_without_actions_goes_to_its_subject_with_all_that_is_given(adapter: Adapter) -> None:
    route = routed(adapter, {"drop": "3-5", "action": "chosen"}, tool=REDUCE)
    assert {"to": {"verb": "command", "subject": "drop.queue"}, "given": {"drop": "3-5", "action": "chosen"}} == route


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, "ctx_memory needs an action"),
        ({"action": ""}, "ctx_memory needs an action"),
        ({"action": "forget"}, 'ctx_memory has no such action: "forget"'),
        ({"action": "toString"}, 'ctx_memory has no such action: "toString"'),
        ({"action": ["read"]}, 'ctx_memory has no such action: ["read"]'),
        ({"action": {"read": 1}}, 'ctx_memory has no such action: {"read":1}'),
    ],
)
def test_an_unknown_action_is_answered_with_those_that_there_are(adapter: Adapter, given: Json, wrong: str) -> None:
    assert {"refusal": f"Nothing was done: {wrong}; give one of {', '.join(ACTIONS)}."} == routed(adapter, given)


@pytest.mark.parametrize("kind", [kind for kind in VALUES if kind != "no Unicode"])
def test_any_value_that_is_no_action_is_refused_in_one_sentence(adapter: Adapter, kind: str) -> None:
    refusal = routed(adapter, {"action": VALUES[kind]})["refusal"]
    assert refusal.startswith("Nothing was done: ctx_memory ")
    assert refusal.endswith(f"; give one of {', '.join(ACTIONS)}.")
    assert len(refusal) < 300
    assert "\n" not in refusal


@pytest.mark.parametrize("mode", [*get_args(Mode), ""])
def test_an_action_is_taken_in_its_modes_alone(adapter: Adapter, mode: str) -> None:
    taken = [name for name, target in ACTIONS.items() if not mode or mode in target.modes]
    routes = {action: routed(adapter, {"action": action}, mode) for action in ACTIONS}
    assert taken == [action for action, route in routes.items() if "to" in route]
    for action in {*ACTIONS} - {*taken}:
        assert f'does not take this action in this session: "{action}"' in routes[action]["refusal"]
        assert (", ".join(taken) or "go on without it") in routes[action]["refusal"]


# The call itself


def test_a_repeated_call_is_one_command_and_names_the_message_that_it_stands_in(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    harness.add_message("I keep that.")
    for _ in range(2):
        harness.answer({"text": "Stored as m1.", "ok": True})
        answer = harness.call(TOOL, "c7", action="write", text="It is so.", category="NAMING")
        assert "Stored as m1." == answer
        assert ["do.project.s.memory.write"] == harness.subjects
        (sent,) = harness.questions
        command = msgspec.json.decode(msgspec.json.encode(sent), type=CommandMessage)
        assert ("s/c7", "agent", "build") == (command.id, command.actor.kind, command.actor.id)
        assert MemoryWrite("It is so.", "NAMING", message="m1") == msgspec.json.decode(command.data, type=MemoryWrite)


def test_what_rooms_of_an_older_release_offer_is_a_command_too(harness: Harness) -> None:
    older = next(tool for tool in client_manifest(Limits(), MemoryLimits(), ()).tools if tool.name == MEMORY)
    harness.user("go")
    harness.serve()
    harness.answer({"text": "Stored as m1.", "ok": True})
    assert "Stored as m1." == harness.call(older, "c7", action="write", text="It is so.", category="NAMING")
    assert ["do.project.s.memory.write"] == harness.subjects


def test_what_is_asked_is_answered_in_words(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    harness.answer({"text": "m1 It is so."}, {"error": "The views are being built."})
    assert "m1 It is so." == harness.call(TOOL, action="read", filter="so")
    assert ["ask.memory.project"] == harness.subjects
    assert [{"filter": "so", "project": "project", "session": "s"}] == harness.questions
    assert "The views are being built." == harness.call(TOOL, action="read")


def test_a_call_that_is_too_long_for_a_message_is_refused_before_it_is_sent(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    answer = harness.call(TOOL, action="write", text="l" * 1_100_000)
    assert "Nothing was done: the arguments are longer than one message may be. Give less of them." == answer
    assert [] == harness.questions


NOT_DONE, UNKNOWN = "so nothing was done", "it is not known whether this was done"


@pytest.mark.parametrize(
    ("answers", "answer", "sent"),
    [
        pytest.param([NOBODY], NOT_DONE, 1, id="no room is there yet"),
        pytest.param([None, None], UNKNOWN, 2, id="no answer in time"),
        pytest.param([None, NOBODY], UNKNOWN, 2, id="the room fell meanwhile"),
        pytest.param([None, {"ok": True, "text": "Stored as m1."}], "Stored as m1.", 2, id="the room was slow"),
        pytest.param(
            [{"ok": False, "text": "Nothing was written: x.", "again": True}] * 2, "Nothing was", 2, id="again"
        ),
        pytest.param([None, {"ok": False, "text": "Nothing was written: x.", "again": True}], UNKNOWN, 2, id="perhaps"),
        pytest.param([{}], UNKNOWN, 1, id="an empty answer"),
        pytest.param([{"text": "Stored as m1."}], UNKNOWN, 1, id="an answer that is none of a command"),
        pytest.param(["Stored."], UNKNOWN, 1, id="no object"),
        pytest.param([{"ok": False, "text": ""}], "Nothing was done", 1, id="refused without a reason"),
    ],
)
def test_an_answer_never_claims_a_write_that_may_not_have_been_made_nor_denies_one_that_may(
    harness: Harness, answers: list[object], answer: str, sent: int
) -> None:
    harness.user("go")
    harness.serve()
    harness.answer(*answers)
    assert answer in harness.call(TOOL, action="write", text="It is so.", category="NAMING")
    assert sent == len(harness.questions)
    assert 1 == len({question["id"] for question in harness.questions})


@pytest.mark.parametrize("answer", [{}, [], "none", 7])
def test_a_question_with_an_empty_answer_is_not_done(harness: Harness, answer: object) -> None:
    harness.user("go")
    harness.serve()
    harness.answer(answer)
    assert "Annals has answered nothing. Ask again in a moment." == harness.call(TOOL, action="read", filter="so")


@pytest.mark.parametrize(
    ("given", "session"),
    [
        ({"session": "ses_0ld"}, "ses_0ld"),
        ({"session": " ses_0ld "}, "ses_0ld"),
        ({}, "s"),
        ({"session": ""}, "s"),
        ({"session": 7}, "s"),
        ({"session": None}, "s"),
        ({"project": "island", "asker": "another"}, "s"),
    ],
)
def test_a_tool_that_takes_a_session_asks_about_it_and_says_who_asks(
    harness: Harness, given: Json, session: str
) -> None:
    harness.user("go")
    harness.serve()
    harness.answer({"text": "Messages 1-2"})
    assert "Messages 1-2" == harness.call(EXPAND, start=1, **given)
    assert [{"start": 1, "project": "project", "session": session, "asker": "s"}] == harness.questions


def test_no_argument_has_a_tool_ask_as_another_session_that_takes_none(harness: Harness) -> None:
    harness.user("go")
    harness.serve()
    harness.answer({"text": "1 result"})
    harness.call(SEARCH, query="tides", session="ses_0ld")
    assert [{"query": "tides", "project": "project", "session": "s"}] == harness.questions


def test_an_agent_s_own_session_is_refused_before_anything_is_sent(harness: Harness) -> None:
    harness.learns(parentID="another")
    harness.user("look")
    harness.serve()
    assert "give one of note, read." in harness.call(TOOL, action="write", text="It is so.")
    assert [] == harness.questions
    harness.call(TOOL, action="note", text="Look again.")
    assert ["do.project.s.note.write"] == harness.subjects


def test_a_child_of_a_session_that_another_plugin_edits_is_an_agent_s_own_all_the_same(harness: Harness) -> None:
    harness.meet("opencode-dcp")
    harness.learns(parentID="another")
    harness.user("look")
    harness.serve()
    assert ["additive"] == [step["mode"] for step in harness.steps]
    assert "give one of note, read." in harness.call(TOOL, action="delete", id="m1")
