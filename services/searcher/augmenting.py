"""A person's request with what helps: three searches, and one question to a model, within half a minute."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, get_args

from msgspec.structs import replace

from schemas.search_asks import AugmentAsk, Augmentation, Hit, Hits, SearchAsk
from schemas.subjects import Address
from schemas.tools import Source
from services.domain.search.answer_text import degraded_lines, hit_lines
from services.domain.search.words import code
from services.kit.bus import Unreachable
from services.kit.model import HarnessQuestions, ModelFailed, ModelQuestion, Models
from services.kit.nouns import AliasReader
from services.kit.room import Kit
from services.kit.spending import Spending
from services.kit.turns import Queue, Turns
from services.kit.vectors import VectorsError
from services.kit.within import within
from services.searcher.core.quoting import (
    BEST,
    CHARACTERS,
    OFFERED,
    SYSTEM,
    QuoteChoice,
    element_of,
    offered,
    prompt,
    quoted,
    together,
)
from services.searcher.core.request_searches import request_searches
from services.searcher.store import SearchStore

PURPOSE = "sidekick"
"""The purpose that the model is paid for, in the project's budget."""
ALTOGETHER = 30.0
"""Seconds within which a request is answered, waiting for its turn included."""
LEAST = 2.0
"""Seconds that must be left for a model to be asked."""
SPARE = 1.0
"""Seconds that are left for the answer when a model has taken all others."""
REQUESTS = Turns(at_once=2, waiting=8)
"""Requests that are answered at once: each may wait for a model."""
HARNESS_WAIT = 5.0
"""Seconds in which a harness must have taken the question: a person waits."""
DESK_WAIT = 2.0
"""Seconds for a desk that is being started again."""
OUTPUT = 2_000
"""The most tokens of a model's answer."""
SOURCES = tuple(source for source in get_args(Source) if source != "output")
"""The sources that are searched: outputs of tools are found by names alone, and say nothing that can be quoted."""
NO_QUOTES = "a model has answered with something else than quotes"
NOTHING_ASKED = "Nothing was searched for: write your request behind the command, in words."

Search = Callable[[SearchAsk, int], Awaitable[Hits]]
"""Answers a search, with so many characters of each text at most."""


class ChosenHits(NamedTuple):
    """The hits that go on, and how they were chosen."""

    hits: tuple[Hit, ...]
    notice: str
    model: str = ""


