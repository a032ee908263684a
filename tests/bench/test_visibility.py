"""What the benchmark of histories counts as in sight, and as a look-up away."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings

from schemas.inbox import PartSeen, SessionSeen
from services.domain.texts.content import RecordedMessage
from services.domain.transcript.reader import read
from services.edges.client.carryover import recorded
from services.edges.client.transcript import Transcript
from services.historian.core.model_answer import Output, bounds
from services.historian.core.prompt import prompt
from services.historian.core.validate import check
from services.plan.head.history import render_history
from services.plan.session.state import Session
from services.responder.answers.expand import PAGE_TOKENS
from tests.bench.condensing import blocks, condensed
from tests.bench.visibility import Item, LookUps, Sight, collected, rendered, reported, spans
from tests.helpers.conversations import COMMITTED, agent, conversations, sealed, tool, transcript, user
from tests.helpers.examples import examples
from tests.helpers.harness import Harness

MESSAGES = transcript(
    user("Fix `src/parse.py`.\n- **Never** drop a line\nDoes it work? Then go on."),
    agent("I look at parse.py.", tool("read", "x = 1", path="src/parse.py")),
    agent(tool("bash", "KeyError: 'a'\n1 failed", command="pytest")),
    agent(tool("read", "class OtherError: ...", path="lib/errors.py")),
    agent(tool("bash", COMMITTED, command="git commit -am fix"), "I committed 8a513f5, see TS2345."),
)


def recorded_before(messages: Sequence[RecordedMessage]) -> tuple[Session, tuple[RecordedMessage, ...]]:
    """A responder's state of this conversation, and the conversation as a harness reported it."""
    harness = Harness()
    for one in messages:
        parts = [
            PartSeen(
                message="",
                type=piece.kind,  # type: ignore[arg-type] # one of the inbox's
                text=piece.text,
                tool=piece.tool,
                call=f"{one.ordinal}.{piece.call}",
                input=piece.input,
                output=piece.output,
                status=piece.status or "completed",  # type: ignore[arg-type] # one of the inbox's
                synthetic=piece.synthetic,
            )
            for piece in one.pieces
        ]
        harness.add_message(one.role, *parts)  # type: ignore[arg-type] # one of the inbox's
    harness.step()
    return harness.session, recorded(Transcript("t", "s", SessionSeen(), tuple(harness.messages)))


def items(kind: str) -> dict[str, tuple[int, int]]:
    return {one.text: (one.first, one.last) for one in collected(MESSAGES) if one.kind == kind}


def test_what_a_conversation_says_is_found_once_at_its_first_message() -> None:
    assert {"src/parse.py": (2, 2), "lib/errors.py": (4, 4)} == items("file")
    assert {"8a513f5": (5, 5)} == items("commit")
    assert {"KeyError": (3, 3), "TS2345": (5, 5)} == items("error")
    assert {"**Never** drop a line": (1, 1)} == items("constraint")


@pytest.mark.parametrize(
    ("kind", "name", "text", "is_seen"),
    [
        ("file", "src/parse.py", "Changed in src: parse.py (new)", True),
        ("file", "src/parse.py", "Changed: src/my-parse.py, parse.pyi, old.parse.py", False),
        ("commit", "8a513f5c77aa", "Commits: 8a513f5 fix", True),
        ("commit", "8a513f5c77aa", "Commits: 8a513f6 fix", False),
        ("error", "KeyError", "a KeyError.", True),
        ("error", "KeyError", "a MyKeyError", False),
        ("constraint", "**Never** drop a line", "U: Never drop\na line", True),
        ("constraint", "**Never** drop a line", "U: Never drop a\u2026", False),
        ("constraint", "Keep a < b", "<history>\nU: Keep a &lt; b\n</history>", True),
    ],
)
def test_a_name_is_seen_as_a_whole_and_a_constraint_by_every_word(
    kind: str, name: str, text: str, *, is_seen: bool
) -> None:
    assert is_seen == rendered(text).shows(Item(kind, name, 1, 1))


def test_a_tier_is_rendered_of_all_compartments() -> None:
    made = [msgspec.structs.replace(sealed(1, 9, names=["src/a.py#open"]), p2="Changed b.py")]
    assert reported(made, "names").shows(Item("file", "x/a.py", 1, 1))
    assert reported(made, "p2").shows(Item("file", "b.py", 1, 1))
    assert not reported(made, "p3").shows(Item("file", "b.py", 1, 1))


def test_a_history_names_every_span_also_of_what_is_archived() -> None:
    made = [sealed(10 * n + 1, 10 * n + 10, words=200) for n in range(30)]
    text = render_history(made, 300)
    assert ": archived" in text
    covered = [n for first, last in spans(text) for n in range(first, last + 1)]
    assert list(range(1, 301)) == covered


def test_what_is_looked_up_is_on_a_page_of_a_message_in_a_known_span_or_nowhere() -> None:
    long = "line\n" * PAGE_TOKENS
    session, words = recorded_before(
        transcript(user("Look"), agent(tool("read", f"FIRST\n{long}SECOND", path="a/b.py")), user("Never do that"))
    )
    look_ups = LookUps(session, words)
    everything = [(1, 3)]
    assert 1 == look_ups.page(Item("error", "FIRST", 2, 2), everything)
    assert 2 == look_ups.page(Item("error", "SECOND", 2, 2), everything)
    assert 0 == look_ups.page(Item("error", "THIRD", 2, 2), everything)
    assert 0 == look_ups.page(Item("error", "FIRST", 2, 2), [(1, 1), (3, 3)])
    assert 1 == look_ups.page(Item("constraint", "**Never** do that", 3, 3), everything)
    assert 0 == look_ups.page(Item("constraint", "Never do that", 9, 9), everything)


@settings(max_examples=examples(100), deadline=None)
@given(conversations())
def test_all_that_a_conversation_says_can_be_looked_up(messages: tuple[RecordedMessage, ...]) -> None:
    session, words = recorded_before(messages)
    look_ups = LookUps(session, words)
    lost = [item for item in collected(words) if look_ups.page(item, [(1, len(messages))]) != 1]
    assert [] == lost


@settings(max_examples=examples(100), deadline=None)
@given(conversations())
def test_the_scripted_model_answers_as_the_contract_demands(messages: tuple[RecordedMessage, ...]) -> None:
    chunk = read(messages, 8_000)
    if chunk.messages and chunk.text.strip():
        answer = msgspec.json.decode(condensed(prompt(chunk, (), 80_000)), type=Output)
        assert "" == check(answer, bounds(chunk, 0))


def test_the_scripted_model_says_what_stands_in_the_transcript() -> None:
    chunk = read(MESSAGES, 8_000)
    answer = msgspec.json.decode(condensed(prompt(chunk, (), 80_000)), type=Output)
    (one,) = answer.compartments
    assert ["U", "A"] == [block.speaker for block in blocks(chunk.text)]
    assert ("8a513f5", 1, 5) == (one.anchors[0], one.start, one.end)
    assert "U: Fix `src/parse.py`." in one.p1
    assert Sight(one.p4).shows(Item("commit", "8a513f5", 5, 5))
