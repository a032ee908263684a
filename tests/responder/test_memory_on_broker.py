"""A project's memory on a real broker: written through the desk, shown by another harness, asked for and explained."""

import asyncio
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from schemas.asks import MemoryReply
from schemas.codec import encode
from schemas.commands import (
    MemoryArchive,
    MemoryPin,
    MemoryPropose,
    MemoryReinforce,
    MemoryRevise,
    MemoryWrite,
    NoteWrite,
)
from schemas.envelope import Actor
from schemas.explain_asks import ExplainAsk, Explanation
from schemas.plan import SetHead
from schemas.subjects import Address, ask
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.responder.answers import memory as answers_of_memory
from services.responder.answers import memory_reports
from services.settings import MemoryLimits
from tests.helpers.broker_world import HARBOUR
from tests.helpers.examples import examples
from tests.helpers.memory_sessions import PATIENCE, asked, begun, done, heads, notices, rooms
from tests.helpers.sql import select
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

RULE = "Always run the tests before a commit."
OTHER = "Use pnpm instead of npm, because the lock file is shared."
WORDS = (
    "Never push to the main branch on Fridays.",
    "Prefer small diffs over large ones, since they are read faster.",
    "Dates are always stored in UTC.",
)


async def names(bus: Bus) -> dict[str, str]:
    """Text -> id of all memories."""
    return {one.text: one.id for one in (await asked(bus, "list")).memories}


async def test_what_is_written_in_one_harness_is_in_the_head_of_a_new_session_of_another(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "one") as serving:
        first = await begun(bus, "opencode", "one")
        assert [] == heads(await first.step(serving))
        await done(bus, MemoryWrite(text=RULE), Address(HARBOUR.project, "one"))
        second = await begun(bus, "pi", "two")
        (head,) = heads(await second.step(serving))
        assert f"\n- {RULE}\n" in head
        child = await begun(bus, "pi", "three", "subagent")
        assert [] == heads(await child.step(serving))

        await done(bus, MemoryWrite(text=OTHER))
        await first.says("go on")
        (notice,) = notices(await first.step(serving))
        assert (OTHER in notice, RULE in notice) == (True, False)  # the rule came from the session itself
        await second.says("go on")
        assert [OTHER in notice for notice in notices(await second.step(serving))] == [True]

    async with rooms(broker, tmp_path / "two") as serving:  # which know nothing but the log
        await second.says("and on")
        after = await second.step(serving)
        assert ([], []) == (heads(after), notices(after))
        third = await begun(bus, "claude", "four")
        (head,) = heads(await third.step(serving))
        assert RULE in head
        assert OTHER in head


async def test_the_question_and_the_views_agree_on_what_is_remembered(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path) as serving:
        for words in (RULE, OTHER, *WORDS):
            await done(bus, MemoryWrite(text=words))
        known = await names(bus)
        await done(bus, MemoryPin(known[RULE]))
        await done(bus, MemoryArchive(known[OTHER], reason="we use yarn now"))
        await done(bus, MemoryRevise(known[WORDS[0]], text="Never push to the main branch on Thursdays."))
        await done(bus, MemoryReinforce(known[WORDS[1]]))
        for room in serving:
            await until(room.idle)
        reply = await asked(bus, "list")
        listed = {
            one.id: [one.category, one.kind, one.text, one.status, one.pinned, one.trust, one.verification, one.seen]
            for one in reply.memories
        }
        columns = 'memory, category, "class", text, status, pinned, trust, verification, seen'
        rows = await select(bus, f"select {columns} from memories where project = '{HARBOUR.project}'")
        assert listed == {row[0]: list(row[1:]) for row in rows}
        assert {"active": 4, "archived": 1} == reply.counts
        total = (await asked(bus, "quality")).total
        assert ((total,),) == await select(bus, "select count(*) from memory_decisions")
        assert total >= 5


