"""No outcome hangs on how busy the machine is: what must come is waited for long, and no test judges elapsed time."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests.helpers.waiting import PATIENCE

TESTS = Path(__file__).parent
MEASURES = ("bench", "node_modules")
"""Folders that measure, or that are not ours."""

WAITS = {"timeout": 0, "wait_for": 1, "until": 1, "request": 2}
"""Calls that wait, and the first of their arguments that may be a bound."""
BOUNDS = frozenset({"timeout", "patience"})
"""Arguments that are one wherever they are given."""
OURS = re.compile(r"(?:^|[._])(?:PATIENCE|TIMEOUT)$")
"""Constants of the code that a test may set: bounds of waits, too."""
CLOCKS = frozenset({"time", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns", "clock"})
"""Clocks that go on while others have the processor."""

NOBODY = "what is waited for does not come, however long one waits"
NO_PAUSE = "it is the pause between two starts that is none"
NO_TIME = "it is too short for a program to answer, on any machine"
AGAIN = "it is asked again and again, for a minute"
ALLOWED: Mapping[str, str] = {
    "adapter/test_process.py::test_of_what_only_the_broker_is_left_is_started_again_when_nobody_answers": NO_PAUSE,
    "adapter/test_process.py::test_what_has_died_is_started_again_and_what_was_ended_is_not": NO_PAUSE,
    "commit_indexer/test_mirror.py::test_a_slow_remote_is_fetched_in_smaller_pieces": NO_TIME,
    "desk/test_spending.py::test_without_a_desk_nothing_is_granted_and_a_settlement_is_given_up_aloud": NOBODY,
    "desk/test_worker.py::_is_gone": AGAIN,
    "dreamer/test_looks.py::test_where_git_does_not_answer_the_note_waits": NO_TIME,
    "dreamer/test_public_web.py::test_an_answer_that_never_comes_is_given_up": NOBODY,
    "edges/client/test_replay.py::test_a_room_that_makes_no_progress_is_named_with_the_place_of_its_log": NOBODY,
    "harness/test_provider.py::test_waiting_for_a_request_that_does_not_come_says_what_came": NOBODY,
    "helpers/installation.py::answers": AGAIN,
    "helpers/installation.py::is_committed": AGAIN,
    "kit/test_aggregate.py::test_a_command_that_never_gets_its_turn_says_so_after_a_time_where_someone_waits": NOBODY,
    "kit/test_client.py::test_a_request_that_nobody_answers_ends_in_time": NOBODY,
    "kit/test_git.py::test_an_endless_complaint_is_not_waited_for": NOBODY,
    "kit/test_harness_model.py::test_a_harness_that_falls_costs_what_was_reserved": NOBODY,
    "kit/test_model.py::test_the_deadline_holds_over_all_tries": NOBODY,
    "responder/views/test_store.py::crowd": NOBODY,
    "responder/views/test_store.py::test_a_question_that_takes_too_long_is_broken_off": NOBODY,
    "responder/views/test_store.py::test_an_older_file_answers_until_the_new_one_has_caught_up": NOBODY,
    "tagger/test_input.py::test_a_body_whose_pieces_are_gone_becomes_a_dead_letter": NOBODY,
}
"""Short waits that are a test's subject, or that are tried again, and why a busy machine makes none of them fail."""


