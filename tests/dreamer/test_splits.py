"""Memories with several facts: which sentences rules split, and which parts of a model's answer are accepted."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.commands import MemoryDecide, MemoryPin, MemoryRestore, MemorySplit, MemoryVerify, MemoryWrite
from schemas.events import MemoryDivided, MemoryProposed
from services.dreamer.core.splitting import compound_memories, sure_parts, words_not_once
from services.dreamer.core.task import Scene
from services.dreamer.core.tasks.improve import TASK
from tests.dreamer.made_project import MadeTree
from tests.helpers.lying_models import ORDER, Item, answered, desk_with
from tests.helpers.memory_books import NOON, Desk, decided

FIRST, SECOND = "Tide tables use UTC in `tide.csv`.", "Crane logs use JSON in `crane.log`."
SURE = f"{FIRST} {SECOND}"
JOINED = "Tide tables use UTC in `tide.csv`; crane logs use JSON in `crane.log`"
CUT = ["Tide tables use UTC in `tide.csv`", "crane logs use JSON in `crane.log`"]


def changes(desk: Desk) -> list[MemorySplit]:
    found = [change.command for change in TASK.changes(Scene(desk.book, NOON))]
    return [one for one in found if isinstance(one, MemorySplit)]


def parts_of(text: str) -> tuple[str, ...]:
    desk, (name,) = desk_with([FIRST])
    memory = replace(desk.of(name), text=text)
    return sure_parts(desk.book.with_memory(memory), memory)


@pytest.mark.parametrize(
    "text",
    [
        SURE,
        "Use `uv` for installs. Never edit `uv.lock` by hand.",
        "The gauge table uses UTC in `gauge.csv`. Pilot tables use ISO dates in `pilots.csv`.",
        "Tide tables use UTC in `tide.csv`. Crane logs use JSON in `crane.log`. Tug names must be short in `tugs`.",
    ],
)
def test_whole_sentences_that_each_mean_the_same_alone_are_split(text: str) -> None:
    parts = parts_of(text)
    assert len(parts) > 1
    assert text == " ".join(parts)


@pytest.mark.parametrize(
    "text",
    [
        FIRST,
        "Tide tables use UTC in `tide.csv`. It must not have a zone in `zone.csv`.",
        "Tide tables use UTC in `tide.csv`. This is checked by `make lint`.",
        "Tide tables use UTC in `tide.csv`. They must be in `data/`.",
        "Tide tables use UTC in `tide.csv`. All must be in `data/`.",
        "Tide tables use UTC in `tide.csv`. Their names must be in `data/`.",
        "Tide tables use UTC in `tide.csv`. The file must be in `data/`.",
        "Tide tables use UTC in `tide.csv`. But crane logs use JSON in `crane.log`.",
        "Tide tables use UTC in `tide.csv`. Then `crane.log` must be read.",
        "Tide tables use UTC in `tide.csv`. Only `crane.log` has JSON.",
        "Tide tables use UTC in `tide.csv`. Crane logs use blanks.",
        "Tide tables use UTC in `tide.csv` because `zone.csv` is gone. Crane logs use JSON in `crane.log`.",
        "If `TIDE` is set, tables use UTC in `tide.csv`. Crane logs use JSON in `crane.log`.",
        "In `staging` tide tables use UTC. Crane logs use JSON in `crane.log`.",
        "Of `staging`: tide tables use UTC. Crane logs use JSON in `crane.log`.",
        "Tide tables use UTC in `tide.csv`. crane logs use JSON in `crane.log`.",
        "Tide tables use UTC in `tide.csv`. Must crane logs use JSON in `crane.log`?",
        "Stop `broker` by `make down`. Run `make migrate` in `db/`.",
        "Tide tables use UTC in `tide.csv`. I have fixed `crane.log`.",
        "Tide tables use UTC in `tide.csv`. Crane logs never use JSON, e.g. in `crane.log`",
        "Tide tables use UTC in `tide.csv`.\n- Crane logs use JSON in `crane.log`.",
        JOINED,
    ],
)
def test_sentences_that_may_lean_on_each_other_are_not(text: str) -> None:
    assert () == parts_of(text)


def test_a_split_by_rules_is_done_once_and_follows_the_policy() -> None:
    desk, (name,) = desk_with([SURE])
    (command,) = changes(desk)
    assert (name, (FIRST, SECOND), False) == (command.id, command.parts, command.review)
    assert [MemoryDivided] == [type(event) for event in decided(desk, command, "dreamer").events]
    assert [] == changes(desk)
    desk, _ = desk_with([SURE], policy="held")
    assert [MemoryProposed] == [type(event) for event in decided(desk, changes(desk)[0], "dreamer").events]
    assert [] == changes(desk)
    desk, _ = desk_with([SURE], policy="refused")
    assert [] == changes(desk)


def test_what_a_person_takes_back_or_rejects_is_not_split_again() -> None:
    desk, (name,) = desk_with([SURE])
    decided(desk, changes(desk)[0], "dreamer")
    decided(desk, MemoryRestore(name))
    assert [] == changes(desk)
    desk, _ = desk_with([SURE], policy="held")
    decided(desk, changes(desk)[0], "dreamer")
    (waiting,) = [one for one in desk.book.memories.values() if one.change]
    decided(desk, MemoryDecide(waiting.id, approve=False))
    assert [] == changes(desk)


@pytest.mark.parametrize("verification", ["stale", "flagged"])
def test_what_was_found_to_be_wrong_is_not_split(verification: str) -> None:
    desk, (name,) = desk_with([SURE])
    decided(desk, MemoryVerify(name, verification))
    assert [] == changes(desk)


@pytest.mark.parametrize("is_pinned", [True, False])
def test_of_a_persons_words_and_pinned_ones_a_person_decides_and_no_model_is_asked(is_pinned: bool) -> None:  # noqa: FBT001
    desk, (name, other) = desk_with([SURE, JOINED])
    for one in (name, other):
        if is_pinned:
            decided(desk, MemoryPin(one))
        else:
            desk.book = desk.book.with_memory(replace(desk.of(one), trust="person"))
    (command,) = changes(desk)
    assert [MemoryProposed] == [type(event) for event in decided(desk, command, "dreamer").events]
    assert [] == compound_memories(Scene(desk.book, NOON))


def test_a_memory_whose_path_is_completed_is_split_in_a_later_run() -> None:
    desk, (name,) = desk_with([SURE])
    tree = MadeTree({"data/tide.csv": ""}, {})
    first = [change.command for change in TASK.changes(Scene(desk.book, NOON, tree))]
    assert ["memory.revise"] == [one.TYPE for one in first]
    decided(desk, first[0], "dreamer")
    (second,) = [change.command for change in TASK.changes(Scene(desk.book, NOON, tree))]
    assert isinstance(second, MemorySplit)
    assert FIRST.replace("tide.csv", "data/tide.csv") == second.parts[0]
    assert name == second.id


def cut(parts: list[str], text: str = JOINED) -> tuple[list[MemorySplit], list[str]]:
    desk, _ = desk_with([text])
    commands, dropped = answered(TASK, desk, lambda handle, _: [{"handle": handle, "parts": parts}], "splits")
    return [one for one in commands if isinstance(one, MemorySplit)], dropped


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (JOINED, CUT),
        (JOINED, ["Tide tables use UTC in `tide.csv`.", "Crane logs use JSON in `crane.log`."]),
        (
            "Tide tables use UTC in `tide.csv`, and also crane logs use JSON in `crane.log`.",
            ["Tide tables use UTC in `tide.csv`.", "Crane logs use JSON in `crane.log`."],
        ),
        (
            "The tide schema uses `msgspec` and also never uses floats in `tide.csv`.",
            ["The tide schema uses `msgspec`.", "The tide schema never uses floats in `tide.csv`."],
        ),
    ],
)
def test_parts_with_the_words_of_the_memory_wait_for_a_person_whatever_the_policy_applies(
    text: str, parts: list[str]
) -> None:
    desk, (name,) = desk_with([text])
    commands, dropped = answered(TASK, desk, lambda handle, _: [{"handle": handle, "parts": parts}], "splits")
    assert [] == dropped
    (command,) = commands
    decision = decided(desk, command, "dreamer")
    assert [MemoryProposed] == [type(event) for event in decision.events], decision.text
    assert "active" == desk.of(name).status
    assert 0 == TASK.backlog(Scene(desk.book, NOON))


LIES = {
    "a number": [CUT[0] + " 7", CUT[1]],
    "a name": [CUT[0].replace("UTC", "CET"), CUT[1]],
    "a path": [CUT[0], f"{CUT[1]} and `src/new.py`"],
    "a negation": [CUT[0], CUT[1].replace("use", "never use")],
    "a condition": [CUT[0], f"{CUT[1]} if it is night"],
    "another word": [CUT[0].replace("use", "forbid"), CUT[1]],
    "another order": [CUT[1], CUT[0]],
    "something left out": [CUT[0], "Crane logs in `crane.log`"],
    "something twice": [*CUT, CUT[1]],
    "a name twice": [CUT[0], f"{CUT[1]} next to `tide.csv`"],
    "words of one in the other": ["Tide tables use UTC in `tide.csv` crane", "logs use JSON in `crane.log`"],
    "a pronoun": [CUT[0], "It uses crane logs with JSON in `crane.log`"],
    "an order": [CUT[0], ORDER],
    "nothing": [CUT[0], ""],
    "lines": [CUT[0], CUT[1].replace(" JSON", "\nJSON")],
    "other words as one": ["Tide tables use CET."],
    "too many": list("abcdefghijk"),
}


@pytest.mark.parametrize("way", sorted(LIES))
def test_no_other_parts_are_accepted(way: str) -> None:
    commands, dropped = cut(LIES[way])
    assert ([], 1) == (commands, len(dropped)), dropped


def test_a_negation_is_never_left_to_one_part_by_words_that_are_repeated() -> None:
    text = "Never push `a.py` to main, and also force-push `b.py`."
    assert "" != words_not_once(("Never push `a.py` to main.", "Never force-push `b.py`."), text)


def test_the_whole_text_as_the_only_part_changes_nothing_and_is_asked_once() -> None:
    assert ([], []) == cut([JOINED])
    desk, (name,) = desk_with([JOINED])
    assert 1 == TASK.backlog(Scene(desk.book, NOON))
    assert 0 == TASK.backlog(Scene(desk.book, NOON, asked=frozenset({f"{name}@1/split"})))


@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(sorted(LIES)), min_size=8, max_size=8))
def test_of_a_model_that_lies_in_a_fifth_of_its_items_only_true_items_are_accepted(
    chance: random.Random, ways: list[str]
) -> None:
    texts = [JOINED.replace("tide", f"tide{number}").replace("crane", f"crane{number}") for number in range(8)]
    desk, _ = desk_with(texts)
    lied = list[str]()

    def half_lies(handle: str, item: Item) -> list[Item]:
        if chance.random() < 0.2:
            lied.append(item["text"])
            return [{"handle": handle, "parts": LIES[ways[len(lied) % len(ways)]]}]
        return [{"handle": handle, "parts": item["text"].split("; ")}]

    commands, dropped = answered(TASK, desk, half_lies, "splits")
    assert (len(lied), len(texts) - len(lied)) == (len(dropped), len(commands))


@given(st.lists(st.text(max_size=200), max_size=9))
def test_whatever_a_model_answers_only_words_of_the_memory_are_accepted(parts: list[str]) -> None:
    commands, _ = cut(parts)
    for command in commands:
        assert {*" ".join(command.parts).lower().split()} <= {*JOINED.lower().replace(";", "").split()}


def test_memories_that_agents_write_with_two_sentences_are_offered_as_they_are() -> None:
    desk = Desk()
    decided(
        desk, MemoryWrite(text="Tide tables use UTC. It is checked by `make lint`.", category="ARCHITECTURE"), "agent"
    )
    assert 1 == len(compound_memories(Scene(desk.book, NOON)))
