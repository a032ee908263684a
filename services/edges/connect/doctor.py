"""`annals doctor`: look at the installation and its harnesses, say what is well and what is not, and what to do."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from schemas.asks import ProbeAsk, Probed
from schemas.view_asks import LastAdapter
from services.commit_indexer.core import failures
from services.commit_indexer.repository import Repository
from services.edges.asking import answer
from services.edges.connect import harnesses, installation, probe
from services.edges.connect.base import Harness
from services.edges.connect.connection import STARTS_IT, Reported, ReportedAdapter
from services.edges.connect.findings import Finding, doubtful, is_well, well
from services.edges.person import HARNESS, PERSON, admitted
from services.edges.styling import console, styled
from services.edges.terminal import write, write_error, write_json
from services.kit import stream_losses
from services.kit.bus import Unreachable
from services.kit.endpoint import read
from services.kit.git import GitFailed
from services.settings import Commits, Problem, Settings

COLOURS = {"PASS": "green", "WARN": "yellow", "FAIL": "bold red"}
PATIENCE, LOADING = 3.0, 15.0
"""Seconds for the broker, and for a model that may have to be loaded first."""
BY_WORDS = "search goes by words alone meanwhile"
REMEDIES = {
    "auth_failed": "set ANNALS_EMBED__KEY",
    "endpoint_unsupported": "ANNALS_EMBED__URL must be where `/embeddings` is, without that name",
    "invalid_scheme": "set ANNALS_EMBED__URL to where the model is",
    "no_model": "run `make setup` again, or set ANNALS_EMBED__PROVIDER=off",
    "network_error": "see that the model runs at ANNALS_EMBED__URL",
    "timeout": "see that the model runs at ANNALS_EMBED__URL",
    "http_error": "its own log lines say why",
}
"""Status of the model -> what to do."""


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


def acknowledge(settings: Settings) -> int:
    """Have what streams have lost reported no more; the exit status is 1 where no loss is known here."""
    try:
        lost = stream_losses.acknowledge(settings.data, datetime.now(UTC))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        write_error(f"nothing was acknowledged: {settings.data} cannot be written ({reason}); run it as its owner")
        return 1
    for sentence in lost:
        write(sentence)
    if not lost:
        write_error(
            f"nothing was acknowledged: no loss is noted in {settings.data}. Run this where the rooms have their data "
            "directory, in a team on the server; `annals status` names what else is not well"
        )
        return 1
    write(f"Acknowledged: within {2 * stream_losses.LOOK:.0f} seconds this is reported no more, unless more is lost.")
    return 0


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


async def judge_repository(settings: Commits, here: Path) -> list[Finding]:
    """Whether the repository of the current directory can be read; no finding, where commits are not read from here."""
    return [await _look(here)] if settings.enabled and settings.checkouts else []


async def _look(here: Path) -> Finding:
    try:
        shape = await Repository(here, is_root=False).shape()
    except FileNotFoundError:
        return doubtful("commits", "git is not installed, so that no commits are known", "install it")
    except GitFailed as error:
        if "not a git repository" in str(error):
            return well("commits", f"{here} is in no repository: there are no commits to be known")
        return doubtful("commits", *failures.finding_and_remedy(str(here), str(error)))
    if not shape.head:
        return well("commits", "nothing was committed here yet")
    as_far = " as far as it goes, since it is a shallow clone" if shape.ends else ""
    return well("commits", f"the repository here can be read{as_far}, at {shape.head[:7]}")


async def judge_vectors(settings: Settings) -> list[Finding]:
    """Whether the model that makes vectors answers; no finding without a broker, which another check reports."""
    async with AsyncExitStack() as stack:
        try:
            bus = await admitted(settings, "doctor", settings.nats.user, PERSON, HARNESS, wait=PATIENCE)
        except Unreachable:
            return []
        stack.push_async_callback(bus.close)
        try:
            return [judge_probe(await answer(bus, ProbeAsk(), Probed, LOADING))]
        except Unreachable as error:
            return [
                doubtful(
                    "vectors",
                    f"the embedder does not answer ({error}); {BY_WORDS}",
                    "see that it runs, and look again in a while",
                )
            ]


def judge_probe(probed: Probed) -> Finding:
    """A finding on the model, by its answer."""
    if probed.status == "ok":
        return well("vectors", f"a model makes vectors of {probed.dimensions} dimensions")
    if probed.status == "off":
        return well("vectors", "they are turned off: search goes by words alone")
    remedy = REMEDIES.get(probed.status, "the embedder's log lines say why")
    return doubtful("vectors", f"the model does not answer as it should ({probed.reason}); {BY_WORDS}", remedy)


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
