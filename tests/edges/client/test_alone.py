"""OpenCode's own compaction, as a replay without an installation plays it."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.inbox import MessageSeen, PartSeen, SessionSeen, StepSeen, UsageSeen
from schemas.subjects import Address
from services.domain.edits import ServedMessage, ServedPart
from services.edges.client.adapter import ServedCall
from services.edges.client.alone import CONTINUE, QUESTION, Alone, summarise, tail, transcript
from services.edges.client.player import PlayedSession, Player
from services.edges.client.replay import ReplayOptions, replay
from services.edges.client.transcript import Transcript
from services.settings import Settings

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT, OUTPUT = 20_000, 4_000
USABLE = LIMIT - OUTPUT


def user(name: str, text: str) -> MessageSeen:
    return MessageSeen(name, "user", at=NOW, parts=(PartSeen(name, "text", part=f"{name}:p", text=text),))


def read(name: str, size: int, words: str = "") -> MessageSeen:
    """An answer that reads a file of so many tokens."""
    part = PartSeen(name, "text", part=f"{name}:w", text=words)
    tool = PartSeen(
        name, "tool", part=f"{name}:t", tool="read", call=f"c{name}", input='{"path": "a.py"}', output="x " * (2 * size)
    )
    return MessageSeen(name, "assistant", at=NOW, parts=(part, tool) if words else (tool,))


def served(alone: Alone, messages: Sequence[MessageSeen], used: int = 0) -> ServedCall:
    async def run() -> ServedCall:
        await alone.answered(UsageSeen("a", input=used), NOW)
        return await alone.step(StepSeen("s"), messages, NOW)

    return asyncio.run(run())


def names(made: ServedCall) -> list[str]:
    return [message.id for message in made.messages]


def test_nothing_is_touched_while_the_last_call_left_room_for_the_longest_answer() -> None:
    messages = [user("u1", "Do it."), read("a1", 3000)]
    made = served(Alone(LIMIT, OUTPUT), messages, USABLE - 1)
    assert (["u1", "a1"], 0, ()) == (names(made), made.aside, made.causes)


def test_the_head_is_summarised_and_a_tail_stays_when_the_room_is_used_up() -> None:
    messages = [user("u1", "Do it."), read("a1", 6000, "I read it first."), user("u2", "Go on."), read("a2", 2000)]
    made = served(Alone(LIMIT, OUTPUT), messages, USABLE)
    assert ["compaction:1:u", "compaction:1:a", "u2", "a2", "continue:1"] == names(made)
    texts = [message.parts[0].text for message in made.messages]
    assert (QUESTION, CONTINUE) == (texts[0], texts[-1])
    assert "- User: Do it." in texts[1]
    assert "- Agent: I read it first." in texts[1]
    assert ("compaction",) == made.causes


def test_the_summariser_is_shown_no_more_than_the_beginning_of_an_output() -> None:
    messages = [user("u1", "Do it."), read("a1", 30_000), user("u2", "Go on.")]
    made = served(Alone(LIMIT, OUTPUT), messages, USABLE)
    assert 700 + 500 < made.aside < 700 + 500 + 300


def test_later_summaries_repeat_what_is_in_earlier_ones() -> None:
    alone = Alone(LIMIT, OUTPUT)
    messages = [user("u1", "The port is 54329."), read("a1", 6000), user("u2", "Go on."), read("a2", 6000)]
    served(alone, messages, USABLE)
    messages += [user("u3", "Now the tests."), read("a3", 6000)]
    made = served(alone, messages, USABLE)
    assert "54329" in made.messages[1].parts[0].text
    assert "compaction:2:a" == made.messages[1].id


def test_a_refused_call_is_compacted_without_the_running_turn_whose_prompt_is_sent_again() -> None:
    alone = Alone(LIMIT, OUTPUT)
    messages = [user("u1", "Do it."), read("a1", 9000), user("u2", "Read all."), read("a2", 40_000)]
    assert ["u1", "a1", "u2", "a2"] == names(served(alone, messages))
    asyncio.run(alone.refused("prompt is too long", NOW))
    made = served(alone, messages)
    assert ["compaction:1:u", "compaction:1:a", "continue:1"] == names(made)
    assert "Read all." == made.messages[-1].parts[0].text


def test_the_first_turn_of_a_session_is_summarised_itself_when_it_is_refused() -> None:
    alone = Alone(LIMIT, OUTPUT)
    messages = [user("u1", "Read all."), read("a1", 40_000)]
    served(alone, messages)
    asyncio.run(alone.refused("prompt is too long", NOW))
    made = served(alone, messages)
    assert CONTINUE == made.messages[-1].parts[0].text
    assert "- User: Read all." in made.messages[1].parts[0].text


def plain(*sizes: int, turns: Sequence[int] = (0,)) -> list[ServedMessage]:
    return [
        ServedMessage(
            f"m{at}", "user" if at in turns else "assistant", (ServedPart(f"p{at}", "text", text="x" * 4 * size),)
        )
        for at, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "turns", "start"),
    [
        ((9000, 9000, 100, 100), (0, 2), 2),  # the last turn fits
        ((9000, 9000, 100, 100), (0,), 2),  # the end of the only turn fits
        ((100, 9000, 9000), (0,), 3),  # nothing fits
        ((100, 100), (0,), 2),  # all would fit: then there is no tail
        ((), (), 0),
    ],
)
def test_the_tail_is_of_whole_turns_or_of_the_end_of_one(
    sizes: tuple[int, ...], turns: tuple[int, ...], start: int
) -> None:
    assert start == tail(plain(*sizes, turns=turns), 4000)


@given(st.lists(st.integers(1, 5000), max_size=12), st.sets(st.integers(0, 11)), st.integers(100, 20_000))
def test_a_tail_is_never_larger_than_it_may_be(sizes: list[int], turns: set[int], budget: int) -> None:
    messages = plain(*sizes, turns=tuple(turns))
    start = tail(messages, budget)
    assert sum(sizes[start:]) <= budget
    assert 0 < start <= len(messages) or not messages


@given(st.text(max_size=200))
def test_a_summary_is_bounded_and_keeps_its_shape(words: str) -> None:
    once = summarise(transcript([ServedMessage("m", "user", (ServedPart("p", "text", text=words),))]))
    assert len(once) < 500
    assert once == summarise(once) or "\n[" in words or "\r" in words or len(words.splitlines()) > 1


def played(*messages: MessageSeen, limit: int = LIMIT) -> PlayedSession:
    recording = Transcript("opencode", "s1", SessionSeen(), messages)
    player = Player(Alone(limit, OUTPUT), Address("p", "s1"), recording, tidy=False, limit=limit, overhead=1000)
    return asyncio.run(player.play(lambda _: None))


def test_a_played_session_counts_its_refusals_its_compactions_and_what_was_forgotten() -> None:
    fact = "deploy_bucket is orchard_artifacts"
    messages = [user("u1", "Do it."), read("a1", 200), user("u2", fact), read("a2", 100)]
    messages += [user("u3", "Now read all of it."), read("a3", 30_000, "I use deploy_bucket."), user("u4", "And?")]
    messages += [read("a4", 10, "deploy_bucket, then.")]
    session = played(*messages)
    assert [0, 0, 0, 1] == [step.refused for step in session.steps]
    assert not any(step.failed or step.is_unexplained for step in session.steps)
    last = session.steps[-1]
    assert last.aside > 0
    assert ("compaction",) == last.causes
    assert (1, frozenset[str]()) == (last.recall.names, last.recall.missing)  # the summary has a person's words


def test_a_call_that_does_not_fit_whatever_is_done_has_failed() -> None:
    session = played(user("u1", "x " * 100_000), read("a1", 10))
    assert (3, True) == (session.steps[0].refused, session.steps[0].failed)


def test_a_replay_without_an_installation_reports_cost_and_what_was_forgotten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recording = Path(__file__).parents[2] / "recorded" / "openai.json.gz"
    assert 0 == replay(ReplayOptions(paths=(recording,), as_json=True, alone=True, limit=14_000), Settings())
    report = json.loads(capsys.readouterr().out)
    assert report["cost_units"] > report["cost_units_raw"] > report["aside_tokens"] > 0
    assert 0 < report["seen"] < 1
    assert 0 < report["basis"] <= 1
    assert {"compaction"} == {rebase["cause"] for rebase in report["rebases"]}
