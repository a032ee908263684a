"""Forks: a copy begins with what its origin served, byte for byte, and goes on by itself."""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.events import (
    CompartmentSealed,
    DropRequested,
    Event,
    HistoryInherited,
    MessageRemoved,
    OverflowDetected,
)
from schemas.inbox import Capability
from schemas.plan import CutBefore, ReplaceText, SetHead
from schemas.subjects import Address
from services.domain.edits import ServedMessage, apply, faults
from services.domain.limits import Limits
from services.historian.core import inheritance
from services.historian.core import state as historian
from services.plan.lanes import LANES
from services.plan.lanes.drops import placeholder
from services.plan.planner.forks import CAUSE
from services.plan.session.state import Session, served_tokens
from tests.helpers.harness import Harness, edits_of, extensions, is_sound, ran, rebases, text_part, thought
from tests.helpers.random_sessions import ABILITIES, alike
from tests.helpers.tool_calls import called
from tests.plan.lanes.test_history import WORDS, seal
from tests.responder.test_byte_identity import AROUND, GROWTH, Act, Around, begun, bounded

pytestmark = pytest.mark.slow

BIG = "line\n" * 2000


def begins_with(longer: Sequence[ServedMessage], shorter: Sequence[ServedMessage]) -> bool:
    return alike(longer)[: len(shorter)] == alike(shorter)


def talking(turns: int = 6, **limits: object) -> Harness:
    harness = Harness(Limits(protected_tags=1, **limits), lanes=LANES)  # type: ignore[arg-type]
    for number in range(turns):
        harness.user(f"Read file {number}. {WORDS}")
        harness.assistant(text_part(f"I have read file_{number}.py. {WORDS}"), ran("line\n" * 200, call=f"c{number}"))
    return harness


def compressed(turns: int = 6, last: int = 6, **limits: object) -> Harness:
    """A session with history in force, something dropped, and a drop that waits."""
    harness = talking(turns, **limits)
    harness.user("go on")
    harness.step()
    harness.drop(12)
    seal(harness, last)
    harness.flush()
    harness.step()
    harness.drop(15)
    harness.assistant(text_part("done"))
    harness.user("and on")
    harness.step()
    return harness


def historian_of(harness: Harness) -> historian.HistorianSession:
    return reduce(
        lambda state, fact: historian.evolve(state, fact[1], fact[0]), harness.log, historian.HistorianSession()
    )


def adopt(copy: Harness) -> list[Event]:
    """The historian records the compartments that a copy has."""
    assert copy.origin is not None
    made = inheritance.inherited(historian_of(copy), historian_of(copy.origin), Address("p", copy.names))
    for event in made:
        copy.append(event)
    return made


def test_a_copy_is_served_what_its_origin_was_served() -> None:
    origin = compressed()
    last = origin.step()
    copy = origin.fork()
    copy.user("another way")
    call = copy.step()
    assert begins_with(call.served, last.served)
    assert len(last.served) + 1 == len(call.served)
    assert [] == faults(call.served, copy.capabilities)
    assert "extend" == call.made.kind
    assert ["s"] == [event.origin for event in extensions(call.made)]
    assert served_tokens(copy.session) == served_tokens(copy.folded())


def test_it_stays_the_same_as_the_copy_goes_on() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.user("another way")
    calls = [copy.step()]
    for number in range(3):
        copy.assistant(text_part("so"), ran("x" * 600, call=f"n{number}"))
        calls.append(copy.step())
    copy.restart()
    copy.restart_harness()
    copy.user("more")
    calls.append(copy.step())
    origin.user("the first way")
    origin.step()
    calls.append(copy.step())
    copy.assistant(text_part("late"))
    calls.append(copy.step(meanwhile=[DropRequested(tags=[3])]))
    for before, after in pairwise(calls):
        assert begins_with(after.served, before.served)
    assert is_sound(calls)
    assert not any(call.causes for call in calls)
    assert copy.session == replace(copy.folded(), seq=copy.session.seq)


def test_what_was_dropped_stays_so_and_what_waited_waits() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.user("another way")
    call = copy.step()
    assert {12} == set(copy.session.drops.dropped)
    assert {15} == set(copy.session.drops.queued)
    assert placeholder(12) in call.text
    assert placeholder(15) not in call.text
    copy.restart()
    assert {15} == set(copy.session.drops.queued)
    adopt(copy)
    copy.assistant(text_part("so"))
    copy.flush()
    copy.user("more")
    flushed = copy.step()
    assert placeholder(15) in flushed.text
    assert [[15]] == [event.dropped for event in rebases(flushed.made)]


