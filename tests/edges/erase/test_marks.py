"""Marks in every kind of place that an erasure has to reach. It is killed in each stage, and then none is left.

Which events and reports there are, and which of their fields hold texts, is read off the language.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from schemas.codec import encode, encode_edits
from schemas.envelope import Actor, Envelope
from schemas.events import (
    EVENTS,
    AliasAdded,
    Event,
    HintDecided,
    MemoryWritten,
    MessageRecorded,
    NoteWritten,
    PlanExtended,
    ProfileBound,
    ProfileObserved,
    QuestionAnswered,
    QuestionPut,
    SessionOpened,
    ToolRan,
)
from schemas.inbox import Inbound, Item, Seen
from schemas.plan import AppendText, SetHead
from schemas.streams import BUCKETS, DEAD, IN, INBOUND_BODIES, LOG
from schemas.subjects import Address
from services.edges.erase import files
from services.edges.launcher.broker import Broker
from services.edges.launcher.leftover import end_leftover
from services.kit.bus import Appender, Bodies, Bus, rewriting
from services.kit.duck import Duck
from services.kit.index_place import folder_of
from services.kit.vectors import Column, Tables
from tests.helpers.accounts import MAX_PAYLOAD
from tests.helpers.broker_world import HARBOUR, NOON, connected, wrapped
from tests.helpers.erasing import STAGES, cut_off, erase
from tests.helpers.marked_texts import marked, marked_event, text_fields

pytestmark = [pytest.mark.broker, pytest.mark.own_broker, pytest.mark.soak]

SECRET = 'kestrel/"77"'  # noqa: S105 - of this test
CORE = "kestrel"
"""What is left of the secret however it is escaped. No place has it for another reason."""
MARK = re.compile(rb"([\w.]+):kestrel")
"""A mark says where it was planted."""
PROJECT, OTHER, NOWHERE = Address("harbour"), Address("harbour", "other"), Address("")
ERASED = {"secret": SECRET, "session": HARBOUR.session, "project": HARBOUR.project}
IDS: Mapping[type[Event], Mapping[str, str]] = {SessionOpened: {"harness": "pi"}, ToolRan: {"child": "s2"}}
"""What a fact is, which is refused, and the id of a sub-agent's session, which goes as well, and whose id stays."""
COPYING = (5, 7)
"""The stages that write facts one after the other."""
KILLS = [(stage, writes) for stage in range(STAGES) for writes in ((0, 60) if stage in COPYING else (0,))]
"""In which stages it is killed, and after how many facts that it has written there."""


def mark(place: str) -> str:
    return f"{place}:{SECRET}"


def facts_of(address: Address) -> list[Envelope]:
    """A fact of each event, with a mark in each of its texts but for what a fact is."""
    events = [_event(event, address.session or "project") for event in EVENTS]
    return wrapped(events, address=address)


def _event(event: type[Event], of: str) -> Event:
    ids = IDS.get(event, {})
    return marked_event(event, lambda field: ids.get(field, mark(f"{of}.{event.TYPE}.{field}")))


def elsewhere() -> list[tuple[Address, Sequence[Event]]]:
    """What is recorded of the session at other addresses, and what prompts of another one show of it."""
    memory = MemoryWritten(memory="m1", category="NAMING", text=mark("memory"), origin="s1", trust="agent")
    note = NoteWritten(note="n1", text=mark("note"), origin="s1")
    question = QuestionPut("q1", "historian", "small", mark("system"), mark("prompt"), 9, NOON, "s1")
    searched = QuestionPut("q2", "searcher", "small", "", mark("searched"), 9, NOON, "other")
    answers = [
        QuestionAnswered(one, "t", mark("answer"), f"it failed: {mark('failure')}", origin="other")
        for one in ("q1", "q2")
    ]
    hint = HintDecided(
        message="x", decision="hint", sources=["message", "note", "memory"], ids=["sm1", "n1", "m1"],
        texts=[mark("hinted"), mark("note"), mark("memory")], scores=[1, 1, 1], ages=["", "", ""],
    )  # fmt: skip
    edits = (
        SetHead(slot=0, text=f"- {mark('memory')}\n- {mark('open')}\n- {mark('trait')}"),
        AppendText(part="p", text=f"\n\n- {mark('hinted')}\n- {mark('note')}"),
    )
    plan = PlanExtended(
        revision=1, step="s", as_of=1, edits=encode_edits(edits), predecessor="s1", left_open=[mark("open")],
        left_open_in=[""], left_open_at=[0],
    )  # fmt: skip
    trait = ProfileObserved(person="ada", origin_project="harbour", origin="s1", text=mark("trait"))
    own = msgspec.structs.replace(trait, origin="other", text="mine")
    return [
        (HARBOUR, [MessageRecorded(message="sm1", role="user")]),
        (PROJECT, [memory, note, question, searched, *answers]),
        (
            NOWHERE,
            [
                ProfileBound(person="ada", origin_project="harbour", origin="other"),
                trait,
                own,
                AliasAdded(alias="pier", leads_to="harbour", how="given"),
            ],
        ),
        (OTHER, [hint, plan]),
    ]


def reports() -> list[Item]:
    """A report of each kind, with a mark in each of its texts."""
    return [marked(kind, lambda field, kind=kind: mark(f"{kind.__name__}.{field}")) for kind in get_args(Seen)]


async def planted(data: Path, what: str) -> None:
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        await plant_in_broker(bus, what)
        await bus.close()
    finally:
        server.stop()
    await plant_in_files(data, what)


