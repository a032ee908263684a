"""What a status costs, counted in calls of Python: it is polled, on the loop that answers models."""

import sys
from collections.abc import Callable, Sequence
from types import FrameType

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import LimitLearned
from schemas.status_asks import SessionStatus
from schemas.subjects import Address
from services.domain import learned_limits
from services.domain.project_settings import ProjectSettings, Version, with_own
from services.domain.window import Learned
from services.kit.cache import Entry
from services.plan.session.state import Session
from services.responder.answers.status import MOST_SESSIONS, SessionStatuses, session_status
from tests.helpers.given import envelope
from tests.helpers.harness import LIMITS, Harness, ran, text_part

NOTHING_SET = {"p": ProjectSettings()}
SESSIONS = 200
UNCHANGED, ONE_CHANGED = 200, 900
"""Calls of a status of 200 sessions of 500 messages, when nothing has changed, and one session has: weighing all that
are in the answer takes 4,000."""


def session_of(messages: int) -> Harness:
    harness = Harness()
    for number in range(messages // 2):
        harness.user(f"Question {number}")
        harness.assistant(text_part(f"Answer {number}"), ran("FILE", call=f"c{number}"))
    harness.step()
    return harness


def entries_of(session: Session, count: int = SESSIONS) -> list[Entry[Session]]:
    """So many sessions, each with a state of its own."""
    return [Entry(Address("p", f"s{number}"), msgspec.structs.replace(session)) for number in range(count)]


def calls_of(work: Callable[[], object]) -> int:
    count = 0

    def counted(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    work()
    sys.setprofile(None)
    return count


def anew(entries: Sequence[Entry[Session]], learned: Learned) -> tuple[SessionStatus, ...]:
    """What is answered by who remembers nothing."""
    return SessionStatuses(LIMITS).of(entries, learned, NOTHING_SET)


def test_a_status_weighs_only_what_has_changed() -> None:
    harness = session_of(500)
    entries = entries_of(harness.session)
    statuses, learned = SessionStatuses(LIMITS), Learned()

    def status() -> tuple[SessionStatus, ...]:
        return statuses.of(entries[:MOST_SESSIONS], learned, NOTHING_SET)

    assert calls_of(status) > 3 * ONE_CHANGED, "what is counted is the weighing"
    assert calls_of(status) <= UNCHANGED
    harness.user("And now?")
    harness.step()
    entries[0].state = harness.session
    assert calls_of(status) <= ONE_CHANGED
    assert anew(entries[:MOST_SESSIONS], learned) == status()


def learned_limit(limit: int) -> LimitLearned:
    """The limit that another session has learned."""
    return LimitLearned(provider="anthropic", model="opus", limit=limit, in_project="p", in_session="other")


changes = st.lists(st.tuples(st.sampled_from(["message", "step", "order", "learned", "gone"]), st.integers(0, 14)))


@given(changes)
def test_whatever_changes_the_answer_is_that_of_who_remembers_nothing(made: list[tuple[str, int]]) -> None:
    harnesses = [session_of(4) for _ in range(15)]
    entries = [Entry(Address("p", f"s{number}"), one.session) for number, one in enumerate(harnesses)]
    harnesses[0].session = entries[0].state = Session()
    statuses = SessionStatuses(LIMITS)
    learned = Learned()
    for change, at in made:
        match change:
            case "message":
                harnesses[at] = session_of(2 + at)
            case "step":
                harnesses[at].user("And now?")
                harnesses[at].step()
            case "order":
                entries.insert(0, entries.pop(at))
                harnesses.insert(0, harnesses.pop(at))
            case "learned":
                learned = learned_limits.evolve(learned, learned_limit(1000 * (at + 1)), envelope(learned_limit(1), 1))
            case _:
                harnesses[at].session = Session()
        for entry, harness in zip(entries, harnesses, strict=True):
            entry.state = harness.session
        newest = entries[:MOST_SESSIONS]
        assert anew(newest, learned) == statuses.of(newest, learned, NOTHING_SET)


def test_a_session_is_weighed_with_what_its_project_has_set_and_again_when_that_changes() -> None:
    harness = session_of(100)
    for number in range(5):
        harness.user(f"And {number}?")
        harness.assistant(text_part("An answer. " * 500))
        harness.step()
    entry = entries_of(harness.session, 1)[0]
    statuses, learned = SessionStatuses(LIMITS), Learned()
    full = {"plan.context": "full"}
    before = statuses.of([entry], learned, NOTHING_SET)
    after = statuses.of([entry], learned, {"p": ProjectSettings((Version(1, full),))})
    assert (session_status(entry, with_own(LIMITS, full), learned),) == after
    assert after != before == anew([entry], learned)
