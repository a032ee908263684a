"""The ledger of a project: what is reserved, settled and refused, and that a day never takes more than it holds."""

from collections.abc import Sequence
from itertools import count

import msgspec
import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.commands import Command, HistoryOrder, SpendReserve, SpendSettle
from schemas.events import Event, SessionIdled, SpendRefused, SpendReserved, SpendSettled
from schemas.subjects import Address
from services.desk.core.commands import decide, misplaced
from services.desk.core.spending import DAYS, Day, Ledger, evolve
from services.domain.decision import CommandContext, Decision
from tests.helpers import examples as number_of
from tests.helpers.given import Given, envelope, given

TODAY = CommandContext(day="2026-11-21", daily_tokens=1000, daily_usd=1.0)
TOMORROW = msgspec.structs.replace(TODAY, day="2026-11-22")


def project(*events: Event) -> Given[Ledger]:
    return given(evolve, Ledger(), *events)


def reserve(name: str = "r1", tokens: int = 400, usd: float = 0.25) -> SpendReserve:
    return SpendReserve(reservation=name, purpose="history", tokens=tokens, usd=usd, session="s1")


def reserved(name: str = "r1", tokens: int = 400, usd: float = 0.25, day: str = TODAY.day) -> SpendReserved:
    return SpendReserved(reservation=name, day=day, purpose="history", tokens=tokens, usd=usd, origin="s1")


def settled(name: str = "r1", tokens: int = 100, usd: float = 0.05, day: str = TODAY.day) -> SpendSettled:
    return SpendSettled(reservation=name, day=day, tokens=tokens, usd=usd)


def refused(name: str, tokens: int, left: int, usd: float = 0.25, usd_left: float = 1.0) -> SpendRefused:
    return SpendRefused(
        reservation=name,
        day=TODAY.day,
        purpose="history",
        tokens=tokens,
        usd=usd,
        tokens_left=left,
        usd_left=usd_left,
        origin="s1",
    )


def decided(before: Given[Ledger], command: Command, context: CommandContext = TODAY) -> Decision:
    return decide(before.state, command, context)


def spent(before: Given[Ledger], day: str = TODAY.day) -> tuple[int, int]:
    found = before.state.days[day]
    return found.tokens, found.micros


def test_what_a_day_holds_is_reserved() -> None:
    text = "Reserved; 600 tokens and 0.75 USD are left of 2026-11-21."
    assert Decision(ok=True, text=text, events=(reserved(),)) == decided(project(), reserve())


def test_a_day_can_be_used_up_to_its_last_token() -> None:
    assert decided(project(reserved(tokens=600, usd=0.75)), reserve("r2")).ok
    assert not decided(project(reserved(tokens=601, usd=0.75)), reserve("r2")).ok
    assert not decided(project(reserved(tokens=600, usd=0.76)), reserve("r2")).ok


def test_what_a_day_does_not_hold_is_refused_with_what_is_left() -> None:
    decision = decided(project(reserved(tokens=900)), reserve("r2", 400, 0.2))
    text = (
        "Nothing was reserved: 400 tokens and 0.20 USD were asked for, and of the project's budget of 2026-11-21 "
        "100 tokens and 0.75 USD are left. It begins anew at midnight UTC; ANNALS_MODEL__DAILY_TOKENS and "
        "ANNALS_MODEL__DAILY_USD set it."
    )
    assert Decision(ok=False, text=text, events=(refused("r2", 400, 100, 0.2, 0.75),)) == decision


def test_money_alone_can_be_exhausted() -> None:
    decision = decided(project(reserved(tokens=1, usd=0.9)), reserve("r2", 1, 0.2))
    assert (refused("r2", 1, 999, 0.2, 0.1),) == decision.events


MONTHLY = msgspec.structs.replace(TODAY, monthly_tokens=1500, monthly_usd=1.5)


