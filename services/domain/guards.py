"""Guards of an append: its expectations of the log, so that no decision is written that was made on less.

An event that is appended can carry one expectation: a subject, or a filter that ends with `.*` or `.>`, and the
position of the newest event that it matched when the decision was made; 0: there was none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from schemas.subjects import Address

ALL = ">"
"""The guard of a state that is folded from several nouns: nothing at all was written to its address since."""
WRITTEN = ""
"""The guard of a state in which nouns are independent: nothing of the nouns that a decision writes was."""


class Expectation(NamedTuple):
    """An expectation: the position of a subject, or of all that a filter matches, when an event is stored."""

    filter: str
    seq: int


def expected(
    guard: str, address: Address, subjects: Mapping[str, int], seq: int, types: Iterable[str]
) -> dict[str, int]:
    """The expectations of an append of events of these types: subject filter -> position of its newest event.

    `guard` is a noun whose every new fact makes a decision stale, or `ALL`, or `WRITTEN`. `subjects` maps each to the
    position of its newest event in the state, and `seq` is the newest position of the address that it knows of.
    """
    if guard == ALL:
        return {address.log_filter: seq}
    newest = dict.fromkeys([guard] if guard else [one.partition(".")[0] for one in types], 0)
    for subject, position in subjects.items():
        noun = subject.split(".")[-2]
        if noun in newest:
            newest[noun] = max(newest[noun], position)
    return {address.log(f"{noun}.*"): position for noun, position in newest.items()}


def placed(subjects: Sequence[str], expected: Mapping[str, int]) -> list[Expectation | None]:
    """The expectation of each event: a filter belongs to the first that it matches, or else to a free one.

    Behind that it would not hold: the broker does not count what an append has written itself.
    """
    found: list[Expectation | None] = [None for _ in subjects]
    for one, seq in sorted(expected.items(), key=lambda item: not _places(item[0], subjects)):
        places = _places(one, subjects)[:1] or [index for index, taken in enumerate(found) if taken is None]
        if not places or found[places[0]] is not None:
            raise ValueError(
                f"{len(subjects)} events carry one expectation each, and cannot carry {', '.join(expected)}: "
                "expect the position of their whole address"
            )
        found[places[0]] = Expectation(one, seq)
    return found


def placed_behind(
    subjects: Sequence[str], expected: Mapping[str, int], seqs: Sequence[int], address: Address
) -> list[Expectation | None]:
    """The expectations of the events behind the first ones, when these are at `seqs`: those of all, and these.

    Where that is more than there are events, they expect that nothing else was written to their address.
    """
    moved = dict(expected)
    for subject, seq in zip(subjects, seqs, strict=False):
        moved |= {one: seq for one in expected if _matches(one, subject)}
    left = subjects[len(seqs) :]
    try:
        return placed(left, moved)
    except ValueError:
        return placed(left, {address.log_filter: seqs[-1]})


def _places(subject_filter: str, subjects: Sequence[str]) -> list[int]:
    return [index for index, subject in enumerate(subjects) if _matches(subject_filter, subject)]


def _matches(subject_filter: str, subject: str) -> bool:
    if subject_filter.endswith((".>", ".*")):
        return subject.startswith(subject_filter[:-1])
    return subject == subject_filter
