"""`annals memory import`, run: what files say is proposed one by one, and what is not taken is counted by reason."""

import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

from schemas.commands import Answer, Command, MemoryPin, MemoryPropose, MemoryWrite
from services.edges.memory.stores import markdown
from services.edges.memory.stores.files import files
from services.edges.memory.stores.recognition import contents_of
from services.edges.memory.stores.sentences import TWICE, sentences_of
from services.edges.memory.stores.statement import Omission, Statement, UnreadableStore
from services.memory.decide.answers import PROPOSED

Send = Callable[[Command], Awaitable[Answer]]
_MEMORY = re.compile(r"\bm[0-9a-f]{10}\b")


class ImportReport:
    """The outcome of an import."""

    def __init__(self, *, is_restored: bool) -> None:
        self.is_restored = is_restored
        self.taken = self.known = self.refused = 0
        self.problems: list[str] = []
        self._omitted: dict[str, Counter[str]] = {}
        """File -> reason -> number."""

    def omit(self, what: str, omission: Omission) -> None:
        """Count what is not taken."""
        self._omitted.setdefault(what, Counter())[omission.reason] += omission.count

    def answered(self, answer: Answer) -> None:
        """Count a decision of the desk."""
        if not answer.ok:
            self.refused += 1
            self.problems.append(answer.text)
        elif self.is_restored or answer.text.startswith(PROPOSED):
            self.taken += 1
        else:
            self.known += 1

    def text(self) -> str:
        """The report for a person."""
        counts = [f"{self.taken} {'taken up' if self.is_restored else 'proposed'}"]
        counts += [f"{self.known} known already"] if self.known else []
        lines = [f"{', '.join([*counts, f'{self.refused} refused'])}."]
        for what, reasons in self._omitted.items():
            lines.append(f"Not taken of {what}:")
            lines += [f"  {count} × {reason}" for reason, count in reasons.most_common()]  # noqa: RUF001 - times
        return "\n".join(lines)

    def values(self) -> dict[str, object]:
        """The report for programs."""
        omitted = [
            {"of": what, "reason": reason, "count": count}
            for what, reasons in self._omitted.items()
            for reason, count in reasons.most_common()
        ]
        return {
            "taken": self.taken,
            "known": self.known,
            "refused": self.refused,
            "problems": self.problems,
            "omitted": omitted,
        }


async def import_files(send: Send, paths: Sequence[Path], project: str, report: ImportReport) -> None:
    """Send a command for each thing that the files of these paths say. Raises `NothingToImport`.

    `project`: what a store of several projects calls this one.
    """
    for path in files(paths):
        if isinstance(path, Omission):
            report.omit("the folders", path)
            continue
        try:
            tool, found = _read(path, project, report)
        except (UnreadableStore, FileNotFoundError) as error:
            report.problems.append(str(error) if isinstance(error, UnreadableStore) else f"{path} is gone")
            continue
        for statement in found:
            answer = await send(_command(statement, f"import:{tool}:{_spelled(path)}", is_restored=report.is_restored))
            report.answered(answer)
            if report.is_restored and answer.ok and statement.is_pinned and (name := _MEMORY.search(answer.text)):
                await send(MemoryPin(name[0]))


def _read(path: Path, project: str, report: ImportReport) -> tuple[str, Sequence[Statement]]:
    """The tool whose store a file is, and what of it can be proposed."""
    contents = contents_of(path, project)
    if report.is_restored and contents.tool != markdown.ANNALS:
        raise UnreadableStore(f"{path} is no export of Annals: leave out --restore to have its sentences proposed")
    found: list[Statement] = []
    for one in _one_by_one(contents.found):
        if isinstance(one, Statement):
            found.append(one)
        else:
            report.omit(f"{path} ({contents.tool})", one)
    return contents.tool, found


def _one_by_one(found: Iterable[Statement | Omission]) -> Iterator[Statement | Omission]:
    """All that can be proposed, each once, and all that is omitted."""
    seen: set[str] = set()
    for one in found:
        for sentence in sentences_of(one) if isinstance(one, Statement) else (one,):
            if isinstance(sentence, Statement) and sentence.text in seen:
                yield Omission(TWICE)
                continue
            seen |= {sentence.text} if isinstance(sentence, Statement) else set()
            yield sentence


def _command(statement: Statement, run: str, *, is_restored: bool) -> Command:
    if is_restored:
        return MemoryWrite(statement.text, statement.category, statement.importance)
    return MemoryPropose(statement.category, statement.text, run=run)


def _spelled(path: Path) -> str:
    """The path as text, whatever bytes its name has."""
    return os.fsencode(path.absolute()).decode(errors="backslashreplace")
