"""The loop in which a harness asks for questions of the rooms, takes one, answers it and reports what came of it."""

from pathlib import Path
from typing import Any

import pytest

from tests.adapter.played import on_disk

Json = dict[str, Any]
NONE: Json = {}
LOST = 20
"""Seconds until a long poll without a question has ended, and some."""


def offered(question: str = "q1", **fields: object) -> Json:
    known = {"model": "small", "system": "Be brief.", "prompt": "What was done?", "output": 400, "session": "s1"}
    return {"question": question, **known, "purpose": "historian", "until": 600, **fields}


def played(*happenings: list[Any]) -> Json:
    """What was trace until behind the last of these happenings."""
    return on_disk("questions", Path("unused"), *happenings)[-1]


def sent(trace: Json, kind: str = "question.answer") -> list[Json]:
    return [data for subject, data in trace["sent"] if subject.endswith(kind)]


def test_a_question_is_asked_for_taken_answered_and_the_next_one_asked_for() -> None:
    answer = {"text": "Much.", "model": "ac/mini", "tokens_in": 474, "tokens_out": 12, "cached": 100, "usd": 0.25}
    trace = played(["offer", offered(), "never"], ["start"], ["answered", answer])
    (subject, asked), _ = trace["asked"]
    taker = trace["taker"]
    assert "ask.question.shop" == subject
    assert {"project": "shop", "harness": "ed", "taker": taker, "deadline_ms": 20_000, "begun": []} == asked
    assert ["do.shop.s1.question.take", "do.shop.s1.question.answer"] == [subject for subject, _ in trace["sent"]]
    by = {"question": "q1", "taker": taker, "session": "s1"}
    assert [by] == sent(trace, "question.take")
    assert [by | answer | {"failure": ""}] == sent(trace)
    assert [{"kind": "harness", "id": "ed"}] * 2 == trace["actors"]
    assert ["q1"] == trace["answering"]
    assert 2 == len(trace["asked"])
    assert [] == trace["notes"]


def test_what_was_left_is_removed_once_before_the_first_question() -> None:
    trace = played(["offer", "never"], ["start"], ["start"])
    assert (1, 1) == (trace["begun"], len(trace["asked"]))


def test_a_question_about_no_session_goes_under_the_name_of_its_taker() -> None:
    trace = played(["offer", offered(session="")], ["start"])
    ((subject, data),) = trace["sent"]
    assert f"do.shop.{trace['taker']}.question.take" == subject
    assert "" == data["session"]


def test_what_another_process_has_taken_is_not_answered() -> None:
    refused = {"ok": False, "text": "Another process has taken it."}
    trace = played(["offer", offered(), "never"], ["reply", refused], ["start"], ["pass", 1])
    assert [] == trace["answering"]
    assert 2 == len(trace["asked"])


def test_a_question_whose_taking_got_no_reply_is_taken_again_when_it_is_offered_again() -> None:
    trace = played(["offer", offered(), offered(), "never"], ["silent", 3], ["start"], ["pass", 1 + 2 + 1])
    assert [[], []] == [asked["begun"] for _, asked in trace["asked"]]
    assert (4, ["q1"]) == (len(sent(trace, "question.take")), trace["answering"])


def test_a_question_that_is_being_answered_is_wanted_by_no_directory_of_the_process() -> None:
    begun = (["offer", offered(), "never"], ["start"], ["start", "quay"])
    assert [[], ["q1"]] == [asked["begun"] for _, asked in played(*begun)["asked"]]


def test_what_was_answered_is_not_wanted_again_though_the_service_took_no_answer() -> None:
    """It would be paid for again and again."""
    refused = {"ok": False, "text": "Nothing was stored."}
    trace = played(
        ["offer", offered(), "never"], ["start"], ["reply", refused], ["answered", {"text": "Much."}], ["pass", 1]
    )
    assert [[], ["q1"]] == [asked["begun"] for _, asked in trace["asked"]]
    many = [offered(f"q{number}") for number in range(70)]
    answered = [["answered", {"text": "Much."}] for _ in many]
    trace = played(["offer", *many, "never"], ["start"], *answered)
    assert [f"q{number}" for number in range(6, 70)] == trace["asked"][-1][1]["begun"]


def test_where_nobody_answers_it_is_asked_ever_more_seldom_and_noted_once() -> None:
    trace = played(["start"], ["pass", 1 + 2 + 4 + 8 + 16 + 32])
    assert 7 == len(trace["asked"])
    assert 1 == len(trace["notes"])
    later = played(["start"], ["pass", 63], ["pass", 600])
    assert 7 + 10 == len(later["asked"])
    assert 1 == len(later["notes"])


def test_a_service_that_replies_again_is_asked_as_at_first() -> None:
    trace = played(["start"], ["pass", 63], ["offer", NONE], ["pass", 60], ["pass", 1])
    assert 9 == len(trace["asked"])


def test_where_there_is_no_question_the_next_request_follows_after_a_second() -> None:
    trace = played(["offer", NONE, NONE, NONE, "never"], ["start"], ["pass", 3])
    assert 4 == len(trace["asked"])


def test_a_service_that_replies_with_an_error_is_asked_ever_more_seldom() -> None:
    wrong = {"error": "the project has no questions"}
    trace = played(["offer", *[wrong] * 9], ["start"], ["pass", 7])
    assert 4 == len(trace["asked"])
    assert 1 == len(trace["notes"])


