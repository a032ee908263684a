"""What is explained of a prompt: which call is meant, and that who asks for an older one keeps nobody waiting."""

import asyncio
import threading

import pytest
from msgspec.structs import replace

from schemas.codec import encode_edits
from schemas.envelope import Envelope
from schemas.events import Event, MessageListed, MessageRecorded, PartRecorded, PlanExtended, StepOpened, TagAssigned
from schemas.explain_asks import ExplainAsk
from schemas.plan import PrefixText
from services.domain.conversation import Conversation, evolve
from services.responder.answers import earlier_prompt
from services.responder.answers.earlier_prompt import ModelCall
from services.responder.answers.explain import AT_ONCE, UnknownStep, call_meant, explain
from tests.helpers.made_log import MadeLog

CALLS = [ModelCall(10 * number, step) for number, step in enumerate(("ab1", "ab2", "3", "cd4", "cd4", "ef5"), 1)]


@pytest.mark.parametrize(
    ("name", "place"),
    [("", 5), ("ab2", 1), ("cd4", 4), ("e", 5), ("cd", 4), ("1", 0), ("6", 5), ("3", 2), ("ef5", 5)],
)
def test_a_call_is_named_by_its_id_its_number_or_the_beginning_of_its_id(name: str, place: int) -> None:
    assert place == call_meant(CALLS, ExplainAsk("harbour", "s1", name))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ab", "did you mean ab1 or ab2? Calls have numbers, too, here from 1 to 6"),
        ("ab9", "did you mean ab"),
        ("0", "calls have numbers, too, here from 1 to 6"),
        ("7", "calls have numbers, too, here from 1 to 6"),
        ("9" * 5_000, "there is no step 999"),
        ("²", "there is no step ²"),
    ],
)
def test_where_no_call_is_meant_the_nearest_are_named(name: str, reason: str) -> None:
    with pytest.raises(UnknownStep, match=reason[:12]) as refused:
        call_meant(CALLS, ExplainAsk("harbour", "s1", name))
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_session_without_calls_says_so() -> None:
    with pytest.raises(UnknownStep, match="no model was called in the session s1 yet"):
        call_meant([], ExplainAsk("harbour", "s1"))


def conversation(calls: int, messages: int) -> list[Event]:
    """A session in which each call brings so many messages, all of them with a number."""
    events: list[Event] = []
    for call in range(calls):
        first = call * messages + 1
        names = [f"m{number}" for number in range(first, first + messages)]
        for name in names:
            events += [MessageRecorded(message=name, role="user"), PartRecorded(message=name, part=name, kind="text")]
        listed = MessageListed(messages=names, ordinals=[*range(first, first + messages)])
        edits = encode_edits([PrefixText(part=name, text="§1§ ", by=(first,)) for name in names])
        step = StepOpened(step=f"t{call}", last=first + messages - 1, unchanged=first - 1)
        events += [listed, TagAssigned(first=first, parts=names, messages=names, kinds=["text"] * messages), step]
        events.append(PlanExtended(revision=call + 1, step=step.step, as_of=len(events), edits=edits))
    return events


async def test_while_an_older_prompt_is_explained_the_loop_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    folding: set[int] = set()
    freeing: list[int] = []

    class Noted(str):
        """A text that notes in which thread it is freed."""

        __slots__ = ()

        def __del__(self) -> None:
            freeing.append(threading.get_ident())

    def noted(known: Conversation, event: Event, envelope: Envelope) -> Conversation:
        folding.add(threading.get_ident())
        after = evolve(known, event, envelope)
        part = after.parts.get(event.part) if isinstance(event, PartRecorded) else None
        return after if part is None else replace(after, parts=after.parts.insert(Noted("noted"), part))

    monkeypatch.setattr(earlier_prompt.conversations, "evolve", noted)
    turns: list[int] = []

    async def answers() -> None:
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    log = MadeLog.of(conversation(calls=8, messages=100), turns)
    answering = asyncio.create_task(answers())
    await asyncio.sleep(0)
    explained = await explain(log, ExplainAsk("project", "session", "t5"))
    answering.cancel()
    assert (6, 8, 600, 600) == (explained.call, explained.calls, explained.messages, explained.tags)
    assert folding
    assert freeing
    assert threading.get_ident() not in folding, "the loop that answers models folds nothing"
    assert threading.get_ident() not in freeing, "what was folded is freed elsewhere, too"
    stretches = 2 * explained.messages // AT_ONCE
    assert stretches > 5
    assert sum(map(bool, log.turns_in_between)) >= stretches, "others had turns between two stretches"


async def test_an_older_prompt_is_what_the_session_was_at_that_call() -> None:
    events = conversation(calls=3, messages=4)
    explained = await explain(MadeLog.of(events, []), ExplainAsk("project", "session", "2"))
    shorter = await explain(MadeLog.of(events[: len(events) * 2 // 3], []), ExplainAsk("project", "session"))
    assert (2, 3, 8) == (explained.call, explained.calls, explained.messages)
    assert explained == replace(shorter, calls=3), "messages that the next call lists are none of this one's"


async def test_edits_that_only_show_a_tag_are_counted_and_left_out_where_nobody_asks_for_them() -> None:
    log = MadeLog.of(conversation(calls=1, messages=4), [])
    explained = await explain(log, ExplainAsk("project", "session", tags=False))
    assert ((), 4, 4, 0) == (explained.edits, explained.tags, explained.edits_in_force, explained.left_out)
    explained = await explain(log, ExplainAsk("project", "session", max_edits=3))
    assert (3, 1) == (len(explained.edits), explained.left_out)
    assert {("tags",)} == {one.lanes for one in explained.edits}
    (one,) = (await explain(log, ExplainAsk("project", "session", part="m2"))).edits
    assert (2, 2, "a text", 1) == (one.ordinal, one.tag, one.what, one.revision)
