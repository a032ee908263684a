"""Findings of the doctor: one sentence on each thing examined, and a remedy where it is not well."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

Level = Literal["PASS", "WARN", "FAIL"]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at. `ms` is how long it took, where that was measured."""

    level: Level
    what: str
    finding: str
    remedy: str = ""
    ms: float | None = None

    @property
    def line(self) -> str:
        took = f" ({self.ms:.1f} ms)" if self.ms is not None else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.level}  {self.what:<18} - {self.finding}{took}{remedy}"


class PluginConflict(msgspec.Struct, frozen=True):
    """One plugin that is in the way, the file that names it, and what to do about it."""

    name: str
    where: Path
    reason: str
    remedy: str


def well(what: str, finding: str, ms: float | None = None) -> Finding:
    return Finding("PASS", what, finding, ms=ms)


def doubtful(what: str, finding: str, remedy: str) -> Finding:
    return Finding("WARN", what, finding, remedy)


def ill(what: str, finding: str, remedy: str) -> Finding:
    return Finding("FAIL", what, finding, remedy)


def is_well(findings: Iterable[Finding]) -> bool:
    return all(finding.level != "FAIL" for finding in findings)