def test_the_newest_tags_of_a_copy_are_protected() -> None:
    origin = talking(3)
    origin.limits = replace(origin.limits, protected_tags=3)
    origin.step()
    newest = origin.session.conversation.last_number
    origin.drop(3, newest)
    origin.flush()
    origin.user("now")
    assert placeholder(newest) not in origin.step().text
    copy = origin.fork()
    copy.flush()
    copy.user("here")
    first = copy.step()
    assert newest in copy.session.drops.queued
    assert placeholder(newest) not in first.text
    assert placeholder(3) in first.text


def test_tags_that_a_copy_does_not_have_protect_nothing() -> None:
    origin = talking(8)
    origin.limits = replace(origin.limits, protected_tags=3)
    origin.step()
    copy = origin.fork(before="m5")
    copy.user("another way")
    copy.step()
    assert 6 < copy.session.conversation.last_number
    copy.drop(2, 6)
    copy.flush()
    copy.user("on")
    text = copy.step().text
    assert placeholder(2) in "".join(text)
    assert placeholder(6) not in "".join(text)


def test_the_compartments_of_the_origin_are_those_of_the_copy() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.user("another way")
    first = copy.step()
    made = adopt(copy)
    assert [HistoryInherited(origin="s", last=6, compartments=1)] == made[-1:]
    assert ["mf1"] == [one.first_message for one in copy.session.history.sealed]
    assert [] == adopt(copy)
    copy.assistant(text_part("so"))
    copy.user("more")
    copy.flush()
    call = copy.step()
    assert call.served[0] == first.served[0]
    assert not any(isinstance(edit, SetHead | CutBefore) for edit in edits_of(call.made))
    seal(copy, 8)
    copy.flush()
    copy.user("again")
    rebased = copy.step()
    assert ("flush",) == rebased.causes
    assert "up to m6" in rebased.text[0]
    assert "up to mf8" in rebased.text[0]


def test_a_copy_keeps_the_readings_that_its_origin_keeps() -> None:
    origin = Harness(Limits(protected_tags=1), LANES)
    origin.user(f"Mend it. {WORDS}")
    origin.assistant(called("read", {"filePath": "src/a.py"}, "def parse(): ...\n" * 40, call="r"))
    for number in range(6):
        origin.assistant(text_part(f"I run it, {number}. {WORDS}"), ran("line\n" * 200, call=f"t{number}"))
    origin.step()
    seal(origin, 6)
    origin.flush()
    served = origin.step()
    assert origin.session.plan.cut is not None
    assert ("m1.0", "m2.0") == origin.session.plan.cut.remaining
    copy = origin.fork()
    copy.user("another way")
    first = copy.step()
    assert [part.output for part in first.served[2].parts] == [part.output for part in served.served[2].parts]
    assert len(first.served) >= len(served.served)
    assert faults(first.served, ()) == []


def test_history_stays_until_the_compartments_are_recorded() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.user("another way")
    first = copy.step()
    assert copy.session.awaits_history
    copy.append(OverflowDetected(text="too long", limit=90_000))
    copy.user("again")
    call = copy.step()
    assert first.served[0].parts == call.served[0].parts
    assert "up to m6" in call.text[0]


def test_history_of_what_was_deleted_meanwhile_goes() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.user("another way")
    copy.step()
    gone = copy.messages[5].message
    copy.without(gone)
    copy.append(MessageRemoved(messages=[gone], reason="deleted"))
    copy.user("again")
    call = copy.step()
    assert call.causes
    assert "up to m6" not in call.text[0]


def test_a_copy_in_the_middle_takes_over_what_it_has() -> None:
    origin = compressed()
    served = origin.step().served
    copy = origin.fork(before="m11")
    copy.user("another way")
    call = copy.step()
    shared = alike(call.served)[:-1]
    assert shared == alike(served)[: len(shared)]
    assert "up to m6" in call.text[0]
    assert {12} == set(copy.session.drops.dropped)
    assert {15} == set(copy.session.drops.queued)
    before = origin.fork(before="m9")
    before.user("another way")
    before.step()
    assert {12} == set(before.session.drops.dropped)
    assert set() == set(before.session.drops.queued)


