"""Pairs that are found as memories come are those that comparing all memories finds, whatever became of them."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from services.memory.entry import Memory
from services.memory.rendering import twins
from services.memory.twin_pairs import TwinPairs
from tests.helpers.given import AT

NAMES, WORDS = "abcdefgh", ("alpha", "bravo", "carol", "delta", "erika", "frank", "gamma", "hotel", "india", "jolly")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
STATUSES = st.sampled_from(["active", "active", "active", "archived", "pending"])
CHANGES = st.lists(st.tuples(st.sampled_from(NAMES), TEXTS, STATUSES, st.booleans()), max_size=30)


def memory(name: str, text: str) -> Memory:
    return Memory(name, "CONSTRAINTS", text, "feedback", "active", "agent", created=AT, clock=AT)


def ids(pairs: Sequence[tuple[object, object]]) -> list[tuple[object, object]]:
    return [(getattr(one, "id", ""), getattr(other, "id", "")) for one, other in pairs]


@given(CHANGES, st.permutations(NAMES))
def test_they_are_those_of_all_memories_in_any_order_of_strength(
    changes: list[tuple[str, str, str, bool]], order: Sequence[str]
) -> None:
    known: dict[str, Memory] = {}
    pairs = TwinPairs()
    for name, text, status, is_gone in changes:
        if is_gone:
            known.pop(name, None)
            pairs.update([name], [])
        else:
            known[name] = replace(memory(name, text), status=status)
            pairs.update([], [known[name]])
        strongest = [known[one] for one in order if one in known and known[one].is_active]
        assert ids([*twins(strongest)]) == ids([*pairs.among(strongest)])
        assert len(strongest) == len(pairs)
    pairs.update(known, [])
    assert not any(getattr(pairs, name) for name in ("_texts", "_words", "_which", "_by_word", "_by_rare", "_near"))


def test_what_only_became_stronger_is_not_compared_again() -> None:
    pairs, one = TwinPairs(), memory("a", "Run the tests before each commit.")
    pairs.update([], [one, memory("b", "Names of modules are nouns.")])
    pairs.update([], [replace(one, reinforced=3, is_pinned=True)])
    assert pairs.compared == 2
    revised = replace(one, text="Names of modules are always nouns.")
    pairs.update([], [revised])
    assert pairs.compared == 3
    assert [("b", "a")] == ids([*pairs.among([revised, memory("b", "")])])
