"""A tool call and how it ended, as a reader of history needs it: what it asked for, wrote and answered."""

import re

import msgspec

from services.domain.texts.bounds import beginning, bounded, flat
from services.domain.texts.content import Piece
from services.domain.tools.arguments import ASKING, PATHS, SOUGHT, WRITTEN, Arguments, all_text, arguments_of, first
from services.domain.tools.arguments import decoded as json_value
from services.domain.tools.request import Request, command_of, patch_in, read_request, sections, subject
from services.domain.tools.todos import Task, progress, tasks

LONGEST = 160
_LOOK, _ENDS = 20_000, 200
"""Characters in which a fault is looked for, and characters at either end in which an exit code is."""
_EXIT = re.compile(r"(?:exit(?:ed)?[ _](?:with )?(?:code|status)\"?:?)\s*(\d{1,3})\b", re.IGNORECASE)
_ERROR = re.compile(
    r"\b\w*(?:Error|Exception)\b|\berror(?: TS\d+)?\b\W|^(?:FAIL|FAILED|fatal|panic)\b|^E\s|✗|\u00d7|No such"
)
"""Words of a line that describes what went wrong."""
_FAULT = re.compile(r"\b(?:error|fatal|panic|failed|failure|FAIL|denied|cannot|could not)\b|not found")
"""Words of a line that reports only that something went wrong."""

_BROKEN = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?|failures?)\b|^(?:FAIL|FAILED)\b|\berror TS\d+|^Traceback |npm ERR!"
    r"|^error(?:\[\w+\])?:"
    r"|^fatal: |command not found",
    re.MULTILINE,
)
"""Lines of a command's output that report a failure, whatever the command ended with."""


def exit_code_of(output: str) -> int | None:
    """The exit code that an output names at either end; none where it names none."""
    found = _EXIT.search(f"{output[:_ENDS]}\n{output[-_ENDS:]}")
    return int(found[1]) if found else None


def broken(output: str) -> str:
    """The first line of a command's output that says that something failed; empty where none does."""
    found = _BROKEN.search(output)
    if not found:
        return ""
    start = output.rfind("\n", 0, found.start()) + 1
    return flat(output[start:].split("\n", 1)[0])


def exited(whole: str, output: str) -> bool:
    """Whether it says that it ended with another code than 0. `whole`: as the harness keeps it, with what it adds."""
    ends = f"{output[:_ENDS]}\n{output[-_ENDS:]}" if output is whole else whole[-_ENDS:]
    return any(code != "0" for code in _EXIT.findall(ends))


def fault(output: str) -> str:
    """The line that says what went wrong, with the next one where it ends with a colon."""
    lines = [line.strip() for line in output[:_LOOK].splitlines() if line.strip()]
    texts = [line for line in lines if not _EXIT.match(line)]
    at = next((at for sign in (_ERROR, _FAULT) for at, line in enumerate(texts) if sign.search(line)), len(texts) - 1)
    found = texts[at : at + 2] if texts and texts[at].endswith(":") else texts[at : at + 1] or lines[:1]
    return beginning(flat(" ".join(found)), LONGEST)


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