def test_without_a_connection_nothing_is_asked_and_with_the_next_one_it_is_at_once() -> None:
    trace = played(["away"], ["start"], ["pass", 600])
    assert ([], []) == (trace["asked"], trace["notes"])
    assert 1 == len(played(["away"], ["start"], ["pass", 600], ["offer", "never"], ["back"])["asked"])


def test_of_a_process_one_question_is_answered_at_a_time_whatever_project_it_is_of() -> None:
    begun = (["offer", offered("q1"), offered("q2"), "never", "never"], ["start", "shop"], ["start", "quay"])
    trace = played(*begun)
    assert (["q1"], 1) == (trace["answering"], len(trace["sent"]))
    trace = played(*begun, ["answered", {"text": "One."}])
    assert ["q1", "q2"] == trace["answering"]


@pytest.mark.parametrize("seconds", [600, 30], ids=["taken long ago", "nobody waits any more"])
def test_an_answer_that_takes_too_long_is_aborted_and_reported_as_such(seconds: int) -> None:
    trace = played(["offer", offered(until=seconds), "never"], ["start"], ["pass", min(seconds, 170)])
    assert ["q1", "q1 timeout"] == trace["answering"]
    assert [] == sent(trace)
    trace = played(["offer", offered(until=seconds), "never"], ["start"], ["pass", min(seconds, 170) + 5])
    assert ["timeout"] == [one["failure"] for one in sent(trace)]
    assert 2 == len(trace["asked"])


def test_a_question_that_nobody_waits_for_any_more_is_not_put_to_a_model() -> None:
    trace = played(["offer", offered(until=-1)], ["start"])
    assert [] == trace["answering"]
    assert ["timeout"] == [one["failure"] for one in sent(trace)]


def test_what_fails_in_the_harness_is_reported_as_a_failure() -> None:
    trace = played(["offer", offered(), "never"], ["start"], ["failed", "it broke"])
    assert [("", "Error: it broke")] == [(one["text"], one["failure"]) for one in sent(trace)]


def test_a_failure_keeps_what_it_has_cost() -> None:
    trace = played(["offer", offered()], ["start"], ["answered", {"failure": "empty", "tokens_in": 9, "usd": 0.5}])
    assert [("empty", 9, 0.5)] == [(one["failure"], one["tokens_in"], one["usd"]) for one in sent(trace)]


def test_at_the_end_the_question_in_hand_is_aborted_and_no_other_one_asked_for() -> None:
    begun = (["offer", offered(), "never"], ["start"], ["close"])
    trace = played(*begun)
    assert ["q1", "q1 aborted"] == trace["answering"]
    assert 0 == trace["closed"]
    trace = played(*begun, ["answered", {"failure": "aborted"}], ["pass", 600])
    assert ["aborted"] == [one["failure"] for one in sent(trace)]
    assert (1, 1) == (trace["closed"], len(trace["asked"]))


def test_a_question_that_comes_after_the_end_is_left_to_others() -> None:
    trace = played(["offer", offered()], ["close"], ["start"], ["pass", 600])
    assert ([], [], 1) == (trace["asked"], trace["sent"], trace["closed"])


def test_at_the_end_a_request_that_waits_for_a_question_is_not_waited_for() -> None:
    trace = played(["offer", "never"], ["start"], ["close"])
    assert 1 == trace["closed"]


@pytest.mark.parametrize("lost", [1, 2])
def test_an_answer_that_got_no_reply_is_sent_again_under_its_id(lost: int) -> None:
    trace = played(["offer", offered()], ["start"], ["silent", lost], ["answered", {"text": "Much."}], ["pass", 9])
    _, *answers = trace["ids"]
    assert lost + 1 == len(answers)
    assert 1 == len({*answers})


def test_an_answer_that_nothing_was_decided_on_is_sent_again() -> None:
    trace = played(
        ["offer", offered()],
        ["start"],
        ["reply", {"ok": False, "again": True}],
        ["answered", {"text": "x"}],
        ["pass", 1],
    )
    assert 2 == len(sent(trace))


def test_an_answer_that_is_not_taken_is_noted_and_the_next_question_asked_for() -> None:
    trace = played(
        ["offer", offered(), "never"], ["start"], ["reply", {"ok": False, "text": "No."}], ["answered", {"text": "x"}]
    )
    assert ["an answer was not taken"] == trace["notes"]
    assert 2 == len(trace["asked"])


@pytest.mark.parametrize(("character", "count"), [("x", 400_001), ("€", 360_000)], ids=["characters", "bytes"])
def test_an_answer_longer_than_the_service_takes_is_reported_as_a_failure(character: str, count: int) -> None:
    (answer,) = sent(played(["offer", offered()], ["start"], ["long", character, count]))
    assert ("", "overflow") == (answer["text"], answer["failure"])


def test_a_reason_longer_than_the_service_takes_is_named_by_its_length() -> None:
    (answer,) = sent(played(["offer", offered()], ["start"], ["answered", {"failure": "x" * 2001}]))
    assert "the harness gave a reason of 2001 characters" == answer["failure"]


def test_a_key_in_an_answer_is_masked_before_it_leaves_the_harness() -> None:
    key = "ghp_" + "a1B2" * 9
    (answer,) = sent(played(["offer", offered()], ["start"], ["answered", {"text": f"The key is {key}."}]))
    assert key not in answer["text"]
    assert "[masked:" in answer["text"]