def short_waits(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Bounds below a minute: the function that each stands in, and the call or the default."""
    known = {
        target.id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for function, node in _within(tree):
        if any(_is_short(bound, known) for bound in _bounds(node)):
            yield function, ast.unparse(node).splitlines()[0]


def _within(root: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """All nodes, each with the innermost function that it stands in."""
    left = [(root, "")]
    while left:
        node, function = left.pop()
        for child in ast.iter_child_nodes(node):
            inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
            yield inner, child
            left.append((child, inner))


def _bounds(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=called, args=given, keywords=named):
            first = WAITS.get(_name(called))
            yield from given[first:] if first is not None else ()
            yield from (one.value for one in named if one.arg in BOUNDS)
            yield from _set(given) if _name(called) == "setattr" else ()
        case ast.arguments(args=arguments, defaults=defaults, kwonlyargs=others, kw_defaults=their_defaults):
            pairs = [
                *zip(reversed(arguments), reversed(defaults), strict=False),
                *zip(others, their_defaults, strict=True),
            ]
            yield from (default for argument, default in pairs if default is not None and argument.arg in BOUNDS)


def _set(given: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """The bound that `setattr` sets, whether its name is apart from its module or not."""
    for name, value in pairwise(given):
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and OURS.search(name.value):
            yield value


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _is_short(bound: ast.expr, known: Mapping[str, object]) -> bool:
    value = known.get(bound.id) if isinstance(bound, ast.Name) else getattr(bound, "value", None)
    return isinstance(value, int | float) and value < PATIENCE


def judged_times(tree: ast.Module) -> Iterator[str]:
    """Assertions that not more than so much time has gone by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _reads_clock(node):
            timed = _timed(node)
            yield from (
                ast.unparse(one)
                for one in ast.walk(node)
                if isinstance(one, ast.Assert) and any(_is_elapsed(lesser, timed) for lesser in _lesser(one.test))
            )


def _timed(function: ast.AST) -> set[str]:
    """The names in a function that hold differences of a clock, or several of them."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_elapsed(value, found):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
                found |= {name} if _is_elapsed(value, found) else set()
    return found


def _lesser(test: ast.expr) -> Iterator[ast.expr]:
    """What a comparison says to be less than something."""
    for compared in ast.walk(test):
        if isinstance(compared, ast.Compare):
            sides = [compared.left, *compared.comparators]
            for left, operator, right in zip(sides, compared.ops, sides[1:], strict=False):
                if isinstance(operator, ast.Lt | ast.LtE):
                    yield left
                elif isinstance(operator, ast.Gt | ast.GtE):
                    yield right


def _is_elapsed(value: ast.expr, timed: set[str]) -> bool:
    """Whether this is a difference of a clock, or made from one."""
    return any(
        (isinstance(node, ast.Name) and node.id in timed)
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _reads_clock(node))
        for node in ast.walk(value)
    )


def _reads_clock(value: ast.AST) -> bool:
    return any(isinstance(node, ast.Call) and _name(node.func) in CLOCKS for node in ast.walk(value))


@cache
def _trees() -> Sequence[tuple[str, ast.Module]]:
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        place = path.relative_to(TESTS)
        if place.parts[0] not in MEASURES and "node_modules" not in place.parts and path != Path(__file__):
            found.append((place.as_posix(), ast.parse(path.read_text())))
    return found


@pytest.mark.slow
def test_what_must_come_is_waited_for_for_a_minute_at_least() -> None:
    found = {f"{path}::{function}": call for path, tree in _trees() for function, call in short_waits(tree)}
    assert {} == {where: call for where, call in found.items() if where not in ALLOWED}
    assert {*ALLOWED} == {*found} & {*ALLOWED}, "what is allowed and is there no more, is allowed no longer"


@pytest.mark.slow
def test_no_test_judges_elapsed_time() -> None:
    assert [] == [f"{path}: {judged}" for path, tree in _trees() for judged in judged_times(tree)]


@pytest.mark.parametrize(
    ("source", "is_short"),
    [
        ("async with asyncio.timeout(5): ...", True),
        ("await asyncio.wait_for(ended, 30)", True),
        ("await until(room.idle, patience=30)", True),
        ('await until(lambda: answers(bus), "it answers", 5)', True),
        ('await bus.request("do.x", b"", 10)', True),
        ("SOON = 5\nawait asyncio.wait_for(ended, SOON)", True),
        ("async def received(number, timeout=30.0): ...", True),
        ("async def received(number, *, patience=30.0): ...", True),
        ("subprocess.run(command, timeout=20)", True),
        ('monkeypatch.setattr(door, "PATIENCE", 0.3)', True),
        ('monkeypatch.setattr("services.kit.bus.append.APPEND_TIMEOUT", 5)', True),
        ('monkeypatch.setattr(door, "PATIENCE", 2 * PATIENCE)', False),
        ('monkeypatch.setattr(door, "MOST_BYTES", 1000)', False),
        ("await asyncio.wait_for(ended, PATIENCE)", False),
        ("await until(room.idle)", False),
        ('await bus.request("do.x", b"", 60)', False),
        ("await asyncio.sleep(0)", False),
    ],
)
def test_a_short_wait_would_be_found(source: str, is_short: bool) -> None:  # noqa: FBT001
    assert is_short == any(short_waits(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "is_judged"),
    [
        ("assert time.monotonic() - began < 5", True),
        ("assert 5 >= loop.time() - began", True),
        ("took = time.perf_counter() - began; assert 0 < took < 5", True),
        ("took.append(clock() - began); assert median(took) < bare", True),
        ("assert clock() - began >= 0.05", False),
        ("assert time.process_time() - began < 5", False),
        ("assert after - before < 5", False),
    ],
)
def test_a_judgement_of_time_would_be_found(source: str, is_judged: bool) -> None:  # noqa: FBT001
    assert is_judged == any(judged_times(ast.parse(f"def test():\n    {source}")))
