"""The log is written in one place: whoever writes elsewhere decides, expects and retries by rules of its own."""

import ast
from functools import cache
from pathlib import Path

import pytest

SERVICES = Path(__file__).parents[2] / "services"
AGGREGATE = "kit/aggregate.py"


@cache
def modules() -> list[tuple[str, ast.Module]]:
    return [(str(path.relative_to(SERVICES)), ast.parse(path.read_text())) for path in sorted(SERVICES.rglob("*.py"))]


def appends(tree: ast.AST) -> bool:
    """Whether it calls `append` of an appender."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and "appender" in ast.unparse(node.func.value).lower()
        for node in ast.walk(tree)
    )


def retries(tree: ast.AST) -> bool:
    """Whether it catches `Conflict` in a loop and goes on with that."""
    return any(
        _names_conflict(handler) and any(isinstance(node, ast.Continue) for node in ast.walk(handler))
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For | ast.While | ast.AsyncFor)
        for handler in ast.walk(loop)
        if isinstance(handler, ast.ExceptHandler)
    )


def _names_conflict(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and any(
        isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).split(".")[-1] == "Conflict"
        for node in ast.walk(handler.type)
    )


def catches(tree: ast.AST) -> bool:
    """Whether it does something of its own after a `Conflict`, or looks for one among errors."""
    handlers = any(_names_conflict(node) for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler))
    return handlers or any(
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "isinstance"
        and "Conflict" in ast.unparse(node.args[1])
        for node in ast.walk(tree)
    )


def imports(tree: ast.AST, module: str) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and node.module == module)
        or (isinstance(node, ast.Import) and any(one.name == module for one in node.names))
        for node in ast.walk(tree)
    )


def test_one_place_appends_and_decides_anew_after_a_conflict() -> None:
    assert [AGGREGATE] == [name for name, tree in modules() if appends(tree)]
    assert [AGGREGATE] == [name for name, tree in modules() if retries(tree)]


def test_only_who_answers_someone_that_waits_gives_up_after_a_conflict() -> None:
    """Whoever else caught it would try again on top of the aggregate, which does so for as long as it takes."""
    caught = {name for name, tree in modules() if catches(tree)} - {AGGREGATE, "kit/bus/append.py"}
    assert {"desk/worker.py", "responder/answers/transform.py"} == caught


def test_one_place_makes_envelopes_of_decisions() -> None:
    """The erasure makes some, too, while no room runs."""
    assert ["edges/erase/erasure.py", AGGREGATE] == [
        name for name, tree in modules() if imports(tree, "services.domain.envelopes")
    ]


def test_appenders_are_made_where_a_room_begins() -> None:
    made = [
        name
        for name, tree in modules()
        if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "Appender" for node in ast.walk(tree))
    ]
    assert ["kit/run.py"] == made


@pytest.mark.parametrize(
    "code",
    [
        "await kit.appender.append(facts, {})",
        "self._kit.appender.append(facts, expected)",
        "appender.append(one, two)",
    ],
)
def test_a_second_place_that_appends_is_found(code: str) -> None:
    assert appends(ast.parse(f"async def write():\n    {code}"))
    assert not appends(ast.parse("facts.append(one)"))


@pytest.mark.parametrize("caught", ["Conflict", "(Unreachable, Conflict)", "bus.Conflict", "Conflict as error"])
def test_a_second_loop_of_retries_is_found(caught: str) -> None:
    loop = f"for _ in range(8):\n    try:\n        write()\n    except {caught}:\n        continue\n"
    assert retries(ast.parse(loop))
    assert not retries(ast.parse(loop.replace("continue", "raise")))
