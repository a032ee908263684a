"""`annals doctor`: look at the house and at OpenCode, say what is well and what is not, and what to do."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Console
from rich.text import Text

from schemas.asks import Rows
from services.connect import bundle, harness, house, probe, stub
from services.connect.config import Entry, Switch, plugins, switches
from services.connect.findings import Finding, is_well
from services.connect.look import executable, found_conflicts, program, sources
from services.connect.places import Places, places
from services.connect.setup import wanted_entry
from services.kit.settings import Settings

COLOURS = {"PASS": "green", "WARN": "yellow", "FAIL": "bold red"}
HARNESS = "opencode"
ADAPTER = (
    "select left(happened::varchar, 16), version, harness_version, digest "
    f"from adapters where harness = '{HARNESS}' order by seq desc limit 1"
)
OVERRULING = {"auto": "OPENCODE_DISABLE_AUTOCOMPACT", "prune": "OPENCODE_DISABLE_PRUNE"}


async def doctor(settings: Settings, environment: Mapping[str, str], here: Path, *, as_json: bool) -> int:
    """Print all findings; the exit status is 1 where something is ill."""
    findings = await examine(settings, environment, here)
    if as_json:
        for finding in findings:
            sys.stdout.write(msgspec.json.encode(finding).decode() + "\n")
    else:
        _print(findings)
    return 0 if is_well(findings) else 1


async def examine(settings: Settings, environment: Mapping[str, str], here: Path) -> tuple[Finding, ...]:
    seen = await probe.look(settings)
    rows = None if seen.connected.error or seen.asked.error else await probe.rows(settings, ADAPTER)
    opencode = await asyncio.to_thread(_opencode, settings, environment, here, rows)
    return (*house.judge(seen), *house.judge_disk(probe.disk(settings)), *harness.judge(opencode))


def _opencode(settings: Settings, environment: Mapping[str, str], here: Path, rows: Rows | None) -> harness.Seen:
    where = places(environment, here)
    said = sources(where)
    loaded = plugins(said)
    ours = [one for one in loaded if one.is_ours]
    cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "opencode"
    return harness.Seen(
        program=program(environment),
        sources=said,
        plugins=loaded,
        wanted=wanted_entry(settings, "managed").options,
        loaded=_digest(ours[-1]) if ours else "",
        installed=_installed(),
        switches=tuple(_overruled(switch, environment) for switch in switches(said)),
        conflicts=found_conflicts(where, said),
        dependencies=_dependencies(where),
        folder=str(where.user),
        ripgrep=executable("rg", environment, cache / "bin"),
        adapter=_adapter(rows),
        is_silent=rows is None,
    )


def _digest(entry: Entry) -> str:
    return bundle.digest(entry.path) if entry.path else ""


def _installed() -> str:
    try:
        return bundle.digest(bundle.source())
    except bundle.Missing:
        return ""


def _overruled(switch: Switch, environment: Mapping[str, str]) -> Switch:
    return Switch(switch.name, value=False, source=None) if environment.get(OVERRULING[switch.name]) else switch


def _dependencies(where: Places) -> Literal["installed", "stand-in", "blocked", "missing"]:
    if stub.is_ours(where.user):
        return "blocked" if stub.has_code(where.user) else "stand-in"
    return "installed" if stub.is_declared(where.user) else "missing"


def _adapter(rows: Rows | None) -> harness.Adapter | None:
    if rows is None or not rows.rows:
        return None
    return harness.Adapter(*(str(value or "") for value in rows.rows[0]))


def _print(findings: Sequence[Finding]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for finding in findings:
        line = Text(finding.line)
        line.stylize(COLOURS[finding.level], 0, len(finding.level))
        console.print(line)
