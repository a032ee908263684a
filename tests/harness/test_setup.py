"""A new user's first hour: connect OpenCode with one command, work, have all examined, and take it back."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from schemas.offered import TOOLS
from services.edges.connect.findings import Finding
from services.edges.connect.harnesses.opencode.stub import take_away
from services.kit.rooms import ROOMS
from tests.conftest import InstallationFactory
from tests.harness import scenarios
from tests.harness.connected import Connected, assert_whole
from tests.harness.installed import MODULES
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Reply
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_plain import breaks
from tests.helpers.installation import connect, until
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.harness

OURS = {tool.name for tool in TOOLS}
THEIRS = ".gitignore"
"""The files that OpenCode writes next to its settings by itself, at its first start."""


class Ended(msgspec.Struct, frozen=True):
    """How a command ended, and what it printed."""

    status: int
    output: str


class User:
    """Somebody with an OpenCode and an installation, who knows nothing but the commands."""

    def __init__(self, oc: OpenCode, data: Path) -> None:
        self._oc = oc
        inherited = oc.rooms.environment({"ANNALS_DATA": str(data)})
        self._environment = {**inherited, "PATH": os.pathsep.join([str(MODULES / ".bin"), inherited["PATH"]])}

    @property
    def state(self) -> Path:
        """The adapter's folder by default."""
        return Path(self._environment["XDG_STATE_HOME"]) / "annals" / "opencode"

    def settings(self) -> dict[str, bytes]:
        """The files next to OpenCode's settings, and their contents."""
        folder = self._oc.rooms.settings.parent
        return {
            str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
            for path in folder.rglob("*")
            if path.name != THEIRS
        }

    async def annals(self, *words: str) -> Ended:
        """Run a command in the project, as in a terminal."""
        command = (sys.executable, "-m", "services.edges.cli", *words)
        process = await asyncio.create_subprocess_exec(
            *command, cwd=self._oc.workspace, env=self._environment, stdout=PIPE, stderr=PIPE
        )
        try:
            async with asyncio.timeout(PATIENCE):
                output, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        assert process.returncode is not None
        return Ended(process.returncode, (output + errors).decode())

    async def examined(self) -> list[Finding]:
        ended = await self.annals("doctor", "--json")
        return [msgspec.json.decode(line, type=Finding) for line in ended.output.splitlines()]


async def tagged(conversation: Conversation, provider: Provider) -> list[str]:
    """Go on until a step's plan is there in time: a machine may be too slow for some, and those are left unedited."""
    texts: list[str] = []

    async def is_tagged() -> bool:
        await conversation.send("Thanks.", Reply(text="Gladly."))
        texts[:] = [text for text in provider.of(conversation.session)[-1].texts if text]
        return texts[-1].startswith("§")

    await until(is_tagged, "a step's plan is there in time")
    return texts


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with Provider() as running:
        yield running


async def test_a_new_user_connects_works_is_well_and_takes_it_back(
    provider: Provider, tmp_path: Path, installation: InstallationFactory
) -> None:
    """It takes over ten seconds of a processor: each step of a new user is a process of its own."""
    oc = OpenCode(tmp_path, provider.url, config=scenarios.CONFIG, keeps_settings=True)
    oc.configure()
    take_away(oc.rooms.settings.parent)  # nobody has pretended anything for a new user
    user = User(oc, tmp_path / "data")
    before = user.settings()
    assert {"opencode.json"} == set(before)
    async with installation(tmp_path / "data", ROOMS) as running:
        bus = await connect(running)
        connecting = await user.annals("setup", "opencode", "--yes")
        assert 0 == connecting.status, connecting.output
        assert "Connected" in connecting.output

        async with oc:
            assert set(await oc.tool_ids()) >= OURS
            conversation, on = await Conversation.open(oc, provider, "First"), Calls(oc)
            await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
            there = Connected(running, bus, provider, oc, user.state)
            texts = await tagged(conversation, provider)
            assert all(text.startswith(f"§{n}§ ") or "§" not in text for n, text in enumerate(texts, 1)), texts
            assert texts[-1].startswith("§"), there.notes()
            assert [] == breaks(provider.of(conversation.session))
            await assert_whole(there, [conversation.session])
            findings = await user.examined()
            assert [] == [finding.line for finding in findings if finding.level != "PASS"]
            assert {"plugin", "bundle", "compaction", "adapter"} <= {finding.what for finding in findings}
        await bus.close()

    removing = await user.annals("setup", "opencode", "--remove", "--yes")
    assert 0 == removing.status, removing.output
    assert before == user.settings()
    assert not (tmp_path / "data" / "adapters").exists()
    oc.rooms.make()
    async with oc:
        assert not OURS & set(await oc.tool_ids())
        conversation = await Conversation.open(oc, provider, "Alone again")
        await conversation.send("Hello.", Reply(text="Hello."))
        assert not any("§" in message.decode() for message in provider.of(conversation.session)[-1].messages)
    assert [] == provider.faults
