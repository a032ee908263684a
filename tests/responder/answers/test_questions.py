"""Questions and projections are found by their place; each question has its turn, and a reply whatever happens."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from schemas.asks import CompactionContext, CompactionContextAsk, EmbedAsk, ProbeAsk
from schemas.codec import encode
from schemas.events import DocumentCaptured, SessionRenamed
from schemas.question_asks import QuestionAsk
from schemas.room_health import HealthAsk
from schemas.search_asks import AugmentAsk, IndexPositionAsk, SearchAsk
from schemas.spending_asks import SpendingAsk
from schemas.subjects import Address
from schemas.view_asks import SqlAsk
from services.generate.schema import ASKS
from services.kit.asks import LOGS, AskHandler
from services.kit.bus import Unreachable
from services.kit.logs import logger
from services.kit.turns import Turns
from services.responder.answers.base import Context, Question, UnknownSession
from services.responder.projections.base import scope_of
from services.responder.projections.documents import DOCUMENTS
from services.responder.projections.folds import SESSION
from services.responder.session_cache import PROJECTIONS, SessionCache
from services.responder.worker import QUESTIONS, handler_of
from tests.helpers.view_facts import fact

ASKED = encode(CompactionContextAsk("p", "s"))


def served(answer: Any, turns: Turns | None = None) -> AskHandler[CompactionContextAsk, CompactionContext]:  # noqa: ANN401 - any that answers
    """A question that is answered so."""
    kit = SimpleNamespace(room="responder", log=logger(), bus=SimpleNamespace(max_payload=1000))
    context = cast("Context", SimpleNamespace(kit=kit))
    return handler_of(
        Question(CompactionContextAsk, lambda _: answer, lambda reason: CompactionContext(error=reason), turns), context
    )


async def reply(one: AskHandler[CompactionContextAsk, CompactionContext], data: bytes = ASKED) -> CompactionContext:
    return msgspec.json.decode(await one.handle("ask.brief.p", data), type=CompactionContext)


async def test_an_answer_that_cannot_be_sent_is_an_answer_too() -> None:
    """Such as one with a path that is no Unicode text."""

    async def answer(_: CompactionContextAsk) -> CompactionContext:
        return CompactionContext(text="\udcff")

    one = served(answer)
    assert f"brief could not be answered, responder failed; {LOGS}" == (await reply(one)).error


def test_every_question_of_the_language_has_one_answer() -> None:
    by_other_rooms = (
        AugmentAsk,
        EmbedAsk,
        HealthAsk,
        IndexPositionAsk,
        ProbeAsk,
        QuestionAsk,
        SearchAsk,
        SpendingAsk,
        SqlAsk,
    )
    elsewhere = [one.NAME for one in by_other_rooms]
    assert sorted(ask.NAME for ask in ASKS) == sorted([*elsewhere, *(question.ask.NAME for question in QUESTIONS)])


def test_projections_are_found_by_their_place_with_their_scope() -> None:
    scopes = {"global": 3, "project": 3, "session": 1}
    assert scopes == Counter(one.scope for one in PROJECTIONS)
    assert ["session", "project", "global"] == [scope_of(one) for one in (Address("p", "s"), Address("p"), Address(""))]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnknownSession("there is no session s"), "there is no session s"),
        (Unreachable("the broker is away"), "the broker is away"),
        (KeyError("x"), f"brief could not be answered, responder failed; {LOGS}"),
    ],
)
async def test_whatever_goes_wrong_is_an_answer(error: Exception, reason: str) -> None:
    async def answer(_: CompactionContextAsk) -> CompactionContext:
        raise error

    assert CompactionContext(error=reason) == await reply(served(answer))


async def test_what_is_no_question_is_answered_with_what_would_be_right() -> None:
    async def answer(_: CompactionContextAsk) -> CompactionContext:
        return CompactionContext("never")

    assert "`project` must be a text, and is a whole number" in (await reply(served(answer), b'{"project":7}')).error


async def test_an_answer_that_is_too_large_for_a_message_names_a_remedy() -> None:
    async def answer(_: CompactionContextAsk) -> CompactionContext:
        return CompactionContext("x" * 990)

    expected = "the answer has 1,001 bytes, and one message has room for 1,000; ask for less"
    assert CompactionContext(error=expected) == await reply(served(answer))


async def test_long_questions_are_answered_in_turn_and_too_many_are_refused() -> None:
    running, most, go_on = 0, 0, asyncio.Event()

    async def answer(_: CompactionContextAsk) -> CompactionContext:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await go_on.wait()
        running -= 1
        return CompactionContext("done")

    one = served(answer, Turns(at_once=1, waiting=2))
    asked = [asyncio.create_task(reply(one)) for _ in range(5)]
    done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    go_on.set()
    replies = await asyncio.gather(*asked)
    assert 1 == most
    assert ["done"] * 3 == [found.text for found in replies if not found.error]
    assert {"2 questions brief wait already: ask again in a moment"} == {
        found.error for found in replies if found.error
    }
    assert {task.result().error for task in done} <= {found.error for found in replies if found.error}


class Nothing:
    """A reader of a log without any facts."""

    async def head(self) -> int:
        return 0

    async def after(self, seq: int, subject_filter: str) -> Any:  # noqa: ANN401 - an iterator of nothing
        assert (seq, bool(subject_filter)) == (0, True)
        for never in ():
            yield never


async def test_an_event_is_entered_in_the_cached_states_of_its_scope() -> None:
    cache = SessionCache(cast("Any", Nothing()), capacity=4)
    await cache.state(SESSION, Address("p", "s"))
    await cache.state(DOCUMENTS, Address("p"))
    for one in (
        fact(1, SessionRenamed(title="t")),
        fact(2, DocumentCaptured(path="A.md", digest="d"), session=""),
        fact(3, DocumentCaptured(path="B.md", digest="d"), session="", project="q"),
    ):
        cache.feed(*one)
    assert "t" == (await cache.state(SESSION, Address("p", "s"))).activity.title
    assert ["A.md"] == list((await cache.state(DOCUMENTS, Address("p"))).captured)
    assert cache.peek(DOCUMENTS, Address("q")) is None