async def test_the_view_has_why_a_head_shows_a_memory_and_what_became_of_it(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path) as serving:
        await done(bus, MemoryWrite(text=RULE))
        session = await begun(bus, "pi", "one")
        (head,) = heads(await session.step(serving))
        await done(bus, MemoryWrite(text=OTHER))
        known = await names(bus)
        shown = await asked(bus, "why", id=known[RULE], session="one")
        assert (True, "shown", 1) == (shown.rendered, shown.reason, shown.revision)
        assert [("memory.written", RULE)] == [(fact.type, fact.text) for fact in shown.facts]
        newer = await asked(bus, "why", id=known[OTHER], session="one")
        assert (False, "newer_than_head") == (newer.rendered, newer.reason)
        assert (await asked(bus, "why", id=known[OTHER])).rendered

        question = ExplainAsk(HARBOUR.project, "one")
        reply = await bus.request(ask(question.NAME, HARBOUR.project), encode(question), PATIENCE)
        explained = msgspec.json.decode(reply, type=Explanation).edits
        assert [("memory.written", RULE)] == [
            (fact.type, fact.text) for one in explained if isinstance(one.edit, SetHead) for fact in one.facts
        ]
        assert head == next(one.edit.text for one in explained if isinstance(one.edit, SetHead))

        await done(bus, MemoryRevise(known[RULE], text="Run the tests before a commit."))
        await done(bus, MemoryArchive(known[RULE], reason="the hook does"))
        history = await asked(bus, "history", id=known[RULE][:6])
        assert ["memory.written", "memory.revised", "memory.archived"] == [fact.type for fact in history.facts]
        assert ("the hook does", known[RULE]) == (history.facts[-1].text, history.id)


async def test_the_view_is_as_it_was_at_any_position_of_the_log(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path) as serving:
        positions, replies = [], []
        for words in (RULE, *WORDS):
            positions.append((await done(bus, MemoryWrite(text=words))).seq)
            for room in serving:
                await until(room.idle)
            replies.append(await asked(bus, "list"))
        last = positions[-1]
        await done(bus, MemoryArchive((await names(bus))[RULE]))
        for position, then in reversed([*zip(positions, replies, strict=True)]):
            reply = await asked(bus, "list", as_of=position)
            assert position == reply.as_of
            assert {one.id for one in then.memories} == {one.id for one in reply.memories}
            assert then.counts == reply.counts
        first = await asked(bus, "list", as_of=last)
        assert first == await asked(bus, "list", as_of=last)
        assert (await asked(bus, "missing", as_of=1)).total == 0


async def test_a_question_that_has_no_answer_gets_a_sentence(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path):
        await done(bus, MemoryWrite(text=RULE))
        other = Address("other")
        elsewhere = (await done(bus, MemoryWrite(text=OTHER), other)).text
        foreign = next(word for word in elsewhere.replace(".", " ").split() if word[:1] == "m" and len(word) == 11)
        for fields, sentence in (
            ({"view": "why", "id": "nothing"}, "This project has no memory 'nothing'; list its memories"),
            ({"view": "history", "id": foreign}, f"This project has no memory '{foreign}'"),
            ({"view": "why"}, "No memory is named: give its id."),
            ({"view": "list", "filter": "gone"}, "'gone' is no status of a memory; use one of"),
            ({"view": "list", "page": 2}, "There is no page 2: the list has 1."),
            ({"view": "list", "as_of": 10**6}, "The log has no position 1000000: it goes from 1 to"),
            ({"view": "list", "as_of": -1}, "The log has no position -1"),
        ):
            assert sentence in (await asked(bus, **fields)).error  # type: ignore[arg-type] # of many kinds
        (known,) = (await names(bus)).values()
        assert "there is no session gone" in (await asked(bus, "why", id=known, session="gone")).error
        unread = await bus.request(ask("memory", HARBOUR.project), b'{"project": "harbour", "view": "x"}', PATIENCE)
        assert "this question cannot be read" in msgspec.json.decode(unread, type=MemoryReply).error


async def test_an_agent_is_reminded_of_its_notes_after_a_commit(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path) as serving:
        session = await begun(bus, "pi", "one")
        await session.step(serving)
        await done(bus, NoteWrite(text="Ask Ada."), Address(HARBOUR.project, "one"), Actor("agent", "build"))
        await session.runs("git commit -m done")
        await session.step(serving)
        await session.says("next")
        (notice,) = notices(await session.step(serving))
        assert ("1 deferred note." in notice, "`ctx_memory`" in notice) == (True, True)
        await session.says("and on")
        assert [] == notices(await session.step(serving))


