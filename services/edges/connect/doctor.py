"""`annals doctor`: look at the installation and its harnesses, say what is well and what is not, and what to do."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from schemas.view_asks import LastAdapter
from services.edges.connect import harnesses, installation, probe
from services.edges.connect.base import Harness
from services.edges.connect.connection import STARTS_IT, Reported, ReportedAdapter
from services.edges.connect.findings import Finding, doubtful, is_well, well
from services.edges.connect.repository import judge_repository
from services.edges.connect.vectors import judge_vectors
from services.edges.styling import console, styled
from services.edges.terminal import write_json
from services.kit.endpoint import read
from services.settings import Problem, Settings

COLOURS = {"PASS": "green", "WARN": "yellow", "FAIL": "bold red"}


async def doctor(
    settings: Settings,
    environment: Mapping[str, str],
    here: Path,
    *,
    as_json: bool,
    problems: Sequence[Problem] = (),
) -> int:
    """Print all findings, those on the settings first; the exit status is 1 where something is ill."""
    wrong = tuple(doubtful("settings", f"{problem.where}: {problem.what}", problem.remedy) for problem in problems)
    findings = (*wrong, *await examine(settings, environment, here))
    if as_json:
        for finding in findings:
            write_json(finding)
    else:
        _print(findings)
    return 0 if is_well(findings) else 1


async def examine(settings: Settings, environment: Mapping[str, str], here: Path) -> tuple[Finding, ...]:
    seen = await probe.look(settings)
    is_silent = bool(seen.connected.error or seen.asked.error)
    first = installation.judge(seen)
    findings = [*installation.judge_disk(probe.disk(settings))]
    findings += await judge_repository(settings.commits, here)
    findings += [] if seen.connected.error else await judge_vectors(settings)
    there = present(environment, here)
    if settings.nats.url and settings.nats.user == "room" and not any(one.is_here for one in there):
        there = ()  # where a room runs alone, as in its container, no agent works
    for harness in there:
        last = None if is_silent else await probe.last_adapter(settings, harness.name)
        judged = await asyncio.to_thread(
            lambda one, reported: tuple(one.judge(settings, reported)), harness, _reported(last)
        )
        findings += judged if len(there) == 1 else (_of(harness, finding) for finding in judged)
    if seen.connected.error and not settings.nats.url and read(settings.data) is None:
        starter = next((one.title for one in there if _starts_it(one, findings, there)), "")
        first = (well("installation", f"it does not run; {starter} will start it"),) if starter else first
    return (*first, *findings)


def _starts_it(harness: Harness, findings: Sequence[Finding], there: Sequence[Harness]) -> bool:
    """Whether a harness will start the installation, by what was found of it."""
    mine = [one for one in findings if len(there) == 1 or one.what.startswith(f"{harness.name}: ")]
    return is_well(mine) and any(one.finding == STARTS_IT for one in mine)


def present(environment: Mapping[str, str], here: Path) -> tuple[Harness, ...]:
    """The harnesses that this person has; all that Annals knows where there is none, so that each is named."""
    known = tuple(harnesses.load(name)(environment, here) for name in harnesses.names())
    return tuple(harness for harness in known if harness.is_here) or known


def _of(harness: Harness, finding: Finding) -> Finding:
    """Of several harnesses, each is named."""
    return msgspec.structs.replace(finding, what=f"{harness.name}: {finding.what}")


def _reported(last: LastAdapter | None) -> Reported:
    if last is None or last.error:
        return Reported(is_silent=True)
    if not last.happened:
        return Reported()
    return Reported(ReportedAdapter(last.happened, last.version, last.harness_version, last.digest, last.rival))


def _print(findings: Sequence[Finding]) -> None:
    out = console(soft_wrap=True)
    for finding in findings:
        line = styled(finding.line)
        line.stylize(COLOURS[finding.level], 0, len(finding.level))
        out.print(line)
