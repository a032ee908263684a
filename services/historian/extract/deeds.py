"""What was done, in lines: commits, changed files, failures, commands and what was read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from posixpath import commonpath

from services.historian.extract.index import Index
from services.historian.extract.work import Run, Work
from services.kit.history.names import base

MANY = 8
"""Files or commands that are named in one line."""
DEFINED = 3
"""Names that are told of each changed file."""


def deeds(done: Work, found: Index, question: str) -> Iterator[str]:
    """Lines about what was done, the most telling first."""
    if done.commits:
        yield f"Commits: {'; '.join(f'{one.hash} {one.subject}'.strip() for one in done.commits)}"
    if done.changed:
        yield _changed(done, found)
    failed = [run for run in done.runs if run.error]
    overcome = [run for run in done.runs if run.before and not run.error]
    if failed:
        yield f"Still failing: {'; '.join(f'`{run.command}`: {run.error}' for run in failed[-3:])}"
    if overcome:
        yield f"Overcome: {'; '.join(f'`{run.command}`: {run.before}' for run in overcome[-3:])}"
    if question:
        yield f"Asked: {question}"
    if done.runs:
        yield f"Ran: {_listed(_run(run) for run in reversed(done.runs))}"
    if done.read:
        yield f"Read: {_listed(dict.fromkeys(map(base, done.read)))}"


def _changed(done: Work, found: Index) -> str:
    """Files, below the folder that they have in common, and what was defined in them."""
    paths = [path for path, _ in done.changed]
    folder = commonpath(paths) if len(paths) > 1 and not any(path.startswith("/") for path in paths) else ""
    start = len(folder) + 1 if folder else 0
    defined: dict[str, list[str]] = defaultdict(list)
    for name in found.ordered:
        if name in found.own and len(defined[found.homes[name]]) < DEFINED:
            defined[found.homes[name]].append(name)
    files = _listed(_file(path[start:], defined[path], new=path in done.made) for path in paths)
    return f"Changed in {folder}: {files}" if folder else f"Changed: {files}"


def _file(path: str, defined: Sequence[str], *, new: bool) -> str:
    more = f"{'new' * new}{': ' * (new and bool(defined))}{', '.join(defined)}"
    return f"{path} ({more})" if more else path


def _run(run: Run) -> str:
    return f"`{run.command}` {'failed' if run.error else 'ok'}"


def _listed(texts: Iterable[str]) -> str:
    every = list(texts)
    more = f" and {len(every) - MANY} more" if len(every) > MANY else ""
    return ", ".join(every[:MANY]) + more
