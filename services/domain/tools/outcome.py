"""Whether the result of a tool is a failure, and the line of it that says what went wrong."""

import re

from services.domain.texts.bounds import beginning, flat

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
