"""The project of OpenCode's sessions: the repository's root commit, whatever its remote is and OpenCode calls it."""

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from schemas.commands import MemoryWrite
from schemas.events import AliasAdded
from schemas.subjects import Address
from schemas.tools import MEMORY
from services.domain.aliases import GLOBAL
from services.kit.bus import Bus
from services.kit.project_name import beginning, name_of, remote_name
from tests.conftest import InstallationFactory
from tests.harness import scenarios
from tests.harness.connected import plugin
from tests.harness.opencode import OpenCode
from tests.harness.provider import Call, Provider, Reply
from tests.harness.scripted import Conversation, calls
from tests.helpers.installation import connect, facts, settle, until
from tests.helpers.memory_sessions import done

pytestmark = pytest.mark.harness

RULE = "Always number the berths from the sea, because pilots read the charts that way."
PART_OF_IT = "berths from the sea"
REMOTE = "git@git.example.org:team/orchard.git"


@asynccontextmanager
async def harness(root: Path, provider: Provider, data: Path) -> AsyncIterator[OpenCode]:
    plugins = [plugin(data, root / "state")]
    async with OpenCode(root, provider.url, plugins=plugins, config=scenarios.CONFIG) as oc:
        yield oc


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def sees(provider: Provider, session: str) -> bool:
    return PART_OF_IT in provider.of(session)[-1].raw.decode()


async def projects(bus: Bus, *sessions: str) -> set[str]:
    await settle(bus)
    return {envelope.project for envelope, _ in await facts(bus) if envelope.session in sessions}


async def test_a_session_and_the_memory_stay_where_they_are_when_a_remote_comes(
    tmp_path: Path, installation: InstallationFactory
) -> None:
    async with Provider() as provider, installation(tmp_path / "data") as running:
        bus = await connect(running)
        async with harness(tmp_path, provider, running.data) as oc:
            begun = await Conversation.open(oc, provider, "Drift")
            keep = Call(MEMORY, {"action": "write", "text": RULE, "category": "NAMING"})
            await begun.send("Remember that.", calls(keep), Reply(text="Stored."))
            git(oc.workspace, "remote", "add", "origin", REMOTE)
        async with harness(tmp_path, provider, running.data) as oc:
            begun.oc = oc
            await begun.send("Go on.", Reply(text="On."))
            fresh = await Conversation.open(oc, provider, "Fresh")
            await fresh.send("Hello.", Reply(text="Hello."))
            project = name_of(await beginning(oc.workspace), oc.workspace)
        assert sees(provider, fresh.session)
        assert {project} == await projects(bus, begun.session, fresh.session)
        assert project.startswith("git-")
        await bus.close()


@pytest.mark.soak
async def test_a_project_that_an_earlier_adapter_named_by_the_harness_is_migrated(
    tmp_path: Path, installation: InstallationFactory
) -> None:
    """It has OpenCode's own name: a digest of the remote. OpenCode keeps that in the repository, as it does today."""
    async with Provider() as provider, installation(tmp_path / "data") as running:
        bus = await connect(running)
        async with harness(tmp_path, provider, running.data) as oc:
            git(oc.workspace, "remote", "add", "origin", REMOTE)
            workspace = oc.workspace
        former = await remote_name(workspace)
        (tmp_path / "state" / "projects.json").write_text(json.dumps({str(workspace.resolve()): former}))
        async with harness(tmp_path, provider, running.data) as oc:
            begun = await Conversation.open(oc, provider, "Before")
            await done(bus, MemoryWrite(text=RULE), Address(former))
            await begun.send("Hello.", Reply(text="Hello."))
            project = name_of(await beginning(workspace), workspace)
            added = AliasAdded(alias=former, leads_to=project, how="derived")

            async def is_known() -> bool:
                await settle(bus)
                return any(event == added for envelope, event in await facts(bus) if envelope.project == GLOBAL.project)

            await until(is_known, "the former name leads to the project")
            assert former == "git-" + (workspace / ".git" / "opencode").read_text().strip()
            fresh = await Conversation.open(oc, provider, "After")
            await fresh.send("Hello.", Reply(text="Hello."))
        assert {project} == await projects(bus, begun.session, fresh.session)
        assert sees(provider, fresh.session)
        await bus.close()
