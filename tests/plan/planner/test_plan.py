from collections.abc import Sequence
from typing import NoReturn

import pytest

from schemas.events import DropRequested, FlushRequested, MessageListed, PlanExtended, StepOpened
from schemas.inbox import Capability, MessageGone, Mode, PartGone, PartSeen, SessionReverted
from schemas.plan import (
    AnyEdit,
    CutBefore,
    OmitArc,
    OmitMessage,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    SetHead,
    target,
)
from services.domain.edits import faults
from services.domain.limits import Limits, Prices
from services.plan.lanes import LANES, Change, Lane, View
from services.plan.lanes.drops import placeholder, preview, truncated
from services.plan.planner import pages, plan
from services.plan.planner.compose import RebaseDraft, collect
from services.plan.planner.plan import NOTHING_TO_FLUSH, Pass, decide
from services.plan.session.state import Session
from tests.helpers.harness import (
    BASIC,
    LIMITS,
    Harness,
    answered,
    asked,
    attached,
    cost,
    edits_of,
    extensions,
    ran,
    rebases,
    replace,
    shown,
    text_part,
    thought,
)

BIG = "x" * 16_000
"""4,000 tokens."""
LONG = '{"path": "' + "a" * 1100 + '"}'
"""Arguments that a dropped call does not keep."""


def tooled(limits: Limits = LIMITS, outputs: tuple[str, ...] = (BIG,)) -> Harness:
    """After one step with a question (tag 1), an answer with tools (tags 2, 3, ...) and a last word."""
    harness = Harness(limits)
    harness.user("go")
    harness.assistant(*(ran(output, call=f"c{n}") for n, output in enumerate(outputs)))
    harness.user("on")
    harness.step()
    harness.use(10_000)
    return harness


def prefixes(made: Pass) -> dict[str, str]:
    return {edit.part: edit.text for edit in edits_of(made) if isinstance(edit, PrefixText)}


# Extensions


def test_the_first_step_shows_every_tag() -> None:
    harness = Harness()
    harness.user("fix bug")
    harness.assistant(thought(), text_part("ok"), ran("FILE"))
    call = harness.step()
    assert (call.made.kind, call.text) == ("extend", ["§1§ fix bug", "hm", "§2§ ok", "§3§ FILE"])


def test_a_later_step_shows_tags_of_the_new_messages_only() -> None:
    harness = Harness()
    harness.user("fix bug")
    harness.assistant(text_part("ok"))
    harness.step()
    name = harness.user("thanks")
    call = harness.step()
    assert {f"{name}.0": "§3§ "} == prefixes(call.made)
    assert call.text == ["§1§ fix bug", "§2§ ok", "§3§ thanks"]


def test_an_extension_names_the_facts_behind_its_edits() -> None:
    harness = Harness()
    harness.user("fix bug")
    call = harness.step()
    kinds = {envelope.seq: envelope.type for envelope, _ in harness.log}
    assert [["part.recorded", "tag.assigned"]] == [[kinds[seq] for seq in edit.by] for edit in edits_of(call.made)]


def test_a_step_that_is_asked_again_is_a_replay() -> None:
    harness = Harness()
    harness.user("fix bug")
    harness.step()
    assert decide(View(harness.session, LIMITS), BASIC) == Pass("replay")


def test_a_step_with_the_same_messages_is_a_replay() -> None:
    harness = Harness()
    harness.user("fix bug")
    before = harness.step()
    again = harness.step()
    assert (again.made, again.served) == (Pass("replay"), before.served)


def test_without_a_step_there_is_nothing_to_plan() -> None:
    assert decide(View(Session(), LIMITS)) == Pass("replay")


def test_new_messages_without_anything_to_edit_are_covered_by_an_empty_revision() -> None:
    harness = Harness()
    harness.mode = "subagent"
    harness.user("fix bug")
    call = harness.step()
    assert [(1, 0)] == [(event.revision, event.edit_count) for event in extensions(call.made)]


@pytest.mark.parametrize("mode", ["subagent", "reduce_off", "hidden", "additive"])
def test_only_a_primary_agent_sees_tags(mode: Mode) -> None:
    harness = Harness()
    harness.mode = mode
    harness.user("fix bug")
    harness.assistant(ran("FILE"))
    call = harness.step()
    assert (call.text, harness.session.conversation.last_number) == (["fix bug", "FILE"], 2)


def test_a_subagents_queued_drops_are_served_too() -> None:
    harness = Harness()
    harness.mode = "subagent"
    harness.user("go")
    harness.assistant(ran(BIG))
    harness.user("on")
    harness.step()
    harness.drop(2)
    harness.flush()
    assert harness.step().text == ["go", "[dropped §2§]", "on"]


def test_a_file_has_a_number_that_nobody_sees() -> None:
    harness = Harness()
    harness.add_message("user", attached("data:x"), text_part("look"))
    assert harness.step().text == ["data:x", "§2§ look"]


def test_what_a_model_copies_of_tags_is_taken_off_before_its_own_tag() -> None:
    harness = Harness()
    harness.assistant(text_part('§15298">§15298§ hello'), text_part("mid §4§ x"))
    assert harness.step().text == ["§1§ hello", "§2§ mid §4§ x"]


# Late tags


def test_a_tool_that_was_pending_when_it_was_sent_gets_its_tag_with_the_rebase_for_its_change() -> None:
    harness = Harness()
    harness.user("go")
    tool = harness.assistant(ran("", pending=True))
    assert harness.step().text == ["§1§ go", ""]
    harness.change(f"{tool}.0", output="FILE", status="completed")
    call = harness.step()
    assert (call.causes, call.text) == (("changed",), ["§1§ go", "§2§ FILE"])


def test_tags_that_were_not_shown_in_time_appear_only_at_a_rebase() -> None:
    harness = Harness()
    harness.user("go")
    harness.assistant(ran(BIG))
    harness.step(asks=False)
    harness.user("on")
    assert harness.step().text == ["go", BIG, "§3§ on"]
    harness.drop(2)
    harness.flush()
    assert harness.step().text == ["§1§ go", "[dropped §2§]", "§3§ on"]


# Idle


def test_idle_beyond_the_caches_life_serves_what_waits_in_one_rebase() -> None:
    harness = tooled()
    harness.drop(2)
    assert harness.step().made.kind == "replay"
    harness.wait(LIMITS.cache_ttl + 1)
    call = harness.step()
    assert (call.causes, call.text) == (("idle",), ["§1§ go", "[dropped §2§]", "§3§ on"])
    assert [[2]] == [event.dropped for event in rebases(call.made)]


