"""A prompt that a model would refuse is made to fit before it is sent, or right after its first refusal."""

import random
import re

import pytest
from msgspec.structs import replace

from schemas.events import HistoryFailed
from schemas.inbox import ErrorSeen, ToolSeen, ToolsSeen
from schemas.plan import PrefixText
from services.domain.limits import Limits, Prices
from services.plan.lanes import LANES
from services.plan.planner.plan import BLIND, FULL, STUCK
from tests.helpers.examples import soak
from tests.helpers.harness import Call, Harness, cost, edits_of, ran, rebases, text_part, thought
from tests.helpers.tool_calls import called

OVERHEAD = 9_000
"""Tokens of system prompt and tools."""
LIMITS = Limits()
COUNTED = "prompt is too long: {count} tokens > {limit} maximum"
LIMITED = "This model's maximum context length is {limit} tokens."
BARE = "Your input exceeds the context window of this model. Please adjust your input and try again."
SERVER = "the request exceeds the available context size. try increasing the context size or enable context shift"
ASSUMED_EXCESS = (BARE, SERVER)
WORDINGS = (COUNTED, LIMITED, *ASSUMED_EXCESS)
"""How providers refuse a prompt that is too long: with its length, with what they take, or with neither."""


@pytest.mark.parametrize("request_tokens", [50_000, 52_000, 54_000])
def test_what_was_declined_near_the_limit_is_weighed_again_before_the_prompt_is_too_long(request_tokens: int) -> None:
    harness = Harness(LIMITS, LANES)
    harness.context_limit = 60_000
    harness.user("w " * (2 * request_tokens))
    for number in range(30):
        call = harness.step()
        assert (number, 3_500 + cost(call.served)) <= (number, 60_000)
        harness.use(3_500 + cost(call.served), message=f"u{number}")
        harness.assistant(called("bash", {"command": f"c{number}"}, f"{number} " * 900, call=f"k{number}"))


@pytest.mark.parametrize("pause", [10, 400])
def test_a_pause_in_a_turn_that_binds_takes_nothing_from_what_comes_behind_it(pause: int) -> None:
    """Four hundred seconds: the cache is dead, and nothing may change before the signed thought."""
    harness = Harness(LIMITS, LANES)
    harness.context_limit = 60_000
    harness.capabilities = ("accepts_empty_content", "binds_signed_thinking", "caches_exact_prefix")
    harness.user("go")
    for name in ("x", "y"):
        harness.assistant(thought("w", signed=True), called("bash", {"command": name}, "X" * 2000, call=name))
        harness.wait(pause)
        harness.step()
        harness.use(4_000)
    harness.assistant(text_part("done"))
    for number in range(50):
        harness.wait(10)
        harness.user(f"next {number}")
        call = harness.step()
        assert 3_500 + cost(call.served) < 45_000
        assert call.made.notices == ()
        harness.use(3_500 + cost(call.served), message=f"u{number}")
        harness.assistant(called("bash", {"command": f"c{number}"}, f"{number}" * 2_500, call=f"k{number}"))


DENSITIES = [0.8, 1.2, 1.6, 2.5]
"""Tokens that a model counts for one of ours."""


def densities(*tried: float, most: float) -> list[object]:
    """Those up to this one; what lies between those that are tried adds little, and is soak."""
    return [pytest.param(one, marks=soak(unless=one in tried)) for one in DENSITIES if one <= most]


