"""The reasons why a repository is not read, as sentences with what to do."""

from shlex import quote

NO_GIT = "git is not installed where the commit indexer runs: install it, or set ANNALS_COMMITS__ENABLED=false"
LONGEST = 300
"""Characters of git's own words."""


def sentence(place: str, words: str) -> str:
    """A sentence on git's complaint about a directory, for whoever runs this installation."""
    return "; ".join(finding_and_remedy(place, words))


def finding_and_remedy(place: str, words: str) -> tuple[str, str]:
    """The same in two: what is wrong, and what to do."""
    if "dubious ownership" in words:
        remedy = f"if you trust it, run `git config --global --add safe.directory {quote(place)}`"
        return f"{place} belongs to another user, and git does not read it", remedy
    if "not a git repository" in words:
        return f"{place} is no git repository any more", "nothing is to do if it was moved or removed"
    if "it took longer" in words:
        return f"git on {place}: {words}", "it is tried again, and a slow disk or network may be why"
    return f"git cannot read {place}: {_last(words)}", f"run `git -C {quote(place)} fsck` if that stays"


def missing(place: str, *, is_there: bool) -> str:
    return NO_GIT if is_there else f"{place} is not on this machine, or not any more: nothing is to do"


def unreachable(address: str, words: str) -> str:
    """The reason why a remote could not be fetched, with a remedy."""
    return (
        f"{address} could not be fetched: {_last(words)}; check ANNALS_COMMITS__REMOTES, and that this machine may "
        "read it without being asked for a password"
    )


def other_repository(place: str, project: str) -> str:
    return (
        f"{place} is not the repository of {project}: its history begins with another commit, so that it is not read. "
        "Start a session in it, so that it gets a project of its own"
    )


def _last(words: str) -> str:
    """The last line is that in which git says why."""
    return next((line.strip()[:LONGEST] for line in reversed(words.splitlines()) if line.strip()), "it gave no reason")