def test_a_month_is_the_sum_of_its_days() -> None:
    before = project(
        reserved("r0", 900, 0.9, day="2026-10-31"), reserved("r1", 900, 0.9, day="2026-11-02"), reserved("r2", 400, 0.1)
    )
    assert (reserved("r3", 200, 0.5),) == decided(before, reserve("r3", 200, 0.5), MONTHLY).events
    decision = decided(before, reserve("r3", 201, 0.1), MONTHLY)
    text = (
        "Nothing was reserved: 201 tokens and 0.10 USD were asked for, and of the project's budget of 2026-11 "
        "200 tokens and 0.50 USD are left. It begins anew on the first of the next month, UTC; "
        "ANNALS_MODEL__MONTHLY_TOKENS and ANNALS_MODEL__MONTHLY_USD set it."
    )
    assert Decision(ok=False, text=text, events=(refused("r3", 201, 200, 0.1, 0.5),)) == decision
    assert decided(before, reserve("r3", 201, 0.1), TODAY).ok
    december = msgspec.structs.replace(MONTHLY, day="2026-12-01")
    assert decided(before, reserve("r3", 1000, 1.0), december).ok


def test_money_alone_may_be_limited_by_the_month() -> None:
    before = project(reserved("r1", 900, 0.9, day="2026-11-02"))
    money = msgspec.structs.replace(TODAY, monthly_usd=1.0)
    assert decided(before, reserve("r2", 1000, 0.1), money).ok
    assert not decided(before, reserve("r2", 1, 0.11), money).ok


def test_another_day_begins_anew() -> None:
    used = project(reserved(tokens=1000, usd=1.0))
    assert (reserved("r2", day=TOMORROW.day),) == decided(used, reserve("r2"), TOMORROW).events


def test_what_was_reserved_once_is_not_reserved_again_but_granted() -> None:
    again = Decision(ok=True, text="This was reserved before, on 2026-11-21.", seq=1)
    assert again == decided(project(reserved()), reserve())
    assert again == decided(project(reserved()), reserve(), TOMORROW)
    assert msgspec.structs.replace(again, seq=2) == decided(project(reserved(), settled()), reserve())


def test_what_was_refused_once_stays_refused_and_is_not_written_again() -> None:
    before = project(reserved("r0", 900), refused("r1", 400, 100), settled("r0", 0, 0.0))
    assert Decision(ok=False, text="This was refused before, on 2026-11-21.", seq=2) == decided(before, reserve())


def test_a_settled_call_gives_back_what_it_did_not_need() -> None:
    before = project(reserved())
    assert Decision(ok=True, text="Settled for 2026-11-21.", events=(settled(),)) == decided(
        before, SpendSettle("r1", 100, 0.05)
    )
    assert (100, 50_000) == spent(before.and_given(settled()))


def test_a_call_that_cost_more_is_entered_as_it_was() -> None:
    before = project(reserved()).and_given(*decided(project(reserved()), SpendSettle("r1", 1500, 2.0)).events)
    assert (1500, 2_000_000) == spent(before)
    assert (refused("r2", 1, 0, 0.0, 0.0),) == decided(before, reserve("r2", 1, 0.0)).events


def test_a_call_is_settled_on_the_day_it_was_reserved() -> None:
    assert (settled(),) == decided(project(reserved()), SpendSettle("r1", 100, 0.05), TOMORROW).events


def test_a_call_is_settled_once() -> None:
    before = project(reserved(), settled())
    assert Decision(ok=True, text="This was settled before.", seq=2) == decided(before, SpendSettle("r1", 9, 0.0))
    assert (100, 50_000) == spent(before.and_given(settled(tokens=9)))


@pytest.mark.parametrize("before", [project(), project(refused("r1", 4000, 1000))])
def test_what_was_not_reserved_cannot_be_settled(before: Given[Ledger]) -> None:
    decision = decided(before, SpendSettle("r1", 9, 0.0))
    assert (False, ()) == (decision.ok, decision.events)
    assert decision.text.startswith("Nothing was settled: no reservation 'r1' is known of the last 7 days.")
    assert before.state == before.and_given(settled()).state


