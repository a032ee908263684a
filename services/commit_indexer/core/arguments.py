"""The arguments of git's commands. Nothing from a repository, a harness or a setting is ever among them."""

from collections.abc import Iterable, Sequence

SHAPE = ("rev-parse", "--is-shallow-repository", "--git-path", "shallow")
WITHIN = ("rev-parse", "--show-prefix")
REFS = ("show-ref", "--head", "--hash")
HEAD = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
SIZES = ("cat-file", "--batch-check")
OBJECTS = ("cat-file", "--batch")
FILES = (
    "diff-tree", "--stdin", "--root", "-r", "-c", "--name-only", "--no-renames", "-z", "--always", "--no-ext-diff",
    "--no-textconv",
)  # fmt: skip
UNREACHED = ("rev-list", "--ignore-missing", "--stdin", "--not", "--all")
"""Of those that are named: what no branch has any more, with all behind it that none has."""
NEW_MIRROR = ("init", "--quiet", "--bare", "--initial-branch=head", "--template=", "--object-format")
FETCH = (
    "fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
    "--filter=blob:none",
)  # fmt: skip
FETCHED = ("origin", "+HEAD:refs/heads/head")


def listing(most: int) -> tuple[str, ...]:
    """The newest commits that are reached from what is named, with their times."""
    return ("rev-list", "--timestamp", f"--max-count={most}", "--ignore-missing", "--stdin")


def reached(head: str, without: Iterable[str]) -> bytes:
    """The arguments for the commits that are reached from one, and not from others."""
    return lines([head, *(f"^{sha}" for sha in without)])


def lines(shas: Iterable[str]) -> bytes:
    return "".join(f"{sha}\n" for sha in shas).encode()


def fetching(deepening: Sequence[str]) -> tuple[str, ...]:
    return (*FETCH, *deepening, *FETCHED)
