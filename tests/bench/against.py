"""`make bench AGAINST=COMMIT`: the budgets here and at a commit, in turns, so that both see the same machine.

A section is run here, there, here, there, and so on, each time in a process of its own, and each side by its own bench.
The exit code is 1 where something got worse, 2 where the comparison could not be made as asked.
"""

import argparse
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import msgspec

from tests.bench.commit_bench import (
    CommitBench,
    NotComparable,
    Programs,
    changed_benches,
    commit_bench,
    full_name,
    temporary_folder,
)
from tests.bench.compared import Comparison, MeasuredRound, Side, table, verdict
from tests.bench.results import print_whole

ROUNDS = 3
"""The fewest rounds: of two nobody knows which one was disturbed."""
SAME, WORSE, NOT_COMPARED, INTERRUPTED = 0, 1, 2, 130


class Turns:
    """Runs both benches in turns, and collects what they measure."""

    def __init__(self, here: CommitBench, there: CommitBench, rounds: int, lines: Path | None) -> None:
        self.comparison = Comparison()
        self.failed: dict[str, list[int]] = {}
        """Sentences about what ended without a row, each with the rounds that ended so."""
        self._sides: dict[Side, CommitBench] = {"here": here, "there": there}
        self._rounds = rounds
        self._lines = lines

    def take(self, sections: Sequence[str]) -> None:
        """All rounds of each section, one section after the other."""
        for section in sections:
            for number in range(1, self._rounds + 1):
                for side, bench in self._sides.items():
                    if bench.has(section):
                        say(f"{section}, round {number} of {self._rounds}: {bench.name}")
                        self._measure(section, number, side, bench)

    def _measure(self, section: str, number: int, side: Side, bench: CommitBench) -> None:
        try:
            rows = bench.measure(section)
        except NotComparable as failure:
            self.failed.setdefault(str(failure), []).append(number)
            return
        self.comparison.add(section, side, rows)
        self.keep(MeasuredRound(section, number, side, row) for row in rows)

    def keep(self, found: Iterable[msgspec.Struct]) -> None:
        """Write JSON lines where they are asked for, as they come: what is interrupted leaves what it has."""
        if self._lines is not None:
            with self._lines.open("ab") as file:
                file.writelines(msgspec.json.encode(one) + b"\n" for one in found)


def compare(root: Path, commit: str, sections: Sequence[str], rounds: int, lines: Path | None) -> int:
    """Measure, print, and judge; the exit code. Raises `NotComparable` where there is nothing to print."""
    whole = full_name(root, commit)
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        programs = Programs(folder)
        here = CommitBench("this working tree", root, Path(sys.executable), programs)
        here.begin()
        wanted = chosen(here, sections)
        say(f"setting up {whole[:9]} in an environment of its own; this takes a minute or two")
        there = stack.enter_context(commit_bench(root, whole, folder, programs))
        there.begin()
        turns = Turns(here, there, rounds, lines)
        turns.take(wanted)
        changed = [one for one in changed_benches(root, whole, wanted) if there.has(one)]
    return report(turns, there.name, changed)


def chosen(here: CommitBench, sections: Sequence[str]) -> Sequence[str]:
    """The sections to run. Raises `NotComparable` where one is named that is not here."""
    if unknown := [section for section in sections if not here.has(section)]:
        raise NotComparable(f"There is no bench {', '.join(unknown)}; name some of {', '.join(here.usual)}.")
    return sections or here.usual


def report(turns: Turns, there: str, changed: Sequence[str]) -> int:
    """Print the table, what is to be known about it, and the verdict as the last line; the exit code."""
    rows = turns.comparison.rows()
    turns.keep(rows)
    print_whole(table(rows, there))
    for sentence, rounds in turns.failed.items():
        sys.stdout.write(f"In round {', '.join(map(str, rounds))}: {sentence}\n")
    if changed:
        sys.stdout.write(
            f"Measured in another way at {there}, as the bench itself has changed: {', '.join(changed)}.\n"
        )
    sys.stdout.write(f"{verdict(rows)}{' of what was measured, which is not all' if turns.failed else ''}\n")
    if any(row.worse for row in rows):
        return WORSE
    return NOT_COMPARED if turns.failed else SAME


def say(line: str) -> None:
    """What goes on, for who waits. It is no part of the result."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench AGAINST=COMMIT")
    parser.add_argument("commit", help="what to compare with: a commit, a branch or a tag")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these benches, not all")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each is run, at least {ROUNDS}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each row of each round there, and the summary")
    parser.add_argument("--root", type=Path, default=Path(), help="the working tree that is measured")
    given = parser.parse_args(words)
    if given.rounds < ROUNDS:
        parser.error(f"{given.rounds} rounds do not show more than noise; take {ROUNDS} or more")
    if given.json is not None:
        given.json.write_bytes(b"")
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        return compare(given.root.resolve(), given.commit, given.only, given.rounds, given.json)
    except NotComparable as failure:
        say(str(failure))
        return NOT_COMPARED
    except KeyboardInterrupt:
        say("interrupted; what was made for the comparison is removed")
        return INTERRUPTED


def _interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