def test_as_long_as_the_cache_lives_drops_wait() -> None:
    harness = tooled()
    harness.drop(2)
    harness.wait(LIMITS.cache_ttl)
    assert harness.step().made.kind == "replay"


def test_a_cache_dies_during_an_answer_that_takes_longer_than_it_lives() -> None:
    harness = tooled()
    harness.drop(2)
    assert harness.step().made.kind == "replay"
    harness.wait(LIMITS.cache_ttl + 1)
    harness.use(5_000)
    assert harness.step().causes == ("idle",)


def test_idle_without_anything_waiting_is_no_rebase() -> None:
    harness = tooled()
    harness.wait(3600)
    assert harness.step().made.kind == "replay"


def test_an_idle_time_is_used_once_even_when_the_provider_counts_late() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.drop(2)
    harness.wait(360)
    assert harness.step().causes == ("idle",)
    harness.drop(3)
    harness.wait(10)
    harness.user("more")
    assert harness.step().causes == ()
    harness.wait(360)
    assert harness.step().causes == ("idle",)


def test_where_no_provider_ever_counted_no_cache_is_presumed_dead() -> None:
    harness = Harness()
    harness.user("go")
    harness.assistant(ran(BIG))
    harness.user("on")
    harness.step()
    harness.drop(2)
    harness.wait(3600)
    assert harness.step().causes == ()


# Pressure


def test_pressure_serves_drops_that_reclaim_enough() -> None:
    harness = tooled()
    harness.user("more")
    harness.drop(2)
    harness.use(65_000)
    call = harness.step()
    assert (call.causes, call.text[1]) == (("pressure",), "[dropped §2§]")
    assert ["a1"] == [event.sample for event in rebases(call.made)]


def test_below_the_threshold_there_is_no_pressure() -> None:
    harness = tooled()
    harness.drop(2)
    harness.use(64_999)
    assert harness.step().causes == ()


def test_cache_reads_and_writes_fill_the_window_too() -> None:
    harness = tooled()
    harness.context_limit = 200_000
    harness.user("more")
    harness.drop(2)
    sample = next(event for _, event in harness.log if event.TYPE == "usage.sampled")
    harness.append(replace(sample, message="b", input=2_000, cache_read=118_000, cache_write=10_000))
    assert harness.step().causes == ("pressure",)


def test_a_window_that_nobody_reported_is_the_default_one() -> None:
    harness = tooled(Limits(threshold=65, protected_tags=1, default_context_limit=10_000))
    harness.context_limit = 0
    harness.user("more")
    harness.drop(2)
    harness.use(6_500)
    assert harness.step().causes == ("pressure",)


@pytest.mark.parametrize(("size", "causes"), [(8_016, ("force",)), (7_980, ())])
def test_pressure_changes_nothing_for_less_than_the_least_reclaim(size: int, causes: tuple[str, ...]) -> None:
    harness = tooled(outputs=("x" * size,))
    harness.drop(2)
    harness.use(90_000)
    assert harness.step().causes == causes


def test_one_usage_sample_makes_pressure_once() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.user("more")
    harness.drop(2)
    harness.use(86_000, "a")
    assert harness.step().causes == ("force",)
    harness.drop(3)
    harness.user("more")
    assert harness.step().causes == ()
    harness.use(86_000, "b")
    harness.user("more")
    assert harness.step().causes == ("force",)


def test_a_sample_that_could_reclaim_too_little_presses_on_when_more_waits() -> None:
    harness = tooled(outputs=("small", BIG))
    harness.user("more")
    harness.drop(2)
    harness.use(70_000)
    assert harness.step().causes == ()
    harness.user("more")
    harness.drop(3)
    assert harness.step().causes == ("pressure",)


def test_what_did_not_pay_is_looked_at_again_only_when_the_prompt_has_grown() -> None:
    harness = tooled(outputs=("small",))
    harness.user("more")
    harness.drop(2)
    harness.use(70_000, "a")
    assert [70_001] == [event.declined for event in extensions(harness.step().made)]
    harness.use(71_999, "b")
    harness.user("more")
    assert [0] == [event.declined for event in extensions(harness.step().made)]
    harness.use(72_000, "c")
    harness.user("more")
    assert [72_001] == [event.declined for event in extensions(harness.step().made)]


def test_pressure_waits_for_the_end_of_the_turn_and_need_does_not() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.drop(2)
    harness.use(70_000, "a")
    assert harness.step().causes == ()
    harness.use(84_999, "b")
    assert harness.step().causes == ()
    harness.use(85_000, "c")
    assert harness.step().causes == ("force",)


def test_the_next_message_of_a_person_ends_the_hold_whatever_became_of_the_turn() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.drop(2, 3)
    harness.use(70_000, "a")
    harness.assistant(ran("", call="c9", pending=True))
    assert harness.step().causes == ()
    harness.user("what happened?")
    assert harness.step().causes == ("pressure",)


def test_a_rebase_that_does_not_pay_is_not_made() -> None:
    """Little is saved far at the front of a long prompt: it would have to be written anew for that."""
    harness = tooled(outputs=(BIG, *(["y" * 400_000] * 3)))
    harness.capabilities = ("accepts_empty_content", "caches_exact_prefix")
    harness.user("more")
    harness.drop(2)
    harness.use(70_000)
    assert harness.step().causes == ()
    harness.use(86_000, "b")
    assert harness.step().causes == ("force",)


def test_a_late_sample_of_an_older_answer_does_not_replace_a_newer_one() -> None:
    harness = tooled()
    harness.assistant(text_part("done"))
    harness.user("more")
    harness.step()
    harness.use(60_000, "m4")
    harness.use(90_000, "m2")
    harness.drop(2)
    harness.user("still")
    assert harness.step().causes == ()


def test_the_numbers_of_the_decision_are_stored() -> None:
    harness = tooled()
    harness.capabilities = ("accepts_empty_content", "caches_exact_prefix")
    harness.user("more")
    harness.drop(2)
    harness.use(70_000)
    (rebase,) = rebases(harness.step().made)
    assert (rebase.used, rebase.window, rebase.window_source, rebase.threshold) == (70_000, 100_000, "harness", 65.0)
    assert rebase.reclaimed > 2_000
    assert 0 < rebase.break_even < rebase.steps


# Flush


def test_a_flush_serves_what_waits_at_the_next_step() -> None:
    harness = tooled()
    harness.drop(2)
    harness.flush()
    call = harness.step()
    assert (call.causes, call.text) == (("flush",), ["§1§ go", "[dropped §2§]", "§3§ on"])


