"""The rows of a session: however its facts come in batches, they end as the same rows."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.envelope import Envelope
from schemas.events import (
    CompartmentSealed,
    Event,
    HistoryReplaced,
    MessageListed,
    MessageRecorded,
    PartRecorded,
    PartRemoved,
    SessionClosed,
    SessionForked,
    SessionOpened,
)
from services.domain.search.rows import SearchRow
from services.indexer.core.changes import RowChanges
from services.indexer.core.session import SessionRows, Touched, changes, evolve, touched
from tests.helpers.indexed_sessions import HARBOUR, Log, answered, listed, message, removed

Rows = dict[str, SearchRow]


def written(
    facts: Sequence[tuple[Envelope, Event]], sizes: Sequence[int] = (), onto: Mapping[str, SearchRow] | None = None
) -> Rows:
    """The rows that are there when these facts came in batches of these sizes; without: in one. `onto`: rows there."""
    rows: Rows = dict(onto or {})
    session, start, sizes = SessionRows(), 0, [*sizes]
    while start < len(facts):
        size = sizes.pop() if sizes else len(facts)
        before, names, collected = session, set[Touched](), RowChanges()
        for envelope, event in facts[start : start + size]:
            after = evolve(session, event, envelope)
            names |= touched(session, after, event)
            session = after
        collected.add(changes(HARBOUR, before, session, names))
        for kind in collected.kinds:
            for name in collected.gone.get(kind, ()):
                rows.pop(name, None)
            rows |= collected.rows.get(kind, {})
        start += size
    return rows


def log(*events: Event | Sequence[Event]) -> list[tuple[Envelope, Event]]:
    made = Log()
    for event in events:
        made.add(*(event if isinstance(event, Sequence) else (event,)))
    return made.facts


def found(*events: Event | Sequence[Event], kind: str = "message") -> list[SearchRow]:
    rows = written(log(*events)).values()
    return sorted((row for row in rows if row.kind == kind), key=lambda row: (row.ordinal, row.seq))


def texts(*events: Event | Sequence[Event], kind: str = "message") -> list[str]:
    return [row.text for row in found(*events, kind=kind)]


def test_a_spoken_several_parts_is_one_text_in_their_order() -> None:
    first, second = message("m1", "the second", part="p2", position=2), message("m1", "the first", part="p1")
    assert ["the first\nthe second"] == texts(first, second)


def test_only_parts_that_are_sent_are_found() -> None:
    parts = [*message("m1", "sent", part="p1"), *message("m1", "unlisted", part="p2")]
    assert ["sent"] == texts(parts, MessageRecorded(message="m1", role="user", listed=["p1"]))


@pytest.mark.parametrize(
    ("opened", "role"),
    [
        (SessionOpened(harness="pi", mode="primary"), "user"),
        (SessionOpened(harness="pi", mode="subagent"), "task"),
        (SessionOpened(harness="pi", mode="primary", parent="origin"), "task"),
    ],
)
def test_what_an_agent_asks_of_one_that_it_started_is_a_task(opened: SessionOpened, role: str) -> None:
    messages = (message("m1", "dredge the harbour"), message("m2", "it is dredged", role="assistant", part="p2"))
    rows = found(opened, *messages)
    assert [role, "assistant"] == [row.role for row in rows]
    assert [(row.text, row.hash) for row in found(*messages)] == [(row.text, row.hash) for row in rows]


def test_a_new_text_takes_the_place_of_the_former_one() -> None:
    assert ["better"] == texts(message("m1", "worse"), message("m1", "better"))


def test_what_a_harness_puts_into_a_text_is_not_found() -> None:
    text = "look\n<system-reminder>\nyou may read files\n</system-reminder>"
    assert ["look"] == texts(message("m1", text))


def test_a_short_message_is_read_with_its_neighbours_and_a_long_one_alone() -> None:
    rows = found(message("m1", "one"), message("m2", "word " * 80), message("m3", "three"), listed(1, "m1", "m2", "m3"))
    assert [("", "word"), ("", ""), ("word", "")] == [(row.before[:4], row.after[:4]) for row in rows]
    assert 80 == len(rows[0].after.split())


def test_it_is_read_with_as_many_messages_as_it_takes() -> None:
    rows = found(*(message(f"m{number}", f"text {number}") for number in range(60)))
    assert " ".join(f"text {number}" for number in range(41, 60)).split() == rows[40].after.split()
    assert 80 == len(rows[50].before.split())


def test_a_message_that_is_given_a_place_is_read_with_its_neighbours_there() -> None:
    rows = found(message("m1", "one"), message("m2", "two"), message("m3", "three"), listed(1, "m2", "m1"))
    assert [("two", "", "one\nthree"), ("one", "two", "three"), ("three", "two\none", "")] == [
        (row.text, row.before, row.after) for row in sorted(rows, key=lambda row: row.ordinal or 9)
    ]


def test_a_message_without_a_text_is_passed_over() -> None:
    rows = found(message("m1", "one"), message("m2", "out", "assistant", kind="tool"), message("m3", "three"))
    assert ["three", ""] == [row.after for row in rows]


def test_a_fork_adds_nothing_that_was_copied() -> None:
    old = message("m1", "from before")
    digest = next(event.digest for event in old if isinstance(event, PartRecorded))
    fork = SessionForked(origin="s0", digests=[digest], tags=[1], places=[1, 4])
    assert [] == texts(fork, old)
    assert ["new"] == texts(fork, old, listed(1, "m1"), message("m2", "new"))
    assert ["from before"] == texts(fork, old, message("m7", "from before"), listed(5, "m7"))


def sealed(name: str, first: int, last: int, generation: int = 0, **changes_: Any) -> CompartmentSealed:  # noqa: ANN401 - fields
    made = CompartmentSealed(
        compartment=name, run="r", generation=generation, first=first, last=last, first_message=f"m{first}",
        last_message=f"m{last}", title=f"title {name}", p1=f"about {name}", names=["crane.py"],
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes_)


def test_compartments_are_found_while_they_are_in_force() -> None:
    one, two, new = sealed("a", 1, 2), sealed("b", 3, 4), sealed("c", 1, 4, generation=1)
    replaced = HistoryReplaced(run="r", generation=1, first=1, last=4)
    assert ["title a\nabout a\ncrane.py", "title b\nabout b\ncrane.py"] == texts(one, two, new, kind="compartment")
    assert ["title c\nabout c\ncrane.py"] == texts(one, two, new, replaced, kind="compartment")
    assert [] == texts(sealed("a", 1, 2, copied=7), kind="compartment")


def test_a_compartment_of_a_deleted_message_is_found_no_more() -> None:
    messages = [message(f"m{number}", f"text {number}") for number in range(1, 5)]
    facts = (*messages, listed(1, "m1", "m2", "m3", "m4"), sealed("a", 1, 2), sealed("b", 3, 4))
    assert ["title b\nabout b\ncrane.py"] == texts(*facts, removed("m1"), kind="compartment")


def test_nothing_of_a_deleted_session_is_found() -> None:
    assert {} == written(log(message("m1", "one"), sealed("a", 1, 1), SessionClosed(reason="deleted")), [1, 1, 1])


NAMES = [f"m{number}" for number in range(8)]
TEXTS = ["one", "two words", "many " * 30, "long " * 90, "", "<system-reminder>\nhush\n</system-reminder>"]


def _spoken(name: str, text: str, role: str, part: int) -> list[Event]:
    return message(name, text, role, part=f"{name}.{part}", position=part)


EVENTS = st.one_of(
    st.builds(_spoken, st.sampled_from(NAMES), st.sampled_from(TEXTS), st.sampled_from(["user", "assistant", "system"]),
              st.integers(0, 2)),
    st.builds(lambda name, output, part: answered(name, output, part=f"{name}.{part}"), st.sampled_from(NAMES),
              st.sampled_from(["E4711", "a/b.py two", "two E4711", "plain"]), st.integers(0, 3)),
    st.builds(lambda name, reason: [removed(name, reason=reason)], st.sampled_from(NAMES),
              st.sampled_from(["deleted", "reverted", "unlisted"])),
    st.builds(lambda name, part: [PartRemoved(message=name, part=f"{name}.{part}")], st.sampled_from(NAMES),
              st.integers(0, 2)),
    st.builds(lambda name, place: [MessageListed(messages=[name], ordinals=[place])], st.sampled_from(NAMES),
              st.integers(1, 12)),
    st.builds(lambda first: [sealed(f"c{first}", first, first + 1)], st.integers(1, 6)),
)  # fmt: skip


@given(st.lists(EVENTS, max_size=30), st.lists(st.integers(1, 6), max_size=40))
def test_what_grew_in_any_batches_is_what_is_made_in_one(events: list[list[Event]], sizes: list[int]) -> None:
    facts = log(*events)
    assert written(facts) == written(facts, sizes)


@given(st.lists(EVENTS, max_size=20), st.integers(0, 60))
def test_what_is_delivered_again_from_the_beginning_ends_as_the_same_rows(events: list[list[Event]], at: int) -> None:
    """Killed behind a write and before its position, the index has rows that its position does not know of."""
    facts = log(*events)
    assert written(facts) == written(facts, onto=written(facts[:at]))


@pytest.mark.parametrize("seed", range(3))
def test_long_sessions_grow_as_they_are_made(seed: int) -> None:
    chance = random.Random(seed)
    events: list[list[Event]] = []
    for number in range(150):
        events.append(message(f"m{number}", "word " * chance.randint(0, 120), chance.choice(["user", "assistant"])))
        if chance.random() < 0.3:
            events.append([listed(number + 1, f"m{number}")])
        if chance.random() < 0.1:
            events.append([removed(f"m{chance.randint(0, number)}")])
    facts = log(*events)
    sizes = [chance.randint(1, 20) for _ in range(200)]
    assert written(facts) == written(facts, sizes) == written(facts, [1] * len(facts))


def test_names_of_outputs_are_rows_of_their_messages() -> None:
    events = (
        message("m1", "I look at moor_ship", "assistant"),
        answered("m1", "moor_ship raised E4711 in quay/berth.py"),
    )
    (row,) = found(*events, listed(4, "m1"), kind="output")
    assert ("E4711\nquay/berth.py", "m1", "m1", 4, "s1") == (row.text, row.ref, row.message, row.ordinal, row.session)
    assert ["I look at moor_ship"] == texts(*events), "and the message has its text"
    assert [] == texts(answered("m2", "nothing of note"), kind="output")


def test_names_go_with_their_output() -> None:
    first = answered("m1", "E4711")
    assert [] == texts(first, PartRemoved(message="m1", part="m1.9"), kind="output")
    assert [] == texts(first, removed("m1"), kind="output")
    assert [] == texts(first, SessionClosed(reason="deleted"), kind="output")
    assert ["E4712"] == texts(first, answered("m1", "E4712"), kind="output")
    assert ["E4711"] == texts(first, removed("m1", reason="unlisted"), kind="output")
    unlisted = MessageRecorded(message="m1", role="assistant", listed=["other"])
    assert [] == texts(first, unlisted, kind="output")


def test_a_fork_adds_no_names_that_were_copied() -> None:
    old = answered("m1", "E4711", digest="d1")
    fork = SessionForked(origin="s0", digests=["d1"], tags=[1], places=[1, 4])
    assert [] == texts(fork, old, kind="output")
    assert ["E4712"] == texts(fork, old, answered("m1", "E4712", part="new"), kind="output")
    assert ["E4711"] == texts(fork, answered("m7", "E4711", digest="d1"), listed(5, "m7"), kind="output")


def test_names_do_not_change_where_only_neighbours_do() -> None:
    facts = log(answered("m1", "E4711"), message("m2", "hello"))
    session = SessionRows()
    for envelope, event in facts[:2]:
        session = evolve(session, event, envelope)
    before, names = session, set[Touched]()
    for envelope, event in facts[2:]:
        after = evolve(session, event, envelope)
        names |= touched(session, after, event)
        session = after
    assert [] == [
        row for row in changes(HARBOUR, before, session, {*names, ("message", "m1")}).rows if row.kind == "output"
    ]


@pytest.mark.parametrize("sizes", [[1] * 9, [1, 4]])
def test_that_a_session_was_started_by_an_agent_may_come_behind_its_messages(sizes: list[int]) -> None:
    messages = (message("m1", "dredge the harbour"), message("m2", "and the quay", part="p2"))
    facts = log(*messages, SessionOpened(harness="pi", mode="primary", parent="origin"))
    assert written(facts) == written(facts, sizes)
    assert {"task"} == {row.role for row in written(facts, sizes).values()}
