"""Whether the repository where a person stands can be read for its commits, as the doctor says it."""

from pathlib import Path

from services.commit_indexer.core import failures
from services.commit_indexer.repository import Repository
from services.edges.connect.findings import Finding, doubtful, well
from services.kit.git import GitFailed
from services.settings import Commits

WHAT = "commits"


async def judge_repository(settings: Commits, here: Path) -> list[Finding]:
    """Nothing, where commits are not read from here at all."""
    return [await _look(here)] if settings.enabled and settings.checkouts else []


async def _look(here: Path) -> Finding:
    try:
        shape = await Repository(here, is_root=False).shape()
    except FileNotFoundError:
        return doubtful(WHAT, "git is not installed, so that no commits are known", "install it")
    except GitFailed as error:
        if "not a git repository" in str(error):
            return well(WHAT, f"{here} is in no repository: there are no commits to be known")
        return doubtful(WHAT, *failures.parted(str(here), str(error)))
    if not shape.head:
        return well(WHAT, "nothing was committed here yet")
    as_far = " as far as it goes, since it is a shallow clone" if shape.ends else ""
    return well(WHAT, f"the repository here can be read{as_far}, at {shape.head[:7]}")