def test_a_flush_leaves_protected_tags() -> None:
    harness = tooled(Limits(protected_tags=2))
    harness.drop(2)
    harness.flush()
    assert (harness.step().causes, list(harness.session.drops.queued)) == ((), [2])


def test_a_flush_when_nothing_waits_does_not_linger() -> None:
    harness = tooled()
    harness.flush()
    harness.step()
    harness.drop(2)
    assert harness.step().causes == ()


def test_a_flush_is_served_once() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.drop(2)
    harness.flush()
    harness.step()
    harness.drop(3)
    assert harness.step().causes == ()


def test_a_flush_for_protected_tags_is_over_and_the_person_is_notified_that_they_wait() -> None:
    harness = tooled(Limits(protected_tags=2))
    harness.drop(2)
    harness.flush()
    assert harness.step().made.notices == (NOTHING_TO_FLUSH,)
    assert (harness.session.waits.flush, list(harness.session.drops.queued)) == (0, [2])
    harness.assistant(text_part("done"))
    call = harness.step()
    assert (call.causes, call.made.notices) == ((), ())
    harness.model = "sonnet"
    assert ("model",) == harness.step().causes
    assert [] == list(harness.session.drops.queued)


def test_a_flush_does_not_wait_for_a_tag_of_a_message_that_was_reverted() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.drop(3)
    harness.without(harness.messages[-2].message)
    harness.flush()
    harness.step()
    harness.step()
    assert 0 == harness.session.waits.flush


def test_a_log_in_which_a_flush_was_not_answered_is_read_as_it_was() -> None:
    harness = tooled(Limits(protected_tags=2))
    harness.drop(2)
    harness.flush()
    harness.report_step()
    harness.append(PlanExtended(revision=harness.session.revision + 1, step="s", as_of=len(harness.log)))
    assert 0 < harness.session.waits.flush


def test_a_flush_that_comes_while_a_rebase_is_appended_is_not_lost() -> None:
    harness = tooled(outputs=(BIG, BIG))
    harness.drop(2)
    harness.flush()
    call = harness.step(meanwhile=[DropRequested(tags=[3]), FlushRequested()])
    assert call.causes == ("flush",)
    harness.restart()
    assert harness.step().causes == ("flush",)


# Protection


def test_protected_drops_wait_until_newer_tags_have_come() -> None:
    harness = Harness(Limits(protected_tags=3))
    for text in ("one", BIG, *("gone" for _ in range(5)), "eight"):
        harness.assistant(ran(text, call=text[:5]))
    harness.user("nine " + BIG)
    harness.assistant(ran(BIG, call="ten"))
    harness.step()
    harness.drop(2, 9, 10)
    harness.flush()
    call = harness.step()
    (event,) = rebases(call.made)
    assert (event.dropped, event.delays) == (
        [2],
        ["tag 9 is among the newest 3", "tag 10 is among the newest 3"],
    )
    assert sorted(harness.session.drops.queued) == [9, 10]
    for number in (11, 12, 13):
        harness.assistant(ran("new", call=str(number)))
    harness.flush()
    assert [[9, 10]] == [event.dropped for event in rebases(harness.step().made)]


def test_a_result_goes_with_the_call_that_a_model_takes_for_its_own() -> None:
    """Two calls have one id, and the result of the first is gone: what is left belongs to the second."""
    harness = Harness()
    harness.user("go")
    long = '{"text": "' + "y" * 1500 + '"}'
    harness.assistant(text_part("look"), asked("c", long))
    harness.user("on")
    harness.assistant(text_part("again"), asked("c", long))
    harness.add_message("tool", answered("c", BIG), text_part("there"))
    harness.user("more")
    harness.step()
    (number,) = [
        part.number for part in harness.session.conversation.parts.values() if part.recorded.kind == "tool_result"
    ]
    harness.drop(number)
    harness.flush()
    call = harness.step()
    assert not any(BIG in text for text in call.text)
    kinds = [[part.kind for part in message.parts] for message in call.served]
    assert [["text"], ["text", "tool_call"], ["text"], ["text"], ["text"], ["text"]] == kinds


def test_a_result_that_comes_behind_another_call_with_its_id_stays_dropped() -> None:
    harness = Harness()
    harness.user("go")
    long = '{"text": "' + "y" * 1500 + '"}'
    harness.assistant(text_part("look"), asked("c", long))
    harness.add_message("tool", answered("c", BIG), text_part("there"))
    harness.user("more")
    harness.step()
    (number,) = [
        part.number for part in harness.session.conversation.parts.values() if part.recorded.kind == "tool_result"
    ]
    harness.drop(number)
    harness.flush()
    harness.step()
    result, more = harness.messages[2:]
    harness.messages = harness.messages[:2]
    harness.assistant(text_part("again"), asked("c", long))
    harness.messages += [result, more]
    assert not any(BIG in text for text in harness.step().text)


def test_dropped_tags_do_not_count_as_protected() -> None:
    harness = tooled(Limits(protected_tags=2), outputs=(BIG, BIG, BIG))
    harness.drop(2, 3)
    harness.flush()
    harness.step()
    harness.assistant(text_part("new"))
    harness.drop(4)
    harness.flush()
    call = harness.step()
    assert [[4]] == [event.dropped for event in rebases(call.made)]


# Model and system


def test_another_model_takes_along_what_waits() -> None:
    harness = tooled()
    harness.drop(2)
    harness.model = "sonnet"
    assert harness.step().causes == ("model",)


def test_another_system_prompt_takes_along_what_waits() -> None:
    harness = tooled()
    harness.drop(2)
    harness.system = "v2"
    assert harness.step().causes == ("system",)


def test_all_causes_of_one_rebase_are_named() -> None:
    harness = tooled()
    gone = harness.user("never mind")
    harness.step()
    harness.drop(2)
    harness.flush()
    harness.model, harness.system = "sonnet", "v2"
    harness.use(90_000)
    harness.wait(3600)
    harness.without(gone)
    assert harness.step().causes == ("unlisted", "flush", "idle", "model", "system", "force")


def test_another_model_without_anything_waiting_is_no_rebase() -> None:
    harness = tooled()
    harness.model = "sonnet"
    assert harness.step().made.kind == "replay"


def test_a_rebase_that_would_only_show_late_tags_is_not_made() -> None:
    harness = Harness()
    harness.user("go")
    harness.step(asks=False)
    harness.model = "sonnet"
    harness.user("on")
    assert harness.step().text == ["go", "§2§ on"]


# What the harness changes


