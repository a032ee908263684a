"""What all projects of an installation spend together: the sum of their ledgers, and the limits of it."""

from collections.abc import Sequence

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.commands import SpendReserve
from schemas.events import Event, SessionIdled, SpendRefused, SpendReserved, SpendSettled
from services.desk.core import spending
from services.desk.core.commands import decide
from services.desk.core.installation_spending import InstallationLedger, evolve
from services.desk.core.spending import DAYS, Ledger
from services.domain.decision import CommandContext, Decision, InstallationBudget
from tests.helpers import examples as number_of
from tests.helpers.given import envelope

TODAY = CommandContext(day="2026-11-21", daily_tokens=1000, daily_usd=1.0)


def reserved(name: str, tokens: int = 400, usd: float = 0.25, day: str = TODAY.day) -> SpendReserved:
    return SpendReserved(reservation=name, day=day, purpose="history", tokens=tokens, usd=usd)


def settled(name: str, tokens: int, usd: float = 0.0, day: str = TODAY.day) -> SpendSettled:
    return SpendSettled(reservation=name, day=day, tokens=tokens, usd=usd)


def installation(*facts: tuple[str, Event]) -> InstallationLedger:
    state = InstallationLedger()
    for seq, (project, event) in enumerate(facts, 1):
        state = evolve(state, event, replace(envelope(event, seq), project=project))
    return state


def reserve(known: InstallationLedger, limits: InstallationBudget, tokens: int = 100, usd: float = 0.1) -> Decision:
    month = known.month("2026-11")
    limits = replace(limits, spent_today=known.day(TODAY.day), spent_this_month=month)
    command = SpendReserve(reservation="new", purpose="history", tokens=tokens, usd=usd)
    return decide(Ledger(), command, replace(TODAY, installation=limits))


def test_projects_are_added_up_by_day_and_by_month() -> None:
    known = installation(
        ("a", reserved("r1")),
        ("b", reserved("r1", 300, 0.5)),
        ("b", reserved("r2", 1, 0.01, day="2026-11-02")),
        ("c", reserved("r1", 9, 0.09, day="2026-10-31")),
        ("a", settled("r1", 100, 0.05)),
    )
    assert (400, 550_000) == known.day(TODAY.day)
    assert (401, 560_000) == known.month("2026-11")
    assert (0, 0) == known.day("2026-11-22")


def test_another_project_s_call_counts_and_the_refusal_names_the_installation_and_its_settings() -> None:
    known = installation(("a", reserved("r1", 950, 0.2)))
    assert reserve(known, InstallationBudget(daily_tokens=1050)).ok
    decision = reserve(known, InstallationBudget(daily_tokens=1000, daily_usd=1.0))
    assert decision.text == (
        "Nothing was reserved: 100 tokens and 0.10 USD were asked for, and of the installation's budget of 2026-11-21 "
        "50 tokens and 0.80 USD are left. It begins anew at midnight UTC; ANNALS_MODEL__INSTALLATION_DAILY_TOKENS and "
        "ANNALS_MODEL__INSTALLATION_DAILY_USD set it."
    )
    (event,) = decision.events
    assert isinstance(event, SpendRefused)
    assert (50, 0.8) == (event.tokens_left, event.usd_left)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (InstallationBudget(daily_usd=0.5), "budget of 2026-11-21"),
        (InstallationBudget(monthly_tokens=999), "budget of 2026-11 "),
        (InstallationBudget(monthly_usd=0.5), "MONTHLY_USD set it"),
    ],
)
def test_each_of_the_limits_binds_alone(limits: InstallationBudget, words: str) -> None:
    known = installation(("a", reserved("r1", 900, 0.45)))
    assert reserve(known, limits, 99, 0.05).ok
    decision = reserve(known, limits, 100, 0.06)
    assert not decision.ok
    assert words in decision.text


def test_without_a_limit_of_the_installation_each_project_has_its_own_alone() -> None:
    assert not InstallationBudget().is_limited
    assert reserve(installation(("a", reserved("r1", 10**9, 900.0))), InstallationBudget(), 1000, 1.0).ok


def test_facts_that_count_nothing_change_nothing() -> None:
    known = installation(("a", reserved("r1")))
    for event in (SessionIdled(), reserved("r1", 999), settled("unknown", 5)):
        assert known is evolve(known, event, replace(envelope(event, 9), project="a"))


FACTS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.one_of(
            st.builds(
                reserved,
                st.sampled_from("rstuv"),
                st.integers(0, 500),
                st.floats(0.0, 0.5),
                st.sampled_from([f"2026-11-{day:02}" for day in range(1, DAYS + 4)]),
            ),
            st.builds(settled, st.sampled_from("rstuv"), st.integers(0, 900), st.floats(0.0, 0.9)),
            st.builds(
                SpendRefused,
                reservation=st.sampled_from("rstuv"),
                day=st.just(TODAY.day),
                purpose=st.just("history"),
                tokens=st.just(1),
                usd=st.just(0.0),
                tokens_left=st.just(0),
                usd_left=st.just(0.0),
            ),
        ),
    ),
    max_size=60,
)


@settings(max_examples=number_of.examples(200), deadline=None)
@given_any(FACTS)
def test_the_sums_are_those_of_the_ledgers_of_all_projects(facts: Sequence[tuple[str, Event]]) -> None:
    known, ledgers = installation(*facts), dict[str, Ledger]()
    for seq, (project, event) in enumerate(facts, 1):
        ledgers[project] = spending.evolve(ledgers.get(project, Ledger()), event, envelope(event, seq))
    for name in {day for ledger in ledgers.values() for day in ledger.days}:
        days = [ledger.days[name] for ledger in ledgers.values() if name in ledger.days]
        assert (sum(day.tokens for day in days), sum(day.micros for day in days)) == known.day(name)
    months = [ledger.month("2026-11") for ledger in ledgers.values()]
    assert (sum(tokens for tokens, _ in months), sum(micros for _, micros in months)) == known.month("2026-11")
