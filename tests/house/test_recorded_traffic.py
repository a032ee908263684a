"""The recorded traffic of adapters, sent to an installation of today: it must answer as it answered then.

A difference means that sessions which are under way would see their prefix change when the code is replaced. Where
that is meant, `python -m tests.harness.record` makes new recordings.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import pytest

from schemas.asks import Plan, TransformAsk
from schemas.codec import decode_edits, decode_inbound, encode
from schemas.commands import Answer
from schemas.events import HistoryInherited, PlanExtended, PlanRebased, SessionForked
from schemas.inbox import SessionSeen
from schemas.plan import AnyEdit, Edit, Revision
from schemas.streams import DEAD, IN
from services.kit.bus import Bus
from tests.conftest import InstallationFactory
from tests.harness.record import SETTINGS
from tests.harness.traffic import Line, load
from tests.helpers.installation import Fact, connect, facts, settle, until
from tests.helpers.recordings import SHIPPED
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.house, pytest.mark.broker]

DECIDED = ("ready", "resync")


@pytest.mark.parametrize("family", ["openai", "anthropic"])
async def test_recorded_traffic_is_answered_as_it_was(
    installation: InstallationFactory, tmp_path: Path, family: str
) -> None:
    lines = load(SHIPPED / f"opencode_traffic_{family}.jsonl.gz")
    async with installation(tmp_path, **SETTINGS) as running:
        bus = await connect(running)
        for number, line in enumerate(lines, 1):
            reply = await send(bus, line)
            assert meant(line, line.reply) == meant(line, reply), f"line {number}: {bytes(line.payload).decode()}"
        await until(partial(inherits, bus), "the historian has worked all copies of sessions")
        await settle(bus)
        log = await facts(bus)
        await bus.rewind(IN.name, "tagger", 1)
        await settle(bus)
        again = await facts(bus)
        dead = await bus.messages(DEAD.name)
        await bus.close()

    assert answered(lines) == decided(log)
    assert [] == unfounded(log)
    assert [envelope.id for envelope, _ in log] == [envelope.id for envelope, _ in again]
    assert 0 == dead


async def inherits(bus: Bus) -> bool:
    """Whether every copy of a session has the history of its origin, which is written when no plan waits."""
    log = await facts(bus)
    return {at.session for at, one in log if isinstance(one, SessionForked)} <= {
        at.session for at, one in log if isinstance(one, HistoryInherited)
    }


async def send(bus: Bus, line: Line) -> bytes:
    """Send a report, command or question. What got no answer in time then is left out: that step decided nothing."""
    if line.is_inbound:
        if _is_copy(line):  # then the origin had been reported long before
            await settle(bus)
        await bus.publish(line.subject, line.payload, line.id)
    elif line.status in DECIDED:
        question = msgspec.json.decode(line.payload, type=TransformAsk)
        patient = msgspec.structs.replace(question, deadline_ms=int(1000 * PATIENCE))
        return await bus.request(line.subject, encode(patient), PATIENCE)
    elif not line.is_asked and line.is_answered:
        return await bus.request(line.subject, line.payload, PATIENCE)
    return bytes(line.reply)


def _is_copy(line: Line) -> bool:
    items = decode_inbound(line.payload).items
    return any(isinstance(item, SessionSeen) and item.forked_from for item in items)


def meant(line: Line, reply: bytes) -> object:
    """The part of a reply that an agent reads. Positions in the log are not compared: there may be more today."""
    if line.is_inbound or not line.is_answered:
        return None
    if line.is_asked:
        plan = msgspec.json.decode(reply, type=Plan)
        return plan.status, plan.revision, [_served(revision) for revision in plan.revisions], plan.more
    answer = msgspec.json.decode(reply, type=Answer)
    return answer.ok, answer.text


def _served(revision: Revision) -> Revision:
    return msgspec.structs.replace(revision, edits=_without_reasons(revision.edits))


def _without_reasons(edits: Sequence[AnyEdit]) -> tuple[AnyEdit, ...]:
    """What the edits do. What every edit has says only who decided it and why."""
    reasons = {field.name: field.default for field in msgspec.structs.fields(Edit)}
    return tuple(msgspec.structs.replace(edit, **reasons) for edit in edits)


def answered(lines: Sequence[Line]) -> dict[tuple[str, int], Revision]:
    """All revisions that were served then."""
    found = {}
    for line in lines:
        if line.status in DECIDED:
            session = msgspec.json.decode(line.payload, type=TransformAsk).session
            for revision in msgspec.json.decode(line.reply, type=Plan).revisions:
                found[session, revision.revision] = _served(revision)
    return found


def decided(log: Sequence[Fact]) -> dict[tuple[str, int], Revision]:
    """All revisions in the log of today."""
    return {
        (envelope.session, event.revision): Revision(
            event.revision,
            _without_reasons(decode_edits(event.edits)),
            tuple(event.causes) if isinstance(event, PlanRebased) else (),
        )
        for envelope, event in log
        if isinstance(event, PlanExtended | PlanRebased)
    }


def unfounded(log: Sequence[Fact]) -> list[str]:
    """Edits whose reasons are no facts of their session."""
    known = {(envelope.session, envelope.seq) for envelope, _ in log}
    return [
        f"{envelope.session}: {edit}"
        for envelope, event in log
        if isinstance(event, PlanExtended | PlanRebased)
        for edit in decode_edits(event.edits)
        if any((envelope.session, seq) not in known for seq in edit.by)
    ]
