"""What a project's background models have spent and may still spend, day by day: a fold of its `spend.*` facts."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator

import msgspec

from schemas.commands import SpendReserve, SpendSettle
from schemas.events import Event, SpendRefused, SpendReserved, SpendSettled
from services.desk.verdict import Terms, Verdict
from services.kit.fold import Map

replace = msgspec.structs.replace

MICRO = 1_000_000
"""Money is added up in millionths of a USD: sums of fractions would drift."""
MOST_TOKENS = 10**12
MOST_USD = 10.0**6
MOST_NAME = 200
"""Characters of a reservation's name."""
DAYS = 7
"""The newest days whose single calls are remembered. Sums are for ever."""


class Call(msgspec.Struct, frozen=True):
    """A reservation and what became of it."""

    tokens: int
    """What it takes of its day: reserved, or in the end spent."""
    micros: int
    seq: int
    """Where its newest fact stands in the log."""
    settled: bool = False
    refused: bool = False


class Day(msgspec.Struct, frozen=True):
    """What a day has taken: settled calls at their cost, all others in full."""

    tokens: int = 0
    micros: int = 0
    calls: Map[str, Call] = Map()


class Ledger(msgspec.Struct, frozen=True):
    """All days of a project."""

    days: Map[str, Day] = Map()

    def find(self, reservation: str) -> tuple[str, Call] | None:
        """A call of the newest days, with its day."""
        for name in _newest(self):
            call = self.days[name].calls.get(reservation)
            if call is not None:
                return name, call
        return None


def evolve(ledger: Ledger, event: Event, seq: int) -> Ledger:
    match event:
        case SpendReserved(reservation=name, day=day, tokens=tokens, usd=usd):
            known = ledger.find(name)
            if known is not None and not known[1].refused:
                return ledger
            return _entered(ledger, day, name, Call(tokens, _micros(usd), seq))
        case SpendRefused(reservation=name, day=day):
            return ledger if ledger.find(name) else _entered(ledger, day, name, Call(0, 0, seq, refused=True))
        case SpendSettled(reservation=name, tokens=tokens, usd=usd):
            known = ledger.find(name)
            if known is None or known[1].settled or known[1].refused:
                return ledger
            return _entered(ledger, known[0], name, Call(tokens, _micros(usd), seq, settled=True))
        case _:
            return ledger


def _entered(ledger: Ledger, name: str, reservation: str, call: Call) -> Ledger:
    """With this call in the place of what was known of it."""
    day = ledger.days.get(name) or Day()
    before = day.calls.get(reservation) or Call(0, 0, 0)
    day = Day(
        day.tokens + call.tokens - before.tokens,
        day.micros + call.micros - before.micros,
        day.calls.insert(reservation, call),
    )
    is_new = name not in ledger.days
    ledger = Ledger(ledger.days.insert(name, day))
    return _forgotten(ledger) if is_new else ledger


def _forgotten(ledger: Ledger) -> Ledger:
    """Without the single calls of older days."""
    kept = set(_newest(ledger))
    for name in ledger.days:
        if name not in kept and len(ledger.days[name].calls):
            ledger = Ledger(ledger.days.insert(name, replace(ledger.days[name], calls=Map())))
    return ledger


def _newest(ledger: Ledger) -> Iterator[str]:
    return iter(sorted(ledger.days, reverse=True)[:DAYS])


def reserve(ledger: Ledger, wish: SpendReserve, terms: Terms) -> Verdict:
    """Set aside what a call may cost, if the day holds it. Whatever was said of a reservation once holds for ever."""
    wrong = _wrong(wish)
    if wrong:
        return Verdict(ok=False, text=f"Nothing was reserved: {wrong}.")
    known = ledger.find(wish.reservation)
    if known is not None:
        text = "refused" if known[1].refused else "reserved"
        return Verdict(ok=not known[1].refused, text=f"This was {text} before, on {known[0]}.", seq=known[1].seq)
    day = ledger.days.get(terms.day) or Day()
    tokens, micros = terms.daily_tokens - day.tokens, _micros(terms.daily_usd) - day.micros
    if wish.tokens > tokens or _micros(wish.usd) > micros:
        return _refused(wish, terms, max(0, tokens), max(0, micros))
    event = SpendReserved(
        reservation=wish.reservation,
        day=terms.day,
        purpose=wish.purpose,
        tokens=wish.tokens,
        usd=wish.usd,
        origin=wish.session,
    )
    left = _amount(tokens - wish.tokens, micros - _micros(wish.usd))
    return Verdict(ok=True, text=f"Reserved; {left} are left of {terms.day}.", events=(event,))


def _refused(wish: SpendReserve, terms: Terms, tokens: int, micros: int) -> Verdict:
    event = SpendRefused(
        reservation=wish.reservation,
        day=terms.day,
        purpose=wish.purpose,
        tokens=wish.tokens,
        usd=wish.usd,
        tokens_left=tokens,
        usd_left=micros / MICRO,
        origin=wish.session,
    )
    return Verdict(
        ok=False,
        text=f"Nothing was reserved: {_amount(wish.tokens, _micros(wish.usd))} were asked for, and of the project's "
        f"budget of {terms.day} {_amount(tokens, micros)} are left. It begins anew at midnight UTC; "
        "ANNALS_MODEL__DAILY_TOKENS and ANNALS_MODEL__DAILY_USD set it.",
        events=(event,),
    )


def settle(ledger: Ledger, wish: SpendSettle) -> Verdict:
    """Enter what a call cost in the end, also where that is more than was reserved."""
    wrong = _wrong(wish)
    if wrong:
        return Verdict(ok=False, text=f"Nothing was settled: {wrong}.")
    known = ledger.find(wish.reservation)
    if known is None or known[1].refused:
        return Verdict(
            ok=False,
            text=f"Nothing was settled: no reservation {wish.reservation!r} is known of the last {DAYS} days. "
            "One that is older counts in full.",
        )
    day, call = known
    if call.settled:
        return Verdict(ok=True, text="This was settled before.", seq=call.seq)
    event = SpendSettled(reservation=wish.reservation, day=day, tokens=wish.tokens, usd=wish.usd)
    return Verdict(ok=True, text=f"Settled for {day}.", events=(event,))


def _wrong(wish: SpendReserve | SpendSettle) -> str:
    if not 0 < len(wish.reservation) <= MOST_NAME:
        return f"a reservation needs a name of 1 to {MOST_NAME} characters"
    if not 0 <= wish.tokens <= MOST_TOKENS or not 0.0 <= wish.usd <= MOST_USD:
        return f"{wish.tokens} tokens and {wish.usd} USD are no amounts that a call can have"
    return ""


def _micros(usd: float) -> int:
    return round(usd * MICRO)


def _amount(tokens: int, micros: int) -> str:
    return f"{tokens:,} tokens and {micros / MICRO:.2f} USD"