class Augmenter:
    """Answers what of a project helps with a request. Whatever a model does, the hits of the searches are there."""

    def __init__(
        self, kit: Kit, store: SearchStore, search: Search, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._kit = kit
        self._store = store
        self._search = search
        self._clock = clock
        self._aliases = AliasReader(kit)
        model = kit.settings.model
        harness = HarnessQuestions(kit.bus, kit.reader, kit.room, wait=min(HARNESS_WAIT, model.harness_wait))
        self._models = Models(model, pauses=(), harness=harness)
        kit.stack.push_async_callback(self._models.close)
        self._turns = Queue(REQUESTS, clock)

    @property
    def health(self) -> dict[str, object]:
        """The numbers of requests that are answered and that wait now."""
        return self._turns.health

    async def answer(self, ask: AugmentAsk) -> Augmentation:
        """The hits, and a model's quotations of them within the time. Raises `Declined` where too many ask."""
        until = self._clock() + ALTOGETHER
        async with self._turns.turn(f"ask.{ask.NAME}", until=until):
            try:
                searches, replies = await within(self._left(until), self._searched(ask))
            except TimeoutError:
                return Augmentation(error=f"Nothing was found within {ALTOGETHER:g} s; ask again in a moment.")
            if not searches or all(reply.error for reply in replies):
                return Augmentation(error=replies[0].error if replies else NOTHING_ASKED)
            hits = together(reply.hits for reply in replies)
            chosen = await self._chosen(ask, hits, until)
        return _reply(ask, chosen, searches, replies)

    def _left(self, until: float) -> float:
        return max(0.0, until - self._clock())

    async def _searched(self, ask: AugmentAsk) -> tuple[tuple[str, ...], Sequence[Hits]]:
        """The searches for a request, and what each of them has found."""
        searches = request_searches(ask.text, await self._rows_with(ask.project))
        question = SearchAsk(ask.project, "", session=ask.session, sources=SOURCES, limit=OFFERED)
        found = (self._search(replace(question, query=one), CHARACTERS) for one in searches)
        return searches, await asyncio.gather(*found)

    async def _rows_with(self, project: str) -> Callable[[str], int]:
        """A function that counts the rows of a project with a word. Where the index cannot be read, there are none."""
        try:
            names = (await self._aliases.now()).names(project)
            kinds = [(await self._store.shelves(name)).kinds for name in names]
        except VectorsError as error:
            self._kit.log.warning("the rarest words of a request are not known", reason=str(error))
            return lambda _: 0
        shelves = [kind[source].shelf for kind in kinds for source in SOURCES if source in kind]
        return lambda stem: sum(shelf.count(code(stem)) for shelf in shelves)

    async def _chosen(self, ask: AugmentAsk, hits: Sequence[Hit], until: float) -> ChosenHits:
        """A model's quotations of the hits, or else the best of them."""
        if not hits:
            return ChosenHits((), "Nothing is known of this project that bears on it.")
        excerpts = offered(hits)
        seconds = self._left(until) - SPARE
        if not self._models.names:
            return _best(hits, "no model is set (ANNALS_MODEL__CHAIN)")
        if seconds < LEAST:
            return _best(hits, "no time was left for a model")
        try:
            return await within(seconds, self._quoted(ask, excerpts, hits, seconds))
        except TimeoutError:
            return _best(hits, f"no model answered within {ALTOGETHER:g} s")
        except ModelFailed as error:
            return _best(hits, NO_QUOTES if error.code == "invalid_output" else error.detail)
        except Unreachable as error:
            return _best(hits, str(error))
        except Exception:
            self._kit.log.exception("no model has chosen what goes with a request", project=ask.project)
            return _best(hits, "the answer of the model could not be used")

    async def _quoted(
        self, ask: AugmentAsk, excerpts: Mapping[str, Hit], hits: Sequence[Hit], seconds: float
    ) -> ChosenHits:
        """One question to one model after the other of the chain, until one answers."""
        question = ModelQuestion(
            system=SYSTEM,
            prompt=prompt(ask.text, excerpts, datetime.now(UTC)),
            shape=QuoteChoice,
            output=OUTPUT,
            address=Address(ask.project, ask.session),
            seconds=seconds,
            repairs=False,
        )
        spending = Spending(self._kit.bus, ask.project, self._kit.room, patience=DESK_WAIT)
        answer = await self._models.ask(question, budget=spending.budget(PURPOSE, ask.session))
        if not answer.value.quotes:
            return ChosenHits((), f"{answer.model} finds nothing that helps among {_count(excerpts)}.", answer.model)
        found = quoted(answer.value, excerpts)
        if not found:
            return _best(hits, f"what {answer.model} quotes is in none of them")
        return ChosenHits(
            found, f"Quoted from {_count(found)} of {len(excerpts)}, chosen by {answer.model}.", answer.model
        )


def _best(hits: Sequence[Hit], reason: str) -> ChosenHits:
    best = tuple(hits[:BEST])
    return ChosenHits(best, f"The best of the hits as they are ({len(best)} of {len(hits)}): {reason.rstrip('.')}.")


def _count(hits: Mapping[str, Hit] | Sequence[Hit]) -> str:
    return "1 hit" if len(hits) == 1 else f"{len(hits)} hits"


def _reply(ask: AugmentAsk, chosen: ChosenHits, searches: Sequence[str], replies: Sequence[Hits]) -> Augmentation:
    now = datetime.now(UTC)
    reasons = (reason for reply in replies for reason in (*reply.degraded, reply.error))
    degraded = tuple(dict.fromkeys(filter(None, reasons)))
    if ask.session and chosen.hits:
        text = element_of(chosen.hits, now, ask.session)
    else:
        text = "\n".join((chosen.notice, *hit_lines(chosen.hits, now, ask.session), *degraded_lines(degraded)))
    return Augmentation(
        hits=chosen.hits,
        text=text,
        notice=chosen.notice,
        model=chosen.model,
        searches=tuple(searches),
        degraded=degraded,
    )
