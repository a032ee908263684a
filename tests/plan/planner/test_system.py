"""When another system prompt is a cause to rebase, where its digest is not always known."""

import pytest

from schemas.events import StepOpened
from services.plan.planner.causes import causes
from services.plan.session.state import Session, evolve
from tests.helpers.given import envelope
from tests.helpers.harness import LIMITS, Harness, ran, text_part

Step = tuple[str, str, str]
"""Agent, model, digest of the system prompt."""


def changes(*steps: Step) -> list[bool]:
    """Of each step whether its system prompt counts as another one."""
    session, found = Session(), []
    for number, (agent, model, digest) in enumerate(steps, 1):
        opened = StepOpened(step=f"s{number}", agent=agent, provider="p", model=model, system_digest=digest)
        session = evolve(session, opened, envelope(opened, number))
        found.append("system" in causes(session, LIMITS).free)
    return found


@pytest.mark.parametrize(
    ("steps", "changed"),
    [
        ([("a", "m", "d1")], [0]),
        ([("a", "m", ""), ("a", "m", "d1"), ("a", "m", "d1")], [0, 0, 0]),
        ([("a", "m", "d1"), ("a", "m", "d2"), ("a", "m", "d2")], [0, 1, 0]),
        ([("a", "m", "d1"), ("a", "m", ""), ("a", "m", "d1")], [0, 0, 0]),
        ([("a", "m", "d1"), ("a", "m", ""), ("a", "m", "d2")], [0, 0, 1]),
        ([("a", "m", "d1"), ("b", "m", ""), ("b", "m", "d2"), ("b", "m", "d2")], [0, 1, 0, 0]),
        ([("a", "m", "d1"), ("b", "m", ""), ("a", "m", "d1"), ("a", "m", "d1")], [0, 1, 1, 0]),
        ([("a", "m", ""), ("b", "m", ""), ("b", "m", "")], [0, 1, 0]),
        ([("a", "m", ""), ("b", "m", "d2"), ("b", "m", "d2")], [0, 1, 0]),
        ([("a", "m", "d1"), ("b", "m", "d2"), ("a", "m", "d1")], [0, 1, 1]),
        ([("a", "m", "d1"), ("b", "m", "d1"), ("b", "m", "d2")], [0, 0, 1]),
        ([("a", "m", "d1"), ("a", "n", ""), ("a", "n", "d2"), ("a", "n", "d2")], [0, 0, 0, 0]),
        ([("a", "m", "d1"), ("a", "n", "d2"), ("a", "n", "d2")], [0, 1, 0]),
    ],
    ids=[
        "the first",
        "it becomes known",
        "it changes",
        "it is not reported once",
        "it changes while it is not reported",
        "another agent, known later",
        "another agent and back",
        "another agent, never known",
        "another agent after an unknown one",
        "two agents in turn",
        "another agent with the same one",
        "another model, known later: its own cause",
        "another model, known",
    ],
)
def test_a_system_prompt_changes_only_between_two_that_are_known_or_with_an_agent(
    steps: list[Step], changed: list[int]
) -> None:
    assert [bool(one) for one in changed] == changes(*steps)


def waiting() -> Harness:
    """A session in which two dropped outputs wait."""
    harness = Harness()
    harness.user("go")
    harness.assistant(*(ran("word " * 2000, call=f"c{n}") for n in range(3)))
    harness.user("on")
    harness.step()
    harness.drop(2, 3)
    return harness


def test_a_digest_that_becomes_known_rebases_nothing() -> None:
    harness = Harness()
    harness.system = ""
    harness.user("go")
    harness.assistant(ran("word " * 2000), text_part("done"))
    harness.user("on")
    harness.step()
    harness.drop(2)
    harness.system = "d1"
    assert () == harness.step().causes


def test_an_agent_with_an_unknown_prompt_rebases_once_when_it_comes() -> None:
    harness = waiting()
    harness.agent, harness.system = "plan", ""
    assert ("system",) == harness.step().causes
    harness.assistant(*(ran("more " * 2000, call="d") for _ in range(2)))
    harness.user("and on")
    harness.step()
    harness.drop(5)
    harness.system = "d2"
    assert () == harness.step().causes
