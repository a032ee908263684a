"""The desk's aggregate of what a project's background models have spent and may still spend, day by day."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from schemas.commands import SpendReserve, SpendSettle
from schemas.envelope import Envelope
from schemas.events import Event, SpendRefused, SpendReserved, SpendSettled
from services.domain.command import AddressKind, command
from services.domain.decision import CommandContext, Decision
from services.domain.fold import Map

replace = msgspec.structs.replace

NOUN = "spend"
MICRO = 1_000_000
"""Money is added up in millionths of a USD: sums of fractions would drift."""
MOST_TOKENS = 10**12
MOST_USD = 10.0**6
MOST_NAME = 200
"""Characters of a reservation's name."""
DAYS = 7
"""The newest days whose single calls are remembered. Sums are for ever."""
SHARES = {"dreamer": 0.5}
"""Of a day's budget, how much a room may take at most that works while nobody waits for it."""


class Reservation(msgspec.Struct, frozen=True):
    """A reservation and what became of it."""

    tokens: int
    """The tokens that the reservation takes of its day: reserved, or in the end spent."""
    micros: int
    seq: int
    """The log position of its newest fact."""
    settled: bool = False
    refused: bool = False
    purpose: str = ""
    """The purpose: the room that makes it, or `sidekick` for a person's request."""


class Day(msgspec.Struct, frozen=True):
    """The spending of a day: settled calls at their cost, all others in full."""

    tokens: int = 0
    micros: int = 0
    calls: Map[str, Reservation] = Map()
    of_purpose: Map[str, tuple[int, int]] = Map()
    """The same by what calls were for: tokens and millionths of a USD."""


class Ledger(msgspec.Struct, frozen=True):
    """All days of a project."""

    days: Map[str, Day] = Map()

    def month(self, name: str) -> tuple[int, int]:
        """The spending of all days of a month, such as `2026-11`: tokens, and millionths of a USD."""
        days = [day for one, day in self.days.items() if one.startswith(f"{name}-")]
        return sum(day.tokens for day in days), sum(day.micros for day in days)

    def find(self, reservation: str) -> tuple[str, Reservation] | None:
        """A call of the newest days, with its day."""
        for name in _newest(self):
            call = self.days[name].calls.get(reservation)
            if call is not None:
                return name, call
        return None


def evolve(ledger: Ledger, event: Event, envelope: Envelope) -> Ledger:
    seq = envelope.seq
    match event:
        case SpendReserved(reservation=name, day=day, tokens=tokens, usd=usd, purpose=purpose):
            known = ledger.find(name)
            if known is not None and not known[1].refused:
                return ledger
            return _entered(ledger, day, name, Reservation(tokens, _micros(usd), seq, purpose=purpose))
        case SpendRefused(reservation=name, day=day):
            return ledger if ledger.find(name) else _entered(ledger, day, name, Reservation(0, 0, seq, refused=True))
        case SpendSettled(reservation=name, tokens=tokens, usd=usd):
            known = ledger.find(name)
            if known is None or known[1].settled or known[1].refused:
                return ledger
            call = Reservation(tokens, _micros(usd), seq, settled=True, purpose=known[1].purpose)
            return _entered(ledger, known[0], name, call)
        case _:
            return ledger


def _entered(ledger: Ledger, name: str, reservation: str, call: Reservation) -> Ledger:
    """With this call in the place of what was known of it."""
    day = ledger.days.get(name) or Day()
    before = day.calls.get(reservation) or Reservation(0, 0, 0)
    tokens, micros = call.tokens - before.tokens, call.micros - before.micros
    used = day.of_purpose.get(call.purpose) or (0, 0)
    day = Day(
        day.tokens + tokens,
        day.micros + micros,
        day.calls.insert(reservation, call),
        day.of_purpose.insert(call.purpose, (used[0] + tokens, used[1] + micros)),
    )
    is_new = name not in ledger.days
    ledger = Ledger(ledger.days.insert(name, day))
    return _forgotten(ledger) if is_new else ledger


