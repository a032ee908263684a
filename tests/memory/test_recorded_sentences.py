"""What the gate makes of sentences in recordings of other projects that none of its rules was made with."""

from pathlib import Path

import msgspec

from services.memory.decide.words import gate_verdict, rejecting
from services.memory.requests.find import place_of
from tests.helpers.lasting_sentences import recorded_sentences
from tests.helpers.recordings import SHIPPED

LABELS = msgspec.json.decode((SHIPPED / "memory_lasting.json").read_bytes(), type=dict[str, frozenset[str]])
FEWEST_GOOD, MOST_JUNK = 25, 65
"""Of 32 sentences that hold, and of 154 that do not, as many pass."""


def test_of_sentences_that_no_rule_was_made_with_no_fewer_are_judged_right_than_were_measured(foreign: Path) -> None:
    texts = recorded_sentences(sorted(foreign.glob("transcripts/neutral/*.jsonl.gz")))
    good, junk = (sum(_passes(texts[name]) for name in LABELS[kind]) for kind in ("good", "junk"))
    assert FEWEST_GOOD <= good
    assert MOST_JUNK >= junk


def _passes(text: str) -> bool:
    return not rejecting(gate_verdict(text, place_of(text).memory_class, "agent"), "agent")
