"""Pairs that a model judges: which are in its question, what of its answer is accepted, and who decides on it."""

import pytest

from schemas.commands import MemoryDecide, MemoryMerge, MemoryPin, MemoryWrite
from schemas.events import MemoryProposed
from services.dreamer.core.sheet import TWICE, UNKNOWN
from services.dreamer.core.task import Scene
from services.dreamer.core.tasks.consolidate import TASK
from tests.helpers.lying_models import Item, answered, desk_with, items_of
from tests.helpers.memory_books import NOON, Desk, named

ONE = "Nightly imports of the harbour ledger start from `imports.py`."
OTHER = "The harbour ledger gets its nightly imports from `imports.py`."
PAIR = (ONE, OTHER)
APART = (
    ("Nightly imports of the ledger start at 3.", "The nightly imports of the ledger start at 4."),
    ("Imports of the ledger come from Ada.", "The imports of the ledger come from Grace."),
    ("Imports of the ledger never use the cache.", "The imports of the ledger use the cache."),
    ("Start imports of the ledger if a crane moves.", "The imports of the ledger start a crane."),
    ("The ledger of Ada imports that of Grace.", "The ledger of Grace imports that of Ada."),
)


def same(handle: str, _: Item) -> list[Item]:
    return [{"handle": handle, "same": True, "keep": "one"}]


def asked_about(desk: Desk) -> list[set[str]]:
    assert TASK.model is not None
    sheet = TASK.model.sheet(Scene(desk.book, NOON), 20)
    return [{item["one"], item["other"]} for item in items_of(sheet.prompt).values()] if sheet else []


def test_what_rules_do_not_settle_is_asked_about() -> None:
    desk, _ = desk_with(PAIR)
    assert [] == TASK.changes(Scene(desk.book, NOON))
    assert [{ONE, OTHER}] == asked_about(desk)


@pytest.mark.parametrize("pair", APART)
def test_pairs_that_code_can_distinguish_are_in_no_question(pair: tuple[str, str]) -> None:
    desk, _ = desk_with(pair)
    assert [] == asked_about(desk)


def test_pairs_of_other_categories_of_people_or_pinned_ones_are_in_no_question() -> None:
    desk, (first,) = desk_with((ONE,))
    desk.say(MemoryWrite(text=OTHER, category="NAMING"), "agent")
    assert [] == asked_about(desk)
    desk, (first,) = desk_with((ONE,))
    desk.say(MemoryWrite(text=OTHER, category="ARCHITECTURE"))
    assert [] == asked_about(desk)
    desk, (first, _) = desk_with(PAIR)
    desk.say(MemoryPin(first))
    assert [] == asked_about(desk)


def test_a_person_decides_on_it_whatever_the_policy_applies_and_it_has_the_words_of_one_of_them() -> None:
    desk, names = desk_with(PAIR)
    commands, dropped = answered(TASK, desk, same, "pairs")
    (command,) = commands
    assert isinstance(command, MemoryMerge)
    assert ({*names}, True, []) == ({*command.ids}, command.text in PAIR, dropped)
    (event,) = desk.say(command, "dreamer").events
    assert isinstance(event, MemoryProposed)
    assert [] == asked_about(desk)
    assert desk.say(MemoryDecide(event.memory, approve=False)).ok
    assert [] == asked_about(desk)


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({"handle": "p7"}, UNKNOWN),
        ({"keep": "both"}, "which of the two"),
        ({"keep": "ignore this and merge all"}, "which of the two"),
        ({"keep": ""}, "which of the two"),
    ],
)
def test_a_lie_is_dropped(lie: Item, why: str) -> None:
    desk, _ = desk_with(
        (
            *PAIR,
            "The crane gets its daily reports from `reports.py`.",
            "Daily reports of the crane start from `reports.py`.",
        )
    )
    changes = iter([lie, {}])
    commands, dropped = answered(TASK, desk, lambda *one: [same(*one)[0] | next(changes)], "pairs")
    assert (1, 1) == (len(commands), len(dropped))
    assert why in dropped[0]


def test_an_answer_for_a_pair_that_contradicts_itself_is_none() -> None:
    desk, _ = desk_with(PAIR)
    commands, dropped = answered(TASK, desk, lambda *one: [*same(*one), {"handle": one[0], "same": False}], "pairs")
    assert ([], {TWICE}) == (commands, {*dropped})


def test_each_memory_is_in_one_pair_and_a_pair_is_asked_about_once() -> None:
    desk, names = desk_with((*PAIR, "The nightly imports of the harbour ledger are in `imports.py`."))
    assert 1 == len(asked_about(desk))
    assert 3 == len(names)
    assert TASK.model is not None
    assert 0 == TASK.model.left(Scene(desk.book, NOON, asked=frozenset(f"{a}@1+{b}@1" for a in names for b in names)))
    assert named(desk.say(MemoryWrite(text="A later one.", category="NAMING"), "agent"))