def test_a_removed_message_is_a_rebase_that_names_the_reason() -> None:
    harness = tooled()
    harness.without("m2")
    harness.user("new")
    call = harness.step()
    assert (call.made.kind, call.causes, call.text) == ("rebase", ("unlisted",), ["§1§ go", "§3§ on", "§4§ new"])


@pytest.mark.parametrize("kind", ["deleted", "reverted"])
def test_a_deleted_or_reverted_message_is_named_so(kind: str) -> None:
    harness = tooled()
    last = harness.user("wrong")
    harness.step()
    harness.report(MessageGone(message=last) if kind == "deleted" else SessionReverted(message=last))
    harness.without(last)
    harness.user("right")
    assert harness.step().causes == (kind,)


def test_a_message_that_was_removed_before_it_was_sent_changes_nothing() -> None:
    harness = tooled()
    last = harness.user("wrong")
    harness.report(harness.messages[-1], MessageGone(message=last))
    harness.without(last)
    harness.user("right")
    assert harness.step().causes == ()


def test_a_harness_that_changes_a_sent_part_makes_a_rebase() -> None:
    harness = tooled()
    harness.change("m1.0", text="go on")
    call = harness.step()
    assert (call.causes, call.text[0]) == (("changed",), "§1§ go on")


def test_a_harness_that_deletes_a_sent_part_makes_a_rebase() -> None:
    harness = tooled(outputs=(BIG, "b"))
    harness.report(PartGone(message="m2", part="m2.0"))
    harness.messages[1] = replace(harness.messages[1], parts=harness.messages[1].parts[1:])
    call = harness.step()
    assert (call.causes, call.text) == (("changed",), ["§1§ go", "§3§ b", "§4§ on"])


def test_messages_in_another_order_make_a_rebase() -> None:
    harness = tooled()
    harness.messages[0], harness.messages[2] = harness.messages[2], harness.messages[0]
    call = harness.step()
    assert call.causes == ("changed",)
    assert call.text == ["§3§ on", f"§2§ {BIG}", "§1§ go"]


def test_a_forced_rebase_takes_along_what_waits() -> None:
    harness = tooled()
    harness.drop(2)
    harness.without("m1")
    call = harness.step()
    assert (call.causes, call.text) == (("unlisted",), ["[dropped §2§]", "§3§ on"])


def test_the_harnesss_own_compaction_is_a_rebase_and_forgets_the_queue() -> None:
    harness = tooled()
    harness.drop(2)
    harness.compact()
    harness.messages = []
    harness.user("summary")
    call = harness.step()
    assert (call.causes, call.text) == (("compacted", "unlisted"), ["§4§ summary"])
    assert [] == list(harness.session.drops.queued)


def test_what_the_harness_keeps_behind_its_own_summary_can_be_dropped() -> None:
    """It lists its summary and the newest messages, which an agent still reads."""
    harness = tooled(Limits(protected_tags=1))
    harness.assistant(ran(BIG, call="newest"))
    harness.compact()
    newest = harness.messages[-1]
    harness.messages = []
    harness.user("summary")
    harness.messages.append(newest)
    harness.assistant(text_part("ok"))
    harness.user("Go on.")
    harness.step()
    number = harness.session.conversation.parts[newest.parts[0].part].number
    harness.drop(number)
    harness.flush()
    call = harness.step()

    assert (call.causes, [[number]]) == (("flush",), [event.dropped for event in rebases(call.made)])
    assert f"[dropped §{number}§]" in call.text


def test_after_a_revert_the_newest_that_are_left_are_protected() -> None:
    harness = Harness(Limits(protected_tags=2))
    harness.user("go")
    for n in range(6):
        harness.assistant(ran(BIG, call=f"c{n}"))
    harness.step()
    for message in harness.messages[5:]:
        harness.without(message.message)
    harness.user("No.")
    harness.step()
    harness.drop(3, 4, 5)
    harness.flush()
    assert [[3, 4]] == [event.dropped for event in rebases(harness.step().made)]


def test_tags_before_a_compaction_protect_nothing() -> None:
    harness = tooled(Limits(protected_tags=2))
    harness.compact()
    harness.messages = []
    harness.assistant(ran(BIG))
    harness.user("on")
    harness.assistant(text_part("ok"))
    harness.step()
    harness.drop(4)
    harness.flush()
    assert [[4]] == [event.dropped for event in rebases(harness.step().made)]


def test_a_message_that_comes_back_after_its_drop_was_served_stays_dropped() -> None:
    harness = tooled()
    back = harness.messages[1]
    harness.without("m2")
    harness.drop(2)
    harness.step()
    harness.user("more")
    harness.flush()
    harness.step()
    assert 2 in harness.session.drops.dropped
    harness.messages.insert(1, back)
    assert harness.step().text == ["§1§ go", "[dropped §2§]", "§3§ on", "§4§ more"]


def test_a_dropped_message_that_was_sent_again_without_a_plan_is_dropped_at_the_next_rebase() -> None:
    harness = tooled()
    harness.assistant(ran(BIG, call="d"))
    back = harness.messages[1]
    harness.without("m2")
    harness.drop(2)
    harness.step()
    harness.messages.append(back)
    assert harness.step(asks=False).text[-1] == f"§2§ {BIG}"
    harness.user("more")
    assert harness.step().text[-2:] == [f"§2§ {BIG}", "§5§ more"]
    harness.drop(4)
    harness.flush()
    assert harness.step().text == ["§1§ go", "§3§ on", "[dropped §4§]", "[dropped §2§]", "§5§ more"]


def test_an_arc_that_comes_back_behind_its_call_keeps_what_was_sent() -> None:
    harness = Harness()
    harness.user("go")
    harness.assistant(text_part("see"), asked("c", LONG))
    result = harness.add_message("tool", answered("c", BIG), text_part("and"))
    harness.user("on")
    harness.step()
    back = harness.messages[2]
    harness.without(result)
    harness.drop(3)
    harness.step()
    assert 3 in harness.session.drops.dropped
    harness.messages.append(back)
    call = harness.step()
    assert call.causes == ()
    assert call.text == ["§1§ go", "§2§ see", "", "§5§ on", "[dropped §3§]", "§4§ and"]


# Forgone edits


def test_what_was_sent_without_its_tags_stays_as_it_was_sent() -> None:
    harness = Harness()
    harness.user("one")
    missed = harness.step(takes=0)
    assert missed.text == ["one"]
    harness.user("two")
    call = harness.step()
    assert (call.made.kind, call.text) == ("extend", ["one", "§2§ two"])
    assert [["m1.0"]] == [event.forgone for event in extensions(call.made)]
    assert [Restore(part="m1.0")] == [edit for edit in edits_of(call.made) if isinstance(edit, Restore)]


