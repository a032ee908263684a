"""The work of a unit: files, commands with their results, failures and whether they were overcome, commits."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from posixpath import commonpath, normpath

import msgspec

from services.domain.texts.bounds import beginning, flat
from services.domain.tools.call import Call, broken
from services.domain.tools.shell import LONGEST_COMMAND, short_command
from services.domain.transcript import commits
from services.domain.transcript.names import is_file
from services.historian.core.rules.steps import Step

LONGEST_RESULT = 70
_END = 4_000
"""Characters at the end of an output in which a result is looked for."""
_LOOKING = re.compile(
    r"^(?:ls|cat|bat|rg|grep|egrep|find|fd|head|tail|pwd|wc|echo|which|type|tree|nl|stat|file|date|env"
    r"|sleep|ps|jq|sed|mkdir|touch|chmod|rm|cp|mv"
    r"|awk|diff|du|df|printf|test|\[|git (?:\S+ )?(?:status|diff|log|show|branch|rev-parse|remote|ls-files"
    r"|blame|grep|stash list))\b"
)
_SHOWING = re.compile(r"(?:cat|bat|nl|head|tail|sed -n)\s(?:\S+\s)*+(?<=\s)([\w@./\-]+)$")
_PASSED = re.compile(
    r"^.{0,60}\b\d+ (?:tests? )?(?:passed|passing|pass)\b.{0,60}$|^.{0,20}\bok\. \d+ passed.{0,60}$", re.MULTILINE
)


class CommandRun(msgspec.Struct, frozen=True):
    """A command that was worth it to be run, once or several times."""

    command: str
    times: int
    error: str = ""
    """The failure of the last time; empty: it passed."""
    before: str = ""
    """The failure of an earlier time; empty: it never failed before."""
    mended: tuple[str, ...] = ()
    """Files that were changed since then."""
    result: str = ""
    """The counts that it printed, as a test does."""
    at: int = 0
    """The ordinal of the last time."""


class CommitMade(msgspec.Struct, frozen=True):
    """A commit that was made."""

    hash: str
    subject: str


class UnitWork(msgspec.Struct, frozen=True):
    """The work of a unit. Paths are relative to the project's directory, the most often changed first."""

    changed: tuple[tuple[str, int], ...] = ()
    made: frozenset[str] = frozenset()
    """Those of the changed files that are new."""
    read: tuple[str, ...] = ()
    runs: tuple[CommandRun, ...] = ()
    commits: tuple[CommitMade, ...] = ()


def work(unit: Sequence[Step], root: str = "") -> UnitWork:
    calls = [(step.last, call) for step in unit for call in step.calls]
    changed = Counter(relative(path, root) for _, call in calls if _changed(call) for path in call.files)
    read = dict.fromkeys(relative(path, root) for _, call in calls for path in looked_at(call))
    return UnitWork(
        changed=tuple(changed.most_common()),
        made=frozenset(relative(path, root) for _, call in calls for path in _made(call)),
        read=tuple(path for path in read if path not in changed),
        runs=tuple(_runs(calls, root)),
        commits=tuple(_commits(call for _, call in calls)),
    )


def looked_at(call: Call) -> tuple[str, ...]:
    """The files that a call shows: of a command, the one that it prints."""
    if call.kind == "read":
        return call.files
    found = _SHOWING.match(short_command(call.command)) if call.kind == "run" else None
    return (found[1],) if found and is_file(found[1]) else ()


def relative(path: str, root: str) -> str:
    """The path as seen from the directory, if it lies below that."""
    plain = normpath(path)
    return plain.removeprefix(f"{root.rstrip('/')}/") if root else plain


def common_root(unit: Iterable[Step]) -> str:
    """The directory that all files with whole paths have in common, where no other is known."""
    paths = {path for step in unit for call in step.calls for path in call.files if path.startswith("/")}
    return commonpath(paths) if len(paths) > 1 else ""


def trouble(call: Call) -> str:
    """The line of a call's result that reports a failure, also where the harness took it for a success."""
    if call.failed:
        return call.error
    return beginning(broken(call.output), LONGEST_COMMAND) if call.kind == "run" else ""


def counts_of_tests(output: str) -> str:
    """The last line of an output that says how many tests have passed."""
    found = [*_PASSED.finditer(output[-_END:])]
    return beginning(flat(found[-1][0].strip(" =*.")), LONGEST_RESULT) if found else ""


def _changed(call: Call) -> bool:
    return call.kind == "edit" and not call.failed


def _made(call: Call) -> Iterator[str]:
    """Files that did not exist before."""
    if _changed(call):
        yield from (touch.path for touch in call.touches if touch.action == "written")


def _runs(calls: Sequence[tuple[int, Call]], root: str) -> Iterator[CommandRun]:
    runs: dict[str, CommandRun] = {}
    changed: list[str] = []
    failed: dict[str, int] = {}
    for at, call in calls:
        changed += [relative(path, root) for path in call.files if _changed(call)]
        if call.kind != "run":
            continue
        command, error = short_command(call.command), trouble(call)
        if not command or _LOOKING.match(command) or commits.made_commits(call):
            continue
        known = runs.pop(command, None)
        before = (known.error or known.before) if known else ""
        mended = known.mended if known else ()
        if error:
            failed[command] = len(changed)
        elif command in failed:
            mended = tuple(dict.fromkeys(changed[failed.pop(command) :]))
        times = known.times + 1 if known else 1
        runs[command] = CommandRun(
            command, times, error, before, mended, "" if error else counts_of_tests(call.output), at
        )
    yield from runs.values()


def _commits(calls: Iterable[Call]) -> Iterator[CommitMade]:
    for call in calls:
        for one in commits.made_commits(call):
            yield CommitMade(one[:7], beginning(commits.message(call), LONGEST_COMMAND))
