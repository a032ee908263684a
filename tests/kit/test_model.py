"""Models over HTTP: both wire formats, what passes by itself, what is wrong with an answer, and who is asked next."""

import asyncio
import subprocess
import sys

import msgspec
import pytest
from pydantic import SecretStr

from services.kit.model import Attempt, ModelFailed, ModelQuestion, Models, asking
from services.kit.model.chain import ModelEndpoint, chain
from services.kit.model.prices import known_price
from services.settings import Model, Price, ProviderSettings
from tests.harness.provider import Reply, Request, overflow, overloaded, rate_limited, server_error
from tests.harness.provider.content import Format
from tests.harness.provider.refusals import Refusal
from tests.harness.provider.refusals import anthropic as anthropic_error
from tests.harness.provider.refusals import openai as openai_error
from tests.helpers.model_questions import FORMATS, KEY, PROMPT, QUESTION, SYSTEM, Count, World, world

pytestmark = pytest.mark.slow

EITHER = pytest.mark.parametrize("form", FORMATS)
GOOD = Reply(text='{"sheep": 3}', usage=(120, 100))
GARBAGE = Reply(text="There are three sheep, I believe.")


def refusal(form: Format, status: int, message: str) -> Refusal:
    return anthropic_error(status, message) if form == "anthropic" else openai_error(status, message)


@EITHER
async def test_a_question_is_answered_with_a_value_and_its_cost(form: Format) -> None:
    prices = {"own/*": Price(input=10.0, output=100.0, cached=1.0)}
    async with world(form, GOOD, prices=prices) as asked:
        answer = await asked.models.ask(QUESTION, budget=asked.pocket, on_attempt=asked.record)

        assert (Count(3), "own/shepherd") == (answer.value, answer.model)
        assert list(answer.attempts) == asked.attempts
        (attempt,) = asked.attempts
        assert ("summary", "ok", "") == (attempt.step, attempt.outcome, attempt.detail)
        assert (120, 100) == (attempt.tokens_in, attempt.cached)
        assert attempt.tokens_out > 0
        assert pytest.approx((20 * 10 + 100 * 1 + attempt.tokens_out * 100) / 1e6) == attempt.usd
        assert attempt.seconds > 0
        assert [(attempt.tokens_in + attempt.tokens_out, attempt.usd)] == asked.pocket.settled


@EITHER
async def test_what_is_sent_has_no_tools_and_little_heat(form: Format) -> None:
    async with world(form, GOOD, max_output=4000) as asked:
        await asked.ask()
        (request,) = asked.server.requests

    assert (SYSTEM, [PROMPT]) == (_system(form, request.body), request.texts)
    assert 0.1 == request.body["temperature"]
    assert 4000 == request.body.get("max_tokens", request.body.get("max_completion_tokens"))
    assert not request.body.get("tools")
    assert f"Bearer {KEY}" == request.headers["authorization"]
    assert form == "openai" or KEY == request.headers["x-api-key"]


def _system(form: Format, body: dict[str, object]) -> object:
    if form == "anthropic":
        return body["system"]
    messages = body["messages"]
    assert isinstance(messages, list)
    return messages[0]["content"]


