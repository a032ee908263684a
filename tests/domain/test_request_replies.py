"""How questions are found, each with its reply and the tool that asks it."""

import pytest
from msgspec.structs import replace

import schemas
from schemas.ask import Ask, RequestReply
from schemas.status_asks import STATUS
from services.domain.registry import in_order, registered, request_replies


def test_every_question_of_the_language_is_declared_with_a_reply() -> None:
    language = {kind for kind in registered(schemas, type) if issubclass(kind, Ask)} - {Ask}
    assert language == {one.ask for one in request_replies()}


def test_every_reply_is_described_as_one() -> None:
    described = [one for one in request_replies() if f"The reply to `ask.{one.ask.NAME}`" in (one.reply.__doc__ or "")]
    assert [*request_replies()] == described


def test_no_two_questions_have_one_reply() -> None:
    replies = [one.reply for one in request_replies()]
    assert len(replies) == len({*replies})


def test_questions_are_listed_by_their_order_and_a_new_one_behind_the_others() -> None:
    class NewAsk(Ask, frozen=True):
        NAME = "zz"

    new = RequestReply(NewAsk, STATUS.reply)
    assert [*request_replies(), new] == [*in_order([new, *reversed(request_replies())])]


def test_a_name_that_two_questions_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"declared twice: \['status'\]"):
        in_order([*request_replies(), replace(STATUS, order=1)])
