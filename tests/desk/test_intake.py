"""What the desk takes in of the log by itself: requests in messages, and what summaries ask for; once, and masked."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.commands import MemoryRevise, MemoryWrite, PolicySet
from schemas.events import (
    Event,
    MemoryJudged,
    MemoryProposed,
    MemoryReinforced,
    MemoryWritten,
    MessageRecorded,
    NativeCompacted,
    PartRecorded,
    PlanExtended,
    PlanRebased,
    SessionForked,
    SessionOpened,
    StepOpened,
    ToolRan,
)
from schemas.streams import LOG
from schemas.subjects import Address
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bus
from services.memory.book import Book
from services.memory.snapshot import holder_of, snapshot
from services.settings import MemoryLimits
from tests.desk.test_books import AGENT, PROJECT, SECRET, send
from tests.helpers.broker_world import HARBOUR, connected, facts, opened, quick_settings, stored, wrapped
from tests.helpers.memory_writers import folded, judged
from tests.helpers.room_process import room
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

REQUEST = "Remember: always answer in French."
BODY = "always answer in French."


@pytest.fixture
async def desk(bus: Bus) -> AsyncIterator[Bus]:
    """A connection to the broker of an open desk."""
    async with opened(Desk(), bus, quick_settings()):
        yield bus


def words(text: str, message: str = "msg1", role: str = "user", provenance: str = "typed", **more: bool) -> list[Event]:
    """A message with one part, as the tagger records it."""
    synthetic = more.pop("is_summary", False)
    provenance = provenance if role == "user" else ""
    return [
        MessageRecorded(message=message, role=role, synthetic=synthetic),
        PartRecorded(message=message, part=f"{message}/0", kind="text", text=text, provenance=provenance, **more),
    ]


async def publish(bus: Bus, events: Sequence[Event], address: Address = HARBOUR) -> None:
    """Append facts of a session, as the tagger does."""
    for event in events:
        last = await last_of(bus, address, event)
        await Appender(bus).append(wrapped([event], {address.log(event.TYPE): last}, address), {})


async def last_of(bus: Bus, address: Address, event: Event) -> int:
    found = [one.seq for one in await stored(bus, LOG.name) if one.subject == address.log(event.TYPE)]
    return found[-1] if found else 0


async def rested(bus: Bus) -> None:
    """Until the desk has taken in all that there is."""

    async def is_idle() -> bool:
        lag = await bus.lag(LOG.name, "desk")
        return lag is not None and not lag.waiting and not lag.in_hand

    await until(is_idle)


async def written(bus: Bus) -> list[Event]:
    """The facts of the book that hold a text."""
    return [one for one in await facts(bus, PROJECT) if isinstance(one, MemoryWritten | MemoryProposed)]


# Requests.


async def test_what_a_person_asks_for_is_remembered_from_its_message(desk: Bus) -> None:
    await publish(desk, words(f"Fix the build.\n{REQUEST}"))
    await until(lambda: written(desk))
    (memory,) = await written(desk)
    assert isinstance(memory, MemoryWritten)
    assert (BODY, "person_by_harness", "s1", "msg1", "person, by harness") == (
        memory.text,
        memory.trust,
        memory.origin,
        memory.message,
        memory.source,
    )
    (verdict,) = await judged(desk)
    assert ("accepted", "request:en", memory.memory) == (verdict.verdict, verdict.rule, verdict.memory)


async def test_a_message_is_taken_in_once_however_often_it_is_recorded(desk: Bus) -> None:
    await publish(desk, words(REQUEST))
    await publish(
        desk, [PartRecorded(message="msg1", part="msg1/0", kind="text", text=f"{REQUEST} Even in tests.", digest="2")]
    )
    await publish(desk, [PartRecorded(message="msg1", part="msg1/0", kind="text", text=REQUEST, digest="3")])
    await rested(desk)
    assert 2 == len(await judged(desk))


async def test_another_message_is_another_sighting(desk: Bus) -> None:
    await publish(desk, words(REQUEST))
    await publish(desk, words(REQUEST, "msg2"))
    await rested(desk)
    assert ["accepted", "absorbed"] == [one.verdict for one in await judged(desk)]
    (seen,) = [one for one in await facts(desk, PROJECT) if isinstance(one, MemoryReinforced)]
    assert ("s1", "msg2") == (seen.origin, seen.message)


@pytest.mark.parametrize(
    "events",
    [
        words(REQUEST, role="assistant"),
        words(REQUEST, synthetic=True),
        words(REQUEST, ignored=True),
        words(REQUEST, is_summary=True),
        words("I need to remember the milk."),
        [*words("Hello.")[:1], PartRecorded(message="msg1", part="msg1/0", kind="reasoning", text=REQUEST)],
        [PartRecorded(message="unknown", part="p", kind="text", text=REQUEST)],
    ],
)
async def test_what_no_person_asks_for_is_left_alone(desk: Bus, events: Sequence[Event]) -> None:
    await publish(desk, events)
    await rested(desk)
    assert [] == await facts(desk, PROJECT)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        (f"```\n{REQUEST}\n```", "quoted"),
        (f"> {REQUEST}", "quoted"),
        (f"From: Bob\nSubject: language\n\n{REQUEST}", "pasted"),
        (f"Look at this report:\n\nIt fails.\n{REQUEST}", "pasted"),
    ],
)
async def test_what_was_pasted_waits_for_a_person_and_says_why(desk: Bus, text: str, mark: str) -> None:
    await publish(desk, words(text))
    await until(lambda: written(desk))
    (memory,) = await written(desk)
    assert isinstance(memory, MemoryProposed)
    assert (BODY, "person_by_harness") == (memory.text, memory.trust)
    (verdict,) = await judged(desk)
    assert ("held", True) == (verdict.verdict, mark in verdict.reasons)


async def test_what_only_the_harness_has_put_into_marks_is_no_quotation(desk: Bus) -> None:
    await publish(desk, words(f'"{REQUEST}"', provenance="typed_quoted"))
    await until(lambda: written(desk))
    (memory,) = await written(desk)
    assert isinstance(memory, MemoryWritten)
    assert ("always answer in French.", "person_by_harness") == (memory.text, memory.trust)


async def test_what_nobody_vouches_for_is_the_harness_s_word(desk: Bus) -> None:
    """A plugin from before vouches for nothing; what it reports is still asked for, and still remembered."""
    await publish(desk, words(REQUEST, provenance=""))
    await until(lambda: written(desk))
    (memory,) = await written(desk)
    assert isinstance(memory, MemoryWritten)
    assert ("agent", "harness") == (memory.trust, memory.source)


@pytest.mark.parametrize("provenance", ["replaced", "added"])
async def test_what_comes_into_a_person_s_message_later_asks_for_nothing(desk: Bus, provenance: str) -> None:
    await publish(desk, words(REQUEST, provenance=provenance))
    await publish(desk, words("We always use tabs, never spaces.", "msg2", provenance))
    await rested(desk)
    assert [] == await facts(desk, PROJECT)


async def test_a_person_s_words_by_a_harness_are_revised_like_any(desk: Bus) -> None:
    await publish(desk, words(REQUEST))
    await until(lambda: written(desk))
    (memory,) = await written(desk)
    assert isinstance(memory, MemoryWritten)
    answer = await send(desk, MemoryRevise(memory.memory, "Always answer in German."), "w9", AGENT, HARBOUR)
    assert answer.ok, answer.text


async def test_what_only_looks_like_a_request_is_rejected_with_its_reason(desk: Bus) -> None:
    await publish(desk, words("Please do not remember that I like tabs in code."))
    await until(lambda: judged(desk))
    (verdict,) = await judged(desk)
    assert ("rejected", ["negated_request"], "request:en") == (verdict.verdict, verdict.reasons, verdict.rule)


async def test_a_message_of_another_life_of_the_desk_is_known_by_the_log(broker: Broker, bus: Bus) -> None:
    """The desk ends between a message and its text."""
    message, part = words(REQUEST)
    for event in (message, part):
        connection = await connected(broker)
        async with opened(Desk(), connection, quick_settings()):
            await publish(bus, [event])
            await rested(bus)
        await connection.close()
    assert 1 == len(await written(bus))


@pytest.mark.parametrize("provenance", ["typed", ""])
@pytest.mark.parametrize(
    "text", [REQUEST, "Remember that the staging database is called harbour_two.", "Never use tabs."]
)
async def test_what_an_agent_writes_to_its_sub_agent_is_not_remembered(desk: Bus, text: str, provenance: str) -> None:
    child, grandchild = Address("harbour", "child"), Address("harbour", "grandchild")
    await publish(desk, [SessionOpened(harness="h", mode="subagent", parent="s1")], child)
    await publish(desk, [SessionOpened(harness="h", mode="subagent", parent="child")], grandchild)
    for session in (child, grandchild):
        await publish(desk, words(text, provenance=provenance), session)
    await publish(
        desk, [StepOpened(step="1", mode="subagent"), *words(text, provenance=provenance)], Address("harbour", "x")
    )
    await rested(desk)
    assert [] == await facts(desk, PROJECT)


async def test_a_copy_of_a_session_is_no_sighting(desk: Bus) -> None:
    copy = Address("harbour", "copy")
    await publish(desk, words(REQUEST))
    await publish(desk, [SessionForked(origin="s1")], copy)
    await publish(desk, words(REQUEST, "copied"), copy)
    await publish(desk, words("Remember: never push to main.", "new"), copy)
    await rested(desk)
    assert ["accepted", "accepted"] == [one.verdict for one in await judged(desk)]


async def test_a_secret_in_a_request_is_masked(desk: Bus) -> None:
    await publish(desk, words(f"Remember: the deploy token is token={SECRET}"))
    await until(lambda: written(desk))
    recorded = [one.data for one in await stored(desk, LOG.name) if one.subject.startswith(PROJECT.log_prefix)]
    assert [] == [data for data in recorded if SECRET.encode() in data]


async def test_where_memory_is_off_nothing_is_taken_in_not_even_later(broker: Broker, bus: Bus) -> None:
    async with opened(Desk(), bus, replace(quick_settings(), memory=MemoryLimits(enabled=False))):
        await publish(bus, words(REQUEST))
        await rested(bus)
    assert [] == await facts(bus, PROJECT)
    connection = await connected(broker)
    async with opened(Desk(), connection, quick_settings()):
        await publish(bus, words("Remember: never push to main.", "msg2"))
        await until(lambda: written(bus))
    await connection.close()
    assert 1 == len(await judged(bus))


# What sessions show.

RULE = "Always run the migrations before the tests."
REASON = "We keep the log in JetStream because it survives every restart."


def ran(command: str, exit_code: int | None = 0, **more: str) -> list[Event]:
    return [ToolRan(message="msg2", part="msg2/0", tool="bash", exit_code=exit_code, target=command, **more)]


@pytest.mark.parametrize(
    ("events", "rule", "text"),
    [
        (words(REASON, role="assistant"), "decision", REASON),
        (ran("make check"), "command", "The work is checked with `make check`."),
    ],
)
async def test_what_a_session_shows_holds_when_another_one_shows_it_too(
    desk: Bus, events: Sequence[Event], rule: str, text: str
) -> None:
    for _ in range(2):
        await publish(desk, events)
        await rested(desk)
        assert [("held", rule)] == [(one.verdict, one.rule) for one in await judged(desk)]
    await publish(desk, events, Address("harbour", "s2"))
    await rested(desk)
    assert ["held", "accepted"] == [one.verdict for one in await judged(desk)]
    (memory,) = (await folded(desk)).memories.values()
    assert (text, "active", "historian", ["s1", "s2"]) == (
        memory.text,
        memory.status,
        memory.trust,
        [source.session for source in memory.sources],
    )


async def test_a_rule_that_a_person_may_have_pasted_waits_however_often_it_comes(desk: Bus) -> None:
    for session in ("s1", "s2", "s3"):
        await publish(desk, words(f"Here is the readme:\n\n{RULE}"), Address("harbour", session))
    await rested(desk)
    assert [(RULE, "pending")] == [(one.text, one.status) for one in (await folded(desk)).memories.values()]


async def test_a_rule_that_a_person_types_holds_at_once_in_their_own_words(desk: Bus) -> None:
    await publish(desk, words(f"hm, ok. {RULE} Can you fix the first one now?"))
    await rested(desk)
    (memory,) = (await folded(desk)).memories.values()
    assert (RULE, "active", "person_by_harness") == (memory.text, memory.status, memory.trust)
    assert [("s1", "msg1")] == [(one.session, one.message) for one in memory.sources]


@pytest.mark.parametrize(
    "events",
    [
        words(f"{RULE[:-1]}?"),
        words(RULE, role="assistant"),
        words(REASON),
        words(f"> {RULE}"),
        ran("make check", 1),
        ran("make check", None),
        ran("make check", status="error"),
        ran("cat tests/test_a.py"),
    ],
)
async def test_what_shows_nothing_lasting_is_left_alone(desk: Bus, events: Sequence[Event]) -> None:
    await publish(desk, events)
    await rested(desk)
    assert {"sentence", "decision", "command"}.isdisjoint(one.rule for one in await judged(desk) if not one.reasons)


async def test_what_a_session_was_shown_at_its_first_call_it_does_not_show_anew(desk: Bus) -> None:
    await send(desk, MemoryWrite(text="Always run the tests first.", category="PROJECT_RULES"))
    asks = words("Remember: always run the tests first.", "m1")
    await publish(desk, [StepOpened(step="1", mode="primary"), *asks], Address("harbour", "s1"))
    child = Address("harbour", "s2")
    await publish(desk, [SessionOpened(harness="h", mode="subagent", parent="s1"), *asks], child)
    await rested(desk)
    (memory,) = (await folded(desk)).memories.values()
    assert 2 == memory.seen  # the person means it; what an agent writes to its sub-agent counts for nothing
    assert [[], []] == [one.reasons for one in await judged(desk)]


@pytest.mark.parametrize(
    "plan", [PlanExtended(revision=1, step="1", as_of=10), PlanRebased(revision=1, step="1", as_of=10, causes=["late"])]
)
@pytest.mark.parametrize(("shows_it", "seen"), [(True, 1), (False, 2)])
async def test_what_an_agent_repeats_counts_unless_a_plan_recorded_it_in_its_head(
    desk: Bus, plan: PlanExtended | PlanRebased, *, shows_it: bool, seen: int
) -> None:
    write = MemoryWrite(text="Always run the tests first.", category="PROJECT_RULES")
    await send(desk, write, "first")
    (name,) = (await folded(desk)).memories
    made = replace(plan, memories=[name] if shows_it else [])
    await publish(desk, [StepOpened(step="1", mode="primary"), made], Address("harbour", "s1"))
    await send(desk, write, "again", actor=AGENT, address=Address("harbour", "s1"))
    assert seen == (await folded(desk)).memories[name].seen


async def test_a_subagents_work_counts_for_the_session_that_started_it(desk: Bus) -> None:
    for number in range(2):
        child = Address("harbour", f"child{number}")
        await publish(desk, [SessionOpened(harness="h", mode="subagent", parent="s1")], child)
        await publish(desk, [*words(RULE), *ran("make check")], child)
    await rested(desk)
    assert [("held", "command", "s1")] == [(one.verdict, one.rule, one.origin) for one in await judged(desk)]


# Summaries.


def summary(*lines: str) -> str:
    return "\n".join(("## Goal", "Go on.", "## Memory Candidates", *lines))


async def compacted(bus: Bus, text: str, message: str = "sum1") -> list[MemoryJudged]:
    """What becomes of a summary; those judgements that are new."""
    before = len(await judged(bus))
    await publish(bus, words(text, message, "assistant", is_summary=True))
    await publish(bus, [NativeCompacted()])
    await rested(bus)
    return (await judged(bus))[before:]


NEW = "- [decision] Always gate schema changes behind a versioned migration."


async def test_a_candidate_of_a_summary_waits_for_a_person(desk: Bus) -> None:
    (verdict,) = await compacted(desk, summary(NEW))
    assert ("held", "summary", "summary", "sum1", "s1") == (
        verdict.verdict,
        verdict.rule,
        verdict.trust,
        verdict.message,
        verdict.origin,
    )
    (memory,) = await written(desk)
    assert isinstance(memory, MemoryProposed)


async def test_candidates_of_a_summary_are_judged_by_the_gate_and_their_length(desk: Bus) -> None:
    found = await compacted(desk, summary(NEW, "- [project] 42 tests passed after the fix", "- [decision] Use it."))
    assert ["held", "rejected", "rejected"] == [one.verdict for one in found]
    assert "progress_snapshot" in found[1].reasons
    assert "too_short" in found[2].reasons


async def test_one_wrong_line_voids_a_summary(desk: Bus) -> None:
    (verdict,) = await compacted(desk, summary(NEW, "and some prose"))
    assert ("rejected", ["void_block"]) == (verdict.verdict, verdict.reasons)


async def test_the_same_summary_again_is_judged_once(desk: Bus) -> None:
    await compacted(desk, summary(NEW))
    await publish(desk, [NativeCompacted(summary="sum1")])
    await rested(desk)
    assert 1 == len(await judged(desk))


async def test_a_summary_that_does_not_come_is_given_up(desk: Bus) -> None:
    await publish(desk, [NativeCompacted(), *words("Hello.", "m", "assistant"), NativeCompacted(summary="never")])
    await rested(desk)
    assert [] == await facts(desk, PROJECT)


async def shown(bus: Bus, compactions: int = 1) -> str:
    """The line that names the list of memories as the session that was compacted so often is shown it now."""
    return f"Memory ref snapshot id: {snapshot(await folded(bus), holder_of(HARBOUR.session, compactions)).id}"


async def test_a_summary_commands_what_its_writer_was_shown(desk: Bus) -> None:
    await send(desk, PolicySet("summary", "applied"), "p")
    await compacted(desk, summary(NEW, "- [project] The service keeps its log in JetStream."), "sum0")
    second, first = snapshot(await folded(desk)).memories
    line = await shown(desk)
    await send(desk, MemoryWrite(text="Always be brief.", category="PROJECT_RULES"), "w")
    found = await compacted(
        desk,
        summary(line, "REINFORCE [M2]", "REPLACE [M1] [project] The service keeps its log in NATS.", "REINFORCE [M9]"),
    )
    assert [("absorbed", first.id, []), ("rejected", "", ["invalid_memory_ref"])] == [
        (one.verdict, one.memory, one.reasons) for one in (found[0], found[2])
    ]
    assert ("accepted", ["numbered_ref_replace", "same_type_replace"]) == (found[1].verdict, found[1].reasons)
    now = await folded(desk)
    assert (2, "superseded", found[1].memory) == (
        now.memories[first.id].seen,
        now.memories[second.id].status,
        now.memories[second.id].superseded_by,
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "missing_compaction_snapshot_id"),
        ("Memory ref snapshot id: 99999-abcdef01", "compaction_snapshot_mismatch"),
        ("Memory ref snapshot id: 4f7c", "missing_memory_ref_snapshot"),
    ],
)
async def test_a_summary_that_names_no_list_or_another_one_commands_nothing(desk: Bus, line: str, reason: str) -> None:
    await send(desk, MemoryWrite(text=BODY, category="PROJECT_RULES"))
    found = await compacted(desk, summary(line, "REINFORCE [M1]"))
    assert [("rejected", [reason])] == [(one.verdict, one.reasons) for one in found]


async def test_the_id_of_an_earlier_summary_or_of_another_session_commands_nothing(desk: Bus) -> None:
    await send(desk, MemoryWrite(text=BODY, category="PROJECT_RULES"))
    earlier = await shown(desk, 0)
    assert ["absorbed"] == [one.verdict for one in await compacted(desk, summary(earlier, "REINFORCE [M1]"), "sum0")]
    again = await compacted(desk, summary(earlier, "REINFORCE [M1]"), "sum1")
    assert [("rejected", ["compaction_snapshot_mismatch"])] == [(one.verdict, one.reasons) for one in again]
    other = f"Memory ref snapshot id: {snapshot(await folded(desk), holder_of('s2', 2)).id}"
    foreign = await compacted(desk, summary(other, "REINFORCE [M1]"), "sum2")
    assert [("rejected", ["compaction_snapshot_mismatch"])] == [(one.verdict, one.reasons) for one in foreign]


async def test_a_correction_that_waits_supersedes_when_a_person_takes_it_up(desk: Bus) -> None:
    await send(desk, PolicySet("summary", "applied"), "p1")
    await compacted(desk, summary(NEW), "sum0")
    (before,) = (await folded(desk)).memories.values()
    await send(desk, PolicySet("summary", "held"), "p2")
    text = "Always gate schema changes behind two reviews."
    found = await compacted(desk, summary(await shown(desk), f"REPLACE [M1] [decision] {text}"))
    assert ["held"] == [one.verdict for one in found]
    now = await folded(desk)
    assert ("active", (before.id,)) == (
        now.memories[before.id].status,
        now.memories[found[0].memory].supersedes,
    )


# Two desks, and the end of one.


async def test_two_desks_judge_each_message_once(broker: Broker, bus: Bus) -> None:
    other = await connected(broker)
    count = 60
    try:
        async with opened(Desk(), bus, quick_settings()), opened(Desk(), other, quick_settings()):
            wishes = [words(f"Remember: read page {number} first.", f"msg{number}") for number in range(count)]
            await asyncio.gather(
                *(
                    Appender(bus).append(wrapped(one, {"x": n}, Address("harbour", f"s{n}")), {})
                    for n, one in enumerate(wishes)
                )
            )
            await rested(bus)
    finally:
        await other.close()
    assert {"accepted": count} == counted(await folded(bus))


def counted(found: Book) -> dict[str, int]:
    verdicts = [one.verdict for one in found.candidates.values()]
    return {verdict: verdicts.count(verdict) for verdict in set(verdicts)}


@pytest.mark.own_broker
async def test_a_desk_that_is_killed_takes_in_everything_once(bus: Bus, tmp_path: Path) -> None:
    """Kill -9 between candidates and their verdicts, and between a verdict and what it leads to."""
    count = 300
    async with room("desk", tmp_path, ANNALS_LOOP__ACK_WAIT="1") as process:
        await process.logs("open")
        for number in range(count):
            await Appender(bus).append(
                wrapped(
                    words(f"Remember: read page {number} first.", "msg1"), {"x": 1}, Address("harbour", f"s{number}")
                ),
                {},
            )
            if number == count // 2:
                await until(lambda: judged(bus))
                process.process.kill()
        assert -signal.SIGKILL == await process.ends()
    assert 0 < len(await judged(bus)) < count
    async with room("desk", tmp_path, "--until-idle", ANNALS_LOOP__ACK_WAIT="1") as process:
        assert 0 == await process.ends()
    found = await folded(bus)
    assert {"accepted": count} == counted(found)
    assert (count, []) == (len(found.memories), list(found.unfinished))
    assert [count, count] == [len(await judged(bus)), len(await written(bus))]
