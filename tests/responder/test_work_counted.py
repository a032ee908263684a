"""What passes of long sessions cost, in calls of functions, since no clock is fair: none grows with the session."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from schemas.events import PlanRebased
from services.domain.limits import Limits
from services.domain.window import MAX_CONTEXT
from services.plan.lanes import LANES, View
from services.plan.planner.plan import decide
from services.plan.session.state import served_tokens
from tests.helpers.harness import Harness, ran, text_part

SHORT, LONG = 500, 2_000
STEPS = 60
"""Within which a rebase is considered for the price of going on."""
TALK = 200, 40
"""Estimated tokens of a text and of an output: so little of it may go that no rebase pays."""
WORK = 50, 200
"""The same of a session whose outputs a rebase drops; from then on little is left that may go."""
REBASED = 200, 500
"""Messages of sessions that a rebase is made of ..."""
DROPS = 40, 240
"""... and the drops that it serves: up to 250 dropped calls are taken out with each rebase, which costs most."""
OF_A_MESSAGE, OF_A_DROP = 20, 365
"""Calls of a rebase for each message more of a session, with two parts in each, and for each drop more."""
FEW, MORE = 4_000, 16_000
"""Calls of a pass that collects nothing, and of one that names 1,000 old outputs at most in a reminder. To collect a
session of 500 messages takes 30,000 to 150,000, and one of 2,000 messages four times as many."""


class Long:
    """A session of so many messages that goes on step by step, in a window that it never fills."""

    def __init__(self, messages: int, sizes: tuple[int, int]) -> None:
        self.harness = Harness(Limits(), LANES)
        self.harness.capabilities = ("accepts_empty_content", "caches_exact_prefix")
        self.harness.context_limit = MAX_CONTEXT
        self._text, self._output = (size * 4 for size in sizes)
        self._grow(messages)

    def _grow(self, messages: int) -> None:
        for number in range(len(self.harness.messages), len(self.harness.messages) + messages):
            content = text_part("word " * (self._text // 5))
            if number % 20 == 0:
                self.harness.add_message("user", content)
            else:
                self.harness.assistant(content, ran("x" * self._output, '{"command": "make"}', call=f"c{number}"))

    def step(self) -> tuple[str, int]:
        """What became of a pass, and its calls: a step with two new messages and the count of the call before."""
        harness = self.harness
        harness.report_step()
        view = View(harness.session, harness.limits)
        calls = calls_of(lambda: decide(view))
        before = harness.session.waits.declined
        made = decide(view)
        harness.append_plan(made.events, ())
        harness.revision = harness.session.revision
        harness.use(10_000 + served_tokens(harness.session), harness.messages[-1].message)
        self._grow(2)
        return ("declined" if harness.session.waits.declined not in (0, before) else made.kind), calls

    def costs(self) -> dict[str, int]:
        """The most calls of passes of each kind, until there was one that considered a rebase and declined it.

        The first pass is not counted: it adds all that there is to an empty plan.
        """
        self.step()
        most: dict[str, int] = {}
        for _ in range(STEPS):
            kind, calls = self.step()
            most[kind] = max(most.get(kind, 0), calls)
            if {"declined", "extend"} <= {*most}:
                return {one: most[one] for one in ("declined", "extend")}
        raise AssertionError(f"no rebase was considered and declined within {STEPS} steps: {most}")

    def rebase(self, drops: int) -> int:
        """The calls of a rebase that serves so many drops, in a step with what a person says."""
        harness = self.harness
        harness.step()
        harness.drop(*range(1, drops + 1))
        harness.flush()
        harness.user("And now?")
        harness.report_step()
        view = View(harness.session, harness.limits)
        made = decide(view)
        (event,) = (one for one in made.events if isinstance(one, PlanRebased))
        assert {*range(1, drops + 1)} <= {*event.dropped}
        return calls_of(lambda: decide(view))


def calls_of(work: Callable[[], object]) -> int:
    count = 0

    def counted(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    work()
    sys.setprofile(None)
    return count


@pytest.mark.parametrize(("sizes", "most"), [(TALK, FEW), (WORK, MORE)], ids=["talk", "work"])
def test_neither_a_warm_pass_nor_a_declined_rebase_costs_more_in_a_longer_session(
    sizes: tuple[int, int], most: int
) -> None:
    for messages in (SHORT, LONG):
        assert max(Long(messages, sizes).costs().values()) <= most


def test_a_rebase_costs_little_for_each_message_and_for_each_drop() -> None:
    fewer, more = DROPS
    few, many = REBASED
    short, long = (Long(messages, TALK).rebase(fewer) for messages in REBASED)
    dropping = Long(many, TALK).rebase(more)
    assert (long - short) / (many - few) <= OF_A_MESSAGE
    assert (dropping - long) / (more - fewer) <= OF_A_DROP
