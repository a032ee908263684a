"""What the desk says to a wish: the facts it becomes and the answer, or the reason why not."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from schemas.commands import (
    Command,
    DropQueue,
    FlushRequest,
    HistoryOrder,
    HistoryRebuild,
    HistoryRescore,
    MemoryPropose,
    SpendReserve,
    SpendSettle,
)
from schemas.events import DropRequested, Event, FlushRequested
from schemas.subjects import Address
from services.desk import ledger, memories, orders
from services.desk.grammar import BadRange, parse_tags
from services.desk.state import Book
from services.desk.verdict import Terms, Verdict

OF_PROJECTS = (MemoryPropose, SpendReserve, SpendSettle)
OF_SESSIONS = (HistoryOrder, HistoryRebuild, HistoryRescore)


def misplaced(address: Address, command: Command) -> str:
    """What is wrong with the address of a wish; empty: nothing is."""
    if isinstance(command, OF_PROJECTS) and address.session:
        right = Address(address.project).wish(command.TYPE)
        return f"{command.TYPE} is about the whole project: wish it on {right}, and name the session in `session`."
    if isinstance(command, OF_SESSIONS) and not address.session:
        return f"{command.TYPE} is about one session: name it in the subject."
    return ""


def decide(book: Book, command: Command, terms: Terms) -> Verdict:
    match command:
        case DropQueue(drop=drop):
            return _drop(book, drop, terms.protected)
        case FlushRequest(reason=reason):
            return Verdict(
                ok=True,
                text="Everything that waits will be applied at the next model call.",
                events=(FlushRequested(reason=reason),),
            )
        case HistoryOrder():
            return orders.wrapup()
        case HistoryRebuild():
            return orders.rebuild(command)
        case HistoryRescore():
            return orders.rescore()
        case MemoryPropose():
            return memories.propose(book.memories, command, terms)
        case SpendReserve():
            return ledger.reserve(book.ledger, command, terms)
        case SpendSettle():
            return ledger.settle(book.ledger, command)
        case _:
            raise TypeError(f"no rule for {command!r}")


def _drop(book: Book, text: str, protected: int) -> Verdict:
    try:
        named = parse_tags(text)
    except BadRange as error:
        return Verdict(ok=False, text=f"Nothing was queued: {error}.")
    unknown = [number for number in named if number not in book.tags]
    if unknown:
        return Verdict(
            ok=False,
            text=f"Nothing was queued: there is no tag {_spoken(unknown)} in this session. "
            "Use numbers that you can see as §N§; numbers of removed messages are not given again.",
        )
    compacted = [number for number in named if number <= book.compacted]
    if compacted:
        return Verdict(
            ok=False,
            text=f"Nothing was queued: {_spoken(compacted)} was summarised by the harness before and is not "
            "in the prompt any more. Leave it out.",
        )
    fresh = tuple(number for number in named if number not in book.requested)
    if not fresh:
        return Verdict(ok=True, text=f"Nothing to do: {_spoken(named)} was queued or dropped before.")
    return Verdict(ok=True, text=_queued(book, fresh, len(named) - len(fresh), protected), events=(_request(fresh),))


def _request(numbers: Sequence[int]) -> Event:
    return DropRequested(tags=list(numbers))


def _queued(book: Book, fresh: Sequence[int], known: int, protected: int) -> str:
    """Which will go and which wait for newer content; never when."""
    guarded = set(book.newest[-protected:])
    now = [number for number in fresh if number not in guarded]
    later = [number for number in fresh if number in guarded]
    sentences = []
    if now:
        sentences.append(f"Queued to be dropped: {_spoken(now)}.")
    if later:
        sentences.append(f"Queued, and kept while among the newest {protected}: {_spoken(later)}.")
    if known:
        sentences.append(f"{known} more had been queued or dropped before.")
    return " ".join(sentences)


def _spoken(numbers: Iterable[int]) -> str:
    """Numbers as ranges: 3-5, 8."""
    runs: list[list[int]] = []
    ordered = sorted(numbers)
    for before, number in pairwise([ordered[0] - 2, *ordered]):
        if number == before + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
