"""Whether the result of a tool is a failure, and the line of it that says what went wrong."""

import re

from services.kit.history.clean import beginning, flat

LONGEST = 160
_LOOK, _ENDS = 20_000, 200
"""Characters in which a fault is looked for, and in which an exit code stands at either end."""
_EXIT = re.compile(r"(?:exit(?:ed)?[ _](?:with )?(?:code|status)\"?:?)\s*(\d{1,3})\b", re.IGNORECASE)
_ERROR = re.compile(
    r"\b\w*(?:Error|Exception)\b|\berror(?: TS\d+)?\b\W|^(?:FAIL|FAILED|fatal|panic)\b|^E\s|✗|\u00d7|No such"
)
"""What says what went wrong ..."""
_FAULT = re.compile(r"\b(?:error|fatal|panic|failed|failure|FAIL|denied|cannot|could not)\b|not found")
"""... or only that something did."""


def exited(whole: str, output: str) -> bool:
    """Whether it says that it ended with another code than 0. `whole`: as the harness keeps it, with what it adds."""
    ends = f"{output[:_ENDS]}\n{output[-_ENDS:]}" if output is whole else whole[-_ENDS:]
    return any(code != "0" for code in _EXIT.findall(ends))


def fault(output: str) -> str:
    """The line that says what went wrong, with the next one where it ends with a colon."""
    lines = [line.strip() for line in output[:_LOOK].splitlines() if line.strip()]
    told = [line for line in lines if not _EXIT.match(line)]
    at = next((at for sign in (_ERROR, _FAULT) for at, line in enumerate(told) if sign.search(line)), len(told) - 1)
    found = told[at : at + 2] if told and told[at].endswith(":") else told[at : at + 1] or lines[:1]
    return beginning(flat(" ".join(found)), LONGEST)
