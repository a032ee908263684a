"""What an earlier call was sent: the same by the newest state of the session as by a fold of its log up to there."""

from collections import Counter

import pytest
from msgspec.structs import replace

from schemas.events import HintDecided, PlanExtended, PlanRebased, StepOpened
from schemas.explain_asks import ExplainAsk, Explanation
from services.domain.limits import Limits
from services.plan.lanes import LANES
from services.responder.answers.explain import explain
from services.responder.answers.prompt_outline import outline
from tests.helpers.harness import ADDRESS, Harness, fold, ran, text_part
from tests.helpers.made_log import MadeLog

MOST = 1_000


def worked(calls: int, *, dropping: bool = True) -> Harness:
    """A session of so many calls; a person makes it smaller now and then."""
    harness = Harness(Limits(protected_tags=1, min_reclaim=1), LANES)
    for call in range(calls):
        harness.user(f"please look at part {call} " * 20)
        harness.step()
        harness.assistant(text_part(f"it is as before {call} " * 10), ran("line\n" * 200, call=f"c{call}"))
        harness.step()
        if dropping and call % 5 == 4:
            harness.drop(*range(3 * call - 10, 3 * call - 3))
            harness.flush()
    return harness


async def explained(harness: Harness, step: str, *, remembers: bool) -> tuple[Explanation, Counter[str]]:
    """The explanation of a step with or without the newest state, and what of the log was read for it, by type."""
    log, ask = MadeLog(harness.log), ExplainAsk(ADDRESS.project, ADDRESS.session, step, max_edits=MOST)
    found = await (explain(log, ask, harness.folded()) if remembers else explain(log, ask))
    return found, Counter(log.read)


def steps(harness: Harness) -> list[str]:
    return [event.step for _, event in harness.log if isinstance(event, StepOpened)]


def as_sent(harness: Harness, number: int) -> Explanation:
    """What the whole fold of the log says of a call, up to the plan that was made for it."""
    places = [place for place, (_, event) in enumerate(harness.log) if isinstance(event, StepOpened)]
    end = places[number] if number < len(places) else len(harness.log)
    step = steps(harness)[number - 1]
    planned = [
        place
        for place, (_, event) in enumerate(harness.log[:end])
        if isinstance(event, PlanExtended | PlanRebased) and event.step == step
    ]
    through = max([places[number - 1], *planned]) + 1
    session = fold(harness.log[:through])
    ask = ExplainAsk(ADDRESS.project, ADDRESS.session, step, max_edits=MOST)
    return outline(session, ask).explained


async def test_each_call_is_explained_alike_by_memory_and_by_the_log() -> None:
    harness = worked(7)
    assert any(isinstance(event, PlanRebased) for _, event in harness.log)
    for number, step in enumerate(steps(harness), 1):
        by_memory, read = await explained(harness, step, remembers=True)
        by_log, _ = await explained(harness, step, remembers=False)
        assert by_memory == by_log
        bare = replace(by_memory, edits=(), calls=0, history=(), hints=(), searches=())
        assert bare == as_sent(harness, number)
        assert read["message.listed"] == 0, "where nothing was changed since, the messages are not folded anew"


@pytest.mark.parametrize("change", ["removed", "changed", "listed anew", "part removed"])
async def test_what_was_changed_since_is_explained_as_it_was(change: str) -> None:
    harness = worked(6)
    before = {step: (await explained(harness, step, remembers=True))[0] for step in steps(harness)}
    match change:
        case "removed":
            harness.without("m3")
        case "changed":
            harness.change("m2.0", text="other words " * 50)
        case "listed anew":
            harness.messages.insert(2, harness.messages.pop(3))
        case _:
            harness.messages[3] = replace(harness.messages[3], parts=harness.messages[3].parts[:1])
    harness.step()
    harness.user("go on")
    harness.step()
    for step, found in before.items():
        now, _ = await explained(harness, step, remembers=True)
        assert now == replace(found, calls=now.calls), step
        assert now == (await explained(harness, step, remembers=False))[0]


async def test_what_is_read_for_an_earlier_call_does_not_grow_with_its_messages() -> None:
    short, long = worked(8, dropping=False), worked(32, dropping=False)
    read = [await explained(harness, "s12", remembers=True) for harness in (short, long)]
    (few, of_short), (_, of_long) = read
    assert few.messages == 12
    assert of_short["step.opened"] < of_long["step.opened"]
    assert {**of_short, "step.opened": 0} == {**of_long, "step.opened": 0}


async def test_a_call_without_a_plan_had_the_one_before() -> None:
    harness = worked(3)
    harness.user("nobody answers")
    harness.step(asks=False)
    unplanned = steps(harness)[-1]
    harness.user("go on")
    harness.step()
    harness.append(HintDecided(message="m1", decision="skip"))
    found, _ = await explained(harness, unplanned, remembers=True)
    assert found == (await explained(harness, unplanned, remembers=False))[0]
    assert found.revision == (await explained(harness, steps(harness)[-3], remembers=True))[0].revision