def test_forgone_tags_are_shown_at_the_next_rebase() -> None:
    harness = Harness()
    harness.user("one")
    harness.step(takes=0)
    harness.assistant(ran(BIG))
    harness.user("two")
    harness.step()
    harness.drop(2)
    harness.flush()
    assert harness.step().text == ["§1§ one", "[dropped §2§]", "§3§ two"]


def test_a_rebase_right_after_a_missed_reply_shows_the_tags() -> None:
    harness = Harness()
    harness.user("one")
    harness.assistant(ran(BIG))
    harness.step()
    harness.user("two")
    harness.step(takes=0)
    harness.drop(2)
    harness.flush()
    call = harness.step()
    assert call.text == ["§1§ one", "[dropped §2§]", "§3§ two"]


def test_what_was_sent_with_an_older_edit_keeps_that_one() -> None:
    harness = tooled()
    back = harness.messages[1]
    harness.without("m2")
    harness.drop(2)
    harness.step()
    harness.messages.append(back)
    missed = harness.step(takes=0)
    assert missed.text == ["§1§ go", "§3§ on", f"§2§ {BIG}"]
    for word in ("more", "and more"):
        harness.user(word)
        call = harness.step(takes=0)
        assert call.text[:3] == missed.text
    harness.user("last")
    assert harness.step().text[:3] == missed.text
    harness.without("m1")
    assert harness.step().text[:2] == ["§3§ on", "[dropped §2§]"]


def test_tags_missed_several_times_stay_away() -> None:
    harness = Harness()
    harness.user("one")
    harness.step(takes=0)
    harness.user("two")
    harness.step(takes=0)
    harness.user("three")
    assert harness.step().text == ["one", "two", "§3§ three"]


def test_a_message_that_changes_gets_the_tag_that_was_forgone() -> None:
    harness = Harness()
    harness.user("one")
    harness.step(takes=0)
    harness.change("m1.0", text="uno")
    assert harness.step().text == ["§1§ uno"]


def test_a_rebase_that_did_not_reach_the_harness_is_not_withdrawn() -> None:
    harness = tooled()
    harness.drop(2)
    harness.flush()
    missed = harness.step(takes=0)
    assert (missed.made.kind, missed.text[1]) == ("rebase", f"§2§ {BIG}")
    harness.user("more")
    call = harness.step()
    assert (call.causes, call.text) == (("flush",), ["§1§ go", "[dropped §2§]", "§3§ on", "§4§ more"])
    assert [] == [edit for edit in edits_of(call.made) if isinstance(edit, Restore)]


def test_where_the_revision_of_the_call_before_is_not_known_nothing_is_withdrawn() -> None:
    harness = Harness()
    harness.user("one")
    harness.step(takes=0)
    harness.user("two")
    harness.step(asks=False)
    step = harness.session.step
    assert step is not None
    calls = replace(harness.session.calls, step=replace(step, served=-1))
    session = replace(harness.session, calls=calls)
    assert [PrefixText] == [type(edit) for edit in edits_of(decide(View(session, LIMITS), BASIC))]


# Signed thinking


def signing(*capabilities: Capability) -> Harness:
    """In the middle of a turn whose thinking is signed, with a drop and a flush that wait."""
    harness = Harness()
    harness.capabilities = ("accepts_empty_content", *capabilities)
    harness.user("go")
    harness.assistant(ran(BIG))
    harness.user("on")
    harness.step()
    harness.assistant(thought(signed=True), ran("FILE", call="d"))
    harness.drop(2)
    harness.flush()
    return harness


def test_signed_thinking_in_the_running_turn_holds_a_rebase() -> None:
    call = signing("binds_signed_thinking").step()
    assert (call.made.kind, call.text[1]) == ("extend", f"§2§ {BIG}")


def test_the_next_turn_releases_what_waited_for_signed_thinking() -> None:
    harness = signing("binds_signed_thinking")
    harness.step()
    harness.assistant(text_part("done"))
    harness.user("next")
    call = harness.step()
    assert (call.causes, call.text[1]) == (("flush",), "[dropped §2§]")


def test_where_the_prompt_of_a_running_turn_is_deleted_the_turn_begins_with_the_one_before() -> None:
    """What was thought behind the deleted prompt holds no more; what is thought from then on does."""
    harness = signing("binds_signed_thinking")
    harness.without("m3")
    harness.assistant(thought(signed=True), ran("MORE", call="e"))
    harness.step()
    assert 1 == harness.session.turn
    harness.assistant(thought("again", signed=True), ran("MORE", call="f"))
    harness.drop(3)
    harness.flush()
    call = harness.step()
    assert (call.made.kind, call.causes) == ("extend", ())
    assert 0 < harness.session.waits.flush


@pytest.mark.parametrize(("output", "looks"), [(BIG, ["s2"]), ("short", [])])
def test_at_the_limit_with_nothing_to_take_the_session_is_looked_through_once(
    monkeypatch: pytest.MonkeyPatch, output: str, looks: list[str]
) -> None:
    """And never, where sums show that there is too little to take."""
    looked: list[str] = []

    def collecting(view: View, lanes: Sequence[Lane], prices: Prices) -> RebaseDraft:
        looked.append(view.session.step.step if view.session.step else "")
        return collect(view, lanes, prices)

    monkeypatch.setattr(plan, "collect", collecting)
    harness = tooled(replace(LIMITS, protected_tags=20), outputs=(output, output))
    for n in range(4):
        harness.use(90_000 + n, f"a.{n}")
        harness.assistant(ran("x", call=f"on{n}"))
        harness.step()
    assert looks == looked


def test_signed_thinking_holds_nothing_where_it_is_not_bound() -> None:
    assert signing().step().causes == ("flush",)


def test_a_forced_rebase_does_not_wait_for_the_turns_end() -> None:
    harness = signing("binds_signed_thinking")
    harness.without("m1")
    assert harness.step().causes == ("unlisted", "flush")


def test_a_turn_begins_with_a_persons_words_even_when_they_arrive_late() -> None:
    harness = signing("binds_signed_thinking")
    harness.add_message("user", text_part(""))
    harness.step()
    harness.change("m5.0", text="next")
    harness.step()
    harness.user("again")
    harness.drop(4)
    harness.flush()
    assert harness.session.turn == harness.session.conversation.messages["m5"].ordinal


# Drops


def dropped(harness: Harness, *tags: int) -> list[str]:
    """What a model reads after these tags were dropped, with something newer behind."""
    harness.user("last")
    harness.step()
    harness.drop(*tags)
    harness.model = f"not {harness.model}"
    call = harness.step()
    assert set(faults(call.served, ())) <= set(faults(call.raw, ()))
    return call.text[:-1]


