"""What is published of a summary whose last compartment is left for the next run, as its topic may go on."""

from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from schemas.events import (
    CompartmentSealed,
    Event,
    FactExtracted,
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryReplaced,
    HistoryRequested,
    MessageRemoved,
    ObservationRecorded,
)
from schemas.subjects import Address
from services.domain.conversation import Conversation, Message
from services.domain.texts.content import RecordedMessage
from services.domain.transcript.reader import read
from services.historian.core.from_answer import to_summary
from services.historian.core.model_answer import AnswerFact, Compartment, Happening, Output, bounds
from services.historian.core.publish import SignedSummary, published
from services.historian.core.rules.summary import summarise
from services.historian.core.validate import check
from services.historian.jobs import CompressionJob
from services.historian.writers.base import RuleWriter
from services.kit.contents import Contents
from services.kit.jobs import Advance, Fail, Job
from services.kit.logs import logger
from tests.helpers.conversations import COMMITTED, agent, called, resulted, tool, transcript, user
from tests.helpers.harness import Harness, answered, asked
from tests.helpers.historian_sessions import WORDS, append, sealed, state_of, talking

ADDRESS = Address("p", "s")
CHUNK = read(transcript(*(one for _ in range(6) for one in (user(WORDS), agent(WORDS)))), 32_000)


def compartment(start: int, end: int) -> Compartment:
    return Compartment(start, end, f"From {start}", 40, f"I read the lines from {start}.", f"I read {start}.", "Read.")


def requested(reason: str = "tail_size") -> HistoryRequested:
    return HistoryRequested(run="r", reason=reason, first=1, last=12)


def made(reason: str = "tail_size") -> list[Event]:
    answer = Output(
        (compartment(1, 4), compartment(5, 8), compartment(9, 12)),
        facts=(
            AnswerFact("NAMING", "Boats are she.", (2,)),
            AnswerFact("NAMING", "Cars are he.", (3, 11)),
            AnswerFact("NAMING", "Planes are it.", (11,)),
            AnswerFact("NAMING", "Trains are they."),
        ),
        events=tuple(Happening("causal_incident", at, {"summary": f"It hung at {at}."}) for at in (7, 10)),
        user_observations=("Wants tests first.",),
        open_questions=("Why is it slow?",),
    )
    shown = bounds(CHUNK, 0)
    assert "" == check(answer, shown)
    written = SignedSummary(to_summary(answer, shown), "own/model")
    return published(state_of(talking(6)), requested(reason), ADDRESS, CHUNK, written)


def facts(events: list[Event]) -> list[tuple[str, list[int]]]:
    return [(one.text, one.evidence) for one in events if isinstance(one, FactExtracted)]


def test_a_model_s_observations_stay_where_its_last_compartment_is_left_for_later() -> None:
    events = made()
    assert [4, 8] == [one.last for one in events if isinstance(one, CompartmentSealed)]
    assert [
        ("user_trait", "Wants tests first.", 1, 8),
        ("causal_incident", "It hung at 7.", 7, 7),
        ("open_question", "Why is it slow?", 1, 8),
    ] == [(one.kind, one.text, one.first, one.last) for one in events if isinstance(one, ObservationRecorded)]


def test_a_fact_stays_with_the_evidence_that_is_published() -> None:
    assert [("Boats are she.", [2]), ("Cars are he.", [3]), ("Trains are they.", [])] == facts(made())
    assert ("Cars are he.", [3, 11]) in facts(made("force"))
    assert ("Planes are it.", [11]) in facts(made("force"))


def test_what_the_rules_found_is_published_as_far_as_it_is_certain() -> None:
    recorded = transcript(
        user("Mend the parser. It must never drop a line."),
        *(agent(tool("bash", "12 passed", command="pnpm test")) for _ in range(3)),
        agent(tool("bash", COMMITTED, command="git commit -am fix")),
        user(f"Now write the printer, which is another thing. {WORDS}", minutes=60),
        agent(tool("bash", "12 passed", command="pnpm test")),
    )
    chunk = read(recorded, 32_000)
    events = published(
        state_of(talking(6)), requested(), ADDRESS, chunk, SignedSummary(summarise(chunk, "/w"), "rules")
    )
    assert [5] == [one.last for one in events if isinstance(one, CompartmentSealed)]
    assert [("It must never drop a line.", [1]), ("The work is checked with `pnpm test`.", [4])] == facts(events)


