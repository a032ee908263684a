"""A dreamer that is killed in any of its tasks: another one brings the run to its end, and nothing is done twice."""

import json
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from schemas.commands import DreamOrder, PolicySet
from schemas.envelope import Actor
from schemas.events import (
    DreamFinished,
    Event,
    MemoryArchived,
    MemoryDivided,
    MemoryMerged,
    MemoryProposed,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    TaskAsked,
    TaskFinished,
)
from schemas.subjects import Address
from services.desk.worker import Desk
from services.domain.envelopes import envelopes
from services.domain.record import Record
from services.dreamer.core.state import SENDER
from services.dreamer.core.tasks.classify import EXAMPLES
from services.dreamer.worker import Dreamer
from services.kit.bus import Appender, Bus, LogReader
from services.kit.project_name import directory_name
from services.settings import Dream, Settings
from tests.desk.test_books import send
from tests.harness.provider import Reply
from tests.harness.provider.script import Answer
from tests.helpers.broker_world import facts, impatient_settings, opened
from tests.helpers.dreaming_models import model_server, of_model, saying
from tests.helpers.lying_models import Item, worded
from tests.helpers.memory_books import NOON
from tests.helpers.room_process import room
from tests.helpers.waiting import until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

HEAVY = "Never restart the ledger by night, because the import of bookings breaks."
LIGHT = "The chart of cranes stands next to the clock of the overview."
TEXTS = (
    "The parser of tides lives in `services/tide.py`.",
    "Run `make lint` before every push to main.",
    "Before each push to main, always run `make lint`.",
    "Nightly imports of the harbour ledger start from `imports.py`.",
    "The harbour ledger gets its nightly imports from `imports.py`.",
    "We decided that the quay ledger uses table 10_quay.",
    HEAVY,
    LIGHT,
)
WEIGHTS = {HEAVY: "high", LIGHT: "low", **EXAMPLES}
STALE = "m0000000000"
"""The first of them is old, and was found to be no longer true."""


def weighing(handle: str, item: Item) -> list[Item]:
    importance = WEIGHTS.get(item["text"], "normal")
    return [{"handle": handle, "importance": importance, "quote": item["text"][:20]}]


def weighing_otherwise(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "importance": EXAMPLES.get(item["text"], "normal"), "quote": item["text"][:20]}]


def wording(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "text": worded(item["text"])}]


def wording_otherwise(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "text": worded(item["text"]).replace("The ", "")}]


def cutting(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "parts": item["text"].split("; ")}]


def cutting_otherwise(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "parts": [item["text"]]}]


def pairing(handle: str, _: Item) -> list[Item]:
    return [{"handle": handle, "same": True, "keep": "one"}]


def pairing_otherwise(handle: str, _: Item) -> list[Item]:
    return [{"handle": handle, "same": False, "keep": "other"}]


class KilledTask(NamedTuple):
    """A task in which a dreamer is killed, and what it does in the end, each once."""

    task: str
    done: Mapping[type[Event], int]
    falls_at: type[Event] = TaskFinished
    models: Sequence[Answer] = ()
    """What a model answers first, and what it would answer if it was asked again; none: there is no model."""
    texts: Sequence[str] = TEXTS
    """The memories of the project."""
    questions: int = 0
    """How often it is asked, in both processes: what waits for a person is not asked about again."""

    def __str__(self) -> str:
        return f"{self.task} at {self.falls_at.TYPE}{' with a model' if self.models else ''}"


def answers_for(key: str, *ways: Callable[[str, Item], list[Item]]) -> Sequence[Answer]:
    return [saying(key, way) for way in ways]