def test_a_dropped_output_is_a_placeholder_and_its_small_arguments_stay() -> None:
    harness = Harness()
    harness.assistant(ran(BIG, '{"path": "a"}'))
    assert dropped(harness, 1) == ["[dropped §1§]"]
    assert harness.edits["part:m1.0"].__class__ is ReplaceOutput


def test_a_dropped_text_of_an_agent_is_a_placeholder() -> None:
    harness = Harness()
    harness.assistant(text_part(BIG), text_part("stays"))
    assert dropped(harness, 1) == ["[dropped §1§]", "§2§ stays"]


def test_a_dropped_text_of_a_person_keeps_its_beginning() -> None:
    harness = Harness()
    harness.user("word " * 240)
    (text,) = dropped(harness, 1)
    assert text == "[truncated §1§]\n" + ("word " * 240)[:249] + "…"


def test_a_dropped_file_of_a_person_leaves_only_that_it_was_there() -> None:
    harness = Harness()
    harness.add_message("user", attached("data:" + BIG))
    assert dropped(harness, 1) == ["[truncated §1§]\n"]
    assert harness.edits["part:m1.0"].__class__ is ReplaceText


def test_a_dropped_file_of_an_agent_is_a_placeholder() -> None:
    harness = Harness()
    harness.assistant(attached("data:" + BIG))
    assert dropped(harness, 1) == ["[dropped §1§]"]


def test_a_dropped_call_with_long_arguments_goes_where_its_message_says_more() -> None:
    harness = Harness()
    harness.assistant(text_part("look"), ran(BIG, LONG))
    assert dropped(harness, 2) == ["§1§ look"]


@pytest.mark.parametrize("size", [1024, 1025])
def test_arguments_of_one_kilobyte_are_the_longest_that_stay(size: int) -> None:
    harness = Harness()
    harness.assistant(text_part("look"), ran(BIG, "x" * size))
    assert dropped(harness, 2) == (["§1§ look", "[dropped §2§]"] if size == 1024 else ["§1§ look"])


@pytest.mark.parametrize(
    "others",
    [(), (thought(),), (text_part("  \n"),), (text_part("only for people", ignored=True),)],
    ids=["nothing", "thinking", "blanks", "ignored text"],
)
def test_a_dropped_call_with_long_arguments_stays_where_its_message_says_nothing_else(
    others: tuple[PartSeen, ...],
) -> None:
    harness = Harness()
    harness.assistant(*others, ran(BIG, LONG))
    assert dropped(harness, 1)[-1] == "[dropped §1§]"


def test_of_several_dropped_calls_of_one_message_the_last_stays() -> None:
    harness = Harness()
    harness.assistant(ran(BIG, LONG, call="a"), ran(BIG, LONG, call="b"))
    assert dropped(harness, 1, 2) == ["[dropped §2§]"]


def test_a_call_dropped_later_stays_where_the_others_are_gone_already() -> None:
    harness = Harness()
    harness.assistant(asked("a", LONG), asked("b", LONG))
    harness.add_message("tool", answered("a", BIG), answered("b", BIG), text_part("both"))
    assert dropped(harness, 1) == ["", f"§2§ {BIG}", "§3§ both"]
    harness.model = "opus"
    assert dropped(harness, 2) == ["", "[dropped §2§]", "§3§ both", "§4§ last"]


def test_a_call_whose_absence_would_part_others_from_their_results_stays() -> None:
    harness = Harness()
    harness.assistant(asked("a", LONG), asked("b", LONG))
    harness.add_message("tool", answered("a", BIG), text_part("one"))
    harness.add_message("tool", answered("b", BIG), text_part("two"))
    assert dropped(harness, 1) == ["", "", "[dropped §1§]", "§2§ one", f"§3§ {BIG}", "§4§ two"]


def test_both_halves_of_a_split_call_go_together() -> None:
    harness = Harness()
    harness.assistant(text_part("look"), asked("c", LONG))
    harness.add_message("user", answered("c", BIG), text_part("there"))
    assert dropped(harness, 2) == ["§1§ look", "§3§ there"]
    assert harness.edits["part:m2.0"] == OmitArc(
        part="m2.0", parts=("m1.1", "m2.0"), by=harness.edits["part:m2.0"].by, lane="drops"
    )


def test_a_split_call_stays_where_the_results_message_would_say_nothing() -> None:
    harness = Harness()
    harness.assistant(text_part("look"), asked("c", LONG))
    harness.add_message("tool", answered("c", BIG))
    assert dropped(harness, 2) == ["§1§ look", "", "[dropped §2§]"]


def test_calls_that_can_go_one_by_one_but_not_together_stay() -> None:
    harness = Harness()
    harness.assistant(asked("a", LONG), asked("b", LONG), asked("c", LONG))
    harness.add_message("tool", answered("a", BIG), answered("b", BIG), text_part("two"))
    harness.add_message("tool", answered("c", "C"))
    assert dropped(harness, 1, 2) == ["", "", "", "[dropped §1§]", "[dropped §2§]", "§3§ two", "§4§ C"]


def test_a_result_whose_call_was_never_seen_is_a_placeholder() -> None:
    harness = Harness()
    harness.add_message("tool", answered("c", BIG), text_part("there"))
    assert dropped(harness, 1) == ["[dropped §1§]", "§2§ there"]


def test_a_tag_whose_message_is_gone_counts_as_dropped() -> None:
    harness = tooled()
    harness.without("m2")
    harness.drop(2)
    harness.step()
    assert ([2], []) == (list(harness.session.drops.dropped), list(harness.session.drops.queued))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a" * 250, "a" * 250),
        ("a" * 251, "a" * 250 + "…"),
        ("a" * 219 + " " + "b" * 100, "a" * 219 + " " + "b" * 30 + "…"),
        ("a" * 220 + " " + "b" * 100, "a" * 220 + " " + "b" * 29 + "…"),
        ("a" * 221 + " " + "b" * 100, "a" * 221 + "…"),
        ("a" * 230 + "\n" + "b" * 100, "a" * 230 + "…"),
        ("𝄞" * 125, "𝄞" * 125),
        ("𝄞" * 126, "𝄞" * 125 + "…"),
        ("a" + "𝄞" * 125, "a" + "𝄞" * 124 + "…"),
    ],
    ids=["none", "250", "251", "219", "220", "221", "line", "125 pairs", "126 pairs", "half a pair"],
)
def test_a_preview_has_250_units_and_ends_at_a_word_where_one_ends_late(text: str, expected: str) -> None:
    assert preview(text) == expected


