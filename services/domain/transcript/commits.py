"""Commit hashes: those that git itself printed, and those in prose with a word for commits nearby."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from services.domain.tools.call import Call

MOST = 5
"""Hashes that are named for one block."""
SHORTEST, LONGEST = 6, 12

_HEX = re.compile(r"(?<![\w#/.-])`?([0-9a-f]{6,40})\b(?![/\w-]|\.\w)")
_MADE = re.compile(r"^\[[^\]\n]*?\b([0-9a-f]{7,40})\]", re.MULTILINE)
_LISTED = re.compile(r"^(?:\*?[ |\\/]*)(?:commit )?([0-9a-f]{7,40})\b", re.MULTILINE)
_OPTIONS = r"(?:\s+-[cC]\s+\S++|\s+--?[\w-]++(?:=\S++)?){0,12}+"
_GIT = re.compile(rf"\bgit\b{_OPTIONS}\s+(?:commit|log|rev-parse|cherry-pick|reflog|show|rebase|merge)\b")
_COMMITS = re.compile(rf"\bgit\b{_OPTIONS}\s+(?:commit|cherry-pick|revert|merge)\b")
_HINT = re.compile(r"commit|cherry-pick|\bhash(?:es)?\b|\bsha\b|revert|коммит|提交|コミット|커밋", re.IGNORECASE)
NEAR = 60
"""Characters around a hash in which such a word counts."""


def is_hash(text: str) -> bool:
    """Whether letters and digits are both in it: a date or a size has no letter, a word has no digit."""
    return any(one.isdigit() for one in text) and any(one.isalpha() for one in text)


def mentioned(text: str) -> tuple[str, ...]:
    """Hashes in prose that have a word for commits nearby."""
    hints = [found.start() for found in _HINT.finditer(text)]
    if not hints:
        return ()
    return _distinct(found[1] for found in _HEX.finditer(text) if _is_near_hint(hints, found))


def is_commit(command: str) -> bool:
    """Whether a command of the shell makes a commit."""
    return _COMMITS.search(command) is not None


def made_commits(call: Call) -> tuple[str, ...]:
    """Hashes of the commits that this call made."""
    if call.failed or not is_commit(call.command):
        return ()
    return _distinct(found[1] for found in _MADE.finditer(call.output))


def listed_hashes(call: Call) -> tuple[str, ...]:
    """Hashes that git listed in the output of this call, those that it made before others."""
    if not _GIT.search(call.command):
        return ()
    return _distinct((*made_commits(call), *(found[1] for found in _LISTED.finditer(call.output[:20_000]))))


def message(call: Call) -> str:
    """The first line of the message of the commit that this call made."""
    found = (
        re.search(r"^\[[^\]\n]*?\b[0-9a-f]{7,40}\] (.+)$", call.output, re.MULTILINE) if made_commits(call) else None
    )
    return found[1].strip() if found else ""


def _is_near_hint(hints: Sequence[int], found: re.Match[str]) -> bool:
    """Whether one of these places, in their order, is near what was found."""
    near = bisect_left(hints, found.start() - NEAR)
    return near < len(hints) and hints[near] <= found.end() + NEAR


def _distinct(hashes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one[:LONGEST] for one in hashes if is_hash(one)))
