"""When a turn is under way, and when a turn has an installation that does not answer started again."""

from tests.adapter.played import Harness

BUSY = {"type": "busy"}
PAUSE = 120
"""Seconds: longer than nothing is asked where nobody answers."""


# A message that nobody is to answer


def test_a_message_that_nobody_answers_begins_no_turn(harness: Harness) -> None:
    """A prompt of another session that is refused is compacted then, and its turn does not fail."""
    harness.is_written_to()
    harness.is_written_to("other")
    harness.send("other")
    assert harness.may_compact


def test_a_session_that_turns_busy_is_looked_at(harness: Harness) -> None:
    harness.is_written_to()
    harness.hear("session.status", status=BUSY)
    harness.send("other")
    assert not harness.may_compact
    harness.hear("session.idle")
    assert harness.may_compact


def test_a_message_that_comes_while_a_call_is_under_way_changes_nothing(harness: Harness) -> None:
    harness.user("Go on.")
    harness.serve()
    harness.is_written_to()
    assert harness.may_compact


# An installation of which only the broker is left


def test_what_does_not_answer_is_started_again_however_long_nobody_has_asked(harness: Harness) -> None:
    harness.start(breaks=True)
    ask(harness, None, None, None)
    assert 0 == harness.restarts
    harness.pass_time(PAUSE)
    harness.is_written_to()
    assert 1 == harness.restarts


def test_an_answer_is_enough_until_there_is_none_twice(harness: Harness) -> None:
    harness.start(breaks=True)
    ask(harness, None, None, {"status": "ready"}, None)
    harness.is_written_to()
    assert 0 == harness.restarts


def ask(harness: Harness, *answers: dict[str, str] | None) -> None:
    """Steps of a turn, with these answers."""
    harness.is_written_to()
    for answer in answers:
        harness.answer(answer)
        harness.user("Go on.")
        harness.serve()
