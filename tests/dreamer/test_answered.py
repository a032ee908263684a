"""A model's answer as the log has it until the desk has decided on it: the same commands come of it, and no secret."""

import pytest

from schemas.codec import wrap
from schemas.commands import MemoryArchive, MemoryMerge, MemoryRevise, NoteTranslate
from schemas.envelope import Actor
from schemas.events import DreamRequested, DreamStarted, Event, TaskAnswered, TaskAsked, TaskFinished
from schemas.subjects import Address
from services.dreamer.core.answered import ERASED, answered, changes_of
from services.dreamer.core.outcome import next_part
from services.dreamer.core.state import Dreams, evolve
from services.dreamer.core.task import TaskChange
from tests.helpers.memory_books import NOON
from tests.helpers.reported_secrets import SECRET

ASKED = TaskAsked(run="d1", task="improve", outcome="ok", model="own/clerk", items=["m1@1"], accepted=2, tokens=7)
CHANGES = (
    TaskChange(MemoryMerge(("m1", "m2"), "one"), "they state one fact", "m1 m2"),
    TaskChange(NoteTranslate("n1", 3, '{"kind":"passed","command":"make"}'), "translated", "n1@3"),
)


def test_what_is_stored_is_sent_later() -> None:
    event = answered(ASKED, CHANGES)
    assert ("d1", "improve") == (event.run, event.task)
    assert (ASKED, CHANGES) == changes_of(event)


def test_a_secret_of_an_answer_is_not_stored() -> None:
    event = answered(ASKED, (TaskChange(MemoryRevise("m1", f"The key is {SECRET}"), "worded anew", "m1"),))
    assert SECRET not in event.answer
    _, (change,) = changes_of(event)
    assert isinstance(change.command, MemoryRevise)
    assert SECRET not in change.command.text


@pytest.mark.parametrize("answer", ["", "{}", '{"asked": 1}', "[masked]"])
def test_of_an_answer_that_was_erased_nothing_is_sent_and_the_question_counts_as_asked(answer: str) -> None:
    expected = TaskAsked(run="d1", task="improve", outcome="invalid_output", detail=ERASED)
    assert (expected, ()) == changes_of(TaskAnswered(run="d1", task="improve", answer=answer))


def test_a_command_that_no_answer_becomes_is_a_fault_before_anything_is_stored() -> None:
    with pytest.raises(KeyError):
        answered(ASKED, (TaskChange(MemoryArchive("m1", "old"), "old", "m1"),))


def test_an_answer_waits_until_its_question_is_recorded_or_its_task_has_ended() -> None:
    begun = [DreamRequested(run="d1", reason="slot", tasks=["improve", "classify"]), DreamStarted(run="d1")]

    def state(*events: Event) -> Dreams:
        known = Dreams()
        for seq, event in enumerate([*begun, *events], 1):
            known = evolve(known, event, wrap(event, Address("p"), id=f"e{seq}", at=NOON, actor=Actor("room")))
        return known

    event = answered(ASKED, CHANGES)
    assert event == state(event).run.answered
    assert None is state(answered(ASKED, ()), ASKED).run.answered
    assert None is state(event, TaskFinished(run="d1", task="improve", outcome="failed")).run.answered
    assert None is state(TaskAnswered(run="d0", task="improve", answer="{}")).run.answered
    parts = [next_part(state(*events)) for events in ((), (event,), (event, ASKED))]
    assert all(one not in parts[:number] for number, one in enumerate(parts))
