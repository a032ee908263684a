"""In which mode a session works, and which calls are none of its own, as the adapter decides."""

import pytest

from schemas.inbox import Mode
from services.responder.answers.client_manifest import SKIP
from tests.adapter.conftest import Adapter

Rule = dict[str, str]
TOOLS = ["bash", "ctx_expand", "ctx_reduce", "edit", "read", "write"]


def rule(permission: str, action: str, pattern: str = "*") -> Rule:
    return {"permission": permission, "pattern": pattern, "action": action}


# The tools that a call offers


@pytest.mark.parametrize(
    ("rules", "off"),
    [
        ([], []),
        ([rule("*", "allow")], []),
        ([rule("ctx_reduce", "deny")], ["ctx_reduce"]),
        ([rule("ctx_*", "deny")], ["ctx_expand", "ctx_reduce"]),
        ([rule("ctx_?????e", "deny")], ["ctx_reduce"]),
        ([rule("*", "deny")], TOOLS),
        ([rule("*", "deny"), rule("ctx_reduce", "allow")], [tool for tool in TOOLS if tool != "ctx_reduce"]),
        ([rule("ctx_reduce", "deny"), rule("*", "allow")], []),
        ([rule("ctx_reduce", "ask")], []),
        ([rule("bash", "deny", "rm *")], []),
        ([rule("bash", "deny"), rule("bash", "allow", "git *")], []),
        ([rule("edit", "deny")], ["edit", "write"]),
        ([rule("write", "deny")], []),
        ([rule("ctx.reduce", "deny"), rule("ctx_reduc", "deny"), rule("xctx_reduce", "deny")], []),
    ],
)
def test_the_last_rule_on_all_of_a_tool_takes_it_away(adapter: Adapter, rules: list[Rule], off: list[str]) -> None:
    assert off == adapter("denied", TOOLS, None, rules)


@pytest.mark.parametrize(
    ("switches", "off"), [({"ctx_reduce": False}, ["ctx_reduce"]), ({"ctx_reduce": True, "gone": False}, []), ({}, [])]
)
def test_a_message_may_switch_a_tool_off_by_its_name(
    adapter: Adapter, switches: dict[str, bool], off: list[str]
) -> None:
    assert off == adapter("denied", TOOLS, switches, [])


@pytest.mark.parametrize("given", [None, {}, "deny", [None], [{"permission": "bash"}]])
def test_what_is_no_rule_takes_nothing_away(adapter: Adapter, given: object) -> None:
    assert [] == adapter("rulesOf", given)


# The mode


@pytest.mark.parametrize(
    ("facts", "mode"),
    [
        ({"reduces": True}, "primary"),
        ({"reduces": False}, "reduce_off"),
        ({"reduces": True, "isChild": True}, "subagent"),
        ({"reduces": False, "isChild": True}, "subagent"),
        ({"reduces": True, "hasRival": True}, "additive"),
        ({"reduces": True, "hasRival": True, "isChild": True}, "additive"),
    ],
)
def test_the_mode_of_a_new_session(adapter: Adapter, facts: dict[str, bool], mode: Mode) -> None:
    assert mode == adapter("decided", {"hasRival": False, "isChild": False, **facts})


@pytest.mark.parametrize("mode", ["primary", "reduce_off", "subagent", "additive"])
def test_a_mode_stays_unless_an_agent_leads_the_session(adapter: Adapter, mode: Mode) -> None:
    assert [mode, "additive" if mode == "additive" else "subagent"] == [
        adapter("learned", mode, is_child) for is_child in (False, True)
    ]


# Helpers


@pytest.mark.parametrize("name", ["title", "summary", "compaction"])
def test_the_harness_s_own_helpers_are_known_by_name(adapter: Adapter, name: str) -> None:
    assert adapter("isHelperAgent", name, None)


def test_any_hidden_agent_is_a_helper(adapter: Adapter) -> None:
    assert adapter("isHelperAgent", "historian", {"name": "historian", "hidden": True})
    assert not adapter("isHelperAgent", "historian", {"name": "historian"})
    assert not adapter("isHelperAgent", "build", None)


@pytest.mark.parametrize(
    ("session", "is_delegated"),
    [
        ({"agent": "scout", "parentID": "p", "title": "Look (@scout subagent)"}, True),
        ({"agent": "scout", "parentID": "p", "title": "Look (@other subagent)"}, False),
        ({"agent": "scout", "parentID": "p", "title": "Look"}, False),
        ({"agent": "scout", "title": "Look (@scout subagent)"}, False),
        ({"parentID": "p", "title": "Look (@undefined subagent)"}, False),
        ({"agent": "scout", "parentID": "p"}, False),
    ],
)
def test_a_session_that_a_task_has_opened_is_named_after_its_agent(
    adapter: Adapter,
    session: dict[str, str],
    is_delegated: bool,  # noqa: FBT001 - a column
) -> None:
    assert is_delegated == adapter("isDelegated", {"id": "c", **session})


AGENTS = [
    {"name": "build"},
    {"name": "plan", "prompt": "You plan."},
    {"name": "title", "hidden": True, "prompt": "Name this talk."},
    {"name": "historian", "hidden": True, "prompt": "You plan."},
    {"name": "silent", "hidden": True, "prompt": ""},
]


@pytest.mark.parametrize(
    ("prompt", "own", "is_helpers"),
    [
        ("Name this talk.", "build", True),
        ("Name this talk.\nThe person is German.", "build", True),
        ("Name this talk. And more.", "build", False),
        ("You are a coder.\nName this talk.", "build", False),
        ("", "build", False),
        ("You plan.", "build", True),
        ("You plan.", "plan", False),
        ("Name this talk.", "title", False),
    ],
)
def test_a_helper_is_known_by_the_prompt_that_the_harness_gives_it(
    adapter: Adapter,
    prompt: str,
    own: str,
    is_helpers: bool,  # noqa: FBT001 - a column
) -> None:
    assert is_helpers == adapter("isHelperPrompt", [prompt, "more"], AGENTS, own)


def test_without_the_harness_s_word_a_helper_is_known_by_how_its_prompt_opens(adapter: Adapter) -> None:
    """Openings of earlier releases stay on the list: which release runs nobody knows before it has answered."""
    guide = {"digest": "", "skip": list(SKIP)}
    assert not adapter("isHelperPrompt", [SKIP[1]], [], "build")
    assert adapter("isHelper", [SKIP[1]], guide)
    assert adapter("isHelper", ["", "<!-- annals: skip -->"], guide)
    assert not adapter("isHelper", ["", ""], guide)
