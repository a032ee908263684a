"""Sessions as the historian sees them: all reports of a harness, folded by the historian's own rules."""

from datetime import UTC, datetime
from functools import reduce

from schemas.events import CompartmentSealed, Event
from schemas.inbox import Mode
from services.domain.limits import Limits as PlanLimits
from services.historian.core.context_pressure import HistoryLimits
from services.historian.core.state import HistorianSession, evolve
from services.historian.core.triggers import wanted
from tests.helpers.harness import Harness, text_part
from tests.helpers.tool_calls import called

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAN = PlanLimits(protected_tags=1, threshold=50)
SMALL = HistoryLimits(ahead=False, tail_tokens=1_000)
WORDS = "the parser reads one line and then another one " * 40
"""About 480 tokens."""


def state_of(harness: Harness) -> HistorianSession:
    return reduce(lambda state, fact: evolve(state, fact[1], fact[0]), harness.log, HistorianSession())


def talking(turns: int, *, words: str = WORDS, context: int = 100_000, mode: Mode = "primary") -> Harness:
    """A person and an agent that take turns."""
    harness = Harness(PLAN)
    harness.mode = mode
    harness.context_limit = context
    for _ in range(turns):
        harness.user(words)
        harness.assistant(text_part(words))
    harness.step()
    return harness


def working(calls: int, *, output: str = "line\n" * 400) -> Harness:
    """One request of a person, and an agent that works on it for long."""
    harness = Harness(PLAN)
    harness.user("Make all tests pass")
    for n in range(calls):
        harness.assistant(called("bash", {"command": f"pytest {n}"}, output, call=f"c{n}"))
    harness.step()
    return harness


def sealed(first: int, last: int, *, generation: int = 0, run: str = "r") -> CompartmentSealed:
    """A compartment over messages as the harness names them."""
    return CompartmentSealed(
        compartment=f"{generation}:{first}",
        run=run,
        generation=generation,
        first=first,
        last=last,
        first_message=f"m{first}",
        last_message=f"m{last}",
        title=f"From {first} to {last}",
        p1="what happened, at length",
        p2="what happened",
        p3="happened",
        p4="it",
    )


def reason(harness: Harness, limits: HistoryLimits = SMALL) -> str:
    """Why a job is opened now; empty: none is."""
    request = wanted(state_of(harness), PLAN, limits, now=NOW)
    return request.reason if request else ""


def append(harness: Harness, *events: Event) -> None:
    for event in events:
        harness.append(event)