def test_a_reservation_that_is_never_settled_counts_in_full() -> None:
    assert (400, 250_000) == spent(project(reserved()))


def test_a_reservation_that_two_desks_wrote_counts_once() -> None:
    assert (400, 250_000) == spent(project(reserved(), reserved(tokens=500)))
    assert (400, 250_000) == spent(project(refused("r1", 400, 0), reserved(), refused("r1", 400, 0)))


def test_single_calls_are_forgotten_after_a_week_and_sums_never() -> None:
    days = [f"2026-11-{day:02}" for day in range(1, DAYS + 2)]
    before = project(*(reserved(f"r{day}", day=day) for day in days))
    assert [400] * len(days) == [before.state.days[day].tokens for day in days]
    assert [0, *[1] * DAYS] == [len(before.state.days[day].calls) for day in days]
    assert "One that is older counts in full." in decided(before, SpendSettle(f"r{days[0]}", 1)).text


@pytest.mark.parametrize(
    "command",
    [
        reserve(""),
        reserve("x" * 201),
        reserve(tokens=-1),
        reserve(tokens=10**30),
        reserve(usd=-0.01),
        reserve(usd=1e300),
        SpendSettle("r1", -1),
        SpendSettle("r1", 1, -1.0),
        SpendSettle("", 1),
    ],
)
def test_amounts_that_no_call_can_have_are_refused_and_not_written(command: Command) -> None:
    decision = decided(project(reserved()), command)
    assert (False, (), None) == (decision.ok, decision.events, decision.seq)
    assert decision.text.startswith(("Nothing was reserved: ", "Nothing was settled: "))


def test_without_a_budget_nothing_is_reserved() -> None:
    assert not decided(project(), reserve(), CommandContext(day="2026-11-21")).ok


def test_facts_of_others_change_no_ledger() -> None:
    assert Ledger() == project(SessionIdled()).state


def test_a_command_about_a_project_is_not_made_in_a_session_and_the_other_way_round() -> None:
    in_session, in_project = Address("p", "s"), Address("p")
    for command in (reserve(), SpendSettle("r", 1)):
        assert "" == misplaced(in_project, command)
        assert f"send it to do.p._.{command.TYPE}" in misplaced(in_session, command)
    assert "" == misplaced(in_session, HistoryOrder())
    assert "history.order is about one session: name it in the subject." == misplaced(in_project, HistoryOrder())


COMMANDS = st.lists(
    st.one_of(
        st.builds(reserve, st.sampled_from("abcdefgh"), st.integers(0, 700), st.floats(0.0, 0.7)),
        st.builds(
            SpendSettle,
            reservation=st.sampled_from("abcdefgh"),
            tokens=st.integers(0, 700),
            usd=st.floats(0.0, 0.7),
        ),
    ),
    max_size=40,
)


def honest(project: Ledger, command: Command) -> Command:
    """A settlement within its reservation, as long as estimates hold."""
    if isinstance(command, SpendSettle) and (known := project.find(command.reservation)):
        call = known[1]
        return SpendSettle(command.reservation, min(command.tokens, call.tokens), min(command.usd, call.micros / 1e6))
    return command


@settings(max_examples=number_of.examples(200), deadline=None)
@given_any(COMMANDS, st.lists(st.sampled_from([TODAY, TOMORROW]), min_size=40, max_size=40))
def test_no_day_ever_takes_more_than_it_holds(commands: Sequence[Command], days: Sequence[CommandContext]) -> None:
    now = project()
    for command, context in zip(commands, days, strict=False):
        now = now.and_given(*decide(now.state, honest(now.state, command), context).events)
        for day in now.state.days.values():
            assert 0 <= day.tokens <= TODAY.daily_tokens
            assert 0 <= day.micros <= TODAY.daily_usd * 1e6
            assert (day.tokens, day.micros) == _sums(day)


