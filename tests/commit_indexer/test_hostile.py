"""Repositories that want more than to be read, and surroundings that are not meant for them."""

import os
from pathlib import Path

import pytest

from schemas.subjects import Address
from services.commit_indexer.core.failures import sentence
from services.commit_indexer.repository import Repository
from services.commit_indexer.worker import CommitIndexer
from services.kit.bus import Bus
from services.kit.git import GitFailed, environment, git
from tests.commit_indexer.test_worker import at, counting, identified, settings
from tests.helpers.broker_world import opened
from tests.helpers.hostile_names import EVERYTHING, UNUSABLE, USABLE
from tests.helpers.repositories import Checkout, Made, line
from tests.helpers.waiting import until


@pytest.mark.broker
async def test_nothing_that_a_repository_names_is_run(bus: Bus, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(2))
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.alternateRefsCommand", "diff.external", "core.askPass"):
        checkout.git("config", name, str(trap))
    checkout.git("config", "core.hooksPath", str(tmp_path))
    checkout.git("config", "diff.trap.textconv", str(trap))
    checkout.git("config", "diff.trap.command", str(trap))
    checkout.git("config", "remote.origin.url", f"ext::{trap}")
    checkout.git("config", "remote.origin.promisor", "true")
    checkout.git("config", "remote.origin.uploadpack", str(trap))
    checkout.git("config", "protocol.ext.allow", "always")
    (checkout.folder / ".git" / "info").mkdir(exist_ok=True)
    (checkout.folder / ".git" / "info" / "attributes").write_text("* diff=trap\n")
    project = Address(f"git-{checkout.sha(1)}")
    await identified(bus, at(checkout), address=project)
    before = _listing(checkout.folder / ".git")
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert {checkout.sha(1), checkout.sha(2)} == await counting(bus, project)
    assert not (tmp_path / "sprung").exists()
    assert before == _listing(checkout.folder / ".git")


def _listing(folder: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in folder.rglob("*")}


@pytest.mark.broker
async def test_what_surrounds_the_room_does_not_lead_it_elsewhere(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, elsewhere = Checkout(tmp_path / "quay"), Checkout(tmp_path / "elsewhere")
    checkout.add(*line(1))
    elsewhere.add(Made(1, "Of somewhere else", {"x": "1"}))
    monkeypatch.setenv("GIT_DIR", str(elsewhere.folder / ".git"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "traced"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
    await identified(bus, at(checkout))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert {checkout.sha(1)} == await counting(bus)
    assert not (tmp_path / "traced").exists()


@pytest.mark.broker
async def test_names_that_look_like_options_are_names(bus: Bus, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "--upload-pack=touch sprung")
    checkout.add(Made(1, "--output=sprung", {"--output=sprung": "1"}, branch="--all"))
    checkout.git("symbolic-ref", "HEAD", "refs/heads/--all")
    await identified(bus, at(checkout))
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
    assert {checkout.sha(1)} == await counting(bus)


async def test_a_repository_of_another_user_says_what_to_do(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    foreign = environment(os.environ) | {"HOME": str(tmp_path), "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    with pytest.raises(GitFailed) as failed:
        await git(checkout.folder, foreign, "show-ref")
    message = sentence(str(checkout.folder), str(failed.value))
    assert f"git config --global --add safe.directory {checkout.folder}" in message
    command = ["config", "--global", "--add", "safe.directory", str(checkout.folder)]
    await git(checkout.folder, {**foreign, "GIT_CONFIG_GLOBAL": str(tmp_path / ".gitconfig")}, *command)
    with pytest.raises(GitFailed) as failed:
        await git(checkout.folder, foreign, "show-ref")
    assert 1 == failed.value.status  # there is no branch yet, and that is all


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.broker
async def test_a_folder_of_another_user_is_named_with_its_remedy(bus: Bus, tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(1))
    seen = at(checkout)
    os.chown(checkout.folder, 12345, 12345)
    os.chown(checkout.folder / ".git", 12345, 12345)
    await identified(bus, seen)
    async with opened(room := CommitIndexer(), bus, settings(tmp_path)):
        await until(room.idle)
        assert "safe.directory" in str(room.health()["unread"])
    assert set() == await counting(bus)


EACH = (*USABLE, *UNUSABLE, "a:b", ":")


@pytest.mark.parametrize(
    "name",
    [EVERYTHING, " ".join(UNUSABLE), ":", *(pytest.param(name, marks=pytest.mark.soak) for name in EACH)],
)
async def test_a_repository_in_a_folder_of_any_name_is_read(tmp_path: Path, name: str) -> None:
    checkout = Checkout(tmp_path / name / "quay")
    checkout.add(*line(2))
    shape = await Repository(checkout.folder).shape()
    assert checkout.sha(2) == shape.head
    inner = checkout.folder / name
    (inner / ".git").mkdir(parents=True)  # an empty one, so that git goes on to the one around it
    with pytest.raises(GitFailed, match="not a git repository"):
        await Repository(inner).shape()


async def test_a_huge_commit_is_recorded_by_its_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.kit.git.MOST_BYTES", 200_000)
    monkeypatch.setattr("services.commit_indexer.core.decide.BATCH_BYTES", 100_000)
    checkout = Checkout(tmp_path / "quay")
    checkout.add(
        Made(1, "Huge\n\n" + "word " * 100_000, {f"a/{number:06}": "x" for number in range(10_000)}),
        Made(2, "Small", {"b": "1"}, (1,)),
    )
    shas = [checkout.sha(1), checkout.sha(2)]
    found = [one async for batch in Repository(checkout.folder).read(shas, ()) for one in batch]
    assert [("Huge", 300, True), ("Small", 1, False)] == [
        (one.subject, len(one.files), one.file_count > 300) for one in found
    ]


async def test_what_was_committed_is_read_and_not_what_a_clone_has_put_in_its_place(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "quay")
    checkout.add(*line(3), Made(4, "Put in its place", {"x": "1"}, branch="other"))
    checkout.git("replace", checkout.sha(2), checkout.sha(4))
    checkout.git("replace", "--graft", checkout.sha(3))
    repository = Repository(checkout.folder)
    shas = [sha for _, sha in await repository.listed(checkout.sha(3), (), 10)]
    assert [checkout.sha(mark) for mark in (3, 2, 1)] == shas
    found = [one async for batch in repository.read(shas, ()) for one in batch]
    assert ["Change number 3", "Change number 2", "Change number 1"] == [one.subject for one in found]


async def test_of_trees_that_were_never_fetched_the_rest_is_recorded(tmp_path: Path) -> None:
    origin = Checkout(tmp_path / "origin")
    origin.add(*line(20))
    origin.git("config", "uploadpack.allowFilter", "true")
    clone = Checkout(tmp_path / "clone")
    clone.git("remote", "add", "origin", f"file://{origin.folder}")
    clone.git("fetch", "--quiet", "--filter=tree:0", "origin", "main:refs/heads/main", "--update-head-ok")
    shas = [origin.sha(mark) for mark in range(1, 21)]
    found = [one async for batch in Repository(clone.folder).read(shas, ()) for one in batch]
    assert [(sha, True, []) for sha in shas] == [(one.sha, one.partial, one.files) for one in found]
