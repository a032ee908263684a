"""What states one fact becomes one memory: which words it has, which id goes on, and what is left alone."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.commands import MemoryArchive, MemoryMerge, MemoryPin, MemoryRevise, MemoryWrite, PolicySet
from schemas.events.memory import TRUSTS
from services.domain.senders import PEOPLE
from services.dreamer.core.same_fact import fact_of
from services.dreamer.core.task import Scene, TaskChange
from services.dreamer.core.tasks.consolidate import TASK
from services.memory.sameness import sentence_key
from tests.dreamer.hand_pairs import DIFFERENT, SAME
from tests.helpers.memory_books import NOON, Desk, named

RULES = "PROJECT_RULES"
WORDS = "state one fact in other words"


def desk_with(*texts: str, trust: str = "agent", category: str = RULES) -> tuple[Desk, list[str]]:
    desk = Desk()
    desk.say(PolicySet("dreamer", "applied"))
    return desk, [named(desk.say(MemoryWrite(text=text, category=category), trust)) for text in texts]


def changes(desk: Desk) -> Sequence[TaskChange]:
    scene = Scene(desk.book, NOON)
    found = TASK.changes(scene)
    assert len(found) == TASK.backlog(scene)
    return found


def apply(desk: Desk) -> list[str]:
    """Send all changes as the dreamer; the answers of those that were refused."""
    answers = [desk.say(change.command, "dreamer") for change in changes(desk)]
    return [answer.text for answer in answers if not answer.ok]


def test_the_same_fact_in_other_words_becomes_one_memory_with_the_longer_words() -> None:
    longer = "Before each push to main, always run `make lint`."
    desk, names = desk_with("Run make lint before every push to main.", longer)
    (change,) = changes(desk)
    ids = tuple(sorted(names))
    assert MemoryMerge(ids, longer, reason=WORDS, revisions=(1, 1)) == change.command
    assert f"{', '.join(ids)} state one fact in other words" == change.reason
    assert [] == apply(desk)
    assert [] == changes(desk)
    assert [(ids[0], longer)] == [(one.id, one.text) for one in desk.book.memories.values() if one.is_active]


def test_one_with_a_reason_keeps_it() -> None:
    desk, names = desk_with("Use Postgres because it has locks.", "We should always use Postgres in this project.")
    merged = MemoryMerge(tuple(sorted(names)), "Use Postgres because it has locks.", reason=WORDS, revisions=(1, 1))
    assert [merged] == [one.command for one in changes(desk)]


def test_several_reasons_are_several_facts() -> None:
    desk, _ = desk_with("Use Postgres because it has locks.", "Use Postgres because we know it.", "We use Postgres.")
    assert [] == changes(desk)


@pytest.mark.parametrize("at", [0, 1])
def test_the_stronger_source_goes_on(at: int) -> None:
    desk, names = desk_with("All modules have a README.", "Each module has a README.")
    desk.book = desk.book.with_memory(replace(desk.of(names[at]), trust="historian"))
    (change,) = changes(desk)
    assert isinstance(change.command, MemoryMerge)
    assert (names[1 - at], names[at]) == change.command.ids


def test_nothing_is_merged_across_categories() -> None:
    desk, _ = desk_with("Tables of quays start with q_.", category="NAMING")
    desk.say(MemoryWrite(text="The tables of quays begin with q_.", category="CONSTRAINTS"), "agent")
    assert [] == changes(desk)


@pytest.mark.parametrize("trust", ["person", "person_by_harness"])
def test_a_persons_rule_is_left_alone(trust: str) -> None:
    desk, _ = desk_with("Never commit generated files.")
    desk.say(MemoryWrite(text="Do not commit generated files.", category=RULES), trust)
    assert [] == changes(desk)


def test_a_pinned_one_is_left_alone() -> None:
    desk, (first, _) = desk_with("Never commit generated files.", "Do not commit generated files.")
    desk.say(MemoryPin(first))
    assert [] == changes(desk)


def test_a_copy_of_a_pinned_sentence_is_archived() -> None:
    desk, (first, second) = desk_with("Never commit generated files.", "Keep tide tables in UTC.")
    desk.book = desk.book.with_memory(replace(desk.of(second), text="never commit generated files"))
    desk.say(MemoryPin(first))
    (change,) = changes(desk)
    assert isinstance(change.command, MemoryArchive)
    assert second == change.command.id
    assert [] == apply(desk)
    assert [] == changes(desk)


def test_what_a_merge_took_in_can_be_restored() -> None:
    desk, (_, second) = desk_with("Never commit generated files.", "Do not commit generated files.")
    apply(desk)
    assert ("superseded", "Do not commit generated files.") == (desk.of(second).status, desk.of(second).text)


TEXTS = [text for pair in (*SAME, *DIFFERENT) for text in pair]


@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from([*TRUSTS])), max_size=24))
def test_what_was_done_is_not_done_again(written: list[tuple[str, str]]) -> None:
    desk, _ = desk_with()
    for text, trust in written:
        desk.say(MemoryWrite(text=text, category=RULES), "agent")
        for memory in [one for one in desk.book.memories.values() if one.text == text]:
            desk.book = desk.book.with_memory(replace(memory, trust=trust))
    own = {one.id: one for one in desk.book.memories.values() if one.is_active and one.trust in PEOPLE}
    assert [] == apply(desk)
    assert [] == changes(desk)
    assert own == {name: desk.of(name) for name in own}


@given(st.text(max_size=200))
def test_every_text_has_a_fact_and_the_same_sentence_has_the_same(text: str) -> None:
    fact = fact_of(text)
    assert fact == fact_of(text)
    again = f"{text} "
    if sentence_key(again) == sentence_key(text):
        assert fact.main == fact_of(again).main


@given(st.permutations(TEXTS[:16]))
def test_the_order_in_which_memories_came_changes_nothing(texts: Sequence[str]) -> None:
    assert merged(desk_with(*TEXTS[:16])[0]) == merged(desk_with(*texts)[0])


def merged(desk: Desk) -> set[frozenset[str]]:
    commands = [change.command for change in changes(desk)]
    return {frozenset(desk.of(name).text for name in one.ids) for one in commands if isinstance(one, MemoryMerge)}


def test_what_was_revised_meanwhile_is_not_merged() -> None:
    desk, names = desk_with("Run make lint before every push to main.", "Before each push to main, run `make lint`.")
    (change,) = changes(desk)
    assert desk.say(MemoryRevise(names[0], "Run make lint before every push to the branch dev."), "agent").ok
    assert not desk.say(change.command, "dreamer").ok
    assert all(desk.of(name).is_active for name in names)
