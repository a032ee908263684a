"""What was done in a unit: files, commands and how they ended, failures and whether they were overcome, commits."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from posixpath import commonpath, normpath

import msgspec

from services.historian.extract.steps import Step
from services.kit.history import commits
from services.kit.history.calls import Call
from services.kit.history.clean import beginning, flat

LONGEST_COMMAND = 90
LONGEST_RESULT = 70
_END = 4_000
"""Characters at the end of an output in which a result stands."""
_LEAD = re.compile(r"^(?:\s*(?:cd|export|source|set)\s[^&;\n]*(?:&&|;|\n)\s*|\s*\w+=\S*\s+)+")
_TAIL = re.compile(
    r"(?:\s*(?:\d?>&?\s*\S+|\|\|?\s*(?:tail|head|grep|rg|cat|tee|sed|awk|wc|sort|less|true|echo)\b.*))+\s*$", re.DOTALL
)
_LOOKING = re.compile(
    r"^(?:ls|cat|bat|rg|grep|egrep|find|fd|head|tail|pwd|wc|echo|which|type|tree|nl|stat|file|date|env"
    r"|sleep|ps|jq|sed|mkdir|touch|chmod|rm|cp|mv"
    r"|awk|diff|du|df|printf|test|\[|git (?:\S+ )?(?:status|diff|log|show|branch|rev-parse|remote|ls-files"
    r"|blame|grep|stash list))\b"
)
_BROKEN = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?|failures?)\b|^(?:FAIL|FAILED)\b|\berror TS\d+|^Traceback |npm ERR!"
    r"|^error(?:\[\w+\])?:"
    r"|^fatal: |command not found",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"^.{0,60}\b\d+ (?:tests? )?(?:passed|passing|pass)\b.{0,60}$|^.{0,20}\bok\. \d+ passed.{0,60}$", re.MULTILINE
)


class Run(msgspec.Struct, frozen=True):
    """A command that was worth it to be run, once or several times."""

    command: str
    times: int
    error: str = ""
    """What went wrong the last time."""
    before: str = ""
    """What went wrong an earlier time."""
    mended: tuple[str, ...] = ()
    """Files that were changed since then."""
    result: str = ""
    """What it says that it counted, as a test does."""
    at: int = 0
    """The ordinal of the last time."""


class Commit(msgspec.Struct, frozen=True):
    """A commit that was made."""

    hash: str
    subject: str


class Work(msgspec.Struct, frozen=True):
    """What a unit did. Paths are seen from the project's directory, the most often changed first."""

    changed: tuple[tuple[str, int], ...] = ()
    made: frozenset[str] = frozenset()
    """Those of the changed files that are new."""
    read: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    commits: tuple[Commit, ...] = ()
    calls: int = 0


def work(unit: Sequence[Step], root: str = "") -> Work:
    calls = [(step.last, call) for step in unit for call in step.calls]
    changed = Counter(relative(path, root) for _, call in calls if _changed(call) for path in call.files)
    read = dict.fromkeys(relative(path, root) for _, call in calls if call.act == "read" for path in call.files)
    return Work(
        changed=tuple(changed.most_common()),
        made=frozenset(relative(path, root) for _, call in calls for path in _made(call)),
        read=tuple(path for path in read if path not in changed),
        runs=tuple(_runs(calls, root)),
        commits=tuple(_commits(call for _, call in calls)),
        calls=len(calls),
    )


def relative(path: str, root: str) -> str:
    """The path as seen from the directory, if it lies below that."""
    plain = normpath(path)
    return plain.removeprefix(f"{root.rstrip('/')}/") if root else plain


def common_root(unit: Iterable[Step]) -> str:
    """The directory that all files with whole paths have in common, where no other is known."""
    paths = {path for step in unit for call in step.calls for path in call.files if path.startswith("/")}
    return commonpath(paths) if len(paths) > 1 else ""


def short_command(command: str) -> str:
    """The command that matters of a line for the shell."""
    text = command.split("<<", 1)[0]
    return beginning(flat(_TAIL.sub("", _LEAD.sub("", text)) or text), LONGEST_COMMAND)


def trouble(call: Call) -> str:
    """What a call's result says that went wrong, also where the harness took it for a success."""
    if call.failed:
        return call.error
    found = _BROKEN.search(call.output) if call.act == "run" else None
    if not found:
        return ""
    start = call.output.rfind("\n", 0, found.start()) + 1
    return beginning(flat(call.output[start:].split("\n", 1)[0]), LONGEST_COMMAND)


def counted(output: str) -> str:
    """The last line of an output that says how many tests have passed."""
    found = [*_PASSED.finditer(output[-_END:])]
    return beginning(flat(found[-1][0].strip(" =*.")), LONGEST_RESULT) if found else ""


def _changed(call: Call) -> bool:
    return call.act == "edit" and not call.failed


def _made(call: Call) -> Iterator[str]:
    """Files that did not exist before."""
    if not _changed(call):
        return
    if "*** Add File: " in call.arguments:
        yield from re.findall(r"^\*\*\* Add File: (.+?)\s*$", call.arguments, re.MULTILINE)
    elif re.match(r"write|create", call.tool, re.IGNORECASE):
        yield from call.files


def _runs(calls: Sequence[tuple[int, Call]], root: str) -> Iterator[Run]:
    runs: dict[str, Run] = {}
    changed: list[str] = []
    failed: dict[str, int] = {}
    for at, call in calls:
        changed += [relative(path, root) for path in call.files if _changed(call)]
        if call.act != "run":
            continue
        command, error = short_command(call.command), trouble(call)
        if not command or _LOOKING.match(command) or commits.made(call):
            continue
        known = runs.pop(command, None)
        before = (known.error or known.before) if known else ""
        mended = known.mended if known else ()
        if error:
            failed[command] = len(changed)
        elif command in failed:
            mended = tuple(dict.fromkeys(changed[failed.pop(command) :]))
        times = known.times + 1 if known else 1
        runs[command] = Run(command, times, error, before, mended, "" if error else counted(call.output), at)
    yield from runs.values()


def _commits(calls: Iterable[Call]) -> Iterator[Commit]:
    for call in calls:
        for one in commits.made(call):
            yield Commit(one[:7], beginning(commits.message(call), LONGEST_COMMAND))
