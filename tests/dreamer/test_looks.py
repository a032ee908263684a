"""Looks at the files and the commits of a project: real folders, and real repositories with settings that would run."""

import os
import stat
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from schemas.codec import wrap
from schemas.conditions import CommandCondition, CommitCondition, FileCondition, MergeCondition
from schemas.envelope import Actor
from schemas.events import Event, SessionIdled, ToolRan
from schemas.subjects import Address
from services.domain.record import Record
from services.dreamer import looks
from services.dreamer.core.verdicts import FileLook, GitLook, SessionLook
from services.dreamer.looks import commit_look, default_branch, file_look, merge_look, session_look
from services.dreamer.tree import MOST_BYTES
from services.dreamer.tree import Checkout as Tree
from services.kit.git import GitFailed
from tests.helpers.repositories import DAY, LONG_AGO, Checkout, Made
from tests.helpers.waiting import PATIENCE

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What git answers is the subject, and not how busy the machine is."""
    monkeypatch.setattr(looks, "PATIENCE", PATIENCE)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "map.md").write_text("North")
    (root / ".env").write_text("KEY=1")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("outside")
    for name, target in {
        "out": outside,
        "file": outside / "a.txt",
        "env": ".env",
        "nowhere": "missing",
        "round": "round",
        "inner": "docs",
        "passwd": "/etc/passwd",
    }.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    (root / "large").write_text("x" * (MOST_BYTES + 1))
    (root / "binary").write_bytes(b"\0North")
    os.utime(root / "docs" / "map.md", (NOON.timestamp(), NOON.timestamp()))
    return Tree(root)


def test_a_file_is_there_has_a_text_and_was_written_to(tree: Tree) -> None:
    assert FileLook(is_there=True, written=NOON) == file_look(tree, FileCondition("docs/map.md"))
    assert FileLook(is_there=True, written=NOON, text="North") == file_look(
        tree, FileCondition("docs/map.md", "contains", "x")
    )
    assert "North" == file_look(tree, FileCondition("inner/map.md", "contains", "x")).text
    assert FileLook() == file_look(tree, FileCondition("docs/none.md", "absent"))
    assert FileLook(is_there=True) == file_look(tree, FileCondition("docs", "changed"))


@pytest.mark.parametrize("path", ["large", "binary", "pipe", "docs"])
def test_what_is_no_short_text_has_none(tree: Tree, path: str) -> None:
    look = file_look(tree, FileCondition(path, "contains", "North"))
    assert (True, None, "") == (look.is_there, look.text, look.barred)


@pytest.mark.parametrize(
    "path",
    [
        "../outside/a.txt", "/etc/passwd", "~/x", "a/../../x", "", "a\0b", "x" * 600, "docs\\map.md",
        "out", "out/a.txt", "out/none", "file", "passwd", "nowhere", "round",
        ".env", "env", ".git/config", "docs/.env.local", "secrets/a", "k.pem", ".npmrc", ".SSH/id_rsa",
    ],
)  # fmt: skip
@pytest.mark.parametrize("state", ["exists", "absent", "changed", "contains"])
def test_a_path_outside_or_a_secret_file_is_not_looked_at(tree: Tree, path: str, state: str) -> None:
    look = file_look(tree, FileCondition(path, state, "x"))  # type: ignore[arg-type] # each of its states
    assert look.barred
    assert FileLook(barred=look.barred) == look


HEAD, OLD, MERGED, OPEN = 5, 1, 3, 4


@pytest.fixture
def repository(tmp_path: Path) -> Checkout:
    """`main` with a merged and an open branch next to it, a tag, and settings that would run a program."""
    made = Checkout(tmp_path / "repository")
    made.add(
        Made(OLD, "Dig the basin", at=LONG_AGO),
        Made(2, "Build the quay", parents=(1,), at=LONG_AGO + DAY),
        Made(MERGED, "Paint it", parents=(2,), at=LONG_AGO + DAY, branch="paint"),
        Made(OPEN, "Light it", parents=(2,), at=LONG_AGO + DAY, branch="lights"),
        Made(HEAD, "Merge paint\n\nDredge the basin, too", parents=(2, 3), at=LONG_AGO + 2 * DAY),
    )
    made.git("tag", "v1.0", made.sha(HEAD))
    made.git("update-ref", "refs/remotes/origin/remote", made.sha(OPEN))
    ran = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    for name in ("gpg.program", "core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "core.editor"):
        made.git("config", name, str(script))
    made.git("config", "log.showSignature", "true")
    return made


def look_of(repository: Checkout, mark: int) -> GitLook:
    return GitLook(repository.sha(mark)[:12])


async def test_a_commit_or_a_tag_is_there_or_is_not(repository: Checkout) -> None:
    folder = repository.folder
    for condition, mark in (
        (CommitCondition(sha=repository.sha(OPEN)[:9]), OPEN),
        (CommitCondition(tag="v1.0"), HEAD),
        (CommitCondition(subject="Light"), OPEN),
        (CommitCondition(subject="Merge paint"), HEAD),
    ):
        assert look_of(repository, mark) == await commit_look(folder, condition, LONG_AGO)
    for nothing in (
        CommitCondition(sha="0" * 12),
        CommitCondition(tag="v2.0"),
        CommitCondition(tag="main"),
        CommitCondition(subject="Dredge"),
        CommitCondition(subject="l.ght"),
    ):
        assert GitLook() == await commit_look(folder, nothing, LONG_AGO)


async def test_a_subject_counts_from_the_note_on(repository: Checkout) -> None:
    assert GitLook() == await commit_look(repository.folder, CommitCondition(subject="Dig"), LONG_AGO + DAY)
    found = await commit_look(repository.folder, CommitCondition(subject="Merge"), LONG_AGO + DAY)
    assert look_of(repository, HEAD) == found


async def test_a_branch_is_merged_or_is_not(repository: Checkout) -> None:
    folder = repository.folder
    assert look_of(repository, MERGED) == await merge_look(folder, MergeCondition("paint", "main"))
    assert look_of(repository, OPEN) == await merge_look(folder, MergeCondition("remote", "lights"))
    for branch, into in (("lights", "main"), ("remote", "main"), ("none", "main"), ("paint", "none"), ("v1.0", "main")):
        assert GitLook() == await merge_look(folder, MergeCondition(branch, into))


async def test_the_default_branch_is_that_of_the_remote_or_else_the_only_one_of_the_usual_names(
    repository: Checkout, tmp_path: Path
) -> None:
    folder, head = repository.folder, repository.sha(HEAD)
    assert "main" == await default_branch(folder)
    repository.git("update-ref", "refs/heads/master", head)
    assert "" == await default_branch(folder)
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/remote")
    assert "remote" == await default_branch(folder)
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")  # as after a renaming there
    repository.git("update-ref", "-d", "refs/heads/main")
    assert "master" == await default_branch(folder)
    repository.git("update-ref", "refs/remotes/origin/main", head)
    assert "" == await default_branch(folder)
    with pytest.raises(GitFailed):
        await default_branch(tmp_path)


async def test_no_setting_of_a_repository_runs_anything(repository: Checkout, tmp_path: Path) -> None:
    """A commit with a signature, which git would show with the program that the repository names."""
    signed = repository.git("cat-file", "commit", repository.sha(HEAD)).replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    sha = repository.git("hash-object", "-t", "commit", "-w", "--stdin", data=signed.encode() + b"\n")
    repository.git("update-ref", "refs/heads/main", sha)
    found = await commit_look(repository.folder, CommitCondition(subject="Merge paint"), LONG_AGO)
    assert GitLook(sha[:12]) == found
    assert not (tmp_path / "ran").exists()


async def test_where_git_does_not_answer_the_note_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = await commit_look(tmp_path, CommitCondition(tag="v1"), 0)
    assert "not a git repository" in look.fault
    assert "git: " in (await merge_look(tmp_path, MergeCondition("a", "b"))).fault
    monkeypatch.setattr(looks, "PATIENCE", 0.0)
    assert "took longer" in (await commit_look(tmp_path, CommitCondition(subject="x"), 0)).fault


async def records(events: Sequence[Event]) -> AsyncIterator[Record]:
    for number, event in enumerate(events, 1):
        made = wrap(
            event, Address("harbour", "s"), id=f"e{number}", at=NOON + timedelta(minutes=number),
            actor=Actor("harness"), cause="c",
        )  # fmt: skip
        yield Record("", replace(made, seq=number), event)


def ran(target: str, exit_code: int | None = 0, status: str = "completed") -> ToolRan:
    return ToolRan(message="m", part="p", tool="bash", status=status, exit_code=exit_code, target=target)


async def test_a_command_has_passed_word_for_word_with_the_exit_code_0() -> None:
    condition = CommandCondition("make test")
    others = [
        ran("make tests"), ran("make test", 1), ran("make test", None), ran("make test", 0, "error"),
        ran("echo make test"), SessionIdled(),
    ]  # fmt: skip
    assert (SessionLook(), len(others)) == await session_look(records(others), condition)
    found = await session_look(records([*others, ran(" make test "), ran("ls")]), condition)
    assert (SessionLook(NOON + timedelta(minutes=7)), 7) == found
    assert (SessionLook(), 0) == await session_look(records([]), condition)


async def test_a_look_goes_through_no_more_calls_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "MOST_RUNS", 3)
    runs = [*[ran("ls")] * 3, ran("make test")]
    assert (SessionLook(), 3) == await session_look(records(runs), CommandCondition("make test"))
