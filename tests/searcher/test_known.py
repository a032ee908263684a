"""What nobody knows is answered so, what somebody knows is found, and what is in the prompt is named as that."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from schemas.codec import encode
from schemas.search_asks import Hits, SearchAsk, Served, ServedAsk
from schemas.subjects import ask
from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.searcher.worker import Searcher
from services.settings import Settings
from tests.helpers.broker_world import opened
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row, row
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

KNOWN = {
    "why does the exporter retry three times": "The exporter retries three times because the gateway warms up",
    "where are invoices rendered": "PDF invoices are rendered in services/billing/render.py by the tenant's template",
    "which database holds sessions": "User sessions live in Redis, not in Postgres, since they expire after an hour",
    "how do I run the slow tests": "The slow tests are run with make soak and need a broker on port 4222",
    "lock file shared between workers": "All workers share one lock file so that a migration runs only once",
    "max_in_flight": "E4711 comes up when max_in_flight is zero in the consumer's settings",
    "color scheme of the dashboard": "The dashboard uses the dark palette, because operators sit in a dim room",
    "who may approve deployments": "Only the release captain approves deployments on Fridays",
    "time zone of reports": "Reports are dated in UTC and never in the tenant's own time zone",
    "pagination of the list endpoint": "The list endpoint returns pages of 50 with a cursor in the Link header",
    "memory leak in the parser": "The parser leaked memory because compiled patterns were stored per request",
    "why no external fonts": "We load no fonts from other hosts, since customers block them",
    "CSV import encoding": "Files are read as UTF-8 first and as Windows-1252 when that fails",
    "feature flag for the new checkout": "The new checkout hides behind the flag checkout_v2 until March",
    "how are passwords hashed": "Passwords are hashed with argon2id and a pepper from the vault",
    "backup schedule": "Backups are taken at two in the morning and stored for thirty days",
    "websocket reconnect": "The client opens its websocket again with a jitter of up to five seconds",
    "which linter": "We lint with ruff and treat warnings as errors in the pipeline",
    "rate limit of an API key": "Each API key may send 100 requests a minute; beyond that the answer is 429",
    "docker image size": "The image shrank from 900 to 210 MB by building in two stages",
}
"""A question, and the message that answers it."""
UNKNOWN = """
What is the capital of Mongolia?
How long should I boil an egg?
Who won the chess championship in 1972?
When does the next train to Lisbon leave?
What is our policy on parental leave?
How many employees work in the Paris office?
Which coffee machine did we buy for the kitchen?
What did Anna say about her holidays in Norway?
How do I water an orchid?
What was the revenue of the third quarter?
Who is the landlord of the building?
Which brand of tyres fits the van?
What is the recipe for sourdough bread?
How tall is Mount Kilimanjaro?
What colour is the cat of the neighbours?
When is the company's summer party?
Which violin concerto did Sibelius write?
How do penguins keep warm?
Who painted the ceiling of the chapel?
What is the blood pressure of a giraffe?
Where can I park near the stadium?
Which visa does a Canadian need for Brazil?
How is olive oil pressed?
What are the rules of cricket?
Why did the Roman empire fall?
Which vaccine do puppies need?
How much does a kilogram of saffron cost?
What time does the pharmacy open on Sunday?
Who plays the drums in that band?
How do I tie a bowline knot?
What is the salary of a junior accountant?
Which insurance covers a broken window?
How many moons does Saturn have?
What is the best season for surfing in Portugal?
Who inherits the farm?
When was the bridge over the river built?
What does the word serendipity mean?
Which allergy does the new colleague have?
How do I get wine stains out of a carpet?
What is the phone number of the plumber?
Which trees grow along the avenue?
Who discovered penicillin?
How far is it from Oslo to Bergen?
What gift should we buy for her retirement?
Which shoes are good for hiking in the snow?
How does photosynthesis work?
What is the name of the mayor?
When do swallows fly south?
Which knife is best for cutting cheese?
How do you play the harmonica?
""".strip().splitlines()
"""Fifty questions about other things."""
FOREIGN = (
    "Wie heißt die Hauptstadt der Mongolei?",
    "ヒグマは何を食べますか",
    "Сколько лет живёт черепаха?",
    "zq_unheard_of_9",
    "xyzzy",
)


UNKNOWN_ANSWER = "Nothing was found. Nothing is known of this: "


class Asking:
    """A searcher that a session asks, which has some messages before it."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.served = Served()

    async def __call__(self, query: str, **more: Any) -> Hits:  # noqa: ANN401 - fields of the question
        question = encode(SearchAsk("harbour", query, **more))
        return msgspec.json.decode(
            await self._bus.request(ask(SearchAsk.NAME, "harbour"), question, PATIENCE), type=Hits
        )

    async def answer(self, subject: str, data: bytes) -> bytes:
        assert subject.startswith(f"ask.{ServedAsk.NAME}.")
        assert data
        return encode(self.served)


