"""How an explanation is printed: values in, text out."""

from datetime import UTC, datetime

import pytest

from schemas.explain_asks import Explained, Explanation, Fact, PromptHint, PromptSearch
from schemas.plan import (
    AnyEdit,
    AppendText,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitMessage,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    SetHead,
)
from services.edges.search.explanation import MOST_FACTS, as_text, edit_in_words

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
DROP = Explained(
    OmitArc(part="m5.0", parts=("m5.0",), by=(311, 312, 340), lane="drops"),
    7,
    (
        Fact(311, "part.recorded", NOON, "harness:pi", "the output of read, 4000 bytes"),
        Fact(340, "drop.requested", NOON, "agent:build", "drop 12"),
    ),
    lanes=("drops",),
    causes=("cost", "moon"),
    ordinal=5,
    tag=12,
    what="the output of read",
)
FOUND = Explanation(
    step="t9",
    at=NOON,
    revision=7,
    messages=34,
    edits=(DROP,),
    edits_in_force=213,
    history=(Fact(350, "plan.rebased", NOON, "room:responder", "cost: 900 to 400 tokens"),),
    session="ses_1",
    title="Mend\nthe pier",
    call=9,
    calls=12,
    tags=190,
    left_out=22,
    hints=(PromptHint("m7", 7, 320, "memory", "mem1", 0.834, "Reach the gauge through the jump host"),),
    searches=(PromptSearch("m9.0", 9, 14, 330, "tide gauge", "3 results for tide gauge", 912),),
)


def test_an_explanation_says_what_was_done_since_when_why_and_what_led_to_it() -> None:
    assert as_text(FOUND) == (
        'Session ses_1 "Mend the pier", call 9 of 12 (step t9) at 2026-03-07 12:00:00\n'
        "34 messages, revision 7 of the plan, 213 edits in force, of which 190 only show the number of a text\n"
        "\n"
        "What was sent before has changed 1 time:\n"
        "  fact 350, 2026-03-07 12:00:00, plan.rebased by room:responder: cost: 900 to 400 tokens\n"
        "\n"
        "Edits, those with the newest reasons first (22 older ones are left out: --limit):\n"
        "  1. left out, call and output: the output of read §12§ in message 5\n"
        "     by drops, since revision 7, a rebase for cost (going on cost more than a smaller prompt), moon\n"
        "       fact 311, 2026-03-07 12:00:00, part.recorded by harness:pi: the output of read, 4000 bytes\n"
        "       fact 340, 2026-03-07 12:00:00, drop.requested by agent:build: drop 12\n"
        "       1 fact cannot be read any more\n"
        "\n"
        "Hints behind messages of a person:\n"
        "  message 7: memory mem1, score 0.83, fact 320: Reach the gauge through the jump host\n"
        "\n"
        "Answers to searches of the agent:\n"
        '  message 9 §14§: "tide gauge", fact 330, 912 bytes: 3 results for tide gauge'
    )


def test_an_unchanged_prompt_is_explained_as_unchanged() -> None:
    text = as_text(Explanation(step="t1", session="s1", call=1, calls=1, messages=1))
    assert "there was no rebase" in text
    assert "the prompt is as the harness holds it" in text
    assert "Hints" not in text
    assert "searches" not in text


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (CutBefore(message="m5"), "left out: all before message 5"),
        (CutBefore(message="m5", remaining=("a", "b")), "left out: all before message 5 but 2 parts"),
        (SetHead(slot=0, text="äh"), "added at the head: the project's documents and memories, 3 bytes"),
        (SetHead(slot=1, text=""), "taken away: compressed history"),
        (PrefixText(part="p", text="§12§ "), '"§12§" is put before it: a text §12§ in message 5'),
        (AppendText(part="p", text="\n\nlook"), 'added behind a text §12§ in message 5: "look"'),
        (ReplaceText(part="p", text="short"), 'replaced: a text §12§ in message 5, by "short"'),
        (ReplaceOutput(part="p", text="short"), 'replaced: a text §12§ in message 5, by "short"'),
        (OmitPart(part="p"), "left out: a text §12§ in message 5"),
        (OmitMessage(message="m5"), "left out: message 5"),
        (
            InsertPair(message="m5", call="c", tool="todo", input="{}", output="paint"),
            'added behind message 5: a call of todo, which shows "paint"',
        ),
    ],
)
def test_each_kind_of_edit_has_its_words(edit: AnyEdit, words: str) -> None:
    assert words == edit_in_words(Explained(edit, 1, ordinal=5, tag=12, what="a text"))


def test_what_is_long_is_bounded() -> None:
    facts = tuple(Fact(number, "memory.written", NOON, "", "x" * 900) for number in range(MOST_FACTS + 3))
    edit = ReplaceText(part="p", text="word " * 9_000, by=tuple(range(MOST_FACTS + 3)))
    text = as_text(Explanation(edits=(Explained(edit, 1, facts),)))
    assert "3 facts more: --json prints all" in text
    assert max(map(len, text.splitlines())) < 300
