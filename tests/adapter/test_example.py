"""The example of an adapter, with a real installation: what its guide says is what happens."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from schemas.streams import LOG
from tests.adapter.conftest import ROOT
from tests.conftest import InstallationFactory
from tests.helpers.installation import connect, settle

pytestmark = [pytest.mark.house, pytest.mark.broker]

CORE = ROOT / "deploy" / "adapter-core"
DRIVER = Path(__file__).with_name("example.mjs")
TAG = re.compile(r"^§\d+§ ")
Json = dict[str, Any]


def message(number: int) -> Json:
    return {"id": f"m{number}", "role": ("assistant", "user")[number % 2], "text": f"The text at {number}."}


async def test_a_conversation_is_reported_and_served_with_its_plan(
    installation: InstallationFactory, tmp_path: Path
) -> None:
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    async with installation(tmp_path / "data") as running:
        bus = await connect(running)
        await settle(bus)
        options = {"broker": str(tmp_path / "data" / "broker.json"), "state": str(tmp_path / "state")}
        words = [str(DRIVER), str(CORE), json.dumps(options | {"deadline_ms": 10_000}), str(tmp_path)]
        pipe = asyncio.subprocess.PIPE
        adapter = await asyncio.create_subprocess_exec(node, *words, stdin=pipe, stdout=pipe)
        assert adapter.stdin is not None
        assert adapter.stdout is not None

        async def report(**line: object) -> Any:  # noqa: ANN401 - messages, or nothing
            adapter.stdin.write(json.dumps(line).encode() + b"\n")
            return json.loads(await adapter.stdout.readline())

        conversation = [message(1)]
        first = await report(messages=conversation)
        assert [TAG.sub("", one["text"]) for one in first] == [one["text"] for one in conversation]
        assert TAG.match(first[0]["text"])
        await report(answer="m2")
        conversation += [message(2), message(3)]
        second = await report(messages=conversation)
        assert first == second[: len(first)], "what was sent stays as it was sent"
        assert ["m1", "m2", "m3"] == [one["id"] for one in second]
        assert ["The text at 1.", "The text at 2.", "The text at 3."] == [one["text"] for one in conversation]
        adapter.stdin.close()
        assert 0 == await adapter.wait()
        await settle(bus)
        assert await bus.messages(LOG.name) > 0
        await bus.close()


def test_the_guide_shows_the_example_as_it_is() -> None:
    code = (CORE / "example" / "adapter.ts").read_text()
    assert f"```ts\n{code}```" in (CORE / "README.md").read_text()
