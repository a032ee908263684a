"""Faults of what a room runs on: its disk has no room, its broker is away. Each of them is one sentence with a remedy.

A log line of such a fault has this sentence in the place of a traceback, which is for faults of the code.
"""

import errno
import os
from collections.abc import Callable, Iterator

Explanation = Callable[[BaseException], str]
"""A sentence about an error that one library raises; empty: the error is no fault of the surroundings."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
NO_ROOM_WORDS = tuple(os.strerror(code) for code in sorted(NO_ROOM))
"""The words of the system, which libraries quote."""
MAKE_ROOM = "the disk has no room: make room on it (`annals doctor` has more)"

_explanations: list[Explanation] = []


def explained_by(explanation: Explanation) -> Explanation:
    """Register how the errors of one library are explained: each door to a library knows its own."""
    _explanations.append(explanation)
    return explanation


def sentence_about(error: BaseException) -> str:
    """The sentence about an error, or about what caused it; empty: it is a fault of the code."""
    for one in _causes(error):
        for explain in (_without_room, *_explanations):
            if sentence := explain(one):
                return sentence
    return ""


def reason_of(error: BaseException) -> str:
    """The reason why something failed: the sentence about the surroundings, or the error's own kind and words."""
    return sentence_about(error) or f"{type(error).__name__}: {error}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised from. What only happened before it, as in `__context__`, is no cause."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__


def _without_room(error: BaseException) -> str:
    """Whether a write found no room, by the system's number or, in errors of native libraries, its words."""
    is_native = isinstance(error, OSError | RuntimeError)
    if getattr(error, "errno", None) in NO_ROOM or (is_native and any(words in str(error) for words in NO_ROOM_WORDS)):
        return MAKE_ROOM
    return ""
