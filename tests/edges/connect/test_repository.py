from pathlib import Path

import pytest

from services.edges.connect.doctor import judge_repository
from services.edges.connect.findings import Finding
from services.settings import Commits
from tests.helpers.repositories import Checkout, line


async def found(here: Path, settings: Commits = Commits()) -> list[Finding]:  # noqa: B008 - a frozen value
    return await judge_repository(settings, here)


async def test_a_repository_that_can_be_read_is_well(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    assert ["nothing was committed here yet"] == [one.finding for one in await found(checkout.folder)]
    (sha,) = checkout.add(*line(1))
    inner = checkout.folder / "inner"
    inner.mkdir()
    (finding,) = await found(inner)
    assert ("PASS", f"the repository here can be read, at {sha[:7]}") == (finding.level, finding.finding)


async def test_a_folder_without_one_is_well_and_one_without_git_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert ["PASS"] == [one.level for one in await found(tmp_path)]
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = await found(tmp_path)
    assert ("WARN", "install it") == (finding.level, finding.remedy)


async def test_where_commits_are_not_read_there_is_no_finding(tmp_path: Path) -> None:
    assert [] == await found(tmp_path, Commits(checkouts=False))
