"""What agents and people may call: where each call goes, in which modes, and what a definition costs."""

import json

import msgspec

from schemas.codec import encode
from schemas.offered import ACTIONS, TOOLS
from schemas.tools import LINES, MEMORY, Line, Target, Tool
from services.desk.core.commands import COMMANDS
from services.domain.limits import Limits, MemoryLimits
from services.domain.tokens import tokens
from services.generate.schema import ASKS
from services.responder.answers.client_manifest import MANIFEST, client_manifest

FIELDS = {
    **{("command", command.TYPE): command.__struct_fields__ for command in COMMANDS},
    **{("ask", ask.NAME): ask.__struct_fields__ for ask in ASKS},
}


def fields(target: Tool | Target | Line) -> tuple[str, ...]:
    """What the command or the question takes that a call leads to."""
    return FIELDS[target.verb, target.subject]


def test_every_tool_and_line_leads_to_a_command_or_a_question() -> None:
    for tool in TOOLS:
        properties = tool.parameters["properties"]
        assert isinstance(properties, dict)
        targets = [tool, *tool.actions.values()]
        assert {*properties} - {"action"} <= {field for target in targets for field in fields(target)}
        assert ("action" in properties) == bool(tool.actions)
        assert {*tool.modes} == {mode for target in tool.actions.values() or (tool,) for mode in target.modes}
    for line in LINES:
        assert line.argument in ("", *fields(line))


def test_the_tool_of_the_memory_costs_few_tokens_and_lists_its_actions() -> None:
    (tool,) = (tool for tool in MANIFEST.tools if tool.name == MEMORY)
    schema = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    assert tokens(len(json.dumps(schema))) <= 350
    assert [*tool.actions] == msgspec.to_builtins(tool.parameters)["properties"]["action"]["enum"]
    assert all(name in tool.description for name in tool.actions)


def test_the_tool_of_the_memory_is_offered_where_memory_is_on() -> None:
    offered = {
        on: [tool.name for tool in client_manifest(Limits(), MemoryLimits(enabled=on)).tools] for on in (True, False)
    }
    assert MEMORY in offered[True]
    assert offered[False] == [name for name in offered[True] if name != MEMORY]


def test_an_adapter_that_does_not_know_commands_is_sent_the_verb_of_older_releases() -> None:
    older, newer = (
        client_manifest(Limits(), MemoryLimits(), ()),
        client_manifest(Limits(), MemoryLimits(), ("command", "ask")),
    )
    assert encode(newer).replace(b'"verb":"command"', b'"verb":"wish"').replace(
        newer.digest.encode(), older.digest.encode()
    ) == encode(older)
    assert b'"wish"' not in encode(newer)
    assert newer == MANIFEST


def test_a_sub_agent_reads_the_memory_and_leaves_notes() -> None:
    taken = {name: target for name, target in ACTIONS.items() if "subagent" in target.modes}
    assert {"read", "note"} <= {*taken}
    assert all(target.verb == "ask" or target.subject.startswith("note.") for target in taken.values())
