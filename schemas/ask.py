"""The base of all questions, and what belongs to one."""

from typing import ClassVar

import msgspec

from schemas.tools import Tool


class Ask(msgspec.Struct, frozen=True):
    """A question. It changes nothing but what the answer itself must remember."""

    NAME: ClassVar[str]


class RequestReply(msgspec.Struct, frozen=True):
    """A question with its reply: a module of `schemas` declares those that it has, and they are found there."""

    ask: type[Ask]
    reply: type[msgspec.Struct]
    order: int = 1000
    """Pages list questions in this order, and under the same number by their names. A new one goes to the end."""
    tool: Tool | None = None
    """The tool that asks it, unless `schemas.tools` has it. Agents are offered those tools first."""
