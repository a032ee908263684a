"""The plugin of today with rooms of other releases: replies without each field that may be missing, and with more.

What it offers to a plugin that does not know commands is in `tests/responder/answers/test_asks.py`.
"""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.asks import ClientManifest, Plan
from schemas.codec import encode
from schemas.plan import Revision
from schemas.streams import IN
from schemas.tools import Target, Tool
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.conftest import ROOT
from tests.adapter.played import PROMPT, Harness, Json
from tests.helpers.waiting import PATIENCE

SINCE_THE_FIRST = {"digest", "tools"}
"""Fields of the guide that every release has sent: without them it is none."""
PLAN: Json = {
    "status": "ready",
    "pass": "rebase",
    "revision": 1,
    "revisions": [
        {"revision": 1, "edits": [{"op": "replace_text", "part": "m0.0", "text": "shorter"}], "causes": ["flush"]}
    ],
    "more": False,
    "tokens_before": 10,
    "tokens_after": 5,
    "reason": "asked for",
    "notices": ["The history is compressed."],
    "full": False,
}


def optional(struct: type[msgspec.Struct]) -> list[str]:
    """The fields that a message may leave out."""
    return [field.encode_name for field in msgspec.structs.fields(struct) if not field.required]


def guide() -> Json:
    made: Json = msgspec.to_builtins(MANIFEST)
    return made


def with_more(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The value whose objects all have a field that the plugin does not know."""
    if isinstance(value, list | tuple):
        return [with_more(one) for one in value]
    if isinstance(value, dict):
        return {**{name: with_more(one) for name, one in value.items()}, "of_a_later_release": {"x": [1]}}
    return value


def guides() -> Iterator[Any]:
    for field in optional(ClientManifest):
        if field not in SINCE_THE_FIRST:
            yield pytest.param({name: one for name, one in guide().items() if name != field}, id=f"without {field}")
    for field in optional(Tool):
        made = guide()
        made["tools"] = [{name: one for name, one in tool.items() if name != field} for tool in made["tools"]]
        yield pytest.param(made, id=f"tools without {field}")
    for field in optional(Target):
        made = guide()
        for tool in made["tools"]:
            actions = tool.get("actions", {})
            tool["actions"] = {
                action: {name: one for name, one in target.items() if name != field}
                for action, target in actions.items()
            }
        yield pytest.param(made, id=f"actions without {field}")
    yield pytest.param({name: guide()[name] for name in SINCE_THE_FIRST}, id="without all of these")
    yield pytest.param({**with_more(guide()), "system": guide()["system"], "refusals": guide()["refusals"]}, id="later")


@pytest.mark.parametrize("offered", [*guides()])
def test_a_session_goes_on_with_what_rooms_of_another_release_offer(harness: Harness, offered: Json) -> None:
    harness.start(guide=offered)
    harness.user("go")

    assert ["go"] == harness.serve()
    assert 1 == len(harness.steps)
    (system,) = harness.system()
    assert system.startswith(PROMPT.splitlines()[0])


PLANS = [
    *(pytest.param({name: one for name, one in PLAN.items() if name != field}, id=f"without {field}")
      for field in optional(Plan)),
    *(pytest.param({**PLAN, "revisions": [{name: one for name, one in PLAN["revisions"][0].items() if name != field}]},
                   id=f"a revision without {field}")
      for field in optional(Revision)),
    pytest.param({name: PLAN[name] for name in ("status", "revisions")}, id="without all of these"),
    pytest.param(with_more(PLAN), id="of a later release"),
]  # fmt: skip


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_of_another_release_is_applied(harness: Harness, plan: Json) -> None:
    harness.user("a text that is long")
    harness.answer(plan)

    assert ["shorter" if "revisions" in plan else "a text that is long"] == harness.serve()


@pytest.mark.broker
async def test_rooms_that_answer_as_little_as_they_ever_did_get_all_reports(
    broker: Broker, bus: Bus, tmp_path: Path
) -> None:
    """Over a real broker: a guide without anything that was added, no answer about erasures, and plans without more."""

    async def offered(_subject: str, _question: bytes) -> bytes:
        return encode({name: guide()[name] for name in SINCE_THE_FIRST})

    async def planned(_subject: str, _question: bytes) -> bytes:
        return encode({"status": "ready"})

    await bus.serve("ask.guide.*", "responder", offered)
    await bus.serve("ask.transform.*", "responder", planned)
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    endpoint = broker.endpoint_of("harness")
    options = {"url": endpoint.url, "user": endpoint.user, "password_env": "PASSWORD", "state": str(tmp_path / "state")}
    given = json.dumps({**options, "house": False, "deadline_ms": 10_000})
    pipe = asyncio.subprocess.PIPE
    adapter = await asyncio.create_subprocess_exec(
        *(node, str(EXAMPLE), str(ROOT / "deploy" / "adapter-core"), given, str(tmp_path)),
        env={"PASSWORD": endpoint.password},
        stdin=pipe,
        stdout=pipe,
    )
    message = {"id": "m1", "role": "user", "text": "Mend the pier."}
    served, _ = await asyncio.wait_for(adapter.communicate(json.dumps({"messages": [message]}).encode()), PATIENCE)

    assert [message] == json.loads(served)
    assert await bus.messages(IN.name) > 0


EXAMPLE = ROOT / "tests" / "adapter" / "example.mjs"
