"""How many hints come too late, over recorded sessions that are played as their harness would have reported them.

A harness publishes what a person wrote and asks for the plan of the call right behind it: that is the least time that
a search can have. Calls between two messages of a person are not made, since no hint can come with them. A person takes
minutes to answer, so that the session up to there is in the index with its vectors before their message is published.
"""

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import uvloop

from schemas.codec import encode
from schemas.events import HintDecided
from schemas.inbox import MessageSeen, StepSeen
from schemas.search_asks import IndexPosition, IndexPositionAsk
from schemas.subjects import Address, ask
from services.domain.search.rows import BY_NAME
from services.edges.client.adapter import Adapter
from services.edges.client.outbox import Outbox
from services.edges.client.readers import read
from services.edges.client.transcript import Transcript
from services.kit.bus import Bus, LogReader, Unreachable
from services.kit.index_place import folder_of, read_current, read_position
from services.kit.logs import configure
from services.kit.vectors import Tables, VectorsError
from tests.bench.installations import installation
from tests.helpers.installation import settle, until

LATE = ("late", "timeout", "error")
"""Reasons that a decision has where the search was not done when the message was sent."""
UNSEARCHED = "too_short"
PATIENCE, POLL = 10.0, 0.02
FILLED_WITHIN = 300.0
"""Seconds that the vectors of a whole session may take."""


class HintTimes(msgspec.Struct, frozen=True):
    """The decisions on the messages of persons."""

    decisions: dict[str, int]
    """How many by what was decided: `hint`, or the reason for none."""
    seen: int
    """Hints of which a line stood in the prompt of the session already."""

    @property
    def late(self) -> float:
        """The share of late ones among the messages that were searched for, from 0 to 1."""
        searched = sum(count for reason, count in self.decisions.items() if reason != UNSEARCHED)
        return sum(self.decisions.get(reason, 0) for reason in LATE) / (searched or 1)


async def played(sessions: Iterable[Transcript]) -> HintTimes:
    """Play sessions in the order of their beginnings, those of one directory in one project."""
    async with installation() as (running, bus):
        outbox = Outbox(bus)
        for transcript in sorted(sessions, key=lambda one: str(one.messages[0].at)):
            project = Path(transcript.seen.directory or "none").name.lower() or "none"
            await _play(bus, outbox, Address(project, transcript.session), transcript, running.data)
        await outbox.close()
        return await _decided(bus)


async def _play(bus: Bus, outbox: Outbox, address: Address, transcript: Transcript, data: Path) -> None:
    adapter = Adapter(bus, outbox, "opencode", address)
    now = datetime.now(UTC)
    await adapter.publish("session", now, transcript.seen)
    messages = [msgspec.structs.replace(message, at=now) for message in transcript.messages]
    for index, message in enumerate(messages):
        if index + 1 == len(messages) or not _is_of_person(message) or messages[index + 1].role != "assistant":
            continue
        await adapter.saw(*messages[:index])
        await outbox.flushed()
        await settle(bus)
        await indexed(bus, data)
        at = datetime.now(UTC)
        written = messages[index] = msgspec.structs.replace(message, at=at)
        step = StepSeen(step=f"s{index}", mode="primary", model="unknown", context_limit=200_000)
        await adapter.step(step, [*messages[:index], written], at)
        await _until_decided(bus, address, written.message)


async def indexed(bus: Bus, data: Path) -> None:
    """Wait until the index in this data directory holds all of the log, with all vectors."""
    head = await LogReader(bus).head()
    question = encode(IndexPositionAsk(head))

    async def is_read() -> bool:
        try:
            reply = await bus.request(ask(IndexPositionAsk.NAME), question, 5.0)
        except Unreachable:
            return False
        return msgspec.json.decode(reply, type=IndexPosition).through >= head

    async def is_filled() -> bool:
        return not await _without_vectors(data)

    await until(is_read, "the index holds all of the log")
    await until(is_filled, "all rows of the index have vectors", patience=FILLED_WITHIN)


async def _without_vectors(data: Path) -> int:
    """The rows of the index that wait for their vectors; 1 where it cannot be read now."""
    current = read_current(data)
    if current is None:
        return 1
    if not current.dimensions:
        return 0
    folder = folder_of(data) / current.set
    try:
        tables = await Tables.open(folder)
        try:
            names = [name for kind, name in read_position(folder).tables.items() if kind not in BY_NAME]
            return sum([await (await tables.table(name)).count("vector is null") for name in names])
        finally:
            tables.close()
    except VectorsError:
        return 1


def _is_of_person(message: MessageSeen) -> bool:
    return message.role == "user" and not message.synthetic and any(part.type == "text" for part in message.parts)


async def _until_decided(bus: Bus, address: Address, message: str) -> None:
    """Wait until something was decided of a message, as a model takes its time to answer."""
    for _ in range(round(PATIENCE / POLL)):
        envelope = await LogReader(bus).last(address.log(HintDecided.TYPE))
        if envelope is not None and msgspec.json.decode(envelope.data)["message"] == message:
            return
        await asyncio.sleep(POLL)


async def _decided(bus: Bus) -> HintTimes:
    decisions: Counter[str] = Counter()
    texts: dict[str, list[str]] = defaultdict(list)
    seen = 0
    async for record in LogReader(bus).after(0, "log.>"):
        event, session = record.event, record.envelope.session
        if isinstance(event, HintDecided):
            decisions[event.reason or event.decision] += 1
            if event.decision == "hint":
                seen += any(line in known for line in map(_line, event.texts) for known in texts[session][:-1])
        elif (text := getattr(event, "text", "")) and session:
            texts[session].append(" ".join(text.split()))
    return HintTimes(dict(decisions), seen)


def _line(fragment: str) -> str:
    return " ".join(fragment.strip("…").split())


def main(paths: Sequence[str]) -> int:
    """Print how many hints of the sessions in these files and folders came too late."""
    configure("bench", level="error", as_json=False)
    sessions = [one for path in paths for one in read(Path(path)) if one.messages]
    found = uvloop.run(played(sessions))
    print(f"{len(sessions)} sessions: {found.decisions}; late {100 * found.late:.1f} %, seen before {found.seen}")  # noqa: T201 - a report
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
