"""A plan is checked before it is served, cuts and heads like all else: no list is refused that the harness's is not."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.inbox import Capability
from schemas.plan import AnyEdit, CutBefore, OmitArc, OmitMessage, OmitPart, SetHead, Withdraw
from services.domain.edits import HEAD, faults
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Change, Lane, View, superseded
from services.plan.provider_rules.check import new_faults
from services.plan.session.state import with_edits
from tests.helpers.examples import examples
from tests.helpers.harness import Call, Harness, answered, asked, ran, rebases, text_part
from tests.helpers.historian_sessions import sealed
from tests.helpers.random_sessions import ABILITIES, AROUND, Act, Story, play
from tests.helpers.tool_calls import IDLE, called, requested, returned

TEXT = "# What happened\nThe parser was written.\n"


def split() -> Harness:
    """m1 a person, m2 a call, m3 its result, m4 the answer, m5 a person, m6 the answer, m7 a person."""
    harness = Harness()
    harness.capabilities = ()
    harness.user("Read the log.")
    harness.assistant(text_part("I read it."), asked("c"))
    harness.add_message("tool", answered("c", "line\n" * 50))
    harness.assistant(text_part("It is long."))
    harness.user("What else?")
    harness.assistant(text_part("Nothing."))
    harness.user("Thank you.")
    harness.step()
    return harness


def refused(harness: Harness, *edits: AnyEdit) -> list[str]:
    return new_faults(harness.session, edits)


def head(text: str = TEXT) -> SetHead:
    return SetHead(slot=1, text=text)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((CutBefore(message="m3"), head()), ["the result of c in m3 has no call before it"]),
        ((CutBefore(message="m2"), head()), []),
        ((CutBefore(message="m4"), head()), []),
        ((CutBefore(message="m4"),), ["the list begins with m4, which is no message of a user"]),
        ((CutBefore(message="m5"),), []),
        ((CutBefore(message="m7", remaining=("m2.1", "m3.0")), head()), []),
        ((CutBefore(message="m7", remaining=("m3.0",)), head()), ["the result of c in m3 has no call before it"]),
        ((CutBefore(message="m7", remaining=("m2.1",)), head()), ["the call c in m2 has no result right behind it"]),
        ((OmitMessage(message="m1"),), ["the list begins with m2, which is no message of a user"]),
        ((OmitMessage(message="m1"), head()), []),
        (
            (CutBefore(message="m7"), OmitMessage(message="m7"), head()),
            ["nothing is left of the conversation"],
        ),
    ],
)
def test_where_a_list_begins_is_checked(edits: tuple[AnyEdit, ...], expected: list[str]) -> None:
    assert refused(split(), *edits) == expected


@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_a_cut_through_the_results_of_one_answer_is_refused_however_many_there_are(count: int) -> None:
    harness = Harness()
    harness.capabilities = ()
    harness.user("Read the logs.")
    harness.assistant(*(asked(f"c{number}") for number in range(count)))
    results = [harness.add_message("tool", answered(f"c{number}", "line\n")) for number in range(count)]
    harness.assistant(text_part("They are long."))
    harness.user("Thank you.")
    harness.step()
    assert refused(harness, CutBefore(message=results[-1]), head())
    assert refused(harness, CutBefore(message=results[0]), head())
    assert not refused(harness, CutBefore(message="m2"), head())


def begun_by_an_agent(*, lanes: tuple[Lane, ...] = (TAGS, DROPS)) -> Harness:
    """m1 a call of an agent, m2 its result with the role `user`, m3 the same file changed again, m4 and m5 a person."""
    harness = Harness(Limits(smart_drops=True, protected_tags=1, min_reclaim=0), lanes)
    harness.capabilities = ()
    change = {"filePath": "a.py", "oldString": "a", "newString": "y" * 9_000}
    harness.assistant(requested("edit", change, call="c"))
    harness.add_message("user", returned("edit", call="c"))
    harness.assistant(text_part("I change it again."), called("edit", change, call="d"))
    harness.user("What else?")
    harness.user("And then?")
    harness.step()
    return harness


def test_where_a_list_begins_with_an_agent_the_first_message_of_a_user_stays() -> None:
    arc = OmitArc(part="m2.0", parts=("m1.0", "m2.0"))
    assert refused(begun_by_an_agent(), arc) == ["the list begins with m3, which is no message of a user"]
    assert refused(begun_by_an_agent(), arc, head()) == []


def test_a_result_whose_call_the_harness_takes_out_still_begins_the_list() -> None:
    harness = begun_by_an_agent(lanes=(TAGS, DROPS, superseded.LANE))
    rebased(harness)
    before = rebased(harness)
    harness.without("m1")
    call = harness.step()
    assert call.raw[0].role == call.served[0].role == "user"
    assert "m2" == call.served[0].id
    assert set(faults(call.served, ())) <= set(faults(call.raw, ()))
    assert before.served[0].id == "m1"


def test_a_head_before_a_persons_words_is_refused_where_turns_alternate() -> None:
    harness = split()
    harness.capabilities = ("requires_alternation",)
    harness.step()
    assert refused(harness, head()) == ["the message m1 has the same role as the one before it"]
    assert refused(harness, head(), CutBefore(message="m4")) == []


def test_what_stands_before_a_cut_is_not_checked() -> None:
    assert refused(split(), CutBefore(message="m5"), OmitPart(part="m3.0")) == []


def test_a_cut_that_is_taken_back_brings_back_only_what_the_harness_holds() -> None:
    harness = split()
    harness.session = with_edits(harness.session, [CutBefore(message="m5"), head()])
    assert refused(harness, Withdraw(what="cut"), head("")) == []
    assert refused(harness, head("")) == []
    assert refused(harness, CutBefore(message="m4"), head("")) == [
        "the list begins with m4, which is no message of a user"
    ]


# What becomes of a plan that fails


def cutting(*edits: AnyEdit) -> Lane:
    """Makes these edits as soon as there is a rebase."""
    return Lane("cutting", rebase=lambda view: Change(edits=tuple(one for one in edits if _is_new(view, one))))


def _is_new(view: View, edit: AnyEdit) -> bool:
    return edit not in [*view.session.plan.edits()]


def rebased(harness: Harness) -> Call:
    harness.use(1_000)
    harness.wait(IDLE)
    return harness.step()


def test_a_cut_between_a_call_and_its_result_is_not_served_and_the_fault_is_reported() -> None:
    harness = split()
    harness.lanes = (TAGS, DROPS, cutting(CutBefore(message="m3"), head()))
    before = dict(harness.edits)
    call = rebased(harness)

    assert any("has no call before it" in fault for fault in call.made.faults)
    assert {key: edit for key, edit in harness.edits.items() if key in before} == before
    assert "cut" not in harness.edits
    assert faults(call.served, ()) == []


def test_what_other_lanes_want_is_served_without_the_cut_that_fails() -> None:
    harness = Harness()
    harness.lanes = (TAGS, DROPS, cutting(CutBefore(message="m3"), head()))
    harness.user("Read the log.")
    harness.assistant(asked("c"))
    harness.add_message("tool", answered("c", "line\n" * 50))
    harness.assistant(ran("long\n" * 5_000, call="d"))
    harness.user("Thank you.")
    harness.step()
    harness.drop(3)
    call = rebased(harness)

    assert rebases(call.made)
    assert "[dropped §3§]" in call.text
    assert "cut" not in harness.edits


# Whatever happens


def compressing(last: int) -> Act:
    """History that ends anywhere, between a call and its result, too."""

    def act(harness: Harness) -> None:
        ordinals = [one.ordinal for one in harness.session.conversation.after(harness.session.history.last)]
        if len(ordinals) > 1:
            end = ordinals[last % (len(ordinals) - 1)]
            harness.append(sealed(harness.session.history.last + 1, end))

    return act


@st.composite
def stories(draw: st.DrawFn) -> Story:
    around = draw(st.lists(st.tuples(AROUND, st.lists(st.integers(0, 20), max_size=1)), min_size=2, max_size=10))
    played = [(growth, [*chances, *map(compressing, ends)]) for (growth, chances), ends in around]
    able: tuple[Capability, ...] = draw(ABILITIES)
    return Story(played, able, draw(st.sampled_from([1, 3])))


OTHERS = tuple(lane for lane in LANES if lane not in (TAGS, DROPS))


@given(stories())
@settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_plan_is_refused_where_the_list_of_the_harness_is_not(story: Story) -> None:
    for moment in play(story, *OTHERS, caveman=True, smart_drops=True):
        call = moment.call
        able = call.opened.capabilities
        assert set(faults(call.served, able)) <= set(faults(call.raw, able))
        assert _begins(call) or call.raw[0].role != "user"
        assert not call.raw or [one for one in call.served if not one.id.startswith(HEAD)]


def _begins(call: Call) -> bool:
    return not call.raw or (bool(call.served) and call.served[0].role == "user")
