"""Orders to the dreamer."""

import pytest
from msgspec.structs import replace

from schemas.commands import DreamOrder
from schemas.events import DreamOrdered
from services.desk.core.commands import decide
from services.desk.core.dreams import DreamOrders
from services.domain.decision import CommandContext, Decision

CONTEXT = CommandContext(trust="agent", tasks=("consolidate", "verify"), session="s1")


def decided(task: str = "", **more: object) -> Decision:
    return decide(DreamOrders(), DreamOrder(task), replace(CONTEXT, **more))


def test_all_tasks_are_ordered_or_one() -> None:
    assert (DreamOrdered(tasks=[], origin="s1"),) == decided().events
    assert (DreamOrdered(tasks=["verify"], origin="s1"),) == decided(" verify ").events
    assert "All tasks (consolidate, verify) will be run" in decided().text
    assert "The task verify will be run" in decided("verify").text


def test_the_working_tree_is_taken_from_people_alone() -> None:
    order = DreamOrder("verify", "/home/ada/harbour")
    of_person = decide(DreamOrders(), order, replace(CONTEXT, trust="person"))
    assert (DreamOrdered(tasks=["verify"], origin="s1", directory="/home/ada/harbour"),) == of_person.events
    assert (DreamOrdered(tasks=["verify"], origin="s1"),) == decide(DreamOrders(), order, CONTEXT).events


@pytest.mark.parametrize("directory", ["/a\0b", "/" + "a" * 1_000_000])
def test_what_is_the_path_of_no_directory_is_refused(directory: str) -> None:
    decision = decide(DreamOrders(), DreamOrder("verify", directory), replace(CONTEXT, trust="person"))
    assert (False, ()) == (decision.ok, decision.events)
    assert "a directory has at most 4,096 characters" in decision.text


@pytest.mark.parametrize(
    ("task", "remedy"),
    [("verif", "did you mean verify?"), ("x", "there are consolidate, verify"), ("\0" * 999, "there are")],
)
def test_a_task_that_is_not_there_is_refused_with_those_that_are(task: str, remedy: str) -> None:
    decision = decided(task)
    assert (False, ()) == (decision.ok, decision.events)
    assert remedy in decision.text
    assert 400 > len(decision.text)


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"dreams": False}, "ANNALS_DREAM__ENABLED"), ({"remembers": False}, "this project has no memory")],
)
def test_what_nobody_would_do_is_refused(more: dict[str, object], reason: str) -> None:
    decision = decided(**more)
    assert (False, ()) == (decision.ok, decision.events)
    assert reason in decision.text


@pytest.mark.parametrize("trust", ["historian", "dreamer", ""])
def test_no_room_orders_it(trust: str) -> None:
    assert not decided(trust=trust).ok
