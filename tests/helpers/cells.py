"""One test for a table of cells: each is tried, and all that fail are named.

A test of its own for each costs 3 to 6 ms more, which is more than most cells of pure code take. `pytest`'s own
`parametrize` stays where a cell has marks, waits for something, or needs fixtures that remember.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def cells(names: str, values: Iterable[Any] | Callable[[], Iterable[Any]]) -> Callable[[Test], Test]:
    """In the place of `pytest.mark.parametrize`: the same names and values, and one test.

    Values that take long to make are given as a function, which is called by the test and not when it is collected.
    """
    wanted = [name.strip() for name in names.split(",")]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def of_all(**given: object) -> None:
            failures: dict[str, BaseException] = {}
            rows = [value if len(wanted) > 1 else (value,) for value in (values() if callable(values) else values)]
            assert rows, "a test without a cell tests nothing"
            for row in rows:
                cell = dict(zip(wanted, row, strict=True))
                try:
                    test(**given, **cell)
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - raised below, with the others
                    error.add_note(f"in the cell {cell}")
                    failures[f"{len(failures) + 1}: {cell}"] = error
            if failures:
                named = "\n".join(failures)
                raise BaseExceptionGroup(f"{len(failures)} of {len(rows)} cells fail:\n{named}\n", [*failures.values()])

        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in wanted]
        of_all.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        del of_all.__wrapped__  # type: ignore[attr-defined]
        return of_all

    return decorate