class Model:
    """Counts what it is sent, refuses what is too long, and says so as providers do."""

    def __init__(
        self, limit: int, *, density: float = 1.0, reports: bool = True, overhead: int = OVERHEAD, words: str = COUNTED
    ) -> None:
        self.harness = Harness(LIMITS, LANES)
        self.harness.context_limit = limit
        self.harness.capabilities = ("accepts_empty_content", "caches_exact_prefix")
        self.harness.model = "model"
        self.limit = limit
        self.density = density
        self.reports = reports
        self.overhead = overhead
        self.words = words
        self.refused = 0
        self.refused_again = 0
        """Calls that were refused more than once."""
        self.answered = 0
        self.calls = 0

    def count(self, call: Call) -> int:
        return self.overhead + int(cost(call.served) * self.density)

    def reported(self, count: int) -> int:
        """What it says that it has counted."""
        return count

    def switch(self, name: str, limit: int, density: float) -> None:
        """Another model goes on."""
        self.harness.model, self.harness.context_limit = name, limit
        self.limit, self.density = limit, density

    def ask(self) -> Call:
        """One call, sent again after each refusal, which ends some time."""
        for attempt in range(8):
            call = self.harness.step()
            count = self.count(call)
            if count <= self.limit:
                self.answered += 1
                if self.reports:
                    self.harness.use(self.reported(count), f"a{self.answered}")
                return call
            self.refused += 1
            self.refused_again += attempt == 1
            self.harness.report(ErrorSeen(text=self.words.format(count=count, limit=self.limit)))
        raise AssertionError("the session never answers again")

    def reads(self, *sizes: int) -> None:
        """The agent reads files of so many bytes, in one message."""
        self.calls += 1
        parts = [
            ran(f"{n} line of file {self.calls}\n" * (size // 20), call=f"c{self.calls}.{n}")
            for n, size in enumerate(sizes)
        ]
        self.harness.assistant(*parts)


def test_many_files_that_are_read_at_once_are_never_sent_where_the_limit_is_known() -> None:
    model = Model(200_000)
    model.harness.user("Read all of it")
    model.reads(80_000)
    model.ask()
    model.reads(*[50_000] * 16)
    call = model.ask()
    assert 0 == model.refused
    assert ("force",) == call.causes
    assert cost(call.served) > 100_000


def test_what_is_read_in_one_step_and_does_not_fit_together_ends_no_session() -> None:
    model = Model(60_000)
    model.harness.user("Compare these six files")
    model.ask()
    model.reads(*[45_000] * 6)
    for _ in range(25):
        model.ask()
        model.reads(400)
    assert 0 == model.refused


def test_the_newest_of_what_was_read_stays() -> None:
    model = Model(60_000)
    model.harness.user("Compare these six files")
    model.ask()
    model.reads(*[45_000] * 6)
    shown = [
        part.output.startswith("[dropped") for message in model.ask().served for part in message.parts if part.output
    ]
    assert shown == sorted(shown, reverse=True)
    assert 1 <= shown.count(False) < 6


def work(model: Model, calls: int = 120) -> None:
    """The agent reads small and large files, one or several at once."""
    random.seed(7)
    model.harness.user("Look at all of these")
    for _ in range(calls):
        model.reads(*(random.choice((400, 2_000, 9_000, 30_000)) for _ in range(random.choice((1, 1, 2, 4)))))
        model.ask()


@pytest.mark.parametrize("words", WORDINGS)
@pytest.mark.parametrize("density", densities(0.8, 1.6, most=1.6))
def test_dense_text_is_refused_once_at_most(density: float, words: str) -> None:
    model = Model(60_000, density=density, words=words)
    work(model)
    assert 120 == model.answered
    assert model.refused <= 1


@pytest.mark.parametrize("words", [COUNTED, LIMITED])
@pytest.mark.parametrize("density", densities(0.8, 2.5, most=2.5))
def test_a_limit_that_a_refusal_names_is_learned_by_it(density: float, words: str) -> None:
    model = Model(60_000, density=density, words=words)
    model.harness.context_limit = 0
    work(model)
    assert 1 == model.refused


@pytest.mark.parametrize("words", ASSUMED_EXCESS)
@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("density", densities(0.8, 2.5, most=2.5))
def test_a_limit_that_no_refusal_names_is_learned_by_a_few(density: float, reports: bool, words: str) -> None:  # noqa: FBT001
    model = Model(60_000, density=density, reports=reports, words=words)
    model.harness.context_limit = 0
    work(model)
    assert 120 == model.answered
    assert 1 <= model.refused <= 4
    assert 0 == model.refused_again


@pytest.mark.parametrize("words", WORDINGS)
@pytest.mark.parametrize("overhead", [25_000, 45_000])
def test_tools_that_nobody_has_counted_are_learned_by_one_refusal(overhead: int, words: str) -> None:
    model = Model(60_000, reports=False, overhead=overhead, words=words)
    model.harness.user("Go through these")
    for _ in range(80):
        model.reads(40_000)
        model.ask()
    assert 1 == model.refused


@pytest.mark.parametrize("overhead", [25_000, 45_000])
def test_tools_that_the_harness_has_reported_are_no_surprise(overhead: int) -> None:
    model = Model(60_000, reports=False, overhead=overhead, words=BARE)
    model.harness.report(ToolsSeen("d", (ToolSeen("everything", "x" * 4 * (overhead - 3_000)),)))
    model.harness.user("Go through these")
    for _ in range(40):
        model.reads(40_000)
        model.ask()
    assert 0 == model.refused


class Uncached(Model):
    """It counts only what was not in its cache."""

    def reported(self, count: int) -> int:  # noqa: ARG002 - whatever was counted
        return 300


@pytest.mark.parametrize("words", WORDINGS)
def test_a_count_of_what_was_not_cached_is_not_taken_for_the_whole_prompt(words: str) -> None:
    model = Uncached(32_000, words=words)
    work(model, 60)
    assert model.refused <= 4
    assert 0 == model.refused_again


def test_a_provider_that_reports_no_usage_gets_no_prompt_that_is_too_long() -> None:
    model = Model(100_000, reports=False)
    model.harness.user("Go through these")
    for _ in range(60):
        model.reads(8_000)
        model.ask()
    assert 0 == model.refused


class Miscounting(Model):
    """Every third count is one that no prompt has."""

    def reported(self, count: int) -> int:
        return count if self.answered % 3 else 2**53 - 1


@pytest.mark.parametrize("words", WORDINGS)
def test_a_count_that_no_prompt_has_is_passed_over(words: str) -> None:
    model = Miscounting(32_000, words=words)
    model.harness.user("Go through these")
    for _ in range(60):
        model.harness.append(HistoryFailed(run="r", code="timeout", failures=1))
        model.reads(8_000)
        notices = "".join(model.ask().made.notices)
        assert all(int(percent) <= 100 for percent in re.findall(r"fills (\d+) %", notices)), notices
    assert model.refused <= 1
    assert 0 == model.refused_again


def test_a_limit_that_nobody_knows_is_learned_by_one_refusal() -> None:
    model = Model(50_000)
    model.harness.context_limit = 0
    model.harness.user("Go through these")
    for _ in range(60):
        model.reads(8_000)
        model.ask()
    assert 60 == model.answered
    assert 1 == model.refused


def thinking(model: Model, steps: int) -> list[Call]:
    """Steps of one turn, each with a signed thought before a reading."""
    model.harness.capabilities = ("binds_signed_thinking", "caches_exact_prefix")
    model.harness.user("Go through these")
    calls: list[Call] = []
    for number in range(steps):
        model.harness.assistant(thought("so", signed=True), ran(f"{number} line of it\n" * 1_000, call=f"c{number}"))
        calls.append(model.ask())
    return calls


def blind(call: Call) -> bool:
    """Whether the newest output was left out before the model saw it."""
    return call.served[-1].parts[-1].output.startswith("[dropped")


def test_a_turn_of_signed_thinking_that_fills_the_window_loses_new_outputs_and_the_person_is_notified_once() -> None:
    """Nothing before a thought may change."""
    model = Model(200_000)
    calls = thinking(model, 60)
    lost = [number for number, call in enumerate(calls) if blind(call)]
    assert 0 == model.refused
    assert [lost[0]] == [number for number, call in enumerate(calls) if FULL in call.made.notices]
    assert not any(call.made.is_full for call in calls)


def test_where_the_harness_compacts_it_gets_such_a_turn_behind_a_few_steps_and_outputs_go_on_if_that_fails() -> None:
    model = Model(200_000)
    model.harness.compacts = True
    calls = thinking(model, 80)
    (full, *_) = [number for number, call in enumerate(calls) if call.made.is_full]
    assert BLIND == sum(map(blind, calls[:full]))
    assert model.count(calls[full]) > model.limit - 4_096
    assert not any(FULL in call.made.notices for call in calls)


def test_what_has_been_seen_behind_the_newest_thought_goes_before_the_harness_compacts() -> None:
    model = Model(100_000)
    model.harness.compacts = True
    model.harness.capabilities = ("binds_signed_thinking", "caches_exact_prefix")
    model.harness.user("Go through these")
    model.harness.assistant(thought("so", signed=True), text_part("I read them all."))
    for _ in range(60):
        model.reads(8_000)
        call = model.ask()
        assert not call.made.is_full
        assert not blind(call)
    assert 0 == model.refused


def test_a_turn_without_signed_thinking_is_not_left_to_the_harness() -> None:
    model = Model(60_000)
    model.harness.user("Go through these")
    for _ in range(60):
        model.reads(8_000)
        assert not model.ask().made.is_full


@pytest.mark.parametrize("words", WORDINGS)
def test_a_refusal_of_a_prompt_without_its_rebase_takes_nothing_more_out(words: str) -> None:
    model = Model(100_000, words=words)
    model.harness.limits = Limits(prices={"default": Prices(read=0.0, write=1.0)})
    model.harness.user("Go through these")
    for _ in range(22):
        model.reads(16_000)
        model.ask()
    model.reads(64_000)
    lost = model.harness.step(takes=0)
    assert ["force"] == rebases(lost.made)[0].causes
    assert model.count(lost) > 100_000
    model.harness.report(ErrorSeen(text=words.format(count=model.count(lost), limit=model.limit)))
    model.reads(400)
    call = model.harness.step()
    assert ("force",) == call.causes
    assert not rebases(call.made)
    assert all(isinstance(edit, PrefixText) for edit in edits_of(call.made))
    assert model.count(call) < 100_000


def test_the_count_of_a_prompt_without_its_rebase_does_not_make_the_text_seem_dense() -> None:
    model = Model(200_000)
    model.harness.limits = Limits(protected_tags=1)
    model.harness.user("Go through these")
    for _ in range(10):
        model.reads(16_000)
        model.ask()
    model.harness.drop(*range(2, 10))
    model.harness.flush()
    lost = model.harness.step(takes=0)
    for number in range(3):
        model.harness.use(model.count(lost), f"lost{number}")
        model.reads(400)
        lost = model.harness.step(takes=0)
    model.harness.use(model.count(lost), "lost")
    model.reads(400)
    call = model.ask()
    assert model.count(call) < model.count(lost) - 20_000
    known = call.state.usage.calibration
    assert abs(known.prompt(cost(call.served)) - model.count(call)) < 500


def test_what_a_person_says_is_never_left_out_and_they_get_a_remedy() -> None:
    model = Model(60_000)
    model.harness.messages.clear()
    model.harness.add_message("user", text_part("word " * 60_000))
    call = model.harness.step()
    assert STUCK in call.made.notices
    assert not rebases(call.made)


def grown(thin: int, dense: int, *, goes_on: str) -> tuple[Model, Call]:
    """Two models know a session, of which one lets it grow to some 65,000 estimated tokens; the newest call.

    What counts 1.0 with the model `thin` counts 1.8 with `dense`, which take so many tokens. Nothing goes for its
    price.
    """
    model = Model(thin)
    model.harness.limits = Limits(prices={"default": Prices(read=0.0, write=1.0)})
    models = {"thin": (thin, 1.0), "dense": (dense, 1.8)}
    model.harness.user("Go through these")
    for name in ("thin", "dense", "thin", goes_on):
        model.switch(name, *models[name])
        for _ in range(3):
            model.reads(8_000)
            model.ask()
    model.reads(*[50_000] * 4)
    return model, model.ask()


def test_a_prompt_that_only_another_model_takes_is_made_to_fit_before_it_is_sent() -> None:
    model, before = grown(200_000, 120_000, goes_on="thin")
    model.switch("dense", 120_000, 1.8)
    assert model.count(before) > 120_000
    model.reads(400)
    call = model.ask()
    assert ("model", "force") == call.causes
    assert 0 == model.refused
    assert model.count(call) > 25_000


def test_nothing_goes_for_a_model_that_counts_less_than_the_one_before() -> None:
    model, before = grown(100_000, 200_000, goes_on="dense")
    assert model.count(before) > 100_000
    model.switch("thin", 100_000, 1.0)
    model.reads(400)
    call = model.ask()
    assert 0 == model.refused
    assert "force" not in call.causes
    assert cost(call.served) > cost(before.served)


@pytest.mark.parametrize(("words", "is_stuck"), [(60_000, True), (30_000, False)])
def test_a_person_is_notified_with_the_rebase_that_does_not_make_enough_room(words: int, is_stuck: bool) -> None:  # noqa: FBT001
    model = Model(60_000)
    model.harness.user("Read this, and then see what I write")
    model.reads(*[20_000] * 4)
    model.ask()
    model.harness.user("word " * words)
    call = model.harness.step()
    (rebase,) = rebases(call.made)
    assert "force" in rebase.causes
    assert is_stuck == (model.count(call) > 60_000)
    assert is_stuck == (STUCK in call.made.notices)


def test_failures_that_do_not_fit_go_the_oldest_first() -> None:
    model = Model(60_000)
    model.harness.user("Build it")
    for number in range(3):
        failure = ran(f"error {number}\n" * 12_000, call=f"f{number}")
        model.harness.assistant(replace(failure, status="error"), ran("done", call=f"d{number}"))
        model.ask()
    call = model.ask()
    outputs = [part.output for message in call.served for part in message.parts if part.call.startswith("f")]
    assert ["[dropped]", "[dropped]"] == outputs[:2]
    assert outputs[2].startswith("error 2")
    assert 0 == model.refused


def test_one_failure_that_is_longer_than_the_window_ends_no_session() -> None:
    model = Model(60_000)
    model.harness.user("Build it")
    model.ask()
    model.harness.assistant(replace(ran("error\n" * 40_000), status="error"))
    call = model.ask()
    assert STUCK not in call.made.notices
    assert 0 == model.refused
    for _ in range(3):
        model.reads(400)
        assert cost(model.ask().served) < 2_000
    assert model.harness.folded() == model.harness.session
