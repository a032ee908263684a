"""Tools with their actions, and slash commands: what an agent or a person may call in a harness."""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from schemas.events.fact import CATEGORIES
from schemas.events.memory import IMPORTANCES, VERIFICATIONS
from schemas.inbox import Mode

Source = Literal["memory", "message", "compartment", "note", "commit", "output"]
"""The sources that can be searched: the memory of the project, the text of a message, a part of compressed history, a
note, a commit, the outputs of tools."""
Verb = Literal["command", "ask", "wish"]
"""Whether a call is a command on `do.*` or a question on `ask.*`. Adapters that do not list `command` among the verbs
that they know are sent `wish` for it."""


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """The command or question to which one action of a tool is sent."""

    verb: Verb
    subject: str
    modes: tuple[Mode, ...]
    """The modes of a session in which it may be taken. A session that an agent has started is a `subagent` in any."""


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool that a model is offered."""

    name: str
    description: str
    parameters: dict[str, object]
    """JSON Schema of an object: the fields of the command or of the question."""
    verb: Verb
    subject: str
    """The type of a command (`drop.queue`), or the name of a question."""
    modes: tuple[Mode, ...] = ("primary",)
    """The modes of a session in which it is offered."""
    takes_placeholders: bool = False
    """Whether its arguments may be tags and placeholders, which name the texts that they replace."""
    actions: dict[str, Target] = {}
    """The values of the argument `action`, and where each goes; empty: all calls go to `subject`."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A slash command that a person types."""

    name: str
    description: str
    verb: Verb
    subject: str
    argument: str = ""
    """The field that takes what is typed behind the command; empty: nothing is."""
    augments: bool = False
    """Whether what is typed goes on to the model as a message, with the reply to the question behind it."""


MEMORY = "ctx_memory"
"""The tool of a project's memory: it is offered where memory is on."""

OWN_SESSIONS: tuple[Mode, ...] = ("primary", "reduce_off", "additive")
"""The modes of sessions that a person has started."""
ALL_SESSIONS: tuple[Mode, ...] = (*OWN_SESSIONS, "subagent")
"""These, and the mode of sub-agents."""


class Action(msgspec.Struct, frozen=True):
    """One action of a tool: a command registers the one that it is offered as where it is decided."""

    name: str
    modes: tuple[Mode, ...]
    order: int = 100
    """Actions are listed in this order, and under the same number by their names. A new one goes to the end."""
    description: str = ""
    """A sentence behind the description of the tool; empty: that says it."""
    parameters: dict[str, object] = {}
    """JSON Schema of the parameters that the tool does not have without this action."""
    tool: str = MEMORY
    verb: Verb = "command"
    subject: str = ""
    """The type of the command, which registering it fills in, or the name of the question."""

    @property
    def target(self) -> Target:
        return Target(self.verb, self.subject, self.modes)


def with_actions(tools: Iterable[Tool], actions: Iterable[Action]) -> tuple[Tool, ...]:
    """The tools with these actions. Raises `ValueError` where a tool is not there, or has an action twice."""
    actions, named = (*READS, *actions), {tool.name: tool for tool in tools}
    if strange := {action.tool for action in actions} - set(named):
        raise ValueError(
            f"actions of tools that are not declared: {sorted(strange)}; declare the tool, or name another"
        )
    return tuple(_with(tool, [one for one in actions if one.tool == name]) for name, tool in named.items())


def _with(tool: Tool, actions: Sequence[Action]) -> Tool:
    if not actions:
        return tool
    ordered = sorted(actions, key=lambda one: (one.order, one.name))
    targets = {one.name: one.target for one in ordered}
    if len(targets) < len(ordered):
        raise ValueError(f"{tool.name} has an action twice among {[one.name for one in ordered]}; rename one of them")
    properties = msgspec.convert(tool.parameters["properties"], dict[str, object])
    named: dict[str, object] = {"action": {"type": "string", "enum": [*targets]}, **properties}
    for one in ordered:
        if twice := set(named) & set(one.parameters):
            raise ValueError(f"{tool.name} has the parameters {sorted(twice)} of {one.name} already; leave them out")
        named.update(one.parameters)
    return msgspec.structs.replace(
        tool,
        description=" ".join([tool.description, *(one.description for one in ordered if one.description)]),
        parameters={**tool.parameters, "properties": named},
        actions=targets,
    )


READS: tuple[Action, ...] = (Action("read", ALL_SESSIONS, order=30, verb="ask", subject="memory"),)
"""The actions that are questions. A sub-agent reads the memory, and leaves notes for the session that started it."""