def _forgotten(ledger: Ledger) -> Ledger:
    """Without the single calls of older days."""
    recent = set(_newest(ledger))
    for name in ledger.days:
        if name not in recent and len(ledger.days[name].calls):
            ledger = Ledger(ledger.days.insert(name, replace(ledger.days[name], calls=Map())))
    return ledger


def _newest(ledger: Ledger) -> Iterator[str]:
    return iter(sorted(ledger.days, reverse=True)[:DAYS])


@command(
    SpendReserve,
    on=Ledger,
    writes=(SpendReserved, SpendRefused),
    address=AddressKind.PROJECT_FOR_SESSION,
)
def reserve(ledger: Ledger, command: SpendReserve, context: CommandContext) -> Decision:
    """Set aside what a call may cost, if all budgets have that much left. What was decided once is final."""
    wrong = _wrong(command)
    if wrong:
        return Decision(ok=False, text=f"Nothing was reserved: {wrong}.")
    known = ledger.find(command.reservation)
    if known is not None:
        text = "refused" if known[1].refused else "reserved"
        return Decision(ok=not known[1].refused, text=f"This was {text} before, on {known[0]}.", seq=known[1].seq)
    left = _left_of_day(ledger, command.purpose, context)
    for one in (left, *_left_of_month(ledger, context), *_left_of_installation(context)):
        if command.tokens > one.tokens or _micros(command.usd) > one.micros:
            return _refused(command, context, one)
    event = SpendReserved(
        reservation=command.reservation,
        day=context.day,
        purpose=command.purpose,
        tokens=command.tokens,
        usd=command.usd,
        origin=command.session,
    )
    amount = _amount(left.tokens - command.tokens, left.micros - _micros(command.usd))
    return Decision(ok=True, text=f"Reserved; {amount} are left of {left.period}.", events=(event,))


class RemainingBudget(NamedTuple):
    """The rest of a budget."""

    period: str
    tokens: int
    micros: int
    renewal: str
    """When it starts again, and the settings that set it."""
    share: str = ""
    """Whose share of it is meant, in words; empty: it is not shared out."""
    owner: str = "project"


AT_MIDNIGHT = "at midnight UTC"
NEXT_MONTH = "on the first of the next month, UTC"


def _left_of_day(ledger: Ledger, purpose: str, context: CommandContext) -> RemainingBudget:
    """The rest of the day's budget for a purpose."""
    day = ledger.days.get(context.day) or Day()
    tokens, micros = context.daily_tokens - day.tokens, _micros(context.daily_usd) - day.micros
    share = SHARES.get(purpose)
    if share is not None:
        used = day.of_purpose.get(purpose) or (0, 0)
        tokens = min(tokens, int(context.daily_tokens * share) - used[0])
        micros = min(micros, int(_micros(context.daily_usd) * share) - used[1])
    return RemainingBudget(
        context.day,
        tokens,
        micros,
        f"{AT_MIDNIGHT}; ANNALS_MODEL__DAILY_TOKENS and ANNALS_MODEL__DAILY_USD set it",
        _for(purpose),
    )


def _left_of_month(ledger: Ledger, context: CommandContext) -> Iterator[RemainingBudget]:
    """The rest of the month's budget, where it has a limit."""
    month = month_of(context.day)
    renewal = f"{NEXT_MONTH}; ANNALS_MODEL__MONTHLY_TOKENS and ANNALS_MODEL__MONTHLY_USD set it"
    yield from _left(month, ledger.month(month), context.monthly_tokens, context.monthly_usd, renewal)


