"""Looking at what notes wait for, in the files, the commits and the sessions of a project. Nothing of it is run."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable
from pathlib import Path

from schemas.conditions import CommandCondition, CommitCondition, FileCondition, MergeCondition
from schemas.events import ToolRan
from services.domain.record import Record
from services.dreamer.core.verdicts import FileLook, GitLook, SessionLook
from services.dreamer.tree import PATIENCE, Checkout
from services.kit.git import GitFailed, git
from services.kit.git_environment import environment

MOST_COMMITS = 50
"""Commits with the words of a subject somewhere in their message, among which one is sought."""
MOST_RUNS = 20_000
"""Tool calls that one look goes through. The next one goes on behind them."""
PLACES = ("refs/heads", "refs/remotes/origin")
_NO = 1
"""What git ends with where its answer is no."""


def file_look(tree: Checkout, condition: FileCondition) -> FileLook:
    """What is to be seen of a file. It waits for the disk: call it in a thread."""
    path = condition.path
    if barred := tree.barred(path):
        return FileLook(barred=barred)
    text = tree.text(path) if condition.state == "contains" else None
    return FileLook(tree.exists(path), tree.written_at(path), text)


async def commit_look(root: Path, condition: CommitCondition, since: int) -> GitLook:
    """Whether a commit or a tag is there. `since`: seconds since 1970 before which no commit with a subject counts."""
    if condition.subject:
        return await _subject_look(root, condition.subject, since)
    name = f"refs/tags/{condition.tag}" if condition.tag else condition.sha
    return await _answered(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


async def merge_look(root: Path, condition: MergeCondition) -> GitLook:
    """Whether the tip of a branch is among the commits of another one, here or as the remote `origin` had them last."""
    tips = [await _tip(root, name) for name in (condition.branch, condition.into)]
    if not all(tips):
        return GitLook()
    found = await _answered(root, "merge-base", "--is-ancestor", *tips)
    return found if found.fault else GitLook(tips[0][:12] if found.found else "")


async def _tip(root: Path, branch: str) -> str:
    for place in PLACES:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{place}/{branch}^{{commit}}")
        if found := (await _asked(root, *words)).decode(errors="replace").strip():
            return found
    return ""


async def _subject_look(root: Path, words: str, since: int) -> GitLook:
    try:
        listed = await _asked(
            root, "log", f"--max-count={MOST_COMMITS}", f"--since=@{since}", "--fixed-strings", f"--grep={words}",
            "--format=%H%x00%s", "--no-show-signature", "--branches", "--remotes", "HEAD", "--",
        )  # fmt: skip
    except GitFailed as error:
        return GitLook(fault=_fault(error))
    for line in listed.decode(errors="replace").splitlines():
        sha, _, subject = line.partition("\0")
        if words in subject:
            return GitLook(sha[:12])
    return GitLook()


async def _answered(root: Path, *words: str) -> GitLook:
    """What git answers to a question that may be answered with no."""
    try:
        found = (await _asked(root, *words)).decode(errors="replace").strip()
    except GitFailed as error:
        return GitLook(fault=_fault(error))
    return GitLook(found[:12] or "it")


def _fault(error: GitFailed) -> str:
    return "" if error.status == _NO else f"git: {error}"[:200]


async def _asked(root: Path, *words: str) -> bytes:
    """What git answers. Raises `GitFailed`."""
    bounded = {**environment(os.environ), "GIT_CEILING_DIRECTORIES": str(root.parent)}
    try:
        return await git(root, bounded, *words, patience=PATIENCE)
    except OSError as error:
        raise GitFailed(str(error)) from error


async def session_look(runs: AsyncIterable[Record], condition: CommandCondition) -> tuple[SessionLook, int]:
    """Whether a command has passed among these tool calls, and the position up to which they were gone through."""
    position = 0
    number = 0
    async for record in runs:
        position, number, event = record.envelope.seq, number + 1, record.event
        if isinstance(event, ToolRan) and _has_passed(event, condition.command):
            return SessionLook(record.envelope.at), position
        if number >= MOST_RUNS:
            break
    return SessionLook(), position


def _has_passed(ran: ToolRan, command: str) -> bool:
    return ran.status == "completed" and ran.exit_code == 0 and ran.target.strip() == command.strip()