TOOLS_DECLARED: tuple[Tool, ...] = (
    Tool(
        name="ctx_reduce",
        description=(
            "Give room back: name the tags of what you no longer need (§12§ is 12). It goes when the prompt is "
            "rewritten anyway, so naming it early costs nothing."
        ),
        parameters={
            "type": "object",
            "properties": {
                "drop": {
                    "type": "string",
                    "description": "Such as 3-5,8",
                },
            },
            "required": ["drop"],
            "additionalProperties": False,
        },
        verb="command",
        subject="drop.queue",
        takes_placeholders=True,
    ),
    Tool(
        name="ctx_expand",
        description=(
            "Read again, as it was, what is now history, shortened or dropped. Name one thing: a range of messages "
            "(start and end), a message, a tag, or a compartment; of another session, too, where you name it. A range "
            "comes as a transcript; with verbose, and for a message or a tag, every word is there."
        ),
        parameters={
            "type": "object",
            "properties": {
                "session": {"type": "string", "description": "As ctx_search names it; left out: this one"},
                "start": {"type": "integer", "minimum": 1},
                "end": {"type": "integer", "minimum": 1},
                "message": {"type": "string", "description": "Number or id"},
                "tag": {"type": "integer", "minimum": 1},
                "compartment": {"type": "string", "description": "Any message number in it"},
                "verbose": {"type": "boolean"},
                "page": {"type": "integer", "minimum": 1},
            },
            "additionalProperties": False,
        },
        verb="ask",
        subject="expand",
        modes=("primary", "reduce_off"),
        takes_placeholders=True,
    ),
    Tool(
        name="ctx_search",
        description=(
            "Search what this project knows: memories, notes, this and earlier sessions, commits. Use it before you "
            "ask the person or work something out anew."
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words, a symbol, a path, a commit or an id"},
                "sources": {"type": "array", "items": {"type": "string", "enum": [*get_args(Source)]}},
                "limit": {"type": "integer", "minimum": 1, "maximum": 25},
                "since": {"type": "string", "description": "Such as 2026-01-31T00:00:00Z"},
                "until": {"type": "string"},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        verb="ask",
        subject="search",
        modes=ALL_SESSIONS,
    ),
    Tool(
        name=MEMORY,
        description=(
            "The memory that all sessions of this project share. write: a rule, decision or fact that lasts and that "
            "no file says, in one sentence with its reason; no secrets, no progress of a task. read: memories and "
            "notes. update, delete, verify, reinforce: memory `id` is wrong, void, checked, useful. note: something "
            "to come back to. update, dismiss: note `id` says something else, is done."
        ),
        parameters={
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "At most 400 characters"},
                "category": {"type": "string", "enum": [*CATEGORIES]},
                "importance": {"type": "string", "enum": [*IMPORTANCES]},
                "id": {"type": "string"},
                "reason": {"type": "string", "description": "Of delete, verify"},
                "verification": {"type": "string", "enum": [*VERIFICATIONS]},
                "filter": {"type": "string", "description": "Of read"},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        verb="ask",
        subject="memory",
        modes=ALL_SESSIONS,
    ),
)
"""The tools that come first, without the actions that commands register; those that questions declare follow them. What
agents are offered is `schemas.offered.TOOLS`."""

LINES: tuple[Line, ...] = (
    Line(
        name="ctx-status",
        description="Show what the context of this session holds, and what waits to be dropped",
        verb="ask",
        subject="session",
    ),
    Line(
        name="ctx-wrapup",
        description="Compress all history of this session that can be compressed, now",
        verb="command",
        subject="history.order",
    ),
    Line(
        name="ctx-rebuild",
        description=(
            "Make the compressed history of this session anew: all of it, or a range of messages such as 12-80; "
            "stop gives up what was begun"
        ),
        verb="command",
        subject="history.rebuild",
        argument="range",
    ),
    Line(
        name="ctx-rescore",
        description="Have the model of the settings judge anew how long each part of the compressed history stays",
        verb="command",
        subject="history.rescore",
    ),
    Line(
        name="ctx-flush",
        description="Apply everything that waits to be dropped at the next model call",
        verb="command",
        subject="flush.request",
        argument="reason",
    ),
    Line(
        name="ctx-dream",
        description="Tidy up what is remembered of this project: all tasks of the dreamer, or the one that is named",
        verb="command",
        subject="dream.order",
        argument="task",
    ),
    Line(
        name="ctx-aug",
        description="Send a message with quotations from what is known of this project that may help with it",
        verb="ask",
        subject="augment",
        argument="text",
        augments=True,
    ),
)
