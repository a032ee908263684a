"""OpenCode with Annals: an installation, the adapter as a user has it, and what the log must hold afterwards."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from schemas.events import MessageRecorded, PartRecorded, PlanRebased
from services.edges.connect.bundle import source
from services.edges.launcher.supervisor import Installation
from services.kit.bus import Bus
from tests.conftest import InstallationFactory
from tests.harness import scenarios
from tests.harness.isolation import OPENAI, Family, Json, Plugin, merged
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider
from tests.helpers.installation import Fact, connect, facts, recorded_twice, settle, until

WIDE: Mapping[str, object] = {"deadline_ms": 60_000, "patience": 40}
"""How long a model call waits for its plan here, and how many times as long as with people the adapter waits else.

A busy machine fails no test then. Where nobody is there to be waited for, a test has the windows of people: `USUAL`.
"""
USUAL: Mapping[str, object] = {"patience": 1}
"""For the adapter's own windows only: a request for a plan that nobody serves fails at once."""


class Connected(msgspec.Struct, frozen=True):
    """All that runs."""

    installation: Installation
    bus: Bus
    provider: Provider
    oc: OpenCode
    state: Path
    """Where the adapter keeps its files."""

    async def log(self) -> list[Fact]:
        """The log, once all reports are in it."""
        await settle(self.bus)
        return await facts(self.bus)

    async def log_without(self, missing: Callable[[Sequence[Fact]], object]) -> list[Fact]:
        """The log, once nothing is missing in it that was still on its way from the harness."""

        async def is_whole() -> bool:
            return not missing(await self.log())

        try:
            await until(is_whole, "the log has the newest reports of the harness")
        except AssertionError as error:
            error.add_note(f"missing: {missing(await self.log())}")
            raise
        return await self.log()

    def notes(self) -> str:
        """What the adapter wrote down of its mishaps."""
        path = self.state / "adapter.log"
        return path.read_text() if path.exists() else ""


def plugin(data: Path, state: Path, **options: object) -> Plugin:
    """The adapter's entry in OpenCode's settings, with wide windows unless the options say otherwise."""
    usual = {"broker": str(data / "broker.json"), "state": str(state), **WIDE}
    return [source("opencode").as_uri(), {**usual, **options}]


@asynccontextmanager
async def connected(
    root: Path,
    installation: InstallationFactory,
    provider: Provider,
    family: Family = OPENAI,
    *,
    settings: Mapping[str, object] | None = None,
    config: Json | None = None,
    **options: object,
) -> AsyncIterator[Connected]:
    """An installation of its own, and an OpenCode with the adapter; with other settings and options if some are given.

    `config` is merged into the settings of OpenCode that the scenarios need.
    """
    state = root / "state"
    async with installation(root / "data", **(settings or {})) as running:
        bus = await connect(running)
        wanted = merged(scenarios.CONFIG, config or {})
        plugins = [plugin(running.data, state, **options)]
        async with OpenCode(root, provider.url, family=family, plugins=plugins, config=wanted) as oc:
            try:
                yield Connected(running, bus, provider, oc, state)
            finally:
                await bus.close()


def rebases(log: Sequence[Fact], session: str) -> list[PlanRebased]:
    return [event for envelope, event in log if envelope.session == session and isinstance(event, PlanRebased)]


async def assert_whole(running: Connected, sessions: Sequence[str]) -> list[Fact]:
    """What the harness holds of these sessions is in the log, as it is, and each fact once."""
    stored_messages = {session: await running.oc.messages(session) for session in sessions}
    log = await running.log_without(lambda log: _unrecorded(log, stored_messages))
    twice = recorded_twice([fact for fact in log if fact[0].session in sessions])
    assert not twice, twice
    return log


def _unrecorded(log: Sequence[Fact], stored_messages: Mapping[str, Sequence[Json]]) -> list[Json]:
    """The messages and parts that a harness holds and that the log does not, or not as they are."""
    missing: list[Json] = []
    for session, messages in stored_messages.items():
        recorded = _parts(log, session)
        for message in messages:
            name = message["info"]["id"]
            if (name, "") not in recorded:
                missing.append(message["info"])
            for part in filter(_is_reported, message["parts"]):
                known = recorded.get((name, part["id"]))
                if known is None or _reports(part) != _known(known):
                    missing.append(part)
    return missing


def _parts(log: Sequence[Fact], session: str) -> dict[tuple[str, str], PartRecorded | None]:
    found: dict[tuple[str, str], PartRecorded | None] = {}
    for envelope, event in log:
        if envelope.session == session and isinstance(event, MessageRecorded):
            found[event.message, ""] = None
        elif envelope.session == session and isinstance(event, PartRecorded):
            found[event.message, event.part] = event
    return found


def _is_reported(part: Json) -> bool:
    return part["type"] in ("text", "reasoning", "tool", "file")


def _reports(part: Json) -> tuple[str, ...]:
    state = part.get("state", {})
    output = state.get("error") if state.get("status") == "error" else state.get("output")
    return part.get("text") or part.get("url") or "", output or "", part.get("tool", ""), state.get("status", "")


def _known(part: PartRecorded) -> tuple[str, ...]:
    return part.text, part.output, part.tool, part.status
