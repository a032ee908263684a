"""Plugins of other releases with the rooms of today, over a real broker: what they leave out, and what they add.

The bundle of an earlier release is not stored here. What distinguishes it is on the wire: fields that it does not send,
and those of a later release that today's rooms do not know. Each field that may be missing is left out in turn.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from schemas.asks import Plan, TransformAsk
from schemas.inbox import AdapterSeen, Inbound, Listed, MessageSeen, PartSeen, SessionSeen, StepSeen
from schemas.subjects import Address, ask
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.tagger.worker import Tagger
from tests.helpers.broker_world import NOON, opened, quick_settings
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

Json = dict[str, Any]

REPORT = Inbound(
    "r",
    NOON,
    (
        AdapterSeen("annals", "1", harness_version="2", digest="d", rival="other"),
        SessionSeen(
            title="A pier", directory="/w", agent="build", version="2", root="/w", vcs="git", former=("dir-1",)
        ),
        MessageSeen(
            "m1",
            "user",
            at=NOON,
            agent="build",
            provider="p",
            model="m",
            parts=(PartSeen("m1", "text", "p1", text="Mend the pier.", typed=True),),
        ),
        StepSeen(
            "t1",
            messages=(Listed("m1", ("p1",)),),
            count=1,
            agent="build",
            provider="p",
            model="m",
            context_limit=2000,
            output_limit=100,
            capabilities=("caches_exact_prefix",),
            system_digest="d",
            toolset="d",
            denied=("bash",),
            variant="high",
            compacts=True,
        ),
    ),
)
"""A plugin connects, and makes the first call of a session."""
LIST = {"step.seen.messages"}
"""Without it nobody knows which messages are sent: the whole list is asked for."""


class Variant(NamedTuple):
    """A report as another release sends it."""

    name: str
    report: Json


def optional(struct: type[msgspec.Struct]) -> set[str]:
    """The fields that a message may leave out."""
    return {field.encode_name for field in msgspec.structs.fields(struct) if not field.required}


def variants() -> Iterator[Variant]:
    yield Variant("as today", as_json())
    for number, item in enumerate(REPORT.items):
        kind = as_json()["items"][number]["kind"]
        for field in optional(type(item)) & {*as_json()["items"][number]}:
            report = as_json()
            del report["items"][number][field]
            yield Variant(f"{kind}.{field}", report)
    for field in optional(PartSeen) & {*as_json()["items"][2]["parts"][0]}:
        report = as_json()
        del report["items"][2]["parts"][0][field]
        yield Variant(f"part.{field}", report)
    bare = as_json()
    for item, seen in zip(bare["items"], REPORT.items, strict=True):
        for field in optional(type(seen)) - {"messages", "count", "parts"}:
            item.pop(field, None)
    yield Variant("without all of these", bare)
    yield Variant("of a later release", with_more(as_json()))


def as_json() -> Json:
    report: Json = json.loads(msgspec.json.encode(REPORT))
    return report


def with_more(value: Any) -> Any:  # noqa: ANN401 - JSON
    """All objects with a field that today's rooms do not know."""
    if isinstance(value, list):
        return [with_more(one) for one in value]
    if isinstance(value, dict):
        return {**{name: with_more(one) for name, one in value.items()}, "of_a_later_release": {"x": [1]}}
    return value


async def test_a_plugin_that_leaves_out_or_adds_a_field_is_served(bus: Bus, tmp_path: Path) -> None:
    tagger, responder = Tagger(), Responder()
    sessions = {one.name: Address("harbour", f"s{number}") for number, one in enumerate(variants())}
    async with opened(tagger, bus, quick_settings(tmp_path)), opened(responder, bus, quick_settings(tmp_path)):
        for one in variants():
            address = sessions[one.name]
            data = json.dumps({**one.report, "id": address.session}).encode()
            await bus.publish(address.inbound("pi"), data, address.session)
        await until(tagger.idle)
        await until(responder.idle)
        plans = {name: await plan_of(bus, address) for name, address in sessions.items()}

    assert {name: "resync" if name in LIST else "ready" for name in plans} == {
        name: plan.status for name, plan in plans.items()
    }
    assert {name for name, plan in plans.items() if plan.status == "ready" and not plan.revisions} == set()


async def plan_of(bus: Bus, address: Address) -> Plan:
    """The reply to a question that names nothing but what it must, and a time in which the machine answers surely."""
    question = {"project": address.project, "session": address.session, "step": "t1", "deadline_ms": 30_000}
    reply = await bus.request(ask(TransformAsk.NAME, address.project), json.dumps(question).encode(), PATIENCE)
    return msgspec.json.decode(reply, type=Plan)