ANEW = HistoryRequested(run="r", reason="tail_size", first=1, last=12, generation=1)


def begun_anew() -> Harness:
    """A session of which the rules' history is written anew."""
    harness = talking(6)
    append(harness, sealed(1, 12), ANEW)
    return harness


def part(harness: Harness, first: int, last: int, *spans: tuple[int, int]) -> list[Event]:
    """What is published of an answer about these messages, which leaves those behind its compartments out."""
    chunk = read([one for one in CHUNK.recorded if first <= one.ordinal <= last], 32_000)
    answer = Output(tuple(compartment(*span) for span in spans), unprocessed_from=spans[-1][1] + 1)
    if spans[-1][1] == last:
        answer = replace(answer, unprocessed_from=None)
    shown = bounds(chunk, 0)
    assert "" == check(answer, shown)
    written = SignedSummary(to_summary(answer, shown), "own/model")
    events = published(state_of(harness), ANEW, ADDRESS, chunk, written)
    append(harness, *events)
    return events


def advanced(events: list[Event]) -> tuple[int, bool, bool]:
    (event,) = (one for one in events if isinstance(one, HistoryAdvanced))
    return event.last, event.done, event.left > 0


def test_a_new_generation_goes_on_with_what_a_model_left_out_until_it_covers_all() -> None:
    harness = begun_anew()
    made = part(harness, 1, 12, (1, 4), (5, 8))
    assert (8, False, True) == advanced(made)
    assert not [one for one in made if isinstance(one, HistoryReplaced | HistoryAbandoned)]
    assert 8 == state_of(harness).reached
    made = part(harness, 9, 12, (9, 11))
    assert (11, False, True) == advanced(made)
    made = part(harness, 12, 12, (12, 12))
    assert (12, True, False) == advanced(made)
    assert HistoryReplaced(run="r", generation=1, first=1, last=12, compartments=4) == made[-1]
    known = state_of(harness)
    assert [(1, 4), (5, 8), (9, 11), (12, 12)] == [(one.first, one.last) for one in known.history.sealed]
    assert (None, 12) == (known.request, known.written)


def test_no_answer_leaves_out_all_that_it_was_asked_about() -> None:
    shown = bounds(CHUNK, 0)
    assert "There is no compartment" in check(Output((), unprocessed_from=1), shown)


def test_a_new_generation_holds_where_the_end_of_its_range_was_deleted_meanwhile() -> None:
    harness = begun_anew()
    append(harness, MessageRemoved(messages=["m12"], reason="deleted"))
    made = part(harness, 1, 11, (1, 8), (9, 11))
    assert (11, True, False) == advanced(made)
    assert HistoryReplaced(run="r", generation=1, first=1, last=11, compartments=2) == made[-1]
    assert [(1, 8), (9, 11)] == [(one.first, one.last) for one in state_of(harness).history.sealed]


def test_what_was_given_up_does_not_count_as_written() -> None:
    harness = begun_anew()
    append(harness, HistoryAbandoned(run="r", generation=1, reason="it was not whole"))
    assert (None, 0) == (state_of(harness).request, state_of(harness).written)


class NoContents:
    """Contents that are in memory."""

    async def recorded(
        self, _: Address, __: Conversation, messages: Sequence[Message], *, is_subagent: bool
    ) -> list[RecordedMessage]:
        assert not is_subagent
        return [one for one in CALLING if one.ordinal in {message.ordinal for message in messages}]


CALLING = transcript(user(WORDS), called("k", command="make"), resulted("k", "12 passed"))


async def test_a_range_that_is_made_anew_ends_where_its_compartments_did_though_a_result_stands_behind_it() -> None:
    harness = Harness()
    harness.user(WORDS)
    harness.assistant(asked("k", '{"command":"make"}'))
    harness.add_message("tool", answered("k", "12 passed"))
    harness.step()
    request = replace(ANEW, last=2)
    append(harness, sealed(1, 2), request)
    job = CompressionJob(RuleWriter(), cast("Contents", NoContents()), logger())
    outcome = await job.perform(Job(ADDRESS, state_of(harness), "r", request))
    assert isinstance(outcome, Advance)
    made = outcome.decide(state_of(harness))
    assert not isinstance(made, Fail)
    assert [HistoryReplaced(run="r", generation=1, first=1, last=2, compartments=1)] == [
        one for one in made if isinstance(one, HistoryReplaced | HistoryAbandoned)
    ]