def test_a_copy_that_ends_before_the_cut_shows_no_history_of_what_it_has_not() -> None:
    origin = compressed(8, last=4)
    seal(origin, 12)
    origin.flush()
    origin.user("and on")
    assert "up to m12" in origin.step().text[0]
    copy = origin.fork(before="m11")
    copy.user("another way")
    call = copy.step()
    assert "up to m4" in call.text[0]
    assert "up to m12" not in call.text[0]
    assert ["mf5", "mf6", "mf7", "mf8", "mf9", "mf10", "mf11"] == [message.id for message in call.served[1:]]
    assert [] == faults(call.served, copy.capabilities)
    assert [4] == [one.last for one in adopt(copy) if isinstance(one, CompartmentSealed)]
    early = origin.fork(before="m3")
    early.user("another way")
    assert ["mf1", "mf2", "mf3"] == [message.id for message in early.step().served]
    assert [HistoryInherited(origin="s")] == adopt(early)


def test_a_copy_of_a_copy_begins_alike() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.user("another way")
    adopt(copy) if copy.step() else None
    copy.assistant(text_part("so"))
    copy.user("and then")
    last = copy.step()
    again = copy.fork()
    again.user("a third way")
    call = again.step()
    assert begins_with(call.served, last.served)
    assert {12} == set(again.session.drops.dropped)
    assert {15} == set(again.session.drops.queued)
    assert ["mff1"] == [one.first_message for one in adopt(again) if isinstance(one, CompartmentSealed)]
    positions = [session.history.positions.values() for session in (origin.session, again.session)]
    assert sorted(positions[0]) == sorted(positions[1])


def test_places_that_are_empty_in_the_origin_are_empty_in_its_copy() -> None:
    origin = compressed()
    origin.without("m9")
    origin.user("go on")
    last = origin.step()
    copy = origin.fork()
    copy.user("another way")
    assert begins_with(copy.step().served, last.served)
    assert [8, 10] == [copy.session.conversation.messages[name].ordinal for name in ("mf8", "mf9")]


def test_texts_that_are_served_in_fewer_words_stay_so() -> None:
    origin = talking(12, caveman=True, caveman_min_chars=100)
    origin.user("go on")
    origin.step()
    origin.flush()
    last = origin.step()
    worded = [edit for edit in origin.session.plan.edits() if isinstance(edit, ReplaceText)]
    assert worded
    copy = origin.fork()
    copy.user("another way")
    assert begins_with(copy.step().served, last.served)
    copy.flush()
    copy.user("on")
    assert not any(isinstance(edit, ReplaceText) for number in (3, 4) for edit in _edits(copy.session, number))


def _edits(session: Session, number: int) -> tuple[object, ...]:
    revision = session.revisions.made.get(number)
    return revision.edits if revision else ()


def test_signed_thinking_that_was_left_out_stays_out() -> None:
    origin = Harness(lanes=LANES)
    origin.capabilities = ("accepts_empty_content", "binds_signed_thinking")
    origin.user("go")
    origin.assistant(thought(signed=True), text_part("I look."), ran(BIG, call="c1"))
    origin.user("on")
    origin.assistant(thought(signed=True), text_part("I see."), ran(BIG, call="c2"))
    origin.user("and on")
    origin.step()
    origin.drop(3)
    origin.flush()
    last = origin.step()
    assert not any(part.signed for message in last.served for part in message.parts)
    copy = origin.fork()
    copy.user("another way")
    assert begins_with(copy.step().served, last.served)


def test_a_copy_whose_first_call_went_out_raw_takes_over_by_a_rebase() -> None:
    origin = compressed()
    last = origin.step()
    copy = origin.fork()
    copy.user("another way")
    raw = copy.step(takes=0)
    assert raw.raw == raw.served
    copy.assistant(text_part("so"))
    copy.user("more")
    call = copy.step()
    assert (CAUSE,) == call.causes
    assert begins_with(call.served, last.served)
    copy.restart()
    copy.assistant(text_part("so"))
    assert begins_with(copy.step().served, call.served)


def test_a_copy_that_was_never_asked_about_takes_over_at_its_next_call() -> None:
    origin = compressed()
    last = origin.step()
    copy = origin.fork()
    copy.user("another way")
    copy.step(asks=False)
    copy.assistant(text_part("so"))
    copy.user("more")
    call = copy.step()
    assert (CAUSE,) == call.causes
    assert begins_with(call.served, last.served)


def test_little_is_not_taken_over_behind_what_was_sent() -> None:
    origin = talking(1)
    origin.step()
    copy = origin.fork()
    copy.user("another way")
    raw = copy.step(takes=0)
    copy.assistant(text_part("so"))
    call = copy.step()
    assert () == call.causes
    assert begins_with(call.served, raw.served)


