"""A tool call and how it ended, as a reader of history needs it: what it asked for, wrote and answered."""

import re

import msgspec

from services.domain.texts.bounds import bounded, flat
from services.domain.texts.content import Piece
from services.domain.tools.arguments import (
    ASKING,
    PATHS,
    SOUGHT,
    WRITTEN,
    Arguments,
    all_text,
    arguments_of,
    first,
)
from services.domain.tools.arguments import decoded as json_value
from services.domain.tools.outcome import exited, fault
from services.domain.tools.request import Request, command_of, patch_in, read_request, sections, subject
from services.domain.tools.todos import Task, progress, tasks

TOOLS = ("tool", "tool_call", "tool_result")
"""Kinds of parts that belong to a call."""
LONGEST_ABOUT = 2_000
"""Characters of what a call was about."""

_WRAPPING = re.compile(r"^task_id:.*$|</?[a-z_]+>|^agentId:.*$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ADDED = re.compile(r"^[+](.*)$", re.MULTILINE)


class Call(Request, frozen=True):
    """One use of a tool: what it asked for, and what came of it."""

    about: str = ""
    """The subject of the call, on one line, with the place where something was searched for; longer than its target."""
    command: str = ""
    description: str = ""
    arguments: str = ""
    """All that its arguments say, without their keys."""
    wrote: tuple[tuple[str, str], ...] = ()
    """Files, and what it puts into each."""
    output: str = ""
    """The result, without what the harness wraps around it."""
    failed: bool = False
    tasks: tuple[Task, ...] = ()
    """The tasks of the agent's plan that it reports."""
    report: str = ""
    """The answer of another agent, or of the person who was asked by a tool."""
    plan: str = ""
    """A plan that it hands in to be agreed to."""

    @property
    def error(self) -> str:
        """The line that says what went wrong; empty where nothing did."""
        return fault(self.output) if self.failed else ""


def call_of(piece: Piece) -> Call:
    """The call of this part, with its result. Long texts lose their middle."""
    given = arguments_of(piece.input)
    request = read_request(piece.tool, given)
    output = plain_output(piece.output)
    command = bounded(command_of(request.kind, given))
    is_other = request.kind == "other"
    plan = tasks(given, output) if is_other else ()
    return Call(
        **msgspec.structs.asdict(request),
        about=flat((_about(request, given) or progress(plan))[:LONGEST_ABOUT]),
        command=command,
        description=bounded(first(given, ("description",))) if command else "",
        arguments=bounded(all_text(given)),
        wrote=_wrote(request, given),
        output=bounded(output),
        failed=piece.status == "error" or exited(piece.output, output),
        tasks=plan,
        report=_report(output) if is_other and any(key in given for key in ASKING) else "",
        plan=bounded(all_text(given.get("plan"))) if is_other and not plan else "",
    )


def plain_output(output: str) -> str:
    """An output without colours, and without a JSON object around it, as some harnesses keep them."""
    if "\x1b" in output:
        output = _COLOUR.sub("", output)
    if not output.startswith("{"):
        return output
    value = json_value(output)
    for key in ("functionResponse", "response", "output"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    return value if isinstance(value, str) else output


def _about(request: Request, given: Arguments) -> str:
    """The subject of a call; of a search also the place."""
    about = subject(request.kind, given, request.files)
    where = first(given, PATHS) if request.kind == "search" and first(given, SOUGHT) else ""
    return f"{about} in {where}" if where else about


def _wrote(request: Request, given: Arguments) -> tuple[tuple[str, str], ...]:
    """The files that an edit changes, and what it puts into each: of a patch, the lines that it adds."""
    if patch := patch_in(given):
        return tuple((path, bounded("\n".join(_ADDED.findall(body)))) for path, body in sections(patch))
    if request.kind != "edit":
        return ()
    written = "\n".join(all_text(given.get(key)) for key in WRITTEN).strip()
    return tuple((path, bounded(written)) for path in request.files[:1])


def _report(output: str) -> str:
    return _WRAPPING.sub("", bounded(output)).strip()