def _sums(day: Day) -> tuple[int, int]:
    calls = [day.calls[name] for name in day.calls]
    return sum(call.tokens for call in calls), sum(call.micros for call in calls)


@settings(max_examples=number_of.examples(200), deadline=None)
@given_any(COMMANDS, st.lists(st.booleans(), min_size=80, max_size=80))
def test_two_desks_that_decide_on_what_they_have_read_never_overspend(
    commands: Sequence[Command], turns: Sequence[bool]
) -> None:
    """Each desk decides on the log as far as it has read; an append expects the last position of its subject."""
    log: list[Event] = []
    heads: dict[str, int] = {}
    desks = [_Desk(), _Desk()]
    chance = iter(turns)
    for command in commands:
        desk = desks[next(chance)]
        if next(chance):
            desk.read(log)
        desk.decide(command, log, heads)
    state = given(evolve, Ledger(), *log).state
    for day in state.days.values():
        assert day.tokens <= TODAY.daily_tokens
        assert day.micros <= TODAY.daily_usd * 1e6
    names = [event.reservation for event in log if isinstance(event, SpendReserved)]
    assert len(set(names)) == len(names)


class _Desk:
    """A desk and what it has read of the log."""

    def __init__(self) -> None:
        self._project = Ledger()
        self._read = 0
        self._heads: dict[str, int] = {}

    def read(self, log: Sequence[Event]) -> None:
        for seq, event in zip(count(self._read + 1), log[self._read :], strict=False):
            self._project = evolve(self._project, event, envelope(event, seq))
            self._heads[event.TYPE] = seq
        self._read = len(log)

    def decide(self, command: Command, log: list[Event], heads: dict[str, int]) -> None:
        while True:
            events = decide(self._project, honest(self._project, command), TODAY).events
            if all(self._heads.get(event.TYPE, 0) == heads.get(event.TYPE, 0) for event in events):
                break
            self.read(log)
        for event in events:
            log.append(event)
            heads[event.TYPE] = len(log)


@settings(max_examples=number_of.examples(100), deadline=None)
@given_any(COMMANDS)
def test_a_replay_gives_the_same_ledger(commands: Sequence[Command]) -> None:
    grown = project()
    for command in commands:
        grown = grown.and_given(*decide(grown.state, command, TODAY).events)
    assert grown.state == project(*grown.log).state


def dream(name: str, tokens: int, usd: float = 0.0) -> SpendReserve:
    return SpendReserve(reservation=name, purpose="dreamer", tokens=tokens, usd=usd)


def test_the_dreamer_takes_half_of_a_day_at_most_and_leaves_the_rest_to_others() -> None:
    assert decided(project(), dream("d1", 500, 0.5)).ok
    assert not decided(project(), dream("d1", 501)).ok
    assert not decided(project(), dream("d1", 1, 0.51)).ok
    taken = SpendReserved(reservation="d1", day=TODAY.day, purpose="dreamer", tokens=400, usd=0.1)
    refusal = decided(project(taken), dream("d2", 101))
    assert "100 tokens and 0.40 USD are left for the dreamer, which takes 50% of it at most." in refusal.text
    assert decided(project(taken), reserve("r1", 600)).ok
    assert decided(project(taken, settled("d1", 100, 0.0)), dream("d2", 400, 0.5)).ok
    assert not decided(project(taken, reserved("r1", 550)), dream("d2", 51)).ok
    assert decided(project(taken), dream("d2", 500), TOMORROW).ok


def test_of_a_month_a_room_has_no_share_and_none_is_reported_to_it() -> None:
    context = msgspec.structs.replace(TODAY, monthly_tokens=500)
    command = msgspec.structs.replace(reserve("r2", tokens=450), purpose="dreamer")
    before = project(reserved(tokens=100))
    assert not decided(before, command, context).ok
    assert "50%" not in decided(before, command, context).text
    day = msgspec.structs.replace(TODAY, daily_tokens=800)
    assert "for the dreamer, which takes 50% of it at most" in decided(project(), command, day).text
