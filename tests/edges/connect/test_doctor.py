"""The doctor in a real installation."""

import json
import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import psutil
import pytest
from pydantic import SecretStr

from schemas.codec import encode
from schemas.inbox import AdapterSeen, Inbound
from schemas.streams import DEAD, LOG
from schemas.subjects import Address, dead
from services.edges.connect import bundle
from services.edges.connect.doctor import doctor, examine
from services.edges.connect.findings import Finding
from services.edges.connect.harnesses.opencode import OpenCode
from services.edges.connect.harnesses.opencode.change import EMPTY, connect
from services.edges.launcher.broker import Broker
from services.edges.room_health import healths
from services.kit.bus import Bus
from services.kit.endpoint import EndpointFile, write
from services.kit.rooms import ROOMS
from services.settings import Nats, Settings
from tests.conftest import InstallationFactory
from tests.helpers.annals_command import annals
from tests.helpers.installation import connect as connected
from tests.helpers.installation import settle
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.house, pytest.mark.broker]


class Machine:
    """A machine with an OpenCode that is connected to an installation."""

    def __init__(self, root: Path, data: Path) -> None:
        self.here = root / "project"
        user = root / "home" / ".config" / "opencode"
        programs = root / "bin"
        for folder in (self.here / ".git", user / "node_modules", programs):
            folder.mkdir(parents=True)
        for name, line in (("opencode", "echo 1.18.33"), ("rg", "true")):
            (programs / name).write_text(f"#!/bin/sh\n{line}\n")
            (programs / name).chmod(0o755)
        self.settings = Settings(data=data)
        self.environment = {"HOME": str(root / "home"), "PATH": f"{programs}:/usr/bin:/bin"}
        self.config = user / "opencode.json"
        self.config.write_text(connect(EMPTY, OpenCode.wanted(self.settings, "managed"))[0])
        declared = {"dependencies": {"@opencode-ai/plugin": "*"}}
        (user / "package.json").write_text(json.dumps(declared))
        (user / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": {"": declared}}))
        bundle.bring(data, "opencode")

    async def examined(self) -> tuple[Finding, ...]:
        return await examine(self.settings, self.environment, self.here)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    built = tmp_path / "built.mjs"
    built.write_text("export default {}")
    monkeypatch.setattr(bundle, "sources", lambda _: (built,))
    return Machine(tmp_path / "machine", tmp_path / "data")


async def all_open(bus: Bus) -> None:
    """Wait until every room answers how it is, and all of the log is read."""
    await until(lambda: _all_open(bus))
    await settle(bus)


async def _all_open(bus: Bus) -> bool:
    return {*ROOMS} == {*await healths(bus, ROOMS, PATIENCE)}


def unwell(findings: Sequence[Finding]) -> dict[str, str]:
    return {finding.what: finding.level for finding in findings if finding.level != "PASS"}


async def test_a_healthy_installation_passes_and_nothing_is_written(
    installation: InstallationFactory, machine: Machine
) -> None:
    async with installation(machine.settings.data, ROOMS) as running:
        bus = await connected(running)
        await all_open(bus)
        findings = await machine.examined()
        assert {"adapter": "WARN"} == unwell(findings), findings
        timed = {finding.what for finding in findings if finding.ms is not None}
        assert {"broker", "published", "read", "asked", "commanded"} == timed
        await settle(bus)
        assert 0 == await bus.messages(LOG.name)
        assert 0 == await bus.messages(DEAD.name)
        await bus.close()


async def test_an_adapter_that_reported_what_it_is_passes(installation: InstallationFactory, machine: Machine) -> None:
    async with installation(machine.settings.data, ROOMS) as running:
        bus = await connected(running)
        await all_open(bus)
        for digest, expected in ((bundle.installed("opencode"), {}), ("of another one", {"adapter": "WARN"})):
            seen = AdapterSeen(name="opencode", version="0.1.0", harness_version="1.18.33", digest=digest)
            inbound = Inbound(id=f"hello {digest}", at=datetime.now(UTC), items=(seen,))
            await bus.publish(Address("shop", "s1").inbound("opencode"), encode(inbound), inbound.id)
            await settle(bus)
            findings = await machine.examined()
            assert expected == unwell(findings)
            adapter = f"0.1.0 in OpenCode 1.18.33, {inbound.at:%Y-%m-%d %H:%M}"
            assert [True] == [adapter in finding.finding for finding in findings if finding.what == "adapter"]
        await bus.close()


async def test_dead_letters_and_rooms_that_stand_still_are_found(
    installation: InstallationFactory, machine: Machine
) -> None:
    async with installation(machine.settings.data, ROOMS) as running:
        bus = await connected(running)
        await all_open(bus)
        await bus.js.publish(dead("tagger"), b"x", headers={"Annals-Reason": "it was no letter"})
        stopped = [psutil.Process(running.status[room].pid) for room in ("tagger", "desk")]
        try:
            for process in stopped:
                process.send_signal(signal.SIGSTOP)
            await until(lambda: {psutil.STATUS_STOPPED} == {process.status() for process in stopped})
            findings = await machine.examined()
        finally:
            for process in stopped:
                process.send_signal(signal.SIGCONT)
        found = unwell(findings)
        assert {"room tagger", "room desk", "read", "commanded"} == {what for what in found if found[what] == "FAIL"}
        assert "WARN" == found["dead letters"]
        assert [] == [one for one in findings if one.what == "dead letters" and "it was no letter" not in one.finding]
        await bus.close()


async def test_without_a_broker_it_fails_at_the_first_try_and_says_what_to_do(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, tries = Bus.connect, []

    async def counted(*endpoint: str, **options: float) -> Bus:
        tries.append(endpoint)
        return await connect(*endpoint, **options)

    monkeypatch.setattr(Bus, "connect", counted)
    write(machine.settings.data, EndpointFile("nats://127.0.0.1:1", {}))
    assert 1 == await doctor(machine.settings, machine.environment, machine.here, as_json=False)
    assert 1 == len(tries)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("FAIL  broker")
    assert "annals up" in first


@pytest.mark.own_broker
async def test_with_the_password_of_a_room_alone_nothing_is_tried_as_a_harness(
    broker: Broker, machine: Machine
) -> None:
    endpoint = broker.endpoint
    machine.settings = Settings(
        data=machine.settings.data, nats=Nats(url=endpoint.url, user="room", password=SecretStr(endpoint.password))
    )
    findings = await machine.examined()
    assert {"tagger": "FAIL", "asked": "FAIL"}.items() <= unwell(findings).items()
    assert "user harness" not in unwell(findings)


def test_the_command_prints_one_json_object_for_each_finding(machine: Machine) -> None:
    environment = machine.environment | {"ANNALS_DATA": str(machine.settings.data)}
    ended = annals("doctor", "--json", environment=environment)
    findings = [msgspec.json.decode(line, type=Finding) for line in ended.stdout.splitlines()]
    assert 0 == ended.returncode, ended.stderr
    assert "it does not run; OpenCode will start it" in {finding.finding for finding in findings}
    assert "PASS" in {finding.level for finding in findings}


async def test_a_harness_sees_its_round_trips(installation: InstallationFactory, machine: Machine) -> None:
    async with installation(machine.settings.data, ROOMS) as running:
        bus = await connected(running)
        await all_open(bus)
        machine.settings = Settings(data=machine.settings.data, nats=Nats(user="harness"))
        findings = await machine.examined()
        assert {"streams": "WARN", "adapter": "WARN"} == unwell(findings)
        assert {"published", "asked", "commanded"} <= {finding.what for finding in findings if finding.ms is not None}
        await bus.close()


@pytest.mark.own_broker
async def test_without_rooms_nobody_answers_and_open_passwords_are_found(
    broker: Broker, tmp_path: Path, machine: Machine
) -> None:
    assert broker.process is not None
    machine.settings = Settings(data=tmp_path)
    found = unwell(await machine.examined())
    assert "passwords" not in found
    assert {"FAIL"} == {found[what] for what in ("tagger", "asked", "commanded")}
    (tmp_path / "broker.json").chmod(0o644)
    assert "data" not in found
    tmp_path.chmod(0o755)  # noqa: ASYNC240 - it takes no time
    found = unwell(await machine.examined())
    assert ("FAIL", "FAIL") == (found["passwords"], found["data"])


async def test_what_overrules_the_configuration_is_known(machine: Machine) -> None:
    assert "compaction" not in unwell(await machine.examined())
    machine.environment["OPENCODE_DISABLE_AUTOCOMPACT"] = "1"
    assert "WARN" == unwell(await machine.examined())["compaction"]
