"""Lines about actions: commits, changed files, failures, the plan, commands and what was read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from posixpath import commonpath, dirname

from services.domain.transcript.labels import FAILING, LEFT
from services.domain.transcript.names import base
from services.historian.core.rules.index import NameIndex
from services.historian.core.rules.key_sentences import KeySentence
from services.historian.core.rules.todos import TaskPlan
from services.historian.core.rules.work import CommandRun, UnitWork

MANY, MOST = 8, 12
"""Commands or files that one line names, and changed files that are named."""
DEFINED, OUTLINED = 12, 24
"""Names of each changed file that the agent defined, and of one that was read, that are listed with it."""
OUTLINES = 20
"""Files that were read and are listed with the names in them."""
NOBODY = ""
"""The author of a line that nobody wrote: it reports what was done."""
_COMMITS, _CHANGED, _FAILING, _OPEN, _OVERCOME, _DONE, _RAN, _READ, _OUTLINE = (
    7.0,
    6.0,
    6.5,
    6.2,
    4.5,
    4.0,
    2.2,
    1.5,
    2.5,
)
"""The weights of the lines, among the sentences of a unit."""


def actions(done: UnitWork, found: NameIndex, plan: TaskPlan) -> list[KeySentence]:
    """Lines about what was done."""
    return [
        KeySentence(text, weight, who=NOBODY, paragraph=number)
        for number, (text, weight) in enumerate(_lines(done, found, plan))
    ]


def _lines(done: UnitWork, found: NameIndex, plan: TaskPlan) -> Iterator[tuple[str, float]]:
    if done.commits:
        yield f"Commits: {'; '.join(f'{one.hash} {one.subject}'.strip() for one in done.commits)}", _COMMITS
    yield from ((line, _CHANGED) for line in _changed(done, found))
    failed = [run for run in done.runs if run.error]
    if failed:
        yield f"{FAILING}: {'; '.join(f'`{run.command}`: {run.error}' for run in failed[-3:])}", _FAILING
    overcome = [run for run in done.runs if run.before and not run.error]
    if overcome:
        yield f"Overcome: {'; '.join(map(_overcome, overcome[-3:]))}", _OVERCOME
    if plan.done:
        yield f"Done of the plan: {'; '.join(plan.done)}", _DONE
    if plan.active or plan.open:
        yield f"{LEFT}: {'; '.join((*plan.active, *plan.open))}", _OPEN
    if done.runs:
        yield f"Ran: {_listed([_run(run) for run in reversed(done.runs)])}", _RAN
    if done.read:
        yield f"Read: {_folders(done.read)}", _READ
    yield from ((line, _OUTLINE) for line in islice(_outlines(done, found), OUTLINES))


def _changed(done: UnitWork, found: NameIndex) -> Iterator[str]:
    """Files, below the folder that they have in common, and what was defined in them."""
    if not done.changed:
        return
    paths = [path for path, _ in done.changed]
    folder = commonpath(paths) if len(paths) > 1 and not any(path.startswith("/") for path in paths) else ""
    start = len(folder) + 1 if folder else 0
    defined: dict[str, list[str]] = defaultdict(list)
    for name in found.ordered:
        if name in found.own and len(defined[found.homes[name]]) < DEFINED:
            defined[found.homes[name]].append(name)
    files = [_file(path[start:], defined[path], new=path in done.made) for path in paths[:MOST]]
    more = f" and {len(paths) - MOST} more in {_folders(paths[MOST:])}" if len(paths) > MOST else ""
    yield f"{f'Changed in {folder}' if folder else 'Changed'}: {', '.join(files)}{more}"


def _outlines(done: UnitWork, found: NameIndex) -> Iterator[str]:
    """Lines about the contents of the files that were worked with, those with the most that matters first."""
    paths = dict.fromkeys((*(path for path, _ in done.changed), *done.read))
    outlines = {path: [name for name in found.defined.get(path, ()) if name not in found.own] for path in paths}
    worth = {path: sum(found.weights[name] for name in each) for path, each in outlines.items()}
    for path in sorted(outlines, key=lambda path: (-worth[path], path)):
        best = sorted(outlines[path], key=lambda name: -found.weights[name])[:OUTLINED]
        if best:
            yield f"In {base(path)}: {', '.join(name for name in outlines[path] if name in best)}"


def _file(path: str, defined: Sequence[str], *, new: bool) -> str:
    more = f"{'new' * new}{': ' * (new and bool(defined))}{', '.join(defined)}"
    return f"{path} ({more})" if more else path


def _folders(paths: Iterable[str]) -> str:
    """Files, by folder where there are many."""
    every = list(dict.fromkeys(paths))
    if len(every) <= MANY:
        return ", ".join(dict.fromkeys(map(base, every)))
    folders: dict[str, list[str]] = defaultdict(list)
    for path in every:
        folders[dirname(path)].append(base(path))
    ranked = sorted(folders, key=lambda folder: (-len(folders[folder]), folder))
    return ", ".join(_folder(folder, folders[folder]) for folder in ranked[:MANY])


def _folder(folder: str, files: Sequence[str]) -> str:
    if len(files) <= 2 or not folder:  # noqa: PLR2004 - as short as the folder
        return ", ".join(files[:MANY])
    return f"{folder} ({len(files)} files: {', '.join(files[:2])} …)"


def _overcome(run: CommandRun) -> str:
    since = f", passes since {', '.join(map(base, run.mended[:3]))} changed" if run.mended else ""
    return f"`{run.command}`: {run.before}{since}"


def _run(run: CommandRun) -> str:
    return f"`{run.command}` {'failed' if run.error else run.result or 'ok'}"


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - MANY} more" if len(texts) > MANY else ""
    return ", ".join(texts[:MANY]) + more
