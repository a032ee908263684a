"""What an agent or a person may call in a harness: declared here once, served to the adapters."""

from typing import Literal

import msgspec

from schemas.inbox import Mode

Verb = Literal["wish", "ask"]
"""Whether a call is a wish on `do.*` or a question on `ask.*`."""


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool that a model is offered."""

    name: str
    description: str
    parameters: dict[str, object]
    """JSON Schema of an object: the fields of the wish or of the question."""
    verb: Verb
    subject: str
    """The type of a command (`drop.queue`), or the name of a question."""
    modes: tuple[Mode, ...] = ("primary",)
    """The modes of a session in which it is offered."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A slash command that a person types."""

    name: str
    description: str
    verb: Verb
    subject: str
    argument: str = ""
    """The field that takes what is typed behind the command; empty: nothing is."""


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="ctx_reduce",
        description=(
            "Free context: mark tagged content that you no longer need, such as tool outputs you have already used. "
            'Give the numbers of the tags that stand in front of it ("§12§" is 12), as numbers and ranges: '
            '"3-5,8,12-15". Marked content stays until the prompt is rewritten anyway, so marking early costs '
            "nothing. Keep what you still work with."
        ),
        parameters={
            "type": "object",
            "properties": {
                "drop": {
                    "type": "string",
                    "description": "Numbers and ranges of tags, separated by commas: 3-5,8,12-15",
                },
            },
            "required": ["drop"],
            "additionalProperties": False,
        },
        verb="wish",
        subject="drop.queue",
    ),
    Tool(
        name="ctx_expand",
        description=(
            "Read again what was said earlier in this session and is shown only as a summary, shortened or dropped. "
            "Name one thing: a range of messages as the history counts them (start and end), one message, a tag "
            "(§12§ is 12), or a part of the history. A range comes as a transcript; with verbose, and for a message "
            "or a tag, every word is there. Long answers have pages."
        ),
        parameters={
            "type": "object",
            "properties": {
                "start": {"type": "integer", "minimum": 1, "description": "First message of a range"},
                "end": {"type": "integer", "minimum": 1, "description": "Last message of the range"},
                "message": {"type": "string", "description": "One message, by its number or its id"},
                "tag": {"type": "integer", "minimum": 1, "description": "The number between the section signs"},
                "compartment": {"type": "string", "description": "A part of the history: any message number in it"},
                "verbose": {"type": "boolean", "description": "With arguments and outputs of tools, word for word"},
                "page": {"type": "integer", "minimum": 1, "description": "Which page of a long answer"},
            },
            "additionalProperties": False,
        },
        verb="ask",
        subject="expand",
        modes=("primary", "reduce_off"),
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
