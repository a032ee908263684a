"""How much memories weigh by a model: what it may judge, next to which examples, and what of its answer is accepted."""

import json

import msgspec
import pytest

from schemas.commands import MemoryImportance, MemoryRevise, MemoryWrite
from schemas.events import MemoryProposed, MemoryRevised
from services.dreamer.core.sheet import TWICE, UNKNOWN
from services.dreamer.core.task import JudgedAnswer, Scene
from services.dreamer.core.tasks.classify import EXAMPLES, TASK
from tests.helpers.lying_models import ORDER, Item, desk_with, items_of
from tests.helpers.memory_books import NOON, Desk

HEAVY = "Never restart the ledger by night, because the import of bookings breaks."
LIGHT = "The chart of cranes stands next to the clock of the overview."
PLAIN = "Bookings of cranes are in the table crane_bookings."
TEXTS = (HEAVY, LIGHT, PLAIN)
WEIGHTS = {HEAVY: "high", LIGHT: "low", PLAIN: "normal", **EXAMPLES}


def judged_of(desk: Desk, **lies: Item) -> tuple[JudgedAnswer, str]:
    """What is accepted of an answer with these lies alone (the beginning of a text -> fields), and its fault."""
    assert TASK.model is not None
    sheet = TASK.model.sheet(Scene(desk.book, NOON), 20)
    assert sheet is not None
    items = [
        {"handle": handle, "importance": WEIGHTS[item["text"]], "quote": item["text"][:20]}
        | next((lie for begin, lie in lies.items() if item["text"].startswith(begin)), {})
        for handle, item in items_of(sheet.prompt).items()
    ]
    value = msgspec.json.decode(json.dumps({"memories": items}), type=sheet.shape)
    return sheet.judge(value), sheet.check(value)


@pytest.mark.parametrize(("policy", "kind"), [("applied", MemoryRevised), ("held", MemoryProposed)])
def test_what_a_good_model_says_is_done_as_the_policy_says(policy: str, kind: type) -> None:
    desk, _ = desk_with(TEXTS, policy=policy)
    judged, fault = judged_of(desk)
    assert ("", (), 3) == (fault, judged.dropped, len(judged.items))
    assert {HEAVY: "high", LIGHT: "low"} == {
        desk.of(one.command.id).text: one.command.importance
        for one in judged.changes
        if isinstance(one.command, MemoryImportance)
    }
    for change in judged.changes:
        assert [kind] == [type(event) for event in desk.say(change.command, "dreamer").events]
    assert {HEAVY, LIGHT, PLAIN} == {memory.text for memory in desk.book.memories.values()}


@pytest.mark.parametrize(
    ("begin", "lie", "why"),
    [
        ("Never restart", {"importance": "low"}, "makes light of what is worth keeping"),
        ("Bookings", {"importance": "high"}, "makes much of what is neither a rule"),
        ("The chart", {"importance": "heavy"}, "a weight that there is not"),
        ("The chart", {"quote": "Bookings of cranes"}, "it quotes what the memory does not say"),
        ("The chart", {"quote": ""}, "it quotes what the memory does not say"),
        ("The chart", {"quote": ORDER}, "it quotes what the memory does not say"),
        ("The chart", {"handle": "m77"}, UNKNOWN),
        ("The chart", {"handle": "m1"}, TWICE),
    ],
)
def test_a_lie_is_dropped_and_nothing_else(begin: str, lie: Item, why: str) -> None:
    desk, _ = desk_with(TEXTS)
    judged, _ = judged_of(desk, **{begin: lie})
    assert why in " ".join(judged.dropped)
    weights = {
        desk.of(one.command.id).text: one.command.importance
        for one in judged.changes
        if isinstance(one.command, MemoryImportance)
    }
    assert weights.items() <= {HEAVY: "high", LIGHT: "low"}.items()


@pytest.mark.parametrize("begin", [one[:12] for one in EXAMPLES])
def test_who_has_another_scale_is_asked_again_and_then_not_heard(begin: str) -> None:
    desk, _ = desk_with(TEXTS)
    wrong = "low" if WEIGHTS[next(one for one in EXAMPLES if one.startswith(begin))] == "high" else "high"
    _, fault = judged_of(desk, **{begin: {"importance": wrong}})
    assert "not on the scale" in fault
    assert begin not in fault
    _, fault = judged_of(desk, **{begin: {"handle": "nobody"}})
    assert "leaves out memories" in fault


def test_a_persons_memories_and_weighed_ones_are_in_no_question() -> None:
    desk, names = desk_with(TEXTS)
    desk.say(MemoryWrite(text="The harbour opens at six.", category="ARCHITECTURE"))
    desk.say(MemoryImportance(names[0], "high"))
    assert 2 == TASK.backlog(Scene(desk.book, NOON))
    asked = frozenset({f"{names[1]}@1"})
    assert 1 == TASK.backlog(Scene(desk.book, NOON, asked=asked))


def test_what_was_revised_meanwhile_is_not_weighed() -> None:
    desk, names = desk_with(TEXTS)
    judged, _ = judged_of(desk)
    heavy = next(one for one in judged.changes if desk.of(one.target.partition("@")[0]).text == HEAVY)
    name = heavy.target.partition("@")[0]
    assert name in names
    assert desk.say(MemoryRevise(name, f"{HEAVY} On Mondays, too."), "agent").ok
    assert not desk.say(heavy.command, "dreamer").ok
