"""A lane that breaks costs its own edits of that pass, and nothing else."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import NoReturn

import pytest

from schemas.inbox import Capability
from schemas.plan import AnyEdit, AppendText, OmitArc, OmitPart, ReplaceOutput, ReplaceText, WholeMessage, target
from services.domain.conversation import Message
from services.domain.edits import faults
from services.plan.lanes import LANES, Change, Lane, View
from services.plan.lanes.base import nothing_changed, nothing_needed, nothing_new
from tests.helpers.adding import ABILITIES
from tests.helpers.every_lane import play
from tests.helpers.examples import soak
from tests.helpers.harness import Call, Harness, edits_of, replace

pytestmark = pytest.mark.slow

NAMES = [lane.name for lane in LANES]
FUNCTIONS = ("rebase", "extend", "needs")
BASIC: tuple[Capability, ...] = ("accepts_empty_content",)
ONLY_EXTENDED = frozenset(lane.name for lane in LANES if lane.only_extends)
ONLY_REBASED = frozenset(lane.name for lane in LANES if lane.extend is nothing_new)
AT_WORK = [
    (lane.name, function)
    for lane in LANES
    for function in FUNCTIONS
    if getattr(lane, function) not in (nothing_changed, nothing_new, nothing_needed)
]
"""The functions that a lane has of its own."""
EVERY_FUNCTION = [
    pytest.param(name, function, marks=soak(unless=(name, function) in AT_WORK))
    for function in FUNCTIONS
    for name in NAMES
]
"""Those that do nothing break as the others do: they are tried in `make soak`."""
BEFORE_PROVIDERS = [
    pytest.param(name, function, able, marks=soak(unless=number == at % len(ABILITIES)))
    for at, (name, function) in enumerate(AT_WORK)
    for number, able in enumerate(ABILITIES)
]
"""Each function before one of the kinds of providers, in turn, and before all in `make soak`."""

Break = Callable[[Lane, str], Lane]


def fail() -> NoReturn:
    raise ValueError("out of order")


def broken(lane: Lane, function: str) -> Lane:
    """The lane, which fails when its work is done."""

    def rebase(view: View) -> Change:
        lane.rebase(view)
        fail()

    def extend(view: View, fresh: Sequence[Message]) -> Iterable[AnyEdit]:
        yield from lane.extend(view, fresh)
        fail()

    def needs(view: View) -> Iterable[str]:
        yield from lane.needs(view)
        fail()

    def reads(view: View, fresh: Sequence[Message]) -> Iterable[str]:
        yield from lane.reads(view, fresh)
        fail()

    work = {"rebase": rebase, "extend": extend, "needs": needs, "reads": reads}
    return replace(lane, **{function: work[function]})


def silent(lane: Lane, function: str) -> Lane:
    """The lane without what it would do there."""

    def rebase(_: View) -> Change:
        return Change()

    def nothing(*_: object) -> Iterable[AnyEdit]:
        return ()

    return replace(lane, **{function: rebase if function == "rebase" else nothing})


def lanes_with(name: str, function: str, change: Break) -> list[Lane]:
    return [change(lane, function) if lane.name == name else lane for lane in LANES]


@cache
def broken_session(name: str, function: str) -> tuple[Harness, list[Call]]:
    """What several tests look at, and none of them goes on with."""
    return play(lanes_with(name, function, broken), BASIC, LANES)


@cache
def healthy_session() -> tuple[Harness, list[Call]]:
    return play(LANES, BASIC, LANES)


def fault(name: str) -> str:
    return f"the lane {name} failed: ValueError: out of order"


def by_lane(calls: Iterable[Call], kind: str) -> dict[str, list[AnyEdit]]:
    """Who has edited something in passes of this kind. What several have appended together is of each of them."""
    found: dict[str, list[AnyEdit]] = {name: [] for name in NAMES}
    for call in calls:
        for edit in edits_of(call.made) if call.made.kind == kind else ():
            for lane in (edit.lane or "tags").split("+"):
                found[lane.partition(":")[0]].append(edit)
    return found


def test_in_this_session_every_lane_has_something_to_do() -> None:
    _, calls = healthy_session()
    extended, rebased = by_lane(calls, "extend"), by_lane(calls, "rebase")

    assert [name for name in NAMES if not extended[name]] == [name for name in NAMES if name in ONLY_REBASED]
    assert [name for name in NAMES if not rebased[name]] == [name for name in NAMES if name in ONLY_EXTENDED]
    assert [call.made.faults for call in calls] == [()] * len(calls)


@pytest.mark.parametrize(("name", "function"), EVERY_FUNCTION)
def test_the_pass_is_made_names_the_lane_and_keeps_what_the_others_want(name: str, function: str) -> None:
    _, calls = broken_session(name, function)
    _, without = play(lanes_with(name, function, silent), BASIC, LANES)

    assert [call.made.kind for call in calls] == [call.made.kind for call in without]
    assert [edits_of(call.made) for call in calls] == [edits_of(call.made) for call in without]
    assert {found for call in calls[:-1] for found in call.made.faults} == {fault(name)}


@pytest.mark.parametrize(("name", "function"), AT_WORK)
def test_the_others_do_what_they_do_where_nothing_is_broken(name: str, function: str) -> None:
    _, calls = broken_session(name, function)
    _, healthy = healthy_session()

    instead = wanted()[name]
    assert of_others(calls, name, instead) == of_others(healthy, name, instead)


@cache
def wanted() -> Mapping[str, frozenset[str]]:
    """Lane -> the contents that it takes away where nothing is broken, also where another comes first; their messages.

    Two lanes may have a reason to take the same output: the second takes what the first has left. And what one has
    dropped another takes out altogether, so that what is not dropped leaves no empty answer.
    """
    found: dict[str, set[str]] = {name: set() for name in NAMES}
    play([listening(lane, found[lane.name]) for lane in LANES], BASIC, LANES)
    return {name: frozenset(places) for name, places in found.items()}


def listening(lane: Lane, found: set[str]) -> Lane:
    """The lane, which leaves here what it takes away."""

    def rebase(view: View) -> Change:
        change = lane.rebase(view)
        found.update(place for edit in change.edits for place in places_of(edit))
        return change

    def extend(view: View, fresh: Sequence[Message]) -> Iterable[AnyEdit]:
        edits = tuple(lane.extend(view, fresh))
        found.update(place for edit in edits for place in places_of(edit))
        return edits

    return replace(lane, extend=extend) if lane.only_extends else replace(lane, extend=extend, rebase=rebase)


def places_of(edit: AnyEdit) -> tuple[str, ...]:
    """The part that an edit takes away and its message; none: it takes nothing away."""
    if not isinstance(edit, ReplaceText | ReplaceOutput | OmitPart | OmitArc):
        return ()
    return str(target(edit)), str(WholeMessage(edit.part.partition(".")[0]))


def of_others(calls: Sequence[Call], name: str, instead: Collection[str]) -> set[tuple[int, str, AnyEdit | str]]:
    """What the other lanes have edited in which call, before this one was in order again, but for these places."""
    found: set[tuple[int, str, AnyEdit | str]] = set()
    for number, call in enumerate(calls[:-1]):
        for edit in edits_of(call.made):
            if str(target(edit)) in instead:
                continue
            lanes = [lane.partition(":")[0] for lane in edit.lane.split("+")]
            is_shared = isinstance(edit, AppendText)  # what others append to the same text goes with it
            found |= {
                (number, lane, str(target(edit)) if is_shared else edit) for lane in lanes if (lane or "tags") != name
            }
    return found


@pytest.mark.parametrize(("name", "function", "able"), BEFORE_PROVIDERS)
def test_no_provider_refuses_what_is_served_without_it(name: str, function: str, able: tuple[Capability, ...]) -> None:
    _, calls = play(lanes_with(name, function, broken), able, LANES)

    assert [faults(call.raw, able) for call in calls] == [[]] * len(calls)
    assert [faults(call.served, able) for call in calls] == [[]] * len(calls)


@pytest.mark.parametrize(("name", "function"), AT_WORK)
def test_the_next_pass_works_with_the_lane_in_order_again(name: str, function: str) -> None:
    harness, calls = broken_session(name, function)

    assert (calls[-1].causes, calls[-1].made.faults) == (("idle",), ())
    assert harness.session == harness.folded()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ONLY_EXTENDED])
def test_a_rebase_makes_up_for_what_the_lane_has_missed(name: str) -> None:
    _, calls = broken_session(name, "rebase")

    assert by_lane(calls[-1:], "rebase")[name] != []