@EITHER
@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"sheep": 3}\n```',
        'Here it is:\n```\n{"sheep": 3}\n```\nGoodbye.',
        '<think>Are there {3}? ```yes```</think>\n{"sheep": 3}',
        '\n {"sheep": 3} \n',
    ],
)
async def test_an_answer_may_be_fenced_or_thought_about(form: Format, text: str) -> None:
    async with world(form, Reply(text=text)) as asked:
        assert Count(3) == await asked.ask()


@EITHER
async def test_what_an_answer_says_of_thoughts_and_fences_stays(form: Format) -> None:
    note = "wrapped in <think>x</think> and\n```\nfenced\n```"
    async with world(form, Reply(text=msgspec.json.encode(Count(1, note)).decode())) as asked:
        assert Count(1, note) == await asked.ask()


@EITHER
async def test_a_wrong_answer_is_mended_once_with_what_was_wrong(form: Format) -> None:
    async with world(form, GARBAGE, GOOD) as asked:
        assert Count(3) == await asked.ask()

        assert [("shepherd", "summary", "invalid"), ("shepherd", "repair", "ok")] == asked.steps
        first, second = asked.prompts
        assert PROMPT == first
        assert second.startswith(PROMPT)
        assert asked.attempts[0].detail in second
        assert GARBAGE.text in second


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"sheep": 120}', "There are 120 sheep, and the pen holds 99."),
        ('{"sheep": 1, "wolves": 2, "cows": 3}', "keys that it must not have: cows, wolves. Allowed are sheep, note."),
        ('{"sheep": "many"}', "Expected `int`, got `str` - at `$.sheep`"),
        ('{"sheep": 3.0}', "Expected `int`, got `float` - at `$.sheep`"),
        ("[3]", "Expected `object`, got `array`"),
        ('{"sheep": 3', "Input data was truncated"),
        ("", "The answer is empty."),
        ("<think>It never ends", "The answer is empty."),
        ("[" * 100_000, "The answer is not the JSON object that was asked for"),
    ],
)
async def test_whatever_is_wrong_is_named_in_the_repair(text: str, sentence: str) -> None:
    async with world("openai", Reply(text=text), GOOD) as asked:
        await asked.ask()
        assert sentence in asked.attempts[0].detail
        assert sentence in asked.prompts[1]


async def test_what_was_wrong_goes_whole_to_the_model_and_without_secrets_to_everyone_else() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    text = '{"sheep": 1, "' + token + '": 2, "' + "w" * 600 + '": 3}'
    async with world("openai", Reply(text=text), Reply(text=text)) as asked:
        failed = await asked.fails()
        assert "Allowed are sheep, note." in asked.prompts[1]
        assert "keys that it must not have: [masked:github-token]" in failed.detail
        assert token not in f"{failed!r} {asked.attempts!r}"
        assert len(failed.detail) <= 500


async def test_after_an_answer_that_was_cut_off_a_shorter_one_is_asked_for() -> None:
    async with world("openai", Reply(text='{"sheep": ', finish="length"), GOOD, max_output=4000) as asked:
        await asked.ask()
        assert asked.attempts[0].detail.startswith("The answer was cut off, as it may have 4000 tokens; be shorter.")


async def test_of_an_oversized_answer_only_the_beginning_is_shown_again() -> None:
    async with world("openai", Reply(text="baa " * 100_000), GOOD) as asked:
        await asked.ask()
        assert len(asked.prompts[1]) < 70_000
        assert "[cut here]" in asked.prompts[1]


async def test_a_model_that_cannot_mend_its_answer_gives_way_to_the_next_which_is_asked_afresh() -> None:
    async with world("openai", GARBAGE, GARBAGE, GOOD, chain=("shepherd", "dog")) as asked:
        assert Count(3) == await asked.ask()
        assert [
            ("shepherd", "summary", "invalid"),
            ("shepherd", "repair", "invalid"),
            ("dog", "fallback", "ok"),
        ] == asked.steps
        assert PROMPT == asked.prompts[2]


async def test_there_is_one_repair_for_a_question_however_many_models() -> None:
    async with world("openai", *[GARBAGE] * 9, chain=("shepherd", "dog")) as asked:
        failed = await asked.fails()
        assert "invalid_output" == failed.code
        assert "JSON" in failed.detail
        assert ["summary", "repair", "fallback"] == [one.step for one in failed.attempts]


async def test_a_repair_that_would_not_fit_is_not_sent() -> None:
    replies = (Reply(text="x" * 12_000), GOOD)
    async with world("openai", *replies, chain=("shepherd", "dog"), default_window=2048) as asked:
        await asked.ask()
        assert ["summary", "fallback"] == [one.step for one in asked.attempts]


@EITHER
@pytest.mark.parametrize("what", ["overloaded", "rate", "server", "cut", "garbage"])
async def test_what_passes_by_itself_is_tried_again(form: Format, what: str) -> None:
    reply = {
        "overloaded": Reply(refusal=overloaded(form)),
        "rate": Reply(refusal=rate_limited(form)),
        "server": Reply(refusal=server_error(form)),
        "cut": Reply(text='{"sheep": 3}', broken="cut"),
        "garbage": Reply(text='{"sheep": 3}', broken="garbage"),
    }[what]
    async with world(form, reply, reply, GOOD) as asked:
        assert Count(3) == await asked.ask()
        assert ["transient", "transient", "ok"] == [one.outcome for one in asked.attempts]
        assert {"summary"} == {one.step for one in asked.attempts}


@EITHER
async def test_after_three_tries_the_next_model_is_asked(form: Format) -> None:
    busy = Reply(refusal=overloaded(form))
    async with world(form, busy, busy, busy, GOOD, chain=("shepherd", "dog")) as asked:
        assert Count(3) == await asked.ask()
        assert [*[("shepherd", "summary", "transient")] * 3, ("dog", "fallback", "ok")] == asked.steps


async def test_where_all_are_overloaded_later_may_help() -> None:
    async with world("anthropic", *[Reply(refusal=overloaded())] * 6, chain=("shepherd", "dog")) as asked:
        failed = await asked.fails()
        assert ("provider_transient", 6) == (failed.code, len(failed.attempts))
        assert "529: Overloaded" == failed.detail


@EITHER
@pytest.mark.parametrize("status", [400, 401, 403, 404, 402])
async def test_a_refusal_is_not_tried_again_and_the_next_model_is_asked(form: Format, status: int) -> None:
    async with world(form, Reply(refusal=refusal(form, status, "no")), GOOD, chain=("shepherd", "dog")) as asked:
        assert Count(3) == await asked.ask()
        assert [("shepherd", "summary", "refused"), ("dog", "fallback", "ok")] == asked.steps


@EITHER
async def test_keys_are_repeated_by_nobody(form: Format) -> None:
    answer = f"Incorrect API key provided: {KEY}, and sk-ant-{'a1' * 20} is none either."
    async with world(form, Reply(refusal=refusal(form, 401, answer))) as asked:
        failed = await asked.fails()
        assert "provider_auth" == failed.code
        assert "401: Incorrect API key provided: [masked:key]" in failed.detail
        shown = (
            f"{failed!r} {failed} {failed.attempts!r} {asked.attempts!r} {failed.__cause__!r} {failed.__context__!r}"
        )
        shown += f"{asked.models!r} {vars(asked.models)!r}"
    assert KEY not in shown
    assert "a1a1" not in shown


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openrouter", "deepseek", "groq", "generic", "http"])
async def test_an_overflow_ends_the_question_as_less_must_be_asked(provider: str) -> None:
    form: Format = "anthropic" if provider == "anthropic" else "openai"
    async with world(form, Reply(refusal=overflow(provider)), GOOD, chain=("shepherd", "dog")) as asked:
        failed = await asked.fails()
        assert ("overflow", ["overflow"]) == (failed.code, [one.outcome for one in failed.attempts])
        assert 1 == len(asked.server.requests)


async def test_a_prompt_beyond_all_windows_is_not_sent() -> None:
    async with world("openai", GOOD, chain=("shepherd", "dog"), windows={"default": 2048, "dog": 4096}) as asked:
        failed = await asked.fails(ModelQuestion(SYSTEM, "x" * 16_000, Count))
        assert ("window_too_small", ()) == (failed.code, failed.attempts)
        assert "about 4003 tokens; the models take 2457" in failed.detail
        assert [] == asked.server.requests


async def test_a_model_with_too_small_a_window_is_passed_over() -> None:
    async with world("openai", GOOD, chain=("shepherd", "dog"), windows={"shepherd": 2048}) as asked:
        assert Count(3) == await asked.ask(ModelQuestion(SYSTEM, "x" * 16_000, Count))
        assert [("dog", "fallback", "ok")] == asked.steps


async def test_an_exhausted_budget_calls_nobody() -> None:
    async with world("openai", GOOD) as asked:
        asked.pocket.left = 100
        failed = await asked.fails()
        assert "budget_exhausted" == failed.code
        assert failed.detail.endswith("tokens were asked for and 100 are left")
        assert ([], []) == (asked.server.requests, asked.attempts)


async def test_a_budget_that_ends_on_the_way_ends_the_question_with_what_was_tried() -> None:
    async with world("openai", GARBAGE, GOOD, max_output=1000) as asked:
        asked.pocket.left = 1100
        failed = await asked.fails()
        assert ("budget_exhausted", ["invalid"]) == (failed.code, [one.outcome for one in failed.attempts])
        assert 1 == len(asked.server.requests)


async def test_a_refused_call_gives_back_what_was_reserved_for_it() -> None:
    async with world("openai", Reply(refusal=rate_limited()), GOOD) as asked:
        await asked.ask()
        assert ({}, (0, 0.0)) == (asked.pocket.open, asked.pocket.settled[0])


async def test_a_call_that_nobody_knows_the_cost_of_stays_reserved() -> None:
    async with world("openai", Reply(text='{"sheep": 3}', broken="cut"), GOOD) as asked:
        await asked.ask()
        assert (1, 1) == (len(asked.pocket.open), len(asked.pocket.settled))


@EITHER
async def test_a_slow_model_is_given_up_and_the_next_is_asked(form: Format) -> None:
    never = Reply(text='{"sheep": 9}', hold=asyncio.Event())

    def slow(request: Request) -> Reply:
        return never if request.model == "shepherd" else GOOD

    async with world(form, GOOD, slow, slow, slow, slow, chain=("shepherd", "dog")) as asked:
        await asked.ask()  # until here the libraries are loaded
        hurry(asked, "own/shepherd")
        assert Count(3) == await asked.ask()
        assert [*[("shepherd", "summary", "timeout")] * 3, ("dog", "fallback", "ok")] == asked.steps[1:]
        assert 3 == len(asked.pocket.open)


def hurry(asked: World, name: str) -> None:
    """Wait for this model's answers for a moment only, and for those of others as long as a busy machine takes."""
    client = asked.models._client  # noqa: SLF001 - one setting holds for all models
    assert client is not None
    ask = client.ask

    async def hurried(endpoint: ModelEndpoint, system: str, prompt: str, *, output: int, seconds: float) -> object:
        return await ask(endpoint, system, prompt, output=output, seconds=0.2 if endpoint.name == name else seconds)

    client.ask = hurried  # type: ignore[method-assign,assignment]


class Watch:
    """A clock that goes on with each try alone, by so many seconds."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._now = 0.0

    def monotonic(self) -> float:
        return self._now

    async def goes_on(self, _: Attempt) -> None:
        self._now += self._step


async def test_the_deadline_holds_over_all_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    never, watch = Reply(hold=asyncio.Event()), Watch(0.4)
    monkeypatch.setattr(asking, "time", watch)
    async with world("openai", *[never] * 9, timeout=0.4, deadline=1.0, pauses=((0.0, 0.0),) * 9) as asked:
        with pytest.raises(ModelFailed) as failed:
            await asked.models.ask(QUESTION, budget=None, on_attempt=watch.goes_on)
        assert "timeout" == failed.value.code
        assert ["timeout"] * 3 == [one.outcome for one in failed.value.attempts]


async def test_after_the_deadline_no_other_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    never, watch = Reply(hold=asyncio.Event()), Watch(0.2)
    monkeypatch.setattr(asking, "time", watch)
    async with world("openai", never, GOOD, chain=("shepherd", "dog"), deadline=0.2) as asked:
        with pytest.raises(ModelFailed) as raised:
            await asked.models.ask(QUESTION, budget=None, on_attempt=watch.goes_on)
        failed = raised.value
        assert ("timeout", "the deadline for the question is over") == (failed.code, failed.detail)
        assert ["timeout"] == [one.outcome for one in failed.attempts]


async def test_a_question_may_have_less_time_than_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    never, watch = Reply(hold=asyncio.Event()), Watch(0.2)
    monkeypatch.setattr(asking, "time", watch)
    async with world("openai", never, GOOD, chain=("shepherd", "dog")) as asked:
        with pytest.raises(ModelFailed) as raised:
            await asked.models.ask(
                msgspec.structs.replace(QUESTION, seconds=0.2), budget=None, on_attempt=watch.goes_on
            )
        assert ["timeout"] == [one.outcome for one in raised.value.attempts]


async def test_a_question_that_is_not_repaired_goes_to_the_next_model_at_once() -> None:
    async with world("openai", GARBAGE, GOOD, chain=("shepherd", "dog")) as asked:
        assert Count(3) == await asked.ask(msgspec.structs.replace(QUESTION, repairs=False))
        assert [("shepherd", "summary", "invalid"), ("dog", "fallback", "ok")] == asked.steps


async def test_nobody_waits_for_a_try_beyond_the_deadline() -> None:
    async with world("openai", Reply(refusal=overloaded("openai")), pauses=((999.0, 999.0),), deadline=60) as asked:
        failed = await asked.fails()
        assert ("provider_transient", 1) == (failed.code, len(failed.attempts))


@EITHER
async def test_who_asks_may_change_his_mind(form: Format) -> None:
    async with world(form, Reply(hold=asyncio.Event()), chain=("shepherd", "dog")) as asked:
        asking = asyncio.create_task(asked.ask())
        await asked.server.received(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

        await asked.server.lost(1)
        assert [("shepherd", "summary", "cancelled")] == asked.steps
        assert 1 == len(asked.pocket.open)
        assert 1 == len(asked.server.requests)


async def test_a_provider_that_is_not_there_is_tried_and_costs_nothing() -> None:
    async with world("openai", chain=("shepherd",)) as asked:
        await asked.server.__aexit__(None, None, None)
        failed = await asked.fails()
        assert ("provider_transient", 3) == (failed.code, len(failed.attempts))
        assert ({}, [(0, 0.0)] * 3) == (asked.pocket.open, asked.pocket.settled)


async def test_several_questions_are_asked_at_once() -> None:
    async with world("openai", *[GOOD] * 5) as asked:
        assert [Count(3)] * 5 == await asyncio.gather(*(asked.ask() for _ in range(5)))


async def test_without_a_chain_nobody_is_asked() -> None:
    models = Models(Model())
    assert ((), 0) == (models.names, models.room)
    with pytest.raises(ModelFailed, match="no model is set; name one in ANNALS_MODEL__CHAIN"):
        await models.ask(QUESTION, budget=None)
    await models.close()


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
async def test_a_vendor_is_not_called_without_a_key(vendor: str) -> None:
    models = Models(Model(chain=(f"{vendor}/best",)), environment={})
    with pytest.raises(ModelFailed, match=f"provider_auth: there is no key for {vendor}/best; set it as"):
        await models.ask(QUESTION, budget=None)


async def test_a_key_that_cannot_be_sent_is_not_shown_either() -> None:
    provider = ProviderSettings(url="http://127.0.0.1:9/v1", key=SecretStr(f"{KEY}\nand more"))
    settings = Model(chain=("own/x",), providers={"own": provider})
    with pytest.raises(ModelFailed, match="the key for own/x holds characters that no key has; set it anew") as failed:
        await Models(settings, environment={}).ask(QUESTION, budget=None)
    assert KEY not in f"{failed.value!r}"


async def test_a_provider_without_counts_is_estimated() -> None:
    async with world("openai", Reply(text='{"sheep": 3}', usage=(0, 0))) as asked:
        await asked.ask()
        assert asked.attempts[0].tokens_in == -(-len(SYSTEM + PROMPT) // 4)


def test_the_libraries_are_not_loaded_before_a_question() -> None:
    program = (
        "import sys; from services.kit.spending import Spending; from services.kit.model import Models; "
        "from services.settings import Model; Models(Model(chain=('openai/x',))); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set() == {"pydantic_ai", "genai_prices", "openai", "anthropic", "httpx2"} & set(loaded.stdout.split())


HAIKU = "claude-haiku-4-5"


@EITHER
async def test_a_model_whose_price_nobody_has_set_costs_what_is_known_of_it(form: Format) -> None:
    async with world(form, GOOD, chain=(HAIKU,)) as asked:
        await asked.ask()
        (attempt,) = asked.attempts
        assert pytest.approx((20 * 1.0 + 100 * 0.1 + attempt.tokens_out * 5.0) / 1e6) == attempt.usd
        ((_, reserved),) = asked.pocket.reserved
        assert reserved > 0.01, "with the longest answer that it may give"


async def test_a_price_that_is_set_holds_before_one_that_is_known_also_where_it_is_nothing() -> None:
    async with world("openai", GOOD, chain=(HAIKU,), prices={"own/*": Price()}) as asked:
        await asked.ask()
        assert [0.0] == [attempt.usd for attempt in asked.attempts]


async def test_a_model_that_nobody_knows_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    async with world("openai", GOOD, GOOD) as asked:
        await asked.ask()
        await asked.ask()
        assert [0.0, 0.0] == [attempt.usd for attempt in asked.attempts]
    assert 1 == capsys.readouterr().out.count("no price is known")


@pytest.mark.parametrize(
    ("name", "url", "usd"),
    [
        ("anthropic/claude-haiku-4-5", "", 1.41),
        ("openai/gpt-5-mini", "", 0.4275),
        ("router/meta-llama/llama-3-70b-instruct", "https://openrouter.ai/api/v1", 0.34),
        ("proxy/gpt-5-mini", "http://127.0.0.1:4000/v1", 0.4275),
        ("proxy/gpt-5-mini", "https://openrouter.ai/api/v1", 0.4275),
        ("proxy/of-our-own", "http://127.0.0.1:4000/v1", None),
        ("openai/of-our-own", "", None),
    ],
)
def test_a_price_is_looked_up_by_the_vendor_the_address_or_the_name_of_the_model(
    name: str, url: str, usd: float | None
) -> None:
    providers = {name.partition("/")[0]: ProviderSettings(url=url)} if url else {}
    (endpoint,) = chain(Model(chain=(name,), providers=providers), {})
    found = known_price(endpoint)
    assert (usd and pytest.approx(usd)) == (found and found.usd(1_000_000, 100_000, 100_000))
