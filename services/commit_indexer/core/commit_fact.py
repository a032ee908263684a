"""A commit as it is recorded in the log: without secrets, and no longer than anybody reads."""

from collections.abc import Sequence

from schemas.events import CommitSeen
from services.commit_indexer.core.objects import Commit
from services.domain.secrets import mask

SUBJECT, BODY, NAME, PATH = 500, 8_000, 200, 400
"""The most characters of each."""
LOOKED_AT = 64 * 1024
"""Characters that are searched for secrets before they are cut: one that the cut goes through is still known as one."""
FILES, FILES_LENGTH = 300, 32 * 1024
"""The most paths that are named, and the most characters of them together."""


def commit_fact(commit: Commit, files: Sequence[str] | None) -> CommitSeen:
    """`files`: none where they cannot be known."""
    named = _named(files or ())
    return CommitSeen(
        sha=commit.sha,
        committed=commit.committer.at,
        authored=commit.author.at,
        parents=list(commit.parents),
        author=_cut(commit.author.name, NAME),
        email=_cut(commit.author.email, NAME),
        subject=_cut(commit.subject, SUBJECT),
        body=_cut(commit.body, BODY),
        files=named,
        file_count=len(files) if files is not None and len(files) > len(named) else 0,
        partial=files is None,
    )


def _named(files: Sequence[str]) -> list[str]:
    """Paths that are recorded of one commit, at most."""
    found: list[str] = []
    length = 0
    for path in files[:FILES]:
        length += len(path)
        if len(path) > PATH or length > FILES_LENGTH:
            break
        found.append(path)
    masked = mask("\n".join(found)).split("\n") if found else []
    return masked if len(masked) == len(found) else [mask(path) for path in found]


def _cut(text: str, most: int) -> str:
    return mask(text[:LOOKED_AT])[:most].rstrip()
