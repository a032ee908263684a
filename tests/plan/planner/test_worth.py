"""A rebase that sums alone decline would be declined once it was collected, too: plans are the same with both."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings

from schemas.inbox import MessageSeen, SessionSeen
from services.domain.limits import Limits
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.plan.lanes import DROPS, LANES, TAGS, Lane, View
from services.plan.planner import plan
from services.plan.planner.causes import Causes
from services.plan.planner.compose import RebaseDraft, is_worth_it, may_be_worth_it, most_reclaimed
from tests.helpers.examples import examples
from tests.helpers.harness import START, Harness, ran, replace, text_part
from tests.helpers.historian_sessions import sealed
from tests.helpers.playing import play
from tests.helpers.random_sessions import STORIES, Story, wildly
from tests.helpers.random_sessions import play as play_story
from tests.helpers.recordings import SHIPPED

LIMITS = Limits()
WORDS = "word " * 160
"""200 tokens."""


class Watched:
    """Collects every rebase, and sees that those are declined which sums alone decline."""

    def __init__(self) -> None:
        self.declined = 0
        self._view: View | None = None
        self._may = True

    def may_be_worth_it(self, view: View, lanes: Sequence[Lane], why: Causes) -> bool:
        self._view, self._may = view, may_be_worth_it(view, lanes, why)
        self.declined += not self._may
        return True

    def is_worth_it(self, view: View, why: Causes, made: RebaseDraft) -> bool:
        found = is_worth_it(view, why, made)
        if not self._may and self._view is not None:
            assert not found
            assert made.economics.reclaimed <= most_reclaimed(self._view.session)
        return found


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    found = Watched()
    monkeypatch.setattr(plan, "may_be_worth_it", found.may_be_worth_it)
    monkeypatch.setattr(plan, "is_worth_it", found.is_worth_it)
    return found


def wordy(turns: int) -> Transcript:
    """Words of both sides, and now and then a call."""
    messages: list[MessageSeen] = []
    for turn in range(turns):
        at = START + timedelta(seconds=turn)
        call = ran("line\n" * (10 + 7919 * turn % 90), f'{{"path": "{turn}.py"}}', call=f"c{turn}")
        asked, answered = text_part(f"Go on with {turn}."), text_part(f"{turn}: {WORDS}")
        for name, role, parts in ((f"u{turn}", "user", (asked,)), (f"a{turn}", "assistant", (answered, call))):
            named = tuple(replace(part, message=name, part=f"{name}.{n}") for n, part in enumerate(parts))
            messages.append(MessageSeen(name, role, at, parts=named))
    return Transcript("test", "wordy", SessionSeen(), tuple(messages))


SESSIONS = {
    "openai": lambda: [*read(SHIPPED / "openai.json.gz")],
    "anthropic": lambda: [*read(SHIPPED / "anthropic.json.gz")],
    "wordy": lambda: [wordy(150)],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sessions", "window"),
    [("openai", 40_000), ("anthropic", 40_000), ("openai", 1_000_000), ("anthropic", 1_000_000), ("wordy", 1_000_000)],
)
@pytest.mark.parametrize("tidy", [True, False])
def test_plans_are_the_same_where_every_rebase_is_collected(
    sessions: str, window: int, *, tidy: bool, request: pytest.FixtureRequest
) -> None:
    transcripts = SESSIONS[sessions]()
    by_sums = [play(transcript, window, tidy=tidy, limits=LIMITS).digest for transcript in transcripts]
    watched: Watched = request.getfixturevalue("watched")
    collected = [play(transcript, window, tidy=tidy, limits=LIMITS).digest for transcript in transcripts]

    assert by_sums == collected
    assert watched.declined or sessions != "wordy"


@given(story=STORIES)
@settings(wildly, max_examples=examples(40))
def test_a_rebase_that_sums_decline_is_declined_whatever_has_happened(story: Story) -> None:
    watched = Watched()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plan, "may_be_worth_it", watched.may_be_worth_it)
        patched.setattr(plan, "is_worth_it", watched.is_worth_it)
        assert play_story(story, *(lane for lane in LANES if lane not in (TAGS, DROPS)))


PRESSED = Causes(pressure=("cost",), prompt=100_000)


def view_of(harness: Harness, **limits: object) -> View:
    return View(harness.session, replace(LIMITS, **limits), causes=frozenset({"cost"}))


def talk() -> Harness:
    harness = Harness(LIMITS, LANES)
    for _ in range(10):
        harness.user("Go on.")
        harness.assistant(text_part(WORDS))
    harness.step()
    return harness


def test_where_only_words_are_left_nothing_is_collected() -> None:
    assert not may_be_worth_it(view_of(talk()), LANES, PRESSED)


@pytest.mark.parametrize(
    "why",
    [
        Causes(forced=("unlisted",), pressure=("cost",)),
        Causes(free=("idle",), pressure=("cost",)),
        Causes(pressure=("force",), urgent=True, excess=100),
    ],
)
def test_what_had_to_be_costs_nothing_or_makes_room_is_collected(why: Causes) -> None:
    assert may_be_worth_it(view_of(talk()), LANES, why)


def test_history_that_is_ready_is_collected() -> None:
    harness = talk()
    harness.append(sealed(1, 10))

    assert may_be_worth_it(view_of(harness, min_reclaim=0), LANES, replace(PRESSED, pressure=("pressure",)))
    assert not all(lane.leaves_firm(view_of(harness)) for lane in LANES)


def test_words_that_may_be_shortened_are_collected() -> None:
    assert may_be_worth_it(view_of(talk(), caveman=True, min_reclaim=0), LANES, PRESSED)


def test_a_lane_that_says_nothing_of_what_it_leaves_is_always_asked() -> None:
    silent = replace(LANES[0], name="silent", spares_firm=Lane("other", rebase=LANES[0].rebase).spares_firm)

    assert may_be_worth_it(view_of(talk()), [silent], PRESSED)


def test_a_lane_that_only_extends_need_not_declare_that_it_leaves_anything() -> None:
    assert not may_be_worth_it(view_of(talk()), [Lane("appending", extend=LANES[0].extend)], PRESSED)
