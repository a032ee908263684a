"""Looking at what notes wait for, in the files, the commits and the sessions of a project. Nothing of it is run."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable
from pathlib import Path

from schemas.conditions import CommandCondition, CommitCondition, FileCondition, MergeCondition
from schemas.events import ToolRan
from services.domain.record import Record
from services.dreamer.core.verdicts import FileLook, GitLook, SessionLook
from services.dreamer.git_history import PATIENCE
from services.dreamer.tree import Checkout
from services.kit.git import GitFailed, environment, git

MOST_COMMITS = 50
"""Commits with the words of a subject somewhere in their message, among which one is sought."""
MOST_RUNS = 20_000
"""Tool calls that one look goes through. The next one goes on behind them."""
PLACES = ("refs/heads", "refs/remotes/origin")
REMOTE_HEAD = "refs/remotes/origin/HEAD"
"""The name under which git has the default branch of a remote, as it was when the repository was cloned."""
USUAL_BRANCHES = ("main", "master")
"""The default branches of repositories without a remote. Where both are there, neither is taken."""
DIGITS, LONGEST_FAULT = 12, 200
"""Digits of a commit, and characters of what git complains of."""
_NO = 1
"""The status that git ends with where its answer is no."""


def file_look(tree: Checkout, condition: FileCondition) -> FileLook:
    """The state of a file on the disk. It waits for the disk: call it in a thread."""
    path = condition.path
    if barred := tree.barred(path):
        return FileLook(barred=barred)
    text = tree.text(path) if condition.state == "contains" else None
    return FileLook(tree.exists(path), tree.written_at(path), text)


async def commit_look(root: Path, condition: CommitCondition, since: int) -> GitLook:
    """Whether a commit or a tag is there. `since`: seconds since 1970 before which no commit with a subject counts."""
    try:
        if condition.subject:
            return GitLook(await _with_subject(root, condition.subject, since))
        return GitLook(await _commit(root, f"refs/tags/{condition.tag}" if condition.tag else condition.sha))
    except GitFailed as error:
        return GitLook(fault=f"git: {error}"[:LONGEST_FAULT])


async def merge_look(root: Path, condition: MergeCondition) -> GitLook:
    """Whether the tip of a branch is among the commits of another one, here or as the remote `origin` had them last."""
    try:
        tips = [await _tip(root, name) for name in (condition.branch, condition.into)]
        is_merged = all(tips) and await _answered(root, "merge-base", "--is-ancestor", *tips) is not None
    except GitFailed as error:
        return GitLook(fault=f"git: {error}"[:LONGEST_FAULT])
    return GitLook(tips[0][:DIGITS] if is_merged else "")


async def default_branch(root: Path) -> str:
    """The branch that is the default one of `origin`, or else that of `main` and `master` which is there; empty: none.

    Raises `GitFailed` where git cannot answer.
    """
    remote = await _answered(root, "symbolic-ref", "--quiet", REMOTE_HEAD)
    if remote and await _tip(root, name := remote.removeprefix(f"{PLACES[-1]}/")):
        return name
    found = [name for name in USUAL_BRANCHES if await _tip(root, name)]
    return found[0] if len(found) == 1 else ""


async def _commit(root: Path, name: str) -> str:
    return (await _answered(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") or "")[:DIGITS]


async def _tip(root: Path, branch: str) -> str:
    for place in PLACES:
        if found := await _answered(root, "rev-parse", "--verify", "--quiet", f"{place}/{branch}^{{commit}}"):
            return found
    return ""


async def _with_subject(root: Path, words: str, since: int) -> str:
    """The newest commit of any branch that has these words in its first line."""
    listed = await _answered(
        root, "log", f"--max-count={MOST_COMMITS}", f"--since=@{since}", "--fixed-strings", f"--grep={words}",
        "--format=%H %s", "--branches", "--remotes", "--",
    )  # fmt: skip
    lines = (line.partition(" ") for line in (listed or "").splitlines())
    return next((sha[:DIGITS] for sha, _, subject in lines if words in subject), "")


async def _answered(root: Path, *words: str) -> str | None:
    """The answer of git; None: no. Raises `GitFailed` where it cannot answer."""
    bounded = {**environment(os.environ), "GIT_CEILING_DIRECTORIES": str(root.parent)}
    try:
        return (await git(root, bounded, *words, patience=PATIENCE)).decode(errors="replace").strip()
    except OSError as error:
        raise GitFailed(str(error)) from error
    except GitFailed as error:
        if error.status == _NO:
            return None
        raise


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
