"""What is published of a summary whose last compartment is left for the next run, as its topic may go on."""

from schemas.events import CompartmentSealed, Event, FactExtracted, HistoryRequested, ObservationRecorded
from schemas.subjects import Address
from services.domain.transcript.reader import read
from services.historian.core.from_answer import to_summary
from services.historian.core.model_answer import Compartment, Fact, Happening, Output, bounds
from services.historian.core.publish import Written, published
from services.historian.core.rules.summary import summarise
from services.historian.core.validate import check
from tests.helpers.conversations import COMMITTED, agent, tool, transcript, user
from tests.helpers.historian_sessions import WORDS, state_of, talking

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
            Fact("NAMING", "Boats are she.", (2,)),
            Fact("NAMING", "Cars are he.", (3, 11)),
            Fact("NAMING", "Planes are it.", (11,)),
            Fact("NAMING", "Trains are they."),
        ),
        events=tuple(Happening("causal_incident", at, {"summary": f"It hung at {at}."}) for at in (7, 10)),
        user_observations=("Wants tests first.",),
        open_questions=("Why is it slow?",),
    )
    shown = bounds(CHUNK, 0)
    assert "" == check(answer, shown)
    written = Written(to_summary(answer, shown), "own/model")
    return published(state_of(talking(6)), requested(reason), ADDRESS, CHUNK, written)


def facts(events: list[Event]) -> list[tuple[str, list[int]]]:
    return [(one.text, one.evidence) for one in events if isinstance(one, FactExtracted)]


def test_a_model_s_observations_are_kept_where_its_last_compartment_is_left_for_later() -> None:
    events = made()
    assert [4, 8] == [one.last for one in events if isinstance(one, CompartmentSealed)]
    assert [
        ("user_trait", "Wants tests first.", 1, 8),
        ("causal_incident", "It hung at 7.", 7, 7),
        ("open_question", "Why is it slow?", 1, 8),
    ] == [(one.kind, one.text, one.first, one.last) for one in events if isinstance(one, ObservationRecorded)]


def test_a_fact_is_kept_with_the_evidence_that_is_published() -> None:
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
    events = published(state_of(talking(6)), requested(), ADDRESS, chunk, Written(summarise(chunk, "/w"), "rules"))
    assert [5] == [one.last for one in events if isinstance(one, CompartmentSealed)]
    assert [("It must never drop a line.", [1]), ("The work is checked with `pnpm test`.", [4])] == facts(events)
