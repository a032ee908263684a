"""The name of a project: the commit that the history of its repository begins with, as git itself finds it.

The adapters' core computes the same in `repository.ts` and `identity.ts`; a test has both name the same repositories.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from services.kit.git import PROGRAM, GitFailed, environment, git

ROOT, SHALLOW, DIRECTORY = "git-", "shallow-", "dir-"
"""The beginnings of names: of a repository, of a clone whose first commit is elsewhere, of a directory without
either."""

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_REPOSITORY = "not a git repository (or any"
"""The words in which git reports that a directory and those above it are no repository; any other failure means that a
repository that it was led to is not there."""
_FIRST = ("--first-parent", "--max-parents=0")
_SCP = re.compile(r"(?:[^@/:]+@)?([^/:]+):(.+)")


class Beginning(msgspec.Struct, frozen=True):
    """The beginning of the history of a directory's repository."""

    state: Literal["root", "shallow", "unborn", "none", "unknown"]
    """At this commit; the clone ends at this one, whose parents are elsewhere; nothing was committed yet; there is no
    repository; git did not say."""
    commit: str = ""
    reason: str = ""
    """The reason why it is unknown."""


async def beginning(directory: Path, former: str = "") -> Beginning:
    """Find where history begins: at the end of the line of first parents, so that one merged in later changes nothing.

    `former`: the commit that the repository was named by before. As long as it is there, it is still the one, whichever
    branch is checked out.
    """
    try:
        await _git(directory, "rev-parse", "--git-common-dir")
    except (GitFailed, OSError) as error:
        return Beginning("none" if _NO_REPOSITORY in str(error) else "unknown", reason=_in_words(error))
    if _COMMIT.fullmatch(former) and await _is_root(directory, former):
        return Beginning("root", former)
    try:
        text = await _first(directory, "HEAD")
    except (GitFailed, OSError) as error:
        if "bad revision 'HEAD'" not in str(error):
            return Beginning("unknown", reason=_in_words(error))
        text = await _first_of_branches(directory)
        if not text:
            return Beginning("unborn", reason=_in_words(error))
    first = text.partition("\n")[0].removeprefix("commit ")
    if not _COMMIT.fullmatch(first):
        return Beginning("unknown", reason="git names no first commit")
    return Beginning("shallow" if _has_parent(text) else "root", first)


def _in_words(error: Exception) -> str:
    """The failure in words for people, without the numbers of a system."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename == PROGRAM:
        return f"the program {PROGRAM} is not installed here, or not in PATH: install it"
    return f"{error.strerror}: {error.filename}" if error.filename else error.strerror


def name_of(found: Beginning, root: Path) -> str:
    """The name by what is known of a repository, and else by the directory."""
    match found.state:
        case "root":
            return f"{ROOT}{found.commit}"
        case "shallow":
            return f"{SHALLOW}{found.commit}"
        case _:
            return directory_name(root)


def directory_name(root: Path) -> str:
    """The name of a directory that no repository names."""
    return f"{DIRECTORY}{hashlib.sha256(os.path.realpath(root).encode(errors='surrogateescape')).hexdigest()[:12]}"


def first_commit(project: str) -> str:
    """The commit that a project's repository begins with, where its name contains it."""
    commit = project.removeprefix(ROOT)
    return commit if project.startswith(ROOT) and _COMMIT.fullmatch(commit) else ""


async def is_of(project: str, directory: Path, root: Path) -> bool:
    """Whether what lies in this directory is this project, by any name that can be made of what lies there."""
    found = await beginning(directory, first_commit(project))
    return name_of(found, root) == project or await _had_name(project, found, directory, root)


async def is_repository_of(project: str, directory: Path) -> bool:
    """Whether the repository in this directory is this project: by its history or its remote, not by where it lies."""
    found = await beginning(directory, first_commit(project))
    if found.state not in ("root", "shallow"):
        return False
    return name_of(found, directory) == project or await _had_history_name(project, directory)


async def had_name(former: str, project: str, directory: Path, root: Path) -> bool:
    """Whether what lies in this directory is this project, and this name can be made of it, too."""
    found = await beginning(directory, first_commit(project))
    return name_of(found, root) == project and await _had_name(former, found, directory, root)


async def _had_name(former: str, found: Beginning, directory: Path, root: Path) -> bool:
    if former == directory_name(root):
        return True
    return found.state in ("root", "shallow") and await _had_history_name(former, directory)


async def _had_history_name(former: str, directory: Path) -> bool:
    if former.startswith(SHALLOW):
        return await _is_reached(directory, former.removeprefix(SHALLOW))
    return former == await remote_name(directory)


async def remote_name(directory: Path) -> str:
    """OpenCode's name for a repository with a remote, by that remote's address; empty: it has none."""
    try:
        address = (await _git(directory, "remote", "get-url", "origin")).strip()
    except (GitFailed, OSError):
        return ""
    place = normalised(address)
    return f"{ROOT}{hashlib.sha1(f'git-remote:{place}'.encode()).hexdigest()}" if place else ""  # noqa: S324 - its names are made so


def normalised(address: str) -> str:
    """The host and the path of a remote, which ssh and https of one address have in common; empty: it has none."""
    found = _SCP.fullmatch(address) if "://" not in address else None
    try:
        parts = urlsplit(address)
        host, path = (found[1], found[2]) if found else (parts.hostname or "", parts.path)
    except ValueError:
        return ""
    path = re.sub(r"\.git/?$", "", path.lstrip("/")).rstrip("/")
    return f"{host.lower()}/{path}" if host and path else ""


async def _first(directory: Path, revision: str) -> str:
    """The commit at the end of a line of first parents, as git stores it. Raises `GitFailed`, `OSError`."""
    return await _start_of(directory, "rev-list", *_FIRST, "--format=raw", revision, "--")


async def _first_of_branches(directory: Path) -> str:
    """The same where `HEAD` names no commit, as when a branch was renamed: of all branches, if they have one such end.

    Empty: they have none, or several.
    """
    try:
        found = {*(await _git(directory, "rev-list", *_FIRST, "--branches", "--remotes")).split()}
        return await _first(directory, found.pop()) if len(found) == 1 else ""
    except (GitFailed, OSError):
        return ""


async def _is_root(directory: Path, commit: str) -> bool:
    try:
        return not _has_parent(await _start_of(directory, "cat-file", "commit", commit))
    except (GitFailed, OSError):
        return False


async def _is_reached(directory: Path, commit: str) -> bool:
    """Whether a commit is part of the history that is checked out."""
    if not _COMMIT.fullmatch(commit):
        return False
    try:
        await _git(directory, "merge-base", "--is-ancestor", commit, "HEAD")
    except (GitFailed, OSError):
        return False
    return True


def _has_parent(text: str) -> bool:
    """Whether a commit's own text names a parent: it does so, too, where the clone does not have that one."""
    return re.search(r"^parent ", text.partition("\n\n")[0], re.MULTILINE) is not None


async def _start_of(directory: Path, *words: str) -> str:
    """The beginning of git's answer, as far as it is read: a commit's message may be of any length, and comes last."""
    try:
        return await _git(directory, *words)
    except GitFailed as error:
        if error.output is None:
            raise
        return error.output.decode(errors="surrogateescape")


async def _git(directory: Path, *words: str) -> str:
    try:
        found = await git(directory, environment(os.environ), *words)
    except ValueError as error:  # no directory can be called so
        raise GitFailed(str(error)) from error
    return found.decode(errors="surrogateescape")