@pytest_asyncio.fixture
async def asking(bus: Bus, tmp_path: Path) -> AsyncIterator[Asking]:
    settings = Settings(data=tmp_path)
    async with opened(Embedder(), bus, settings), opened(Searcher(), bus, settings):
        asking = Asking(bus)
        await bus.serve(ask(ServedAsk.NAME, "harbour"), "test", asking.answer)
        texts = list(KNOWN.values())
        rows = [message_row(text, f"m{number}", ordinal=number, seq=number) for number, text in enumerate(texts, 1)]
        rows.append(row("memory", "mem1", "Deployments are approved by the release captain", role="decision", seq=30))
        await MadeIndex(tmp_path, bus).write(rows)
        yield asking


async def test_what_nobody_knows_is_answered_so_and_what_somebody_knows_is_found(asking: Asking) -> None:
    answers = {query: await asking(query) for query in UNKNOWN}
    unknown = [query for query, found in answers.items() if found.text.startswith(UNKNOWN_ANSWER)]
    assert 45 <= len(unknown), {query: found.text for query, found in answers.items() if query not in unknown}
    assert all(not answers[query].hits for query in unknown)
    missed = [
        query for query, text in KNOWN.items() if text not in [hit.fragment for hit in (await asking(query)).hits[:5]]
    ]
    assert [] == missed


async def test_in_no_language_and_no_spelling_anything_is_made_up(asking: Asking) -> None:
    for query in FOREIGN:
        assert (await asking(query)).text.startswith(UNKNOWN_ANSWER)


async def test_scores_are_in_order_and_junk_is_not_listed(asking: Asking) -> None:
    for query in (*KNOWN, "the captain approves what is deployed"):
        scores = [hit.score for hit in (await asking(query)).hits]
        assert sorted(scores, reverse=True) == scores
        assert all(0.1 < score <= 1 for score in scores)
        assert len(scores) < 10


async def test_a_hit_that_is_in_the_prompt_is_named_as_such(asking: Asking) -> None:
    asking.served = Served(messages=("m5",))
    found = await asking("lock file shared between workers", session="s1")
    assert found.text.startswith('It stands in your prompt: message 5 ("All workers share one lock file')
    assert () == found.hits
    assert ["m5"] == [hit.id for hit in found.in_prompt]
    assert (await asking("how tall is a giraffe", session="s1")).text.startswith(UNKNOWN_ANSWER)
    asking.served = Served(messages=("m8",), memories=("mem1",))
    text = (await asking("who may approve deployments", session="s1")).text
    assert text.startswith("It stands in your prompt: ")
    assert "message 8" in text
    assert "the memory mem1" in text
    assert "m5" in [hit.id for hit in (await asking("lock file shared between workers", session="s1")).hits]


@pytest.mark.parametrize(("milliseconds", "in_prompt"), [(150, []), (499, []), (500, ["m5"]), (10_000, ["m5"])])
async def test_who_cannot_wait_is_not_answered_what_stands_in_the_prompt(
    asking: Asking, milliseconds: int, in_prompt: list[str]
) -> None:
    asking.served = Served(messages=("m5",))
    found = await asking("lock file shared between workers", session="s1", deadline_ms=milliseconds)
    assert ((), in_prompt) == (found.hits, [hit.id for hit in found.in_prompt])
