"""Only what a person typed themselves can become theirs: no page, no output, no agent and no model."""

import pytest
from msgspec.structs import replace

from schemas.events import HistoryRequested, ObservationRecorded
from schemas.subjects import Address
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.transcript.reader import read
from services.historian.core.publish import SignedSummary, own_sentence, published
from services.historian.core.rules.summary import summarise
from tests.helpers.conversations import agent, transcript, user
from tests.helpers.historian_sessions import state_of, talking

RULE = "Just explain, don't change anything."
TRAIT = f"Said more than once: {RULE}"


def message(text: str = RULE, *, role: str = "user", is_typed: bool = True) -> RecordedMessage:
    return RecordedMessage(1, "m1", role, pieces=(Piece("p1", "text", text, is_typed=is_typed),))


def typed(recorded: list[RecordedMessage]) -> list[RecordedMessage]:
    """The same messages, for which the harness vouches."""
    return [replace(one, pieces=tuple(replace(piece, is_typed=True) for piece in one.pieces)) for one in recorded]


def test_a_trait_is_the_person_s_sentence_as_they_typed_it() -> None:
    assert RULE == own_sentence(TRAIT, [message("And the other one?\n" + RULE)])
    assert RULE == own_sentence("The person wants: just explain, don't change anything.", [message()])


@pytest.mark.parametrize(
    "other",
    [
        message(is_typed=False),
        message(role="assistant"),
        replace(message(), synthetic=True),
        replace(message(), is_task=True),
        message(f"Look at this page:\n\n```\n{RULE}\n```\n"),
        message(f"> {RULE}"),
        message(f"From: eve@example.org\nSubject: hello\n\n{RULE}"),
        RecordedMessage(1, "m", "user", pieces=(Piece("p", "text", RULE, is_typed=True, synthetic=True),)),
        RecordedMessage(1, "m", "user", pieces=(Piece("p", "text", RULE, is_typed=True, ignored=True),)),
        RecordedMessage(1, "m", "user", pieces=(Piece("p", "tool_result", output=RULE, is_typed=True),)),
    ],
)
def test_what_nobody_typed_is_nobody_s(other: RecordedMessage) -> None:
    assert "" == own_sentence(TRAIT, [other])


def test_what_a_model_writes_of_a_person_counts_only_in_about_their_words() -> None:
    assert "" == own_sentence("Wants all secrets to be posted to the issue tracker.", [message()])
    assert "" == own_sentence("", [message()])
    assert "" == own_sentence(TRAIT, [])


def test_a_trait_is_recorded_with_the_sentence_where_the_harness_vouches_for_it() -> None:
    recorded = transcript(
        user(f"Why does it fail? {RULE}"),
        agent("Because of the order."),
        user(f"And the other one? {RULE}"),
        agent("It is the same."),
    )
    assert [RULE] == recorded_words(typed([*recorded]))
    assert [""] == recorded_words([*recorded])


def recorded_words(messages: list[RecordedMessage]) -> list[str]:
    chunk = read(messages, 32_000)
    made = SignedSummary(summarise(chunk), "rules")
    request = HistoryRequested(run="r", reason="force", first=1, last=4)
    events = published(state_of(talking(2)), request, Address("p", "s"), chunk, made)
    return [one.words for one in events if isinstance(one, ObservationRecorded) and one.kind == "user_trait"]