PAIRS = answers_for("pairs", pairing, pairing_otherwise)
WORDS = answers_for("memories", wording, wording_otherwise)
CUTS = answers_for("splits", cutting, cutting_otherwise)
SCALE = answers_for("memories", weighing, weighing_otherwise)
COMPOUND = "Tide tables use UTC in `tide.csv`. Crane logs use JSON in `crane.log`."
JOINED = "Berth tables use UTC in `berth.csv`; tug logs use JSON in `tug.log`"
MERGED: Mapping[type[Event], int] = {MemoryMerged: 1}
PAIRED: Mapping[type[Event], int] = {MemoryMerged: 1, MemoryProposed: 1}
CASES = (
    KilledTask("verify", {MemoryVerified: 1}),
    KilledTask("archive_stale", {MemoryArchived: 1}),
    KilledTask("consolidate", MERGED),
    KilledTask("consolidate", PAIRED, TaskAsked, PAIRS, questions=1),
    KilledTask("consolidate", PAIRED, TaskFinished, PAIRS, questions=1),
    KilledTask("improve", {MemoryRevised: 1}, TaskFinished, WORDS, questions=1),
    KilledTask("improve", {MemoryDivided: 1}, texts=(COMPOUND,)),
    KilledTask("improve", {MemoryDivided: 1, MemoryProposed: 1}, TaskAsked, CUTS, (COMPOUND, JOINED), 1),
    KilledTask("classify", {MemoryRevised: 2}, TaskAsked, SCALE, questions=1),
    KilledTask("classify", {MemoryRevised: 2}, TaskFinished, SCALE, questions=1),
)
QUICK = CASES[2]


@pytest.fixture
def project(tmp_path: Path) -> Address:
    """A directory that has none of the files that its memories name."""
    (tmp_path / "tree" / "services").mkdir(parents=True)
    return Address(directory_name(tmp_path / "tree"))


@pytest.mark.parametrize("case", [one if one is QUICK else pytest.param(one, marks=pytest.mark.soak) for one in CASES],
                         ids=str)  # fmt: skip
async def test_what_a_killed_dreamer_had_begun_is_brought_to_its_end_once(
    case: KilledTask, bus: Bus, project: Address, tmp_path: Path
) -> None:
    first, *others = case.models or [Reply(text="{}")]
    async with model_server(first, default=others[0] if others else first) as server:
        chosen = of_model(server.url, chain=("own/clerk",) if case.models else ())
        async with opened(Desk(), bus, chosen):
            await ordered(bus, project, case.task, tmp_path / "tree", case.texts)
            environment = {
                "ANNALS_LOOP__ACK_WAIT": "1",
                "ANNALS_MODEL__CHAIN": json.dumps(["own/clerk"] if case.models else []),
                "ANNALS_MODEL__PROVIDERS": json.dumps({"own": {"url": f"{server.url}/v1", "key": "k"}}),
                "FALLS_AT": case.falls_at.TYPE,
            }
            async with room("dreamer", tmp_path, module="tests.helpers.falling_dreamer", **environment) as process:
                assert -signal.SIGKILL == await process.ends()
            assert case.done == await done(bus, project)
            await finish(bus, project, chosen)
        assert case.questions == len(server.requests)
    assert case.done == await done(bus, project)
    (ended,) = [event for event in await facts(bus, project) if isinstance(event, TaskFinished)]
    assert ("completed", sum(case.done.values())) == (ended.outcome, ended.applied + ended.waiting)


async def ordered(bus: Bus, project: Address, task: str, tree: Path, texts: Sequence[str]) -> None:
    """A project with old memories of an agent, in which a person orders a task."""
    written = [MemoryWritten(f"m{number:010d}", "ARCHITECTURE", text, trust="agent", origin="s")
               for number, text in enumerate(texts)]  # fmt: skip
    stale = [MemoryVerified(memory=STALE, verification="stale")] if task == "archive_stale" else []
    made = envelopes([*written, *stale], project, {}, at=NOON, actor=Actor("agent", "build"), cause="w")
    await Appender(bus).append(made, {})
    assert (await send(bus, PolicySet("dreamer", "applied"), "policy", address=project)).ok
    assert (await send(bus, DreamOrder(task, str(tree)), "order", address=project)).ok


async def finish(bus: Bus, project: Address, chosen: Settings) -> None:
    """Let another dreamer bring the run to its end."""

    async def is_finished() -> bool:
        return any(isinstance(event, DreamFinished) for event in await facts(bus, project))

    async with opened(dreamer := Dreamer(), bus, replace(impatient_settings(), dream=Dream(), model=chosen.model)):
        await until(is_finished)
        await until(dreamer.idle)


async def done(bus: Bus, project: Address) -> Mapping[type[Event], int]:
    """What the dreamer has changed or proposed."""
    kinds = (MemoryVerified, MemoryArchived, MemoryMerged, MemoryProposed, MemoryRevised, MemoryDivided)
    log = LogReader(bus).after(0, project.log_filter)
    return Counter([type(one.event) async for one in log if _is_of_dreamer(one) and isinstance(one.event, kinds)])


def _is_of_dreamer(record: Record) -> bool:
    return record.envelope.actor == Actor("room", SENDER)
