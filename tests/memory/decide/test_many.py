"""Ten thousand candidates, of which a third say what others say: what becomes of each, and what of them is shown."""

import random
from collections import Counter

import pytest

from schemas.asks import MemoryAsk
from schemas.commands import MemoryPropose, MemoryWrite, PolicySet
from services.domain.limits import MemoryLimits as Limits
from services.domain.texts.sentences import words
from services.edges.memory.readings import as_values
from services.memory.decide.admission import admit
from services.memory.decide.writing import candidate_of
from services.memory.remembered import Remembered, evolve
from services.memory.sameness import sentence_key
from services.responder.answers.memory_reports import KnownMemory, listing, missing, quality, repeating
from tests.helpers.memory_books import DAY, NOON, Desk

pytestmark = pytest.mark.slow

COUNT = 10_000
SAME, LIKE = COUNT * 16 // 100, COUNT * 16 // 100
"""Candidates that repeat an earlier one by its key, and in other words."""
SYLLABLES = ("ba", "do", "fe", "gi", "ku", "la", "me", "no", "pi", "ru", "sa", "te", "vo", "wi", "zu")


def texts() -> list[str]:
    """Rules of eleven words, in the order in which they come."""
    chance = random.Random(7)
    sentences = [
        f"Never {' '.join(''.join(chance.choices(SYLLABLES, k=4)) for _ in range(10))}."
        for _ in range(COUNT - SAME - LIKE)
    ]
    same = [f"  {text.upper().rstrip('.')} !" for text in chance.sample(sentences, SAME)]
    like = [_otherwise(text, chance) for text in chance.sample(sentences, LIKE)]
    return [*sentences, *chance.sample([*same, *like], SAME + LIKE)]


def _otherwise(text: str, chance: random.Random) -> str:
    """The same with three other words."""
    sentences = text.rstrip(".").split()
    for at in chance.sample(range(1, len(sentences)), 3):
        sentences[at] = "".join(chance.choices(SYLLABLES, k=5))
    return f"{' '.join(sentences)}."


@pytest.fixture(scope="module")
def desk() -> Desk:
    """Without the answers: each says what a memory hides of thousands."""
    made = Desk()
    for number, text in enumerate(texts()):
        context = made.context(session=f"s{number % 50}", cause=f"w{number}")
        candidate = candidate_of(MemoryWrite(text, "CONSTRAINTS"), context)
        made.write(admit(made.book, candidate, context).events, context)
    return made


@pytest.fixture(scope="module")
def known(desk: Desk) -> KnownMemory:
    return known_memory(desk)


def known_memory(desk: Desk) -> KnownMemory:
    """The known memories of a book."""
    remembered = Remembered()
    for event, envelope in desk.log:
        remembered = evolve(remembered, event, envelope)
    return KnownMemory("harbour", remembered, Limits(), NOON + DAY, len(desk.log))


def test_those_with_the_same_key_are_absorbed_and_the_others_stay(desk: Desk) -> None:
    assert {"accepted": COUNT - SAME, "absorbed": SAME} == Counter(desk.verdicts())
    assert COUNT - SAME == len(desk.book.memories)
    assert COUNT == sum(memory.seen for memory in desk.book.memories.values())


@pytest.mark.parametrize("mode", ["compact", "full"])
def test_no_sentence_is_rendered_twice_and_each_that_is_left_out_has_a_reason(known: KnownMemory, mode: str) -> None:
    limits = Limits(mode="full") if mode == "full" else Limits()
    now = KnownMemory(known.project, known.remembered, limits, known.at, known.position)
    shown = [one.memory for one in now.choice.memories]
    assert len(shown) > 10
    assert len(shown) == len({sentence_key(one.text) for one in shown})
    left = missing(now)
    assert len(known.remembered.shelf) - len(shown) == left.total == sum(left.counts.values())


def test_twins_are_listed_for_whoever_makes_one_of_them(known: KnownMemory) -> None:
    """Each with the stronger one: here that is the newer one."""
    reply = repeating(known)
    assert LIKE == reply.total == len(reply.twins)
    memories = known.remembered.book.memories
    for name, other in reply.twins:
        one, stronger = words(memories[name].text), words(memories[other].text)
        assert 7 * min(len(one), len(stronger)) <= 10 * len(one & stronger)


def test_what_became_of_candidates_adds_up_whatever_became_of_them() -> None:
    """Some wait, some are rejected, some refused until they are exhausted."""
    desk = Desk()
    for number, text in enumerate(texts()[::20]):
        desk.say(MemoryWrite(text), session=f"s{number % 5}")
        desk.say(MemoryPropose("CONSTRAINTS", f"Always {text[6:]}"), "agent", "s1")
    for number in range(30):
        desk.say(MemoryWrite(f"{number} tests passed after the fix of phase {number}."), "agent", "s1")
    desk.say(PolicySet("agent", "refused"))
    for number in range(30):
        for _ in range(1 + number % 4):
            desk.say(MemoryWrite(f"Always keep rope {number} of hemp."), "agent", "s1")
    found = as_values("quality", quality(known_memory(desk)))
    counts = {name: count for name, count in found.items() if name not in ("candidates", "reasons", "junk")}
    names = ["accepted", "absorbed", "superseded", "rejected", "held", "retrying", "exhausted"]
    assert names == [*counts]
    assert len(desk.book.candidates) == found["candidates"] == sum(map(int, map(str, counts.values())))
    assert {name for name, count in counts.items() if count} >= {
        "accepted",
        "held",
        "rejected",
        "retrying",
        "exhausted",
    }
    assert found["candidates"] == 2 * COUNT // 20 + 30 + 30


def test_the_list_has_a_page_for_each_thousand(known: KnownMemory) -> None:
    pages = [listing(known, MemoryAsk("harbour", view="list", page=page)) for page in range(1, 10)]
    assert COUNT - SAME == len({entry.id for page in pages for entry in page.memories})
