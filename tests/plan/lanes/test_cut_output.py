"""Long outputs that are sent as their two ends, from the first time on."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events import SessionRenamed
from schemas.inbox import Mode, PartSeen
from services.domain.limits import Limits
from services.domain.tokens import tokens
from services.plan.lanes import LANES, cut_output, errors, eviction
from services.plan.lanes.cut_output import KEPT, MAX_TEXTS, shortened
from services.plan.planner.forks import decide
from services.plan.session.readings import MOST
from services.plan.session.reclaim import worth
from services.plan.session.state import served_tokens
from tests.helpers.harness import ALL, Harness, cost, edits_of, ran, replace, text_part, with_picture
from tests.helpers.random_sessions import STORIES, Story, as_bytes, holds, play, wildly
from tests.helpers.stripping import LIMITS, age, harness_with, rebased, text_of, view_of
from tests.helpers.tool_calls import called, requested, returned
from tests.responder.answers.test_expand import answer

CUT = cut_output.LANE
ON = replace(LIMITS, cut_output=True)
LONG = "".join(f"line {n}\n" for n in range(2_000))
"""18,890 bytes: 4,723 tokens."""
SENTENCE = "[About 2,727 tokens (1,145 lines) are left out here; ctx_expand with tag=2 shows all of it.]\n"
MAKE = '{"command": "make"}'


def building(output: str = LONG, limits: Limits = ON) -> Harness:
    """A command was run; its output has the tag 2."""
    harness = harness_with(CUT, limits)
    harness.user("go")
    harness.assistant(ran(output, MAKE))
    return harness


def cuts(harness: Harness) -> set[str]:
    """The parts that are served shortened."""
    return {key.partition(":")[2] for key, edit in harness.edits.items() if edit.lane == cut_output.NAME}


def ends_of(served: str, text: str) -> bool:
    head, _, tail = re.sub(r"^§\d+§ ", "", served).partition("[About ")
    return text.startswith(head.removesuffix("\n")) and text.endswith(tail.partition("]\n")[2])


# What is sent


def test_a_long_output_is_sent_as_its_ends_with_a_sentence_between_behind_its_tag() -> None:
    served = text_of(building().step(), "m2.0")

    assert served.startswith("§2§ line 0\nline 1\n")
    assert SENTENCE in served
    assert served.endswith("line 1998\nline 1999\n")
    assert ends_of(served, LONG)
    assert tokens(len(served.encode())) < 2 * KEPT + 40


def test_it_is_off_unless_it_is_wanted_and_then_nothing_is_read() -> None:
    harness = building(limits=LIMITS)
    harness.report_step()

    made = decide(view(harness), None, LANES)

    assert () == made.needs
    assert not Limits().cut_output
    assert f"§2§ {LONG}" == text_of(building(limits=LIMITS).step(), "m2.0")


def view(harness: Harness) -> cut_output.View:
    return cut_output.View(harness.session, harness.limits)


def test_only_what_is_long_and_new_is_read() -> None:
    harness = building()
    harness.assistant(ran("short", call="d"))
    harness.report_step()

    assert ("m2.0",) == decide(view(harness), None, harness.lanes).needs
    harness.step()
    harness.user("and?")
    harness.report_step()
    assert () == decide(view(harness), None, harness.lanes).needs


@pytest.mark.parametrize("size", [1, 8_000, 8_004, 8_040])
def test_an_output_of_2_000_tokens_or_hardly_more_is_sent_whole(size: int) -> None:
    assert f"§2§ {'x' * size}" == text_of(building("x" * size).step(), "m2.0")


READINGS: dict[str, PartSeen] = {
    "a tool that reads": called("read", {"filePath": "a.py"}, LONG),
    "the same under a prefix": called("mcp_Read_File", {"path": "a.py"}, LONG),
    "a reading without a path": called("read", {}, LONG),
    "an editor that views": called("str_replace_editor", {"command": "view", "path": "a.py"}, LONG),
    "cat": called("bash", {"command": "cat src/a.py"}, LONG),
    "sed": called("bash", {"command": "cd /w && sed -n 1,400p src/a.py"}, LONG),
    "what says how to work": called("skill", {"name": "review"}, LONG),
    "our own tool": called("annals_ctx_expand", {"tag": 2}, LONG),
    "a search of ours": called("ctx_search", {"query": "a"}, LONG),
    "a picture": with_picture(ran(LONG, MAKE)),
}


@pytest.mark.parametrize("what", READINGS)
def test_what_shows_a_file_or_a_picture_or_was_asked_of_us_is_sent_whole(what: str) -> None:
    harness = harness_with(CUT, ON)
    harness.user("go")
    harness.assistant(READINGS[what])

    call = harness.step()

    assert f"§2§ {LONG}" == text_of(call, "m2.0")
    assert call.raw[1].parts[0].attachments == call.served[1].parts[0].attachments


def test_a_reading_whose_result_is_a_message_of_its_own_is_sent_whole() -> None:
    harness = harness_with(CUT, ON)
    harness.user("go")
    asked = {"a": ("bash", {"command": "cat a.py"}), "b": ("read", {}), "e": ("ctx_expand", {"tag": 1}),
             "c": ("bash", {"command": "make"})}  # fmt: skip
    harness.assistant(*(requested(tool, given, call=call) for call, (tool, given) in asked.items()))
    results = [returned("", call=call, output=LONG) for call in "abec"]
    harness.add_message("tool", *results)
    harness.step()

    assert {"m3.3"} == cuts(harness)


def test_what_is_older_than_the_readings_that_are_known_may_be_one() -> None:
    harness = harness_with(CUT, ON)
    harness.user("go")
    harness.assistant(ran(LONG, MAKE, call="old"))
    for n in range(MOST):
        harness.assistant(called("read", {"filePath": f"{n}.py"}, "x", call=f"r{n}"))
    harness.assistant(ran(LONG, MAKE, call="new"))
    harness.step()

    assert {f"m{MOST + 3}.0"} == cuts(harness)


def test_of_very_many_outputs_the_newest_are_shortened() -> None:
    harness = harness_with(CUT, ON)
    harness.user("go")
    for n in range(MAX_TEXTS + 2):
        harness.assistant(ran(LONG, MAKE, call=f"c{n}"))
    harness.step()

    assert {f"m{n}.0" for n in range(4, MAX_TEXTS + 4)} == cuts(harness)


def test_a_failure_is_shortened_like_others_and_found_by_its_message() -> None:
    harness = building()
    harness.change("m2.0", status="error")
    served = text_of(harness.step(), "m2.0")

    assert "; ctx_expand with message=2 shows all of it.]" in served
    assert ends_of(served, LONG)
    assert LONG in answer(harness, message="2")


@pytest.mark.parametrize(
    ("mode", "prefix", "is_told"), [("primary", "§2§ ", True), ("reduce_off", "", True), ("subagent", "", False)]
)
def test_who_has_no_tool_to_see_the_rest_is_not_told_of_it(mode: Mode, prefix: str, *, is_told: bool) -> None:
    harness = building()
    harness.mode = mode
    served = text_of(harness.step(), "m2.0")

    assert served.startswith(f"{prefix}line 0\n")
    assert is_told == ("ctx_expand with tag=2" in served)
    assert "[About 2,727 tokens (1,145 lines) are left out here" in served


@pytest.mark.parametrize("mode", ["additive", "hidden"])
def test_a_session_that_nothing_is_taken_from_keeps_its_outputs(mode: Mode) -> None:
    harness = building()
    harness.mode = mode
    harness.step()

    assert set() == cuts(harness)


def test_the_whole_output_can_be_seen_word_for_word() -> None:
    harness = building()
    harness.step()

    assert f"\n\n[2] assistant\nbash {MAKE}\n{LONG}" == answer(harness, tag=2).partition("word for word.")[2]


def test_an_output_that_the_log_does_not_give_is_sent_whole() -> None:
    harness = building()
    harness.report_step()
    seen = replace(view(harness), texts={"m2.0": ""})

    assert "extend" == decide(seen, None, harness.lanes).kind
    assert {""} == {edit.lane for edit in edits_of(decide(seen, None, harness.lanes))}


# What was sent stays


def test_it_stays_byte_for_byte_while_the_session_grows_over_a_restart_a_removal_and_a_late_fact() -> None:
    harness = building()
    first = as_bytes(harness.step().served)
    for growth in (_says, _builds, _restarts, _removes, _says):
        growth(harness)
        now = as_bytes(harness.step(meanwhile=[SessionRenamed("other")]).served)
        assert first == now[: len(first)]
        assert harness.folded() == harness.session
    assert {"m2.0", "m4.0"} == cuts(harness)


def _says(harness: Harness) -> None:
    harness.user("and?")


def _builds(harness: Harness) -> None:
    harness.assistant(ran(LONG.upper(), MAKE, call=f"c{len(harness.log)}"))


def _restarts(harness: Harness) -> None:
    harness.restart()
    harness.restart_harness()
    harness.assistant(text_part("so"))


def _removes(harness: Harness) -> None:
    harness.without(harness.messages[-1].message)


def test_the_removal_of_a_neighbour_before_it_changes_nothing_of_it() -> None:
    harness = building()
    served = text_of(harness.step(), "m2.0")
    harness.without("m1")
    call = harness.step()

    assert ("unlisted",) == call.causes
    assert served == text_of(call, "m2.0")


@pytest.mark.parametrize("limits", [ON, LIMITS], ids=["on", "switched off"])
def test_no_rebase_shows_it_whole_again(limits: Limits) -> None:
    harness = building()
    served = text_of(harness.step(), "m2.0")
    harness.limits = limits
    drops_another(harness)
    call = rebased(harness)
    harness.change("m1.0", text="went")
    again = harness.step()

    assert ("idle",) == call.causes
    assert "changed" in again.causes
    assert {served} == {text_of(call, "m2.0"), text_of(again, "m2.0")}


def drops_another(harness: Harness) -> None:
    """Something else waits for a rebase."""
    harness.assistant(text_part("so " * 2_000))
    harness.step()
    harness.drop(harness.session.conversation.last_number)
    age(harness)


def test_what_was_sent_whole_before_it_was_switched_on_stays_whole() -> None:
    harness = building(limits=LIMITS)
    served = text_of(harness.step(), "m2.0")
    harness.limits = ON
    drops_another(harness)
    call = rebased(harness)

    assert (("idle",), served) == (call.causes, text_of(call, "m2.0"))


def test_what_a_call_has_sent_without_a_plan_stays_whole() -> None:
    harness = building()
    served = text_of(harness.step(takes=0), "m2.0")
    harness.user("and?")

    assert LONG == served == text_of(harness.step(takes=ALL), "m2.0")


@pytest.mark.parametrize("limits", [ON, LIMITS], ids=["on", "switched off"])
def test_another_output_of_the_call_is_served(limits: Limits) -> None:
    harness = building()
    harness.step()
    harness.limits = limits
    harness.change("m2.0", output="y" * 20_000)
    served = text_of(harness.step(), "m2.0")
    assert ends_of(served, "y" * 20_000)
    assert limits.cut_output == (len(served) < 10_000)
    harness.change("m2.0", output="FILE")
    assert "§2§ FILE" == text_of(harness.step(), "m2.0")
    assert harness.folded() == harness.session


def test_another_output_that_nobody_asked_a_plan_for_is_served_at_the_next_rebase() -> None:
    harness = building()
    harness.step()
    harness.change("m2.0", output="y" * 20_000)
    harness.step(asks=False)
    drops_another(harness)

    assert ends_of(text_of(rebased(harness), "m2.0"), "y" * 20_000)
    assert {"m2.0"} == cuts(harness)


def test_a_fork_is_served_what_its_origin_was() -> None:
    harness = building()
    served = text_of(harness.step(), "m2.0")
    fork = harness.fork()
    fork.limits = LIMITS
    fork.user("on")

    assert served == text_of(fork.step(), "mf2.0")


# How it goes


def test_what_is_left_of_it_can_be_dropped_and_counts_as_that() -> None:
    harness = building()
    served = text_of(harness.step(), "m2.0")
    assert tokens(len(served.encode())) == worth(harness.session, "m2.0") == harness.session.reclaim.tokens
    harness.drop(2)
    age(harness)

    call = rebased(harness)

    assert "[dropped §2§]" == text_of(call, "m2.0")
    assert 0 == harness.session.reclaim.tokens


def test_eviction_takes_no_more_to_be_saved_by_it_than_was_served() -> None:
    harness = harness_with(CUT, ON)
    harness.user("go")
    for n in range(4):
        harness.assistant(ran(LONG, MAKE, call=f"c{n}"))
    age(harness)
    harness.step()
    seen = replace(view_of(harness), causes=frozenset({"overflow"}), excess=4_500, target=4_500)

    made = eviction.rebase(seen)

    assert (2, 3, 4) == made.dropped
    assert 3 * 1_990 < made.reclaimed < 3 * 2_040


def test_a_prompt_that_fits_with_its_outputs_shortened_is_not_made_smaller() -> None:
    harness = Harness(ON, LANES)
    harness.context_limit = 20_000
    harness.user("go")
    harness.assistant(ran("old " * 1_000, MAKE, call="a"))
    harness.step()
    harness.assistant(ran("line\n" * 100_000, MAKE, call="b"))
    call = harness.step()

    assert ("extend", ()) == (call.made.kind, call.causes)
    assert f"§2§ {'old ' * 1_000}" == text_of(call, "m2.0")
    assert {"m3.0"} == cuts(harness)


def test_an_output_that_is_still_too_long_goes_as_others_do() -> None:
    harness = Harness(ON, LANES)
    harness.context_limit = 3_000
    harness.user("go")
    harness.assistant(*(ran(LONG, MAKE, call=f"c{n}") for n in range(3)))
    call = harness.step()

    assert "rebase" == call.made.kind
    assert "[dropped §2§]" == text_of(call, "m2.0")
    assert call.made.faults == ()


def test_an_old_failure_that_was_shortened_is_told_by_its_first_words() -> None:
    harness = Harness(ON, (*harness_with(CUT).lanes, errors.LANE))
    harness.user("go")
    harness.assistant(text_part("look"), replace(ran(LONG, MAKE), status="error"))
    harness.step()
    age(harness)

    assert LONG[:100] + errors.ENDING == text_of(rebased(harness), "m2.1")


def test_the_plan_says_what_the_prompt_costs_with_it() -> None:
    harness = building()
    call = harness.step()

    assert abs(served_tokens(harness.session) - cost(call.served)) < 5


# Whatever there is


@given(
    st.lists(st.sampled_from(["a", "\n", "ä", "𝄞 ", "line\n", "[About "]), max_size=30).map("".join),
    st.integers(0, 3_000),
    st.sampled_from(["", "; ctx_expand with tag=12 shows all of it"]),
)
def test_what_is_left_has_both_ends_and_is_never_longer(text: str, times: int, how: str) -> None:
    whole = text * times
    short = shortened(whole, how)
    if short != whole:
        assert len(short.encode()) < len(whole.encode())
        head, _, rest = short.partition(f"[About {_counted(whole, short, how)}")
        tail = rest.partition(f"{how}.]\n")[2]
        assert whole.startswith(head.removesuffix("\n"))
        assert whole.endswith(tail)
        assert min(len(head.encode()), len(tail.encode())) >= 4_000 // 2 - 4


def _counted(whole: str, short: str, how: str) -> str:
    """How the sentence goes on that is ours: what was printed may look like it."""
    found = re.findall(r"\[About ([\d,]+ tokens(?: \([\d,]+ lines\))? are left out here)", short)
    assert 1 == len(found), (whole[:20], how)
    return str(found[0])


def test_an_output_of_half_a_million_characters_is_shortened() -> None:
    harness = building("a" * 500_000)
    served = text_of(harness.step(), "m2.0")

    assert (
        f"§2§ {'a' * 4_000}\n[About 123,000 tokens are left out here; ctx_expand with tag=2 shows all of it.]\n"
        in served
    )
    assert served.endswith("]\n" + "a" * 4_000)


@wildly
@given(STORIES)
def test_whatever_happens_what_was_decided_stays(story: Story) -> None:
    moments = play(story, CUT, cut_output=True)

    holds(moments, cut_output.rebase, Limits(protected_tags=story.protected, cut_output=True), "no lane that drops")
