"""Facts that break folds are counted once each, the newest first, and never without end."""

import pytest

from schemas.events import MessageListed, PlanExtended
from services.kit import cache
from services.kit.cache import UnfoldedFacts
from services.responder.projections.folds import SESSION
from tests.helpers.given import envelope

LISTED = MessageListed(messages=["m", "n"], ordinals=[1])


def test_each_is_counted_once_and_the_newest_are_named_first() -> None:
    facts = UnfoldedFacts()
    for seq in (7, 412, 7, 9):
        facts.add(envelope(LISTED, seq))
    assert 3 == len(facts)
    assert [(412, LISTED.TYPE), (9, LISTED.TYPE)] == [*facts.newest(2)]


def test_of_very_many_only_the_newest_are_remembered() -> None:
    facts = UnfoldedFacts()
    for seq in range(cache.MOST + 5):
        facts.add(envelope(LISTED, seq))
    assert cache.MOST == len(facts)
    assert [cache.MOST + 4] == [seq for seq, _ in facts.newest(1)]


def test_a_fold_that_breaks_notes_its_fact_and_not_one_that_cannot_be_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = UnfoldedFacts()
    monkeypatch.setattr(cache, "UNFOLDED", facts)
    plan = PlanExtended(revision=1, step="s", as_of=1, edits="garbage", edit_count=1)
    for seq, event in ((3, plan), (4, LISTED)):
        assert SESSION.initial is cache.folded(SESSION.evolve, SESSION.initial, event, envelope(event, seq))
    assert [(4, LISTED.TYPE)] == [*facts.newest(5)]
