"""Readings of files that stay in a prompt when the messages around them are compressed."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import FileTouched
from schemas.inbox import Capability
from schemas.plan import CutBefore
from services.domain.edits import ServedMessage, faults
from services.domain.limits import Limits
from services.domain.retention import IDLE
from services.plan.lanes import DROPS, LANES, TAGS, Lane, history
from services.plan.planner.attribution import attribution
from services.plan.session.costs import before_cut, cost, heads
from services.plan.session.state import served_tokens
from tests.helpers.bound_thinking import thoughts
from tests.helpers.harness import Call, Harness, edits_of, is_sound, ran, text_part, thought
from tests.helpers.random_sessions import as_bytes
from tests.helpers.tool_calls import called, requested, returned
from tests.plan.lanes.test_history import seal

FILE = "def parse(line):\n    return line.split()\n" * 30
LINES = "line of a test run\n" * 200
LIMITS = Limits(threshold=65, protected_tags=1)


def reading(harness: Harness, path: str, call: str) -> str:
    """The agent reads a file; the message."""
    return harness.assistant(called("read", {"filePath": path}, FILE, call=call))


def working(lanes: Sequence[Lane] = (history.LANE, TAGS, DROPS)) -> Harness:
    """A task in which files are read and commands are run, longer than what stays of it."""
    harness = Harness(LIMITS, lanes=lanes)
    harness.user("Mend the parser.")
    reading(harness, "src/parser.py", "r1")
    reading(harness, "src/lexer.py", "r2")
    for number in range(6):
        harness.assistant(text_part(f"I run it, {number}."), ran(LINES, call=f"t{number}"))
    return harness


def compressed(harness: Harness, last: int = 6) -> Call:
    """All up to this message is compressed, and served so: no cache is left."""
    harness.step()
    seal(harness, last)
    harness.use(1_000, f"u{len(harness.log)}")
    harness.wait(301)
    return harness.step()


def remaining(harness: Harness) -> list[str]:
    cut = harness.session.plan.cut
    return [*cut.remaining] if cut is not None else []


def outputs(served: list[ServedMessage], text: str = "def parse") -> list[str]:
    return [message.id for message in served for part in message.parts if text in part.output]


def test_a_reading_of_the_task_at_hand_stays_where_it_stood_and_a_test_run_goes() -> None:
    harness = working()
    call = compressed(harness)
    assert outputs([*call.served]) == ["m2", "m3"]
    assert [message.id for message in call.served][:4] == ["annals:head:1", "m1", "m2", "m3"]
    assert outputs([*call.served], "test run") == ["m7", "m8", "m9"]
    assert faults(call.served, ()) == []


def test_what_the_task_at_hand_is_stays_word_for_word() -> None:
    call = compressed(working())
    (words,) = (part.text for message in call.served if message.id == "m1" for part in message.parts)
    assert words.endswith("Mend the parser.")


def test_names_that_are_at_home_nowhere_are_listed_next_to_a_request_that_stays() -> None:
    harness = working()
    harness.step()
    made = seal(harness, 6)
    harness.append(msgspec.structs.replace(made, names=["src/parser.py#parseLine", "src/log.py#openLog", "MAX_WIDTH"]))
    harness.use(1_000, "counted")
    harness.wait(301)
    head = harness.step().served[0].parts[0].text
    assert "m1.0" in remaining(harness)
    assert "- elsewhere: MAX_WIDTH" in head
    assert "- src/log.py: openLog" in head
    assert "parseLine" not in head


def test_a_long_request_is_in_the_history() -> None:
    harness = Harness(LIMITS, lanes=(history.LANE, TAGS, DROPS))
    harness.user("Mend the parser. " * 1_000)
    for number in range(6):
        harness.assistant(text_part(f"I run it, {number}."), ran(LINES, call=f"t{number}"))
    compressed(harness, 5)
    assert remaining(harness) == []


def test_what_a_harness_put_next_to_a_person_s_words_goes() -> None:
    harness = Harness(LIMITS, lanes=(history.LANE, TAGS, DROPS))
    harness.add_message(
        "user", text_part("Mend the parser."), msgspec.structs.replace(text_part(LINES), synthetic=True)
    )
    for number in range(6):
        harness.assistant(text_part(f"I run it, {number}."), ran(LINES, call=f"t{number}"))
    compressed(harness, 5)
    assert remaining(harness) == ["m1.0"]


def test_it_is_served_as_it_was_over_calls_restarts_a_late_fact_and_the_removal_of_a_neighbour() -> None:
    harness = working()
    calls = [compressed(harness)]
    for number in range(3):
        harness.assistant(text_part(f"Well, {number}."), ran("ok", call=f"w{number}"))
        harness.restart()
        if number == 1:
            harness.restart_harness()
        calls.append(harness.step())
    assert [call.causes for call in calls[1:]] == [(), (), ()]
    assert all(outputs([*call.served]) == ["m2", "m3"] for call in calls)
    for before, after in pairwise(calls):
        assert as_bytes(after.served)[: len(before.served)] == as_bytes(before.served)
    harness.without("m3")
    call = harness.step()
    assert "unlisted" in call.causes
    assert outputs([*call.served]) == ["m2"]
    assert is_sound([*calls, call])
    assert harness.session == harness.folded()


def test_what_stays_counts_as_served() -> None:
    harness = working()
    compressed(harness)
    session = harness.session
    behind = cost(session.conversation, session.plan, session.conversation.after(session.cut - 1))
    assert before_cut(session.conversation, session.plan) > 2 * len(FILE) // 5
    assert served_tokens(session) == behind + heads(session.plan) + before_cut(session.conversation, session.plan)
    assert attribution(session).tool_calls > len(FILE) // 2
    request = next(name for name in remaining(harness) if not session.conversation.parts[name].recorded.tool)
    shown = before_cut(session.conversation, session.plan, lambda part: bool(part.tool))
    assert shown + session.conversation.parts[request].recorded.tokens <= before_cut(session.conversation, session.plan)


def test_the_harness_deletes_what_stayed_and_nothing_of_it_is_counted() -> None:
    harness = working()
    compressed(harness)
    for name in ("m1", "m2", "m3"):
        harness.without(name)
    harness.step()
    session = harness.session
    assert before_cut(session.conversation, session.plan) == 0
    assert harness.session == harness.folded()


def test_what_the_agent_drops_does_not_stay() -> None:
    harness = working()
    harness.step()
    harness.drop(harness.session.conversation.parts["m2.0"].number)
    compressed(harness)
    assert remaining(harness) == ["m1.0", "m3.0"]


def test_what_is_dropped_after_it_stayed_goes_with_the_next_rebase() -> None:
    harness = working()
    compressed(harness)
    harness.drop(harness.session.conversation.parts["m2.0"].number)
    harness.assistant(text_part("On."), ran(LINES, call="on"))
    call = compressed(harness, 7)
    assert outputs([*call.served]) == ["m3"]


def test_a_reading_that_a_later_one_shows_again_goes() -> None:
    harness = working()
    reading(harness, "src/parser.py", "again")
    compressed(harness, 8)
    assert remaining(harness) == ["m1.0", "m3.0"]


def edited(harness: Harness, path: str, call: str) -> str:
    return harness.assistant(called("edit", {"filePath": path, "newString": "x"}, "done", call=call))


def run(harness: Harness, times: int) -> None:
    """Commands that say more than a thousand tokens each time."""
    for number in range(times):
        harness.assistant(text_part("More."), ran(LINES, call=f"more{len(harness.messages)}{number}"))


def test_a_file_that_was_changed_once_goes_soon_and_one_that_the_agent_works_on_stays_longer() -> None:
    harness = working()
    edited(harness, "src/parser.py", "e1")
    edited(harness, "src/lexer.py", "e2")
    edited(harness, "src/lexer.py", "e3")
    run(harness, 4)
    assert IDLE["past"] < 4 * len(LINES) // 4 < IDLE["worked"]
    compressed(harness, 14)
    assert remaining(harness) == ["m1.0", "m3.0"]
    run(harness, 12)
    compressed(harness, 26)
    assert remaining(harness) == ["m1.0"]


def test_a_call_that_is_reported_twice_has_changed_its_file_once() -> None:
    harness = working()
    edited(harness, "src/parser.py", "e1")
    harness.step()
    (change,) = [event for _, event in harness.log if isinstance(event, FileTouched) and event.action == "edited"]
    harness.append(change)
    run(harness, 4)
    compressed(harness, 12)
    assert remaining(harness) == ["m1.0", "m3.0"]


def test_of_a_file_that_the_agent_works_on_only_the_newest_reading_stays() -> None:
    harness = working()
    part = {"filePath": "src/lexer.py", "offset": 40, "limit": 20}
    edited(harness, "src/lexer.py", "e1")
    edited(harness, "src/lexer.py", "e2")
    harness.assistant(called("read", part, FILE, call="part"))
    run(harness, 4)
    compressed(harness, 14)
    assert remaining(harness) == ["m1.0", "m2.0", "m12.0"]


def test_a_file_that_the_agent_wrote_stays_as_it_wrote_it_until_it_writes_it_again() -> None:
    harness = working()
    written = {"filePath": "src/new.py", "content": FILE}
    harness.assistant(called("write", written, "done", call="w1"))
    edited(harness, "src/new.py", "e1")
    run(harness, 4)
    compressed(harness, 12)
    assert remaining(harness) == ["m1.0", "m2.0", "m3.0", "m10.0"]
    harness.assistant(called("write", written, "done", call="w2"))
    run(harness, 4)
    compressed(harness, 18)
    assert remaining(harness) == ["m1.0", "m2.0", "m3.0", "m16.0"]
    run(harness, 8)
    compressed(harness, 26)
    assert remaining(harness) == ["m1.0", "m2.0", "m3.0"]


def test_what_was_read_for_an_earlier_task_of_a_file_that_the_agent_has_changed_stays_longer() -> None:
    harness = Harness(LIMITS, lanes=(history.LANE, TAGS, DROPS))
    harness.user("Mend the parser.")
    edited(harness, "src/parser.py", "e1")
    reading(harness, "src/parser.py", "r1")
    reading(harness, "src/lexer.py", "r2")
    harness.assistant(text_part("It is mended."))
    harness.user("Now write the changelog.")
    run(harness, 8)
    compressed(harness, 10)
    assert remaining(harness) == ["m3.0", "m6.0"]


def test_what_was_read_for_an_earlier_task_goes_sooner() -> None:
    harness = working()
    harness.assistant(text_part("It is mended."))
    harness.user("Now write the changelog.")
    for number in range(8):
        harness.assistant(text_part("More."), ran(LINES, call=f"more{number}"))
    assert IDLE["past"] < 8 * len(LINES) // 4 < IDLE["fresh"]
    compressed(harness, 12)
    assert remaining(harness) == ["m11.0"]


def test_where_the_model_would_refuse_the_prompt_only_what_fits_stays() -> None:
    harness = working()
    compressed(harness)
    harness.context_limit = 16_000
    harness.use(2_500, "counted")
    harness.assistant(text_part("Look."), ran("x" * 52_000, call="big"))
    call = harness.step()
    assert "force" in call.causes
    assert faults(call.served, ()) == []
    assert len(outputs([*call.served])) < 2


def test_where_roles_have_to_alternate_nothing_stays() -> None:
    able: tuple[Capability, ...] = ("requires_alternation", "merges_adjacent_assistants")
    harness = working()
    harness.capabilities = able
    call = compressed(harness)
    assert remaining(harness) == []
    assert faults(call.served, able) == []


def test_a_model_that_wants_to_see_what_was_thought_before_a_call_sees_it() -> None:
    harness = Harness(LIMITS, lanes=(history.LANE, TAGS, DROPS))
    harness.capabilities = ("requires_reasoning_on_tool_calls",)
    harness.user("Mend the parser.")
    harness.assistant(thought("because"), text_part("I look."), called("read", {"filePath": "src/parser.py"}, FILE))
    for number in range(6):
        harness.assistant(thought("so"), text_part(f"I run it, {number}."), ran(LINES, call=f"t{number}"))
    call = compressed(harness, 5)
    assert remaining(harness) == ["m1.0", "m2.0", "m2.2"]
    assert [part.kind for part in call.served[2].parts] == ["reasoning", "tool"]


def test_a_thought_that_is_signed_does_not_stay_for_its_call_behind_other_bytes() -> None:
    harness = Harness(LIMITS, lanes=(history.LANE, TAGS, DROPS))
    harness.capabilities = ("requires_reasoning_on_tool_calls", "binds_signed_thinking")
    harness.user("Mend the parser.")
    shown = called("read", {"filePath": "src/parser.py"}, FILE)
    harness.assistant(thought("because", signed=True), text_part("I look."), shown)
    for number in range(6):
        harness.assistant(text_part(f"I run it, {number}."), ran("ok", call=f"t{number}"))
    harness.user("And the lexer.")
    call = compressed(harness, 5)
    assert "history" in call.served[0].parts[0].text
    assert [] == thoughts(call.served)


def split() -> Harness:
    """A harness that reports a call and its result in two messages, after a reading that is to stay."""
    harness = Harness(LIMITS, lanes=(history.LANE, TAGS, DROPS))
    harness.user("Mend the parser.")
    harness.assistant(text_part("I look."), requested("read", {"filePath": "src/parser.py"}, call="r1"))
    harness.add_message("tool", returned("read", call="r1", output=FILE))
    for number in range(6):
        harness.assistant(text_part(f"I run it, {number}."), ran(LINES, call=f"t{number}"))
    return harness


def test_a_call_and_its_result_in_two_messages_stay_together() -> None:
    harness = split()
    call = compressed(harness)
    assert remaining(harness) == ["m1.0", "m2.1", "m3.0"]
    assert outputs([*call.served]) == ["m3"]
    assert faults(call.served, ()) == []


@pytest.mark.parametrize("renamed", ["part", "message"])
@pytest.mark.parametrize("forked", [True, False])
def test_where_a_result_is_listed_under_another_name_its_call_does_not_stay_alone(
    renamed: str, *, forked: bool
) -> None:
    harness = split()
    compressed(harness)
    if forked:
        harness = harness.fork()
        harness.step()
    result = harness.messages[2]
    name = "again" if renamed == "message" else result.message
    parts = tuple(msgspec.structs.replace(part, message=name, part="again.0") for part in result.parts)
    harness.messages[2] = msgspec.structs.replace(result, message=name, parts=parts)
    for _ in range(3):
        harness.assistant(text_part("On."), ran("ok", call=f"on{len(harness.messages)}"))
        harness.wait(301)
        call = harness.step()
        assert [] == faults(call.raw, ())
        assert [] == faults(call.served, ())


@given(st.integers(4, 7), st.sets(st.integers(2, 9)))
def test_with_all_lanes_what_remains_stays_valid_and_steady(last: int, dropped: set[int]) -> None:
    harness = working(LANES)
    harness.step()
    harness.drop(*dropped)
    calls = [compressed(harness, last)]
    harness.assistant(text_part("On."), ran("ok", call="on"))
    calls.append(harness.step())
    assert is_sound(calls)
    assert as_bytes(calls[1].served)[: len(calls[0].served)] == as_bytes(calls[0].served)
    assert harness.session == harness.folded()
    assert any(isinstance(edit, CutBefore) for edit in edits_of(calls[0].made))


def test_what_stays_and_is_dropped_while_history_waits_is_shown_no_more() -> None:
    """A copy holds the cut of its origin until the compartments are its own."""
    harness = working(LANES)
    compressed(harness)
    harness.assistant(text_part("done"))
    copy = harness.fork()
    copy.user("another way")
    copy.assistant(ran("Q" * 8000, call="w"))
    copy.step()
    copy.use(9000)
    stood = remaining(copy)
    for number in range(4):
        copy.assistant(ran("Q" * 8000, call=f"w{number}"))
    copy.step()
    copy.drop(*(copy.session.conversation.parts[name].number for name in stood[1:]))
    copy.flush()
    call = copy.step()

    assert ("flush",) == call.causes
    assert copy.session.awaits_history
    left = [name for name in remaining(copy) if copy.session.plan.is_whole(name)]
    assert [*stood[:1]] == left