@pytest.mark.parametrize("origin", [None, Harness()])
def test_a_copy_of_an_unknown_session_begins_as_any_other(origin: Harness | None) -> None:
    copy = compressed().fork()
    plain = Harness(copy.limits, LANES)
    copy.origin, copy.session, copy.tagger, copy.log = origin, Session(), plain.tagger, []
    copy.user("another way")
    call = copy.step()
    assert call.made.kind == "extend"
    assert 0 == copy.session.heritage.copied
    assert [""] == [event.origin for event in extensions(call.made)]
    assert [] == inheritance.inherited(historian_of(copy), historian.HistorianSession(), Address("p", "c"))


def test_what_was_sent_without_a_plan_is_sent_so_in_the_copy() -> None:
    origin = talking(2)
    last = origin.step(asks=False)
    copy = origin.fork()
    copy.user("another way")
    assert begins_with(copy.step().served, last.served)


def test_a_copy_of_a_session_that_made_no_call_begins_as_any_other() -> None:
    origin = talking(2)
    copy = origin.fork()
    copy.user("another way")
    assert [""] == [event.origin for event in extensions(copy.step().made)]


def test_a_copy_with_another_beginning_takes_nothing_over() -> None:
    origin = compressed()
    copy = origin.fork()
    copy.change(copy.messages[0].parts[0].part, text="something else")
    copy.user("another way")
    assert [""] == [event.origin for event in extensions(copy.step().made)]


def test_a_copy_in_another_mode_takes_nothing_over() -> None:
    copy = compressed().fork()
    copy.mode = "additive"
    copy.user("another way")
    call = copy.step()
    assert call.raw == call.served


@pytest.mark.parametrize("last", [6, 7])
def test_a_model_that_wants_roles_to_alternate_is_served_no_two_messages_of_one_role(last: int) -> None:
    origin = compressed(last=last)
    copy = origin.fork()
    copy.capabilities = ("accepts_empty_content", "requires_alternation")
    copy.user("another way")
    call = copy.step()
    assert [] == faults(call.served[:-1], ["accepts_empty_content"])
    assert ("up to m7" in call.text[0]) == (last == 7)
    assert "user" != call.served[1].role


def test_a_reading_that_its_origin_keeps_makes_no_two_answers_in_a_row_where_roles_alternate() -> None:
    origin = Harness(Limits(threshold=65, protected_tags=1), LANES)
    origin.user("Mend the parser.")
    origin.assistant(called("read", {"filePath": "src/parser.py"}, "def parse(line): ...\n" * 30, call="r1"))
    for number in range(4):
        origin.user(f"Run it, {number}.")
        origin.assistant(ran("ok", call=f"t{number}"))
    origin.step()
    seal(origin, 5)
    origin.flush()
    origin.step()
    assert origin.session.plan.cut is not None
    assert origin.session.plan.cut.remaining
    copy = origin.fork()
    copy.capabilities = ("accepts_empty_content", "requires_alternation")
    copy.user("another way")
    call = copy.step()
    assert set(faults(call.served, copy.capabilities)) <= set(faults(call.raw, copy.capabilities))


def test_a_plan_that_is_too_long_for_one_event_is_several() -> None:
    origin = Harness(lanes=LANES)
    origin.user("go")
    for number in range(4):
        origin.assistant(*(ran(f"{number}.{n} out", call=f"c{number}.{n}") for n in range(700)))
    last = origin.step()
    copy = origin.fork()
    copy.user("another way")
    call = copy.step()
    assert ["s", "s", ""] == [event.origin for event in extensions(call.made)]
    assert 2 == copy.session.heritage.inherited
    assert begins_with(call.served, last.served)


@bounded
@given(
    around=st.lists(AROUND, min_size=1, max_size=6),
    abilities=ABILITIES,
    at=st.integers(0, 12),
    growth=st.lists(GROWTH, min_size=3, max_size=3),
)
def test_any_session_can_be_copied_anywhere(
    around: list[Around], abilities: tuple[Capability, ...], at: int, growth: list[Act]
) -> None:
    origin = begun(abilities, protected=1)
    for one in around:
        for act in (*one.growth, *one.chances):
            act(origin)
        origin.step(asks=one.asks, takes=one.takes)
    origin.user("and on")
    last = origin.step()
    behind = at % len(origin.messages)
    copy = origin.fork(before=origin.messages[behind].message if behind else "")
    copy.user("another way")
    calls = [copy.step()]
    if not behind and not faults(last.raw, abilities):
        served = apply(last.raw, origin.session.plan.edits())
        assert begins_with(calls[0].served, served)
    for act in growth:
        act(copy)
        calls.append(copy.step())
    copy.restart()
    calls.append(copy.step())
    for before, after in pairwise(calls):
        assert not after.causes
        assert begins_with(after.served, before.served)
    assert is_sound(calls)
    assert copy.session.plan.saved == copy.folded().plan.saved