async def test_where_memory_is_off_nothing_is_shown_and_the_question_says_so(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path / "on") as serving:
        await done(bus, MemoryWrite(text=RULE))
        session = await begun(bus, "pi", "one")
        assert [True] == [RULE in head for head in heads(await session.step(serving))]
        await done(bus, MemoryWrite(text=OTHER))
    async with rooms(broker, tmp_path / "off", MemoryLimits(enabled=False)) as serving:
        await session.says("go on")
        after = await session.step(serving)
        assert ([], []) == (heads(after), notices(after))
        assert [] == heads(await (await begun(bus, "pi", "two")).step(serving))
        assert "memory of this installation is off" in (await asked(bus, "list")).error


@pytest.mark.slow
async def test_a_running_session_keeps_its_bytes_while_much_is_written_and_hears_of_each_thing_once(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    """Up to 100 steps, 1,000 writes, and rooms that are started anew in the middle and know nothing but the log."""
    steps, writes = examples(100), 10
    noticed: list[str] = []
    session = await begun(bus, "opencode", "one")
    for life in range(2):
        async with rooms(broker, tmp_path / str(life)) as serving:
            if not life:
                await done(bus, MemoryWrite(text=RULE))
                (head,) = heads(await session.step(serving))
                assert RULE in head
            for step in range(life * steps // 2, (life + 1) * steps // 2):
                texts = [f"Never moor boat {step * writes + n} at berth {step}-{n}." for n in range(writes)]
                await asyncio.gather(*(done(bus, MemoryWrite(text=text)) for text in texts))
                message = await session.says("go on")
                edits = await session.step(serving)
                assert [] == [edit for edit in edits if not getattr(edit, "part", "").startswith(f"{message}.")]
                noticed += notices(edits)
            other = await begun(bus, "pi", f"other{life}")
            assert ["Never moor boat" in head for head in heads(await other.step(serving))] == [True]
    times = Counter(name for notice in noticed for name in re.findall(r"Never moor boat \d+", notice))
    assert {1} == {*times.values()}
    assert len(times) > steps
    assert max(len(notice) for notice in noticed) < 1_000


async def test_what_waits_is_reviewed_with_the_words_of_its_message(bus: Bus, broker: Broker, tmp_path: Path) -> None:
    async with rooms(broker, tmp_path) as serving:
        session = await begun(bus, "opencode", "one")
        pasted = "Here is the readme of the harbour, please have a look:\n\nNever rename the quays of a running season."
        await session.says(pasted)
        await session.step(serving)
        for room in serving:
            await until(room.idle)

        async def waits() -> bool:
            return bool((await asked(bus, "review")).memories)

        await until(waits)
        reply = await asked(bus, "review")
        (entry,) = reply.memories
        assert ("Never rename the quays of a running season.", "pending") == (entry.text, entry.status)
        assert " ".join(pasted.split()) == reply.quotes[entry.id]
        policy = (await asked(bus, "policy")).policy
        assert ("applied", "held") == (policy["agent"], policy["summary"])
        assert [] == [*(await asked(bus, "notes")).notes]


async def test_all_that_waits_is_reviewed_page_by_page(
    bus: Bus, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers_of_memory, "MOST_REVIEWED", 2)
    monkeypatch.setattr(memory_reports, "PAGE", 3)
    async with rooms(broker, tmp_path):
        texts = {f"Never moor boat {number} at berth {number}." for number in range(5)}
        for text in texts:
            await done(bus, MemoryPropose("", text))
        replies = [await asked(bus, "review", page=page) for page in (1, 2, 3)]
        assert [(2, True), (2, True), (1, False)] == [(len(one.memories), one.more) for one in replies]
        assert texts == {memory.text for one in replies for memory in one.memories}
        assert "There is no page 4: the list has 3." == (await asked(bus, "review", page=4)).error


async def test_what_is_hidden_is_listed_with_the_time_of_the_fact_since_which_it_is(
    bus: Bus, broker: Broker, tmp_path: Path
) -> None:
    async with rooms(broker, tmp_path):
        rule = (
            "Quay {0} is closed on day {0} of each month, once the tide of that day has turned for good. " + "x" * 300
        )
        for number in range(12):
            await done(bus, MemoryWrite(text=rule.format(number)))
        reply = await asked(bus, "missing")
        assert reply.total == len(reply.hidden) > 0
        assert "Quay 0 is closed" in reply.hidden[-1].text
        assert "since 20" in reply.text
        assert f"(fact {reply.hidden[-1].since})" in reply.text
