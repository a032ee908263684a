"""Calls in which a model has copied what only stands for a text."""

import pytest

from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.conftest import Adapter
from tests.adapter.played import Json

GUIDE: Json = {
    "placeholders": MANIFEST.placeholders,
    "refusals": dict(MANIFEST.refusals),
    "tools": [{"name": tool.name, "takes_placeholders": tool.takes_placeholders} for tool in MANIFEST.tools],
}
COPY = "[dropped §2§]"


def refusal(adapter: Adapter, args: object, tool: str = "write", mode: str = "primary") -> str:
    return str(adapter("refusalOf", GUIDE, tool, args, mode))


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"filePath": "a.py", "content": COPY}, "content"),
        ({"filePath": "a.py", "content": f"\n {COPY} \n"}, "content"),
        ({"edits": [{"oldString": "a", "newString": "b"}, {"oldString": "c", "newString": COPY}]}, "edits.1.newString"),
        ({"todos": [{"content": COPY, "status": "pending"}]}, "todos.0.content"),
        ({"a": {"b": {"c": {"d": [[["§7§"]]]}}}}, "a.b.c.d.0.0.0"),
        (COPY, ""),
        ({"content": f'"{COPY}"'}, "content"),
        ({"content": "[truncated §2§]"}, "content"),
    ],
)
def test_a_call_is_refused_with_a_way_to_the_text(adapter: Adapter, args: object, path: str) -> None:
    refused = refusal(adapter, args)

    assert "The call was not made, and nothing was changed" in refused
    assert f"`{path}`" in refused
    assert "`ctx_expand`" in refused


@pytest.mark.parametrize(
    "args",
    [
        {"filePath": "a.md", "content": f"# Placeholders\n{COPY} is one.\n"},
        {"command": f'echo "{COPY}" > a.txt'},
        {"pattern": r"\[dropped §\d+§\]"},
        {"content": ""},
        {"count": 2, "deep": None, "on": True},
        {"content": '{"output": "[dropped §2§]"}'},
        None,
        {},
    ],
)
def test_a_call_that_only_speaks_of_one_is_made(adapter: Adapter, args: object) -> None:
    assert "" == refusal(adapter, args)


def test_tools_that_take_numbers_take_placeholders(adapter: Adapter) -> None:
    assert "" == refusal(adapter, {"drop": "§2§"}, "ctx_reduce")
    assert "" == refusal(adapter, {"tag": COPY}, "ctx_expand")
    assert refusal(adapter, {"action": "write", "text": COPY}, "ctx_memory")


def test_an_agent_is_not_sent_to_a_tool_that_it_has_not(adapter: Adapter) -> None:
    for mode in ("subagent", "additive"):
        refused = refusal(adapter, {"content": COPY}, mode=mode)
        assert "Read the file or run the command again" in refused
        assert "ctx_expand" not in refused
    assert refusal(adapter, {"content": COPY}) == refusal(adapter, {"content": COPY}, mode="")


def test_a_guide_of_an_older_service_refuses_nothing(adapter: Adapter) -> None:
    assert "" == adapter("refusalOf", {"digest": "old"}, "write", {"content": COPY}, "primary")


def test_long_arguments_are_looked_at_in_no_time(adapter: Adapter) -> None:
    blank = " " * 100_000
    for text in ("`" * 100_000, '"' * 100_000, f"x{blank}x", COPY * 20_000, f"{COPY}{blank}x", "§1§" * 50_000 + "x"):
        assert "" == refusal(adapter, {"content": text})