def test_a_preview_of_600_characters_ends_with_its_last_whole_word() -> None:
    text = preview("letters " * 75)
    assert (len(text), text[-9:]) == (248, " letters…")


def test_placeholders_depend_on_the_number_alone() -> None:
    assert (placeholder(7), truncated(42, "hi")) == ("[dropped §7§]", "[truncated §42§]\nhi")


# What a rebase says about itself


def test_a_rebase_says_what_the_prompt_costs_without_and_with_it() -> None:
    harness = tooled()
    before = harness.step()
    harness.drop(2)
    harness.flush()
    call = harness.step()
    (event,) = rebases(call.made)
    assert (event.tokens_before, event.tokens_after) == (cost(before.served), cost(call.served))


def test_tokens_of_messages_that_were_dropped_and_then_removed_are_not_counted_as_saved() -> None:
    harness = tooled()
    harness.drop(2)
    harness.flush()
    harness.step()
    harness.without("m2")
    harness.user("hello " * 100)
    call = harness.step()
    assert [cost(call.served)] == [event.tokens_after for event in rebases(call.made)]


def test_a_rebase_carries_the_position_that_it_was_decided_at() -> None:
    harness = tooled()
    harness.drop(2)
    harness.flush()
    call = harness.step()
    assert [call.state.seq] == [event.as_of for event in rebases(call.made)]


def test_a_step_that_comes_while_a_rebase_is_appended_keeps_its_own_reasons() -> None:
    harness = tooled()
    harness.without("m1")
    harness.report_step()
    made = decide(View(harness.session, LIMITS), BASIC)
    harness.without("m2")
    harness.report_step()
    harness.append_plan(made.events, ())
    assert decide(View(harness.session, LIMITS), BASIC).kind == "rebase"


# Breakdowns


def broken(*_: object) -> NoReturn:
    raise ValueError("out of order")


def test_a_lane_that_breaks_costs_only_its_own_edits() -> None:
    lanes = (Lane("bad", extend=broken, rebase=broken), *BASIC)
    harness = Harness(lanes=lanes)
    harness.user("go")
    call = harness.step()
    assert (call.text, call.made.faults) == (["§1§ go"], ("the lane bad failed: ValueError: out of order",))


def test_a_lane_that_breaks_does_not_hold_up_a_rebase() -> None:
    harness = tooled()
    harness.lanes = (Lane("bad", extend=lambda _, __: (), rebase=broken), *BASIC)
    harness.drop(2)
    harness.flush()
    call = harness.step()
    assert (call.text[1], call.made.faults) == ("[dropped §2§]", ("the lane bad failed: ValueError: out of order",))


def test_an_edit_of_new_messages_that_a_provider_would_refuse_is_left_out_and_reported() -> None:
    tearing = Lane("tearing", extend=lambda _, __: (OmitPart(part="m3.0"),), rebase=lambda _: Change())
    harness = Harness(lanes=(*BASIC, tearing))
    harness.user("go")
    harness.assistant(asked("c"))
    harness.add_message("tool", answered("c", "FILE"))
    call = harness.step()
    assert call.made.faults == ("the call c in m2 has no result right behind it",)
    assert call.text == ["§1§ go", "", "§2§ FILE"]


def test_the_check_of_new_messages_sees_the_ones_before_them() -> None:
    tearing = Lane("tearing", extend=lambda _, __: (OmitMessage(message="m3"),), rebase=lambda _: Change())
    harness = Harness(lanes=LANES)
    harness.user("go")
    harness.assistant(asked("c"))
    harness.step()
    harness.lanes = (*BASIC, tearing)
    harness.add_message("tool", answered("c", "FILE"))
    call = harness.step()
    assert call.made.faults == ("the call c in m2 has no result right behind it",)
    assert call.text == ["§1§ go", "", "§2§ FILE"]


def test_a_lane_of_new_messages_cannot_edit_what_was_sent() -> None:
    reaching = Lane("reaching", extend=lambda _, __: (ReplaceText(part="m1.0", text="!"),), rebase=lambda _: Change())
    harness = tooled()
    harness.lanes = (*BASIC, reaching)
    harness.user("more")
    call = harness.step()
    assert call.text == ["§1§ go", f"§2§ {BIG}", "§3§ on", "§4§ more"]
    assert call.made.faults == ("the lane reaching wanted to edit part:m1.0, which was sent before",)


@pytest.mark.parametrize(
    "edit",
    [OmitMessage(message="m1"), OmitMessage(message="m9"), CutBefore(message="m3"), SetHead(slot=0, text="head")],
    ids=["a message", "an unknown message", "a cut", "a head"],
)
def test_a_lane_of_new_messages_cannot_change_what_stands_before_them(edit: AnyEdit) -> None:
    harness = tooled()
    harness.lanes = (*BASIC, Lane("reaching", extend=lambda _, __: (edit,), rebase=lambda _: Change()))
    harness.user("more")
    call = harness.step()
    assert call.text == ["§1§ go", f"§2§ {BIG}", "§3§ on", "§4§ more"]
    assert call.made.faults == (f"the lane reaching wanted to edit {target(edit)}, which was sent before",)


def test_a_lane_may_set_a_head_at_the_first_step() -> None:
    head = Lane("head", extend=lambda _, __: (SetHead(slot=0, text="head"),), rebase=lambda _: Change())
    harness = Harness(lanes=(*BASIC, head))
    harness.user("go")
    assert harness.step().text == ["head", "§1§ go"]


def omitting(message: str) -> Lane:
    return Lane(
        "omitting",
        extend=lambda _, __: (),
        rebase=lambda _: Change(edits=(OmitMessage(message=message),)),
    )


def test_a_rebase_that_a_provider_would_refuse_is_not_made_and_is_reported() -> None:
    harness = Harness(lanes=(*BASIC, omitting("m3")))
    harness.user("go")
    harness.assistant(asked("c"))
    harness.add_message("tool", answered("c", "FILE"))
    harness.user("on")
    harness.step()
    harness.model = "sonnet"
    harness.user("more")
    call = harness.step()
    assert (call.made.kind, call.causes) == ("extend", ())
    assert call.made.faults == ("the call c in m2 has no result right behind it",)
    assert shown(call) == [1, 2, 3, 4]


