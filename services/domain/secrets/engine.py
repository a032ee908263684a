"""The engine that runs expressions of others: RE2, which reads any text in linear time."""

from collections.abc import Iterator

import re2

Span = tuple[int, int]
NO_SPAN = (-1, -1)
"""The span of a group that took no part in a match."""


class LinearExpression:
    """One expression in RE2's syntax, over texts of which each byte is a character.

        LinearExpression("key=([a-z]+)").first(b"a key=b2")  # ((2, 7), (6, 7))

    Raises `re2.error` if the expression has a syntax error.
    """

    def __init__(self, pattern: str, *, is_longest: bool = False) -> None:
        """Compile. `is_longest`: of several matches at one place the longest counts, and not the first alternative."""
        options = re2.Options()
        options.log_errors = False
        options.longest_match = is_longest
        self._compiled = re2.compile(pattern.encode(), options)
        self._groups = range(self._compiled.groups + 1)

    def first(self, text: bytes, start: int = 0) -> tuple[Span, ...] | None:
        """The first match at or after `start`: the span of the whole, then one for each group."""
        return next(self.all(text, start), None)

    def all(self, text: bytes, start: int = 0) -> Iterator[tuple[Span, ...]]:
        """All matches that do not overlap, from `start` on; what comes before it counts as surroundings."""
        for match in self._compiled.finditer(text, start):
            yield tuple(match.span(group) for group in self._groups)
