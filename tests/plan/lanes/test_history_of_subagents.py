"""History in the prompts of a sub-agent: the same bytes until the next rebase, and no word of a person in it."""

import pytest

from schemas.events import SessionOpened
from services.domain.edits import HEAD as HEADS
from services.domain.limits import Limits
from services.plan.head.history import HISTORY, SUBAGENT
from services.plan.lanes import DROPS, TAGS, history
from tests.helpers.harness import Call, Harness, fold, ran, text_part
from tests.helpers.historian_sessions import sealed
from tests.helpers.random_sessions import as_bytes

TASKS = ("Always run the tests before you commit.", "You must never touch the schema of the database.")
LAID_DOWN = "the user laid down"


def begun(task: str = TASKS[0], mode: str = "subagent") -> Harness:
    """A session whose first message was compacted away by the harness, with history of what came before."""
    harness = Harness(Limits(threshold=65, protected_tags=1), lanes=(history.LANE, TAGS, DROPS))
    harness.mode = mode  # type: ignore[assignment] # it is one
    harness.user(task)
    for number in range(6):
        harness.assistant(text_part(f"I have read file_{number}.py."), ran("line\n" * 200, call=f"c{number}"))
    return harness


def head_of(call: Call) -> str:
    return next((message.parts[0].text for message in call.served if message.id == f"{HEADS}1"), "")


def compressed(harness: Harness, last: int = 4) -> Call:
    harness.append(sealed(harness.session.history.last + 1, last))
    harness.flush()
    return harness.step()


@pytest.mark.parametrize("task", TASKS)
def test_a_task_lays_nothing_down(task: str) -> None:
    harness = begun(task)
    harness.step()
    harness.compact()
    harness.without("m1")
    assert SUBAGENT in head_of(compressed(harness))
    assert LAID_DOWN not in head_of(harness.step())
    assert () == harness.session.work.rules == fold(harness.log).work.rules


def test_of_a_person_the_same_is_laid_down() -> None:
    harness = begun(mode="primary")
    harness.step()
    harness.compact()
    harness.without("m1")
    assert f'{LAID_DOWN}: "{TASKS[0]}"' in head_of(compressed(harness))


def test_what_was_taken_for_a_persons_words_is_forgotten_when_an_agent_turns_out_to_lead_the_session() -> None:
    harness = begun(mode="primary")
    first = harness.step()
    assert [TASKS[0]] == [rule.text for rule in harness.session.work.rules]
    harness.append(SessionOpened(harness="test", mode="subagent", parent="other"))
    harness.user("on")
    call = harness.step()
    assert as_bytes(call.served)[: len(first.served)] == as_bytes(first.served)
    assert () == harness.session.work.rules
    harness.compact()
    harness.without("m1")
    assert LAID_DOWN not in head_of(compressed(harness))


def test_at_the_next_rebase_history_says_that_an_agent_leads_the_session() -> None:
    harness = begun(mode="primary")
    harness.step()
    before = compressed(harness)
    assert HISTORY in head_of(before)
    harness.append(SessionOpened(harness="test", mode="subagent", parent="other"))
    harness.mode = "subagent"
    harness.user("on")
    assert head_of(before) == head_of(harness.step())
    assert SUBAGENT in head_of(compressed(harness, 6))


def test_the_bytes_stay_over_growth_a_restart_a_late_fact_and_a_neighbour_that_goes() -> None:
    harness = begun()
    harness.step()
    sent = compressed(harness)
    assert SUBAGENT in head_of(sent)
    acts = (
        lambda: harness.assistant(text_part("And on."), ran("line\n" * 20, call="d")),
        harness.restart,
        lambda: harness.append(sealed(5, 6)),
        lambda: harness.append(SessionOpened(harness="test", mode="subagent", parent="other")),
        harness.restart_harness,
    )
    for act in acts:
        act()
        harness.assistant(text_part("More."))
        call = harness.step()
        assert as_bytes(call.served)[: len(sent.served)] == as_bytes(sent.served)
        assert () == call.causes
        sent = call
    harness.without("m6")
    call = harness.step()
    assert ("unlisted",) == call.causes
    assert SUBAGENT in head_of(call)
    assert head_of(call) == head_of(harness.step())