def test_a_forced_rebase_that_a_provider_would_refuse_is_made_without_its_edits() -> None:
    harness = Harness(lanes=(*BASIC, omitting("m3")))
    harness.user("go")
    harness.assistant(asked("c"))
    harness.add_message("tool", answered("c", "FILE"))
    harness.user("on")
    harness.step()
    harness.without("m1")
    call = harness.step()
    assert (call.causes, call.text) == (("unlisted",), ["", "§2§ FILE", "§3§ on"])
    assert call.made.faults == ("the call c in m2 has no result right behind it",)


def test_faults_of_the_harnesss_own_list_hold_nothing_up() -> None:
    harness = Harness()
    harness.assistant(asked("torn"))
    harness.assistant(text_part("look"), ran(BIG, LONG))
    assert dropped(harness, 2) == ["", "§1§ look"]


@pytest.mark.parametrize(("capabilities", "kind"), [(("requires_alternation",), "extend"), ((), "rebase")])
def test_what_must_alternate_is_checked_where_the_model_demands_it(
    capabilities: tuple[Capability, ...], kind: str
) -> None:
    harness = Harness(lanes=(*BASIC, omitting("m2")))
    harness.capabilities = ("accepts_empty_content", *capabilities)
    harness.user("go")
    harness.assistant(text_part("ok"))
    harness.user("on")
    harness.step()
    harness.model = "sonnet"
    harness.assistant(text_part("yes"))
    assert harness.step().made.kind == kind


def test_a_cut_away_message_or_a_withdrawn_edit_is_checked_as_it_would_be_served() -> None:
    harness = Harness(lanes=(*BASIC, omitting("m3")))
    harness.user("go")
    harness.assistant(asked("c"))
    harness.add_message("tool", answered("c", "FILE"))
    harness.user("on")
    harness.step()
    harness.lanes = (
        *LANES,
        Lane(
            "both",
            extend=lambda _, __: (),
            rebase=lambda _: Change(
                edits=(OmitMessage(message="m3"), OmitPart(part="m2.0"), Restore(part="m1.0")), reclaimed=5_000
            ),
        ),
    )
    harness.model = "sonnet"
    call = harness.step()
    assert (call.causes, call.text, call.made.faults) == (("model",), ["go", "§3§ on"], ())


# Long plans


def many(count: int) -> Harness:
    harness = Harness()
    for n in range(count):
        harness.user(f"word {n}")
    return harness


def test_more_edits_than_one_event_holds_become_several_revisions() -> None:
    call = many(2 * pages.MAX_EDITS + 1).step()
    assert [(1, pages.MAX_EDITS), (2, pages.MAX_EDITS), (3, 1)] == [
        (event.revision, event.edit_count) for event in extensions(call.made)
    ]
    assert shown(call) == list(range(1, 2 * pages.MAX_EDITS + 2))


def test_the_revisions_of_one_rebase_say_once_what_they_drop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_EDITS", 2)
    harness = tooled(Limits(protected_tags=2), outputs=(BIG,) * 5)
    harness.drop(2, 3, 4, 5, 6)
    harness.flush()
    call = harness.step()
    events = rebases(call.made)
    assert [([2, 3, 4, 5], 2), ([], 2)] == [(event.dropped, event.edit_count) for event in events]
    assert [["tag 6 is among the newest 2"], []] == [event.delays for event in events]
    assert [("flush",), ("flush",)] == [tuple(event.causes) for event in events]
    assert harness.step().made.kind == "replay"
    assert call.text[1:5] == [placeholder(number) for number in (2, 3, 4, 5)]


def test_several_revisions_make_the_same_plan_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = many(7)
    whole.step()
    monkeypatch.setattr(pages, "MAX_EDITS", 2)
    paged = many(7)
    paged.step()
    assert {edit: target(edit) for edit in paged.edits.values()} == {
        edit: target(edit) for edit in whole.edits.values()
    }


def test_of_several_revisions_the_ones_that_did_not_arrive_are_forgone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_EDITS", 2)
    harness = many(5)
    assert shown(harness.step(takes=1)) == [1, 2]
    harness.user("more")
    assert shown(harness.step()) == [1, 2, 6]


# The plan's lanes as pure functions


def test_lanes_want_nothing_without_a_step() -> None:
    view = View(Session(), LIMITS)
    assert [((), Change())] * len(LANES) == [(tuple(lane.extend(view, ())), lane.rebase(view)) for lane in LANES]


def test_a_message_without_parts_is_left_alone() -> None:
    harness = Harness()
    harness.append(MessageListed(messages=["unseen"], ordinals=[1]))
    harness.append(StepOpened(step="s", last=1, count=1))
    assert [("extend", 0)] == [
        ("extend", event.edit_count) for event in extensions(decide(View(harness.session, LIMITS), BASIC))
    ]


# Signed thinking


def thoughtful(thoughts: int = 0) -> Harness:
    """A session whose model binds signed thinking, with a large output in an earlier turn."""
    harness = Harness()
    harness.capabilities = ("accepts_empty_content", "binds_signed_thinking")
    harness.user("go")
    harness.assistant(*(thought(signed=True) for _ in range(thoughts)), ran(BIG, call="c1"))
    harness.user("on")
    harness.step()
    harness.use(10_000)
    return harness


def test_a_cause_that_met_signed_thinking_waits_for_the_end_of_the_turn() -> None:
    harness = thoughtful()
    harness.drop(2)
    harness.assistant(thought(signed=True), ran("small", call="c2"))
    harness.model = "sonnet"
    waiting_call = harness.step()
    assert (waiting_call.causes, [["model"]]) == ((), [event.delays for event in extensions(waiting_call.made)])
    harness.assistant(thought(signed=True), ran("small", call="c3"))
    assert harness.step().causes == ()
    harness.restart()
    harness.user("thanks")
    released = harness.step()
    assert released.causes == ("model",)
    assert "[dropped §2§]" in released.text


def test_a_rebase_before_older_signed_thinking_takes_all_of_it_along() -> None:
    harness = thoughtful(1)
    harness.assistant(thought(signed=True), text_part("done"))
    harness.user("more")
    harness.step()
    harness.drop(2)
    harness.flush()
    call = harness.step()
    assert call.causes == ("flush",)
    assert not any(part.signed for message in call.served for part in message.parts)
    assert "[dropped §2§]" in call.text


def test_a_rebase_that_was_missed_is_not_delivered_behind_new_signed_thinking() -> None:
    harness = thoughtful()
    harness.drop(2)
    harness.flush()
    harness.user("more")
    missed = harness.step(takes=0)
    assert missed.made.kind == "rebase"
    harness.assistant(thought(signed=True), ran("small", call="c2"))
    assert BIG in "".join(harness.step().text)
    harness.user("thanks")
    assert "[dropped §2§]" in harness.step().text