def _left_of_installation(context: CommandContext) -> Iterator[RemainingBudget]:
    """The rest of what all projects together may spend, where that has a limit."""
    all_of = context.installation
    renewal = f"{AT_MIDNIGHT}; ANNALS_MODEL__INSTALLATION_DAILY_TOKENS and ANNALS_MODEL__INSTALLATION_DAILY_USD set it"
    day = _left(context.day, all_of.spent_today, all_of.daily_tokens, all_of.daily_usd, renewal)
    renewal = (
        f"{NEXT_MONTH}; ANNALS_MODEL__INSTALLATION_MONTHLY_TOKENS and ANNALS_MODEL__INSTALLATION_MONTHLY_USD set it"
    )
    month = _left(month_of(context.day), all_of.spent_this_month, all_of.monthly_tokens, all_of.monthly_usd, renewal)
    for one in (*day, *month):
        yield one._replace(owner="installation")


def _left(
    period: str, spent: tuple[int, int], most_tokens: int, most_usd: float, renewal: str
) -> Iterator[RemainingBudget]:
    """The rest of a budget that need not have a limit; of one with none, nothing."""
    if most_tokens or most_usd:
        tokens, micros = (most_tokens or MOST_TOKENS) - spent[0], _micros(most_usd or MOST_USD) - spent[1]
        yield RemainingBudget(period, tokens, micros, renewal)


def month_of(day: str) -> str:
    """The month of a day: `2026-11` of `2026-11-21`."""
    return day.rpartition("-")[0]


def _refused(command: SpendReserve, context: CommandContext, left: RemainingBudget) -> Decision:
    tokens, micros = max(0, left.tokens), max(0, left.micros)
    event = SpendRefused(
        reservation=command.reservation,
        day=context.day,
        purpose=command.purpose,
        tokens=command.tokens,
        usd=command.usd,
        tokens_left=tokens,
        usd_left=micros / MICRO,
        origin=command.session,
    )
    return Decision(
        ok=False,
        text=f"Nothing was reserved: {_amount(command.tokens, _micros(command.usd))} were asked for, and of the "
        f"{left.owner}'s budget of {left.period} {_amount(tokens, micros)} are left{left.share}. It begins anew "
        f"{left.renewal}.",
        events=(event,),
    )


@command(SpendSettle, on=Ledger, writes=(SpendSettled,), address=AddressKind.PROJECT_FOR_SESSION)
def settle(ledger: Ledger, command: SpendSettle, _: CommandContext) -> Decision:
    """Enter what a call cost in the end, also where that is more than was reserved."""
    wrong = _wrong(command)
    if wrong:
        return Decision(ok=False, text=f"Nothing was settled: {wrong}.")
    known = ledger.find(command.reservation)
    if known is None or known[1].refused:
        return Decision(
            ok=False,
            text=f"Nothing was settled: no reservation {command.reservation!r} is known of the last {DAYS} days. "
            "One that is older counts in full.",
        )
    day, call = known
    if call.settled:
        return Decision(ok=True, text="This was settled before.", seq=call.seq)
    event = SpendSettled(reservation=command.reservation, day=day, tokens=command.tokens, usd=command.usd)
    return Decision(ok=True, text=f"Settled for {day}.", events=(event,))


def _for(purpose: str) -> str:
    """The purpose whose share is meant, in words, where it is not all of the budget."""
    share = SHARES.get(purpose)
    return f" for the {purpose}, which takes {share:.0%} of it at most" if share else ""


def _wrong(command: SpendReserve | SpendSettle) -> str:
    if not 0 < len(command.reservation) <= MOST_NAME:
        return f"a reservation needs a name of 1 to {MOST_NAME} characters"
    if not 0 <= command.tokens <= MOST_TOKENS or not 0.0 <= command.usd <= MOST_USD:
        return f"{command.tokens} tokens and {command.usd} USD are no amounts that a call can have"
    return ""


def _micros(usd: float) -> int:
    return round(usd * MICRO)


def _amount(tokens: int, micros: int) -> str:
    return f"{tokens:,} tokens and {micros / MICRO:.2f} USD"
