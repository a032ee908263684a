"""Sessions whose tools answer with pictures: what they cost, how they go, and that nothing else changes with them."""

from itertools import pairwise

import msgspec

from services.domain.conversation import output_tokens
from services.domain.limits import Limits
from services.plan.lanes import LANES
from services.plan.session.state import served_tokens
from tests.helpers.harness import SHOWN, Call, Harness, cost, ran, text_part, with_picture

SIDE = 1100
COST = 1614
"""Tokens of a picture of that many pixels on each side."""


def looking(*, pictures: int = 60, protected: int = 20) -> Harness:
    """An agent that looks at pictures, one after the other."""
    harness = Harness(Limits(protected_tags=protected), LANES)
    harness.user("look at them")
    for n in range(pictures):
        look(harness, n)
    return harness


def look(harness: Harness, number: int) -> None:
    harness.assistant(with_picture(ran(SHOWN, call=f"c{number}"), side=SIDE))


def pictures(call: Call) -> list[str]:
    """The parts that are served with their pictures."""
    return [part.id for message in call.served for part in message.parts if part.attachments]


def sent(call: Call) -> list[bytes]:
    return [msgspec.json.encode(message) for message in call.served]


def test_a_session_full_of_pictures_is_known_to_be_full_and_makes_room() -> None:
    harness = looking()
    calls = [harness.step()]
    harness.use(96_000)
    harness.user("so?")
    calls.append(harness.step())

    assert harness.session.conversation.tokens > 60 * COST
    assert output_tokens(harness.session.conversation.parts["m2.0"].recorded) == COST + 6
    assert any(call.causes for call in calls)
    assert len(pictures(calls[-1])) <= 25
    assert pictures(calls[-1])[-1] == "m61.0"
    assert served_tokens(harness.session) < 45_000


def test_what_is_served_costs_what_is_counted() -> None:
    harness = looking(pictures=8, protected=2)
    harness.step()
    harness.drop(2, 3)
    harness.use(1000)
    harness.wait(301)
    call = harness.step()

    assert len(pictures(call)) < 8
    assert abs(served_tokens(harness.session) - cost(call.served)) < 20


def test_dropping_one_picture_is_worth_a_rebase_of_its_own() -> None:
    harness = looking(pictures=4, protected=1)
    harness.step()
    before = served_tokens(harness.session)
    harness.drop(2)
    harness.flush()
    harness.assistant(text_part("done"))
    harness.user("go on")
    call = harness.step()

    assert "m2.0" not in pictures(call)
    assert before - served_tokens(harness.session) > COST


def test_between_rebases_every_byte_is_sent_again() -> None:
    """With a growing tail, a restart, the removal of a neighbour that came late, and an answer that comes late."""
    harness = looking(pictures=5, protected=2)
    harness.step()
    harness.use(1000)
    harness.wait(301)
    calls = [harness.step()]
    assert 0 < len(pictures(calls[0])) < 5
    late = harness.assistant(ran("", call="late", pending=True))
    for act in (
        lambda: look(harness, 10),
        harness.restart,
        lambda: harness.change(f"{late}.0", output=SHOWN, status="completed"),
        harness.restart_harness,
        lambda: look(harness, 11),
    ):
        act()
        harness.user("and?")
        calls.append(harness.step())
    harness.without(harness.messages[2].message)
    calls += [harness.step(), harness.step()]
    look(harness, 12)
    calls.append(harness.step())

    quiet = [(before, now) for before, now in pairwise(calls) if not now.causes]
    assert [bool(call.causes) for call in calls] == [True, False, False, True, False, False, True, False, False]
    assert all(sent(now)[: len(before.served)] == sent(before) for before, now in quiet)
    assert harness.folded() == harness.session
