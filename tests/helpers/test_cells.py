from typing import Any

import pytest

from tests.helpers.cells import cells


def failures(test: object) -> BaseExceptionGroup[BaseException]:
    assert callable(test)
    with pytest.raises(BaseExceptionGroup) as found:
        test()
    return found.value


def test_all_cells_are_tried_and_all_that_fail_are_named() -> None:
    tried = []

    @cells("one, other", [(1, 1), (2, 3), (4, 4), (5, 6)])
    def equal(one: int, other: int) -> None:
        tried.append(one)
        assert one == other

    found = failures(equal)
    assert [1, 2, 4, 5] == tried
    assert "2 of 4 cells fail" in found.message
    assert all(f"{{'one': {one}, 'other': {one + 1}}}" in found.message for one in (2, 5))
    assert ["in the cell {'one': 2, 'other': 3}"] == found.exceptions[0].__notes__


def test_a_cell_that_does_not_raise_what_it_should_fails_as_well() -> None:
    @cells("divisor", [0, 1, 0])
    def refused(divisor: int) -> None:
        with pytest.raises(ZeroDivisionError):
            _ = 1 // divisor

    assert "1 of 3 cells fail:\n1: {'divisor': 1}" in failures(refused).message


def test_cells_of_two_tables_are_all_tried_whatever_the_first_ones_do() -> None:
    tried = []

    @cells("divisor", [1, 2])
    @cells("number", [3, 4])
    def refused(divisor: int, number: int) -> None:
        tried.append((divisor, number))
        with pytest.raises(ZeroDivisionError):
            _ = number // divisor

    assert "2 of 2 cells fail" in failures(refused).message
    assert [(1, 3), (1, 4), (2, 3), (2, 4)] == tried


@pytest.mark.parametrize("values", [(), dict, lambda: iter(())])
def test_a_table_without_a_cell_is_refused(values: Any) -> None:  # noqa: ANN401 - a table, or what makes one
    @cells("name", values)
    def harmless(name: str) -> None:
        assert name

    with pytest.raises(AssertionError, match="tests nothing"):
        harmless()


@pytest.mark.parametrize("first", ["a", "b"])
@cells("second", ["c", "d"])
@cells("third", "ef")
def test_other_parameters_and_fixtures_are_given_to_each_cell(first: str, second: str, third: str) -> None:
    assert (first in "ab", second in "cd", third in "ef") == (True, True, True)
