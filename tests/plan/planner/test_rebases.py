"""A rebase that could wait is made only where it pays for itself: on sessions played to their end."""

from datetime import datetime, timedelta

import pytest

from schemas.inbox import MessageSeen, PartSeen, SessionSeen
from services.domain.limits import Prices
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.plan.planner.causes import Causes
from tests.helpers.harness import START, replace, text_part
from tests.helpers.measured_rebases import Rebase
from tests.helpers.playing import Played, play
from tests.helpers.recordings import SHIPPED

pytestmark = pytest.mark.slow

CALLS = 8
"""In each turn of a session of steady work."""


def steady(turns: int) -> Transcript:
    """Readings of 250 to 1,750 tokens, one in each call."""
    messages: list[MessageSeen] = []
    for turn in range(turns):
        at = START + timedelta(minutes=turn)
        messages.append(MessageSeen(f"u{turn}", "user", at, parts=(named(text_part("Go on."), f"u{turn}"),)))
        messages += [reading(f"a{turn}.{call}", turn * CALLS + call, at) for call in range(CALLS)]
    return Transcript("test", "steady", SessionSeen(), tuple(messages))


def reading(name: str, number: int, at: datetime) -> MessageSeen:
    output = "line\n" * (200 + 7919 * number % 1200)
    read_it = PartSeen(
        name, "tool", f"{name}.1", 1, tool="read", call=name, input=f'{{"filePath": "{name}.py"}}', output=output,
        status="completed",
    )  # fmt: skip
    return MessageSeen(name, "assistant", at, parts=(named(text_part("Let me look."), name), read_it))


def named(part: PartSeen, message: str) -> PartSeen:
    return replace(part, message=message, part=f"{message}.0")


def by_choice(played: Played) -> list[Rebase]:
    return [rebase for rebase in played.rebases if rebase.is_by_choice]


def test_in_a_session_of_steady_work_every_rebase_by_choice_has_paid_before_the_next() -> None:
    played = play(steady(40), 128_000, tidy=False)

    assert len(by_choice(played)) >= 3
    assert [rebase for rebase in by_choice(played) if rebase.followed <= rebase.break_even] == []
    assert (played.unexplained, played.refused, played.faults) == (0, 0, ())


@pytest.mark.parametrize("tidy", [True, False])
def test_where_little_can_go_room_is_not_made_again_and_again(*, tidy: bool) -> None:
    """A model so small that half of its window is protected: each turn brings more than the threshold leaves."""
    played = play(steady(25), 48_000, tidy=tidy)

    assert [rebase for rebase in by_choice(played) if rebase.is_net_loss] == []
    assert [rebase for rebase in played.rebases if rebase.planned < 0.95 * rebase.rewritten] == []


@pytest.mark.parametrize("family", ["openai", "anthropic"])
@pytest.mark.parametrize("window", [24_000, 32_000, 40_000])
@pytest.mark.parametrize("tidy", [True, False])
def test_no_rebase_of_a_recorded_session_is_made_at_a_loss(family: str, window: int, *, tidy: bool) -> None:
    """The model is so small that the session comes under pressure all the time."""
    for transcript in read(SHIPPED / f"{family}.json.gz"):
        played = play(transcript, window, tidy=tidy)

        assert [rebase for rebase in by_choice(played) if rebase.is_net_loss] == []
        assert (played.unexplained, played.faults) == (0, ())


# What a loss is

PRICES = Prices(read=0.1, write=1.1)
PRESSURE = Causes(pressure=("pressure",))
PAID_AFTER_20 = Rebase(
    call=10, causes=PRESSURE, reclaimed=1000, rewritten=2000, planned=2000, steps=30, prices=PRICES, ended_by="rebase"
)


def test_a_rebase_has_paid_when_it_has_saved_what_the_cache_has_cost() -> None:
    assert PAID_AFTER_20.break_even == 20
    assert replace(PAID_AFTER_20, followed=20).net == 0
    assert replace(PAID_AFTER_20, followed=21).net == 100


@pytest.mark.parametrize(
    ("rebase", "is_loss", "is_cut_short"),
    [
        (replace(PAID_AFTER_20, followed=21), False, False),
        (replace(PAID_AFTER_20, followed=20), True, False),
        (replace(PAID_AFTER_20, followed=20, ended_by="end"), False, True),
        (replace(PAID_AFTER_20, followed=20, ended_by="harness"), False, True),
        (replace(PAID_AFTER_20, followed=20, ended_by="end", steps=20), True, False),
        (replace(PAID_AFTER_20, followed=0, reclaimed=0, ended_by="end"), True, False),
    ],
)
def test_an_end_that_nobody_could_know_excuses_what_was_right_by_its_own_forecast(
    rebase: Rebase, *, is_loss: bool, is_cut_short: bool
) -> None:
    assert (rebase.is_net_loss, rebase.is_cut_short) == (is_loss, is_cut_short)


@pytest.mark.parametrize(
    "causes",
    [
        Causes(forced=("compacted",), pressure=("pressure",)),
        Causes(free=("idle",), pressure=("pressure",)),
        Causes(pressure=("force",), urgent=True),
    ],
)
def test_what_had_to_be_or_costs_nothing_is_no_loss(causes: Causes) -> None:
    rebase = replace(PAID_AFTER_20, causes=causes)
    assert (rebase.is_by_choice, rebase.is_net_loss, rebase.is_cut_short) == (False, False, False)
