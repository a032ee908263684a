"""What an agent or a person may call in a harness: declared here once, served to the adapters."""

from typing import Literal, get_args

import msgspec

from schemas.events.fact import CATEGORIES
from schemas.events.memory import IMPORTANCES, VERIFICATIONS
from schemas.inbox import Mode

Source = Literal["memory", "message", "compartment", "note", "commit", "output"]
"""What can be found: what the project remembers, what was written in a message, a part of compressed history, a note,
a commit."""
Verb = Literal["wish", "ask"]
"""Whether a call is a command on `do.*` or a question on `ask.*`."""


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where one action of a tool goes."""

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
    """Whether its arguments may be tags and placeholders: they name what they stand for."""
    actions: dict[str, Target] = {}
    """What the argument `action` may say, and where each goes; empty: all calls go to `subject`."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A slash command that a person types."""

    name: str
    description: str
    verb: Verb
    subject: str
    argument: str = ""
    """The field that takes what is typed behind the command; empty: nothing is."""


MEMORY = "ctx_memory"
"""The tool of a project's memory: it is offered where memory is on."""

_OWN: tuple[Mode, ...] = ("primary", "reduce_off", "additive")
_ALL: tuple[Mode, ...] = (*_OWN, "subagent")

ACTIONS: dict[str, Target] = {
    "write": Target("wish", "memory.write", _OWN),
    "note": Target("wish", "note.write", _ALL),
    "read": Target("ask", "memory", _ALL),
    "update": Target("wish", "memory.revise", _OWN),
    "delete": Target("wish", "memory.archive", _OWN),
    "dismiss": Target("wish", "note.dismiss", _OWN),
    "verify": Target("wish", "memory.verify", _OWN),
    "reinforce": Target("wish", "memory.reinforce", _OWN),
}
"""What an agent may do with the memory. A sub-agent reads, and leaves notes for the session that started it."""

TOOLS: tuple[Tool, ...] = (
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
        verb="wish",
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
        modes=_ALL,
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
                "action": {"type": "string", "enum": [*ACTIONS]},
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
        modes=_ALL,
        actions=ACTIONS,
    ),
)

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
        verb="wish",
        subject="history.order",
    ),
    Line(
        name="ctx-rebuild",
        description=(
            "Make the compressed history of this session anew: all of it, or a range of messages such as 12-80; "
            "stop gives up what was begun"
        ),
        verb="wish",
        subject="history.rebuild",
        argument="range",
    ),
    Line(
        name="ctx-rescore",
        description="Have the model of the settings judge anew how long each part of the compressed history is kept",
        verb="wish",
        subject="history.rescore",
    ),
    Line(
        name="ctx-flush",
        description="Apply everything that waits to be dropped at the next model call",
        verb="wish",
        subject="flush.request",
        argument="reason",
    ),
)