async def plant_in_broker(bus: Bus, what: str) -> None:
    appender = Appender(bus)
    await appender.append(facts_of(HARBOUR), {})
    for address, events in elsewhere():
        facts = wrapped(events, address=address)
        await appender.append([msgspec.structs.replace(one, actor=Actor("agent")) for one in facts], {})
    if what != "session":
        await appender.append(facts_of(PROJECT), {})
    for number, item in enumerate(reports()):
        data = encode(Inbound(f"i{number}", NOON, (item,)))  # type: ignore[arg-type] # what a harness says
        await bus.publish(HARBOUR.inbound("opencode"), data, f"i{number}")
    await bus.consumer(IN.name, "reader", ack_wait=30, max_ack_pending=10)
    await bus.rewind(IN.name, "reader", len(reports()) + 1)
    headers = {"Annals-Subject": HARBOUR.inbound("opencode"), "Annals-Reason": mark("reason")}
    await bus.js.publish("dead.tagger", mark("letter").encode(), headers=headers)
    for bucket in BUCKETS:
        reference = await Bodies(bus, bucket).put(f"{'long ' * 60_000}{mark(bucket.name)}")
        refers = msgspec.structs.replace(_event(MessageRecorded, "refers"), message=reference)
        await appender.append(wrapped([refers], address=HARBOUR), {})
        if bucket is INBOUND_BODIES:
            await bus.publish(HARBOUR.inbound("opencode"), f'["{reference}"]'.encode(), "refers")
            await bus.rewind(IN.name, "reader", len(reports()) + 2)


async def plant_in_files(data: Path, what: str) -> None:
    (data / "views").mkdir()
    for name in ("views-1.duckdb", "copy.duckdb", "views-1.duckdb.aside"):
        duck = Duck(data / "views" / name, memory_limit="100MB")
        await duck.write(
            lambda db, name=name: db.execute("create table messages as select ? as text", [mark(name)]) and None
        )
        await duck.close()
    tables = await Tables.open(folder_of(data) / "set")
    table = await tables.make("messages", (Column("key", "text"), Column("text", "text")))
    await table.put({"key": ["a", "b"], "text": [mark("older"), mark("newer")]})
    await table.remove("key = 'a'")
    tables.close()
    if what != "session":
        plant_in_mirror(data / "mirrors" / "harbour.git")
    spooled = {"subject": HARBOUR.inbound("opencode"), "id": "1", "data": json.dumps({"text": mark("spool")})}
    state = data.parent / "state" / "annals" / "opencode"
    write(state / "spool" / "1-a.jsonl", json.dumps(spooled))
    if what == "secret":
        write(state / "sessions" / "s1.jsonl", json.dumps({"edits": [{"text": mark("plan")}]}))
        for name in ("house.log", "nats.log", "crash.txt"):
            write(data / name, mark(name))


def plant_in_mirror(mirror: Path) -> None:
    mirror.mkdir(parents=True)
    for words in (["init", "-q", "."], ["commit", "-q", "--allow-empty", "-m", mark("commit")]):
        identity = ("-c", "user.name=ada", "-c", "user.email=ada@harbour.example")
        subprocess.run(["git", *identity, *words], cwd=mirror, check=True, capture_output=True)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def marks_in_bytes(data: Path) -> set[str]:
    """The marks in the bytes of all files below."""
    whole = (path.read_bytes() for path in data.parent.rglob("*") if path.is_file())
    return {found.decode() for one in whole for found in MARK.findall(one)}


async def places_by_readers(data: Path) -> dict[str, int]:
    """How often the core of the secret is in each store, as its own reader shows it."""
    masks = {CORE.encode(): b""}
    found = {
        "views": files.rows_of_views(data, masks),
        "index": await files.rows_of_index(data, masks),
        "mirrors": len(await files.mirrors_with(data, masks)),
    }
    server = Broker(data, port=0, max_payload=MAX_PAYLOAD)
    await server.start()
    try:
        bus = await connected(server)
        await bus.ensure()
        for stream in (LOG.name, IN.name, DEAD.name, *(f"OBJ_{one.name}" for one in BUCKETS)):
            found[stream] = sum([CORE in str(one) async for one in rewriting.stored_messages(bus, stream)])
        await bus.close()
    finally:
        server.stop()
    return found


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "data"
    yield place
    end_leftover(place)


@pytest.mark.parametrize("kills", [KILLS[:5], KILLS[5:]], ids=["before the log", "in the log"])
@pytest.mark.parametrize("what", ERASED)
async def test_no_mark_is_left_anywhere_though_the_erasure_is_killed_in_each_stage(
    data: Path, what: str, kills: Sequence[tuple[int, int]]
) -> None:
    await planted(data, what)
    before = marks_in_bytes(data)
    texts = {f"s1.{one.TYPE}.{field}" for one in EVENTS for field in text_fields(one)} - {
        f"s1.{one.TYPE}.{field}" for one, fields in IDS.items() for field in fields
    }
    assert texts <= before
    assert len(before) >= 40
    empty = [store for store, count in (await places_by_readers(data)).items() if not count]
    assert (["mirrors"] if what == "session" else []) == empty

    for stage, writes in kills:
        cut_off(data, (what, ERASED[what]), stage, writes)
        end_leftover(data)
    given = ["secret"] if what == "secret" else [what, ERASED[what]]
    done = erase(data, *given, "--yes", word=SECRET if what == "secret" else "")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert set() == marks_in_bytes(data)
    assert {0} == {*(await places_by_readers(data)).values()}
