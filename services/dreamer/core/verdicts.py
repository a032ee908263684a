"""Verdicts on a note's condition: what was found, what follows of it, and when it is looked at again."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal

import msgspec

from schemas.conditions import (
    AddressCondition,
    CommandCondition,
    CommitCondition,
    Condition,
    DateCondition,
    FileCondition,
    MergeCondition,
)

SHORTEST, LONGEST = timedelta(minutes=5), timedelta(hours=24)
"""Between two looks at one condition."""
SHARE = 12
"""A look comes after this part of the time that the note has waited for: what was not soon is seldom sudden."""
JITTER = 0.1
NO_TREE, OFF, BARRED, DENIED, NO_BRANCH = "no_tree", "off", "barred", "denied", "no_branch"
FOR_GOOD = frozenset({BARRED, DENIED})
"""Codes of parked notes that no dreamer looks at until they get a condition again."""
DENIALS = frozenset({401, 403, 451})
"""Statuses of an address that does not answer everybody."""
GONE, ABSENT = 410, 404


class FileLook(msgspec.Struct, frozen=True):
    """The findings on a file."""

    is_there: bool = False
    written: datetime | None = None
    text: str | None = None
    """None: it is no text, or larger than what is read."""
    barred: str = ""
    """The reason why it was not looked at; empty: it was."""


class GitLook(msgspec.Struct, frozen=True):
    """git's answer about a commit, a tag or a merge."""

    found: str = ""
    """A commit, by its beginning; empty: there is none."""
    fault: str = ""
    """The reason why git has not answered; empty: it has."""


class SessionLook(msgspec.Struct, frozen=True):
    """Sessions' reports of a command."""

    passed: datetime | None = None


class AddressLook(msgspec.Struct, frozen=True):
    """The answer of an address."""

    status: int = 0
    """0: nothing."""
    text: str = ""
    barred: str = ""
    """The reason why it was not asked; empty: it was."""
    fault: str = ""
    """The reason why it has not answered; empty: it has."""


Sight = FileLook | GitLook | SessionLook | AddressLook | None
"""None: of a date there is nothing to look at but the moment."""


class NoteVerdict(msgspec.Struct, frozen=True):
    """The verdict that follows from a look."""

    outcome: Literal["ready", "waiting", "parked"]
    reason: str = ""
    code: str = ""
    """Of `parked`: why, in one word."""


def judge(condition: Condition, sight: Sight, since: datetime, now: datetime) -> NoteVerdict:
    """The verdict that follows from a look at a condition that a note has waited for since a moment."""
    match condition, sight:
        case DateCondition(at=at), _:
            return NoteVerdict("ready", f"it is {at.isoformat()}") if now >= at else NoteVerdict("waiting")
        case FileCondition(), FileLook():
            return _of_file(condition, sight, since)
        case ((CommitCondition() | MergeCondition()), GitLook(found=found, fault=fault)):
            return NoteVerdict("ready", f"git has {found}") if found else NoteVerdict("waiting", fault)
        case CommandCondition(), SessionLook(passed=passed):
            return NoteVerdict("ready", f"it passed at {passed.isoformat()}") if passed else NoteVerdict("waiting")
        case AddressCondition(), AddressLook():
            return _of_address(condition, sight)
        case _:
            return NoteVerdict("waiting", "there is nothing to look at")


def _of_file(condition: FileCondition, look: FileLook, since: datetime) -> NoteVerdict:
    path = condition.path
    if look.barred:
        return NoteVerdict("parked", f"{path} {look.barred}", BARRED)
    match condition.state:
        case "exists":
            is_so = look.is_there
        case "absent":
            is_so = not look.is_there
        case "changed":
            is_so = look.written is not None and look.written > since
        case "contains":
            is_so = look.text is not None and condition.text in look.text
    return NoteVerdict("ready", f"{path} was looked at") if is_so else NoteVerdict("waiting")


def _of_address(condition: AddressCondition, look: AddressLook) -> NoteVerdict:
    if look.barred:
        return NoteVerdict("parked", look.barred, BARRED)
    if look.fault:
        return NoteVerdict("waiting", look.fault)
    wanted, status = condition.status, ABSENT if look.status == GONE else look.status
    is_status = status in (wanted, ABSENT if wanted == GONE else wanted) if wanted else 200 <= status < 300  # noqa: PLR2004 - the class of an answer
    if is_status and condition.contains in look.text:
        return NoteVerdict("ready", f"it answered with {look.status}")
    if look.status in DENIALS and not is_status:
        return NoteVerdict("parked", f"the address answers with {look.status}: it is not for everybody", DENIED)
    return NoteVerdict("waiting", f"it answered with {look.status}")


def next_look(name: str, condition: Condition, since: datetime, looked: datetime | None) -> datetime:
    """When a condition is looked at next, which a note of this name has waited for since a moment.

    `looked`: when it was looked at last; none: it was not. A date is looked at when it has come. All else is looked at
    after a part of the time that the note has waited, give or take a tenth, from 5 minutes to 24 hours after the last
    look. The same note gives the same moments wherever that is asked.
    """
    if isinstance(condition, DateCondition):
        return condition.at if looked is None or looked < condition.at else looked + LONGEST
    last = looked or since
    gap = min(max((last - since) / SHARE, SHORTEST), LONGEST)
    digest = sha256(f"{name}\0{last.isoformat()}".encode(errors="replace")).digest()
    share = int.from_bytes(digest[:4], "big") / 0xFFFFFFFF
    return last + min(max(gap * (1 + JITTER * (2 * share - 1)), SHORTEST), LONGEST)
