"""Conditions that a note may wait for: a closed union that a program can check. None of them runs anything.

A condition is JSON in a field of an event, as the edits of a plan are: events are flat.
"""

from typing import Literal

import msgspec

from schemas.envelope import Moment


class _Condition(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """The base of all conditions."""


class DateCondition(_Condition, frozen=True, tag="date"):
    """A moment has come."""

    at: Moment
    """With its time zone, such as `2026-12-01T09:00:00+01:00`."""


class FileCondition(_Condition, frozen=True, tag="file"):
    """A file of the project is as it should be."""

    path: str
    """From the root of the project."""
    state: Literal["exists", "absent", "changed", "contains"] = "exists"
    """`changed`: it was written to since the note began to wait."""
    text: str = ""
    """Of `contains`: the words that it has to contain, in one piece."""


class CommitCondition(_Condition, frozen=True, tag="commit"):
    """A commit or a tag is there. One of the three fields is given."""

    sha: str = ""
    subject: str = ""
    """Words of the first line of a commit that is newer than the note."""
    tag: str = ""


class MergeCondition(_Condition, frozen=True, tag="merged"):
    """A branch is merged into another one."""

    branch: str
    into: str = ""
    """Empty: the default branch of the project, which the dreamer takes from git."""


class CommandCondition(_Condition, frozen=True, tag="passed"):
    """A command was run in a session of the project since, and ended with 0. Nothing runs it for the note."""

    command: str
    """Its first line, word for word, as an agent runs it."""


class AddressCondition(_Condition, frozen=True, tag="address"):
    """A public address answers."""

    url: str
    status: int = 0
    """The status of its answer; 0: any from 200 to 299. A 410 counts as 404."""
    contains: str = ""
    """Words that are in the first 64 KiB of the answer."""


Condition = DateCondition | FileCondition | CommitCondition | MergeCondition | CommandCondition | AddressCondition
KINDS = ("date", "file", "commit", "merged", "passed", "address")

_conditions: msgspec.json.Decoder[Condition] = msgspec.json.Decoder(Condition)


def encode_condition(condition: Condition | None) -> str:
    """A condition in the form of an event; empty: there is none."""
    return msgspec.json.encode(condition).decode() if condition is not None else ""


def decode_condition(text: str) -> Condition | None:
    """The condition of an event; none: it has none, or one that this release does not know and nobody looks at."""
    try:
        return _conditions.decode(text) if text else None
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
