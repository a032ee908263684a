from datetime import UTC, datetime, timedelta

from schemas.events import MessageListed, MessageRecorded, PartRecorded, PlanExtended, StepOpened
from schemas.search_asks import Hit, Hits
from services.domain.texts.clean import CONTEXT_ELEMENT
from services.plan.lanes.hint_decisions import decided, hits_of, is_augmented, is_late, skipped, too_short
from services.plan.session.state import Session, evolve
from tests.helpers.given import given

NOW = datetime(2026, 3, 7, tzinfo=UTC)


def hit(name: str, score: float, source: str = "memory", days: int = 3) -> Hit:
    return Hit(source=source, id=name, score=score, fragment=f"text of {name}", at=NOW - timedelta(days=days))


def test_what_fits_well_enough_is_decided_as_the_lane_renders_it() -> None:
    found = Hits(hits=(hit("a", 0.7), hit("c" * 40, 0.9, "commit"), hit("m1", 1.0, "message")))
    hint = decided("m1", found, 0.6, NOW)
    assert ("hint", 0.9, ["c" * 40, "a"]) == (hint.decision, hint.score, hint.ids)
    shown = hits_of(hint)
    assert [("text of " + "c" * 40, "c" * 40, "3d ago"), ("text of a", "", "")] == [
        (one.text, one.sha, one.age) for one in shown
    ]
    assert {"m1"} == {one.message for one in shown}


def test_nothing_rides_along_with_what_fits() -> None:
    found = Hits(hits=(hit("a", 0.9), hit("b", 0.59), hit("c", 0.6)))
    assert ["a", "c"] == decided("m1", found, 0.6, NOW).ids


def test_the_message_itself_is_no_news() -> None:
    assert "empty" == decided("m1", Hits(hits=(hit("m1", 1.0, "message"),)), 0.6, NOW).reason
    assert "error" == decided("m1", Hits(error="the disk is full"), 0.6, NOW).reason


def test_what_does_not_fit_is_recorded_with_how_well_it_did() -> None:
    hint = decided("m1", Hits(hits=(hit("a", 0.59),)), 0.6, NOW)
    assert ("skip", "below_threshold", 0.59) == (hint.decision, hint.reason, hint.score)
    assert () == hits_of(hint) == hits_of(None) == hits_of(skipped("m1", "late"))


def test_a_few_letters_are_not_looked_for() -> None:
    assert too_short("§12§ go on", 20)
    assert not too_short("why does the crane stop at noon?", 20)


def test_an_augmented_message_gets_no_hint() -> None:
    element = f"<{CONTEXT_ELEMENT}>\nWhat is known.\n</{CONTEXT_ELEMENT}>"
    mentioned = given(
        evolve,
        Session(),
        MessageRecorded(message="m1", role="user"),
        PartRecorded(message="m1", part="m1.0", kind="text", text=element, bytes=len(element)),
    )
    assert not is_augmented(mentioned.state, "m1"), "a person may speak of such an element"
    assert not is_augmented(mentioned.state, "m2")
    added = PartRecorded(message="m1", part="m1.1", kind="text", text=element, bytes=len(element), synthetic=True)
    assert is_augmented(mentioned.and_given(added).state, "m1")


def test_a_message_is_late_when_the_call_that_sends_it_has_its_plan_and_not_when_only_the_one_before_has() -> None:
    sent = given(
        evolve,
        Session(),
        MessageRecorded(message="m1", role="user"),
        MessageListed(messages=["m1"], ordinals=[1]),
        StepOpened(step="s1", last=1, count=1),
        PlanExtended(revision=0, step="s1", as_of=3),
    )
    assert is_late(sent.state, "m1")
    listed = sent.and_given(MessageRecorded(message="m2", role="user"), MessageListed(messages=["m2"], ordinals=[2]))
    assert not is_late(listed.state, "m2")
    opened = listed.and_given(StepOpened(step="s2", unchanged=1, last=2, count=2))
    assert not is_late(opened.state, "m2")
    assert is_late(opened.and_given(PlanExtended(revision=0, step="s2", as_of=6)).state, "m2")
