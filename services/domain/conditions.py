"""Conditions of notes as an agent or a person gives them: what is right about one, and how it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import get_args

import msgspec

from schemas.conditions import (
    KINDS,
    AddressCondition,
    CommandCondition,
    CommitCondition,
    Condition,
    DateCondition,
    FileCondition,
    MergeCondition,
)
from services.domain.finding import echo
from services.domain.limits import inside
from services.domain.public_hosts import web_address
from services.domain.secret_paths import is_secret

LONGEST = 240
"""Characters of a text in a condition; a session reports no more of a command."""
LONGEST_PATH = 512
FIRST_YEAR, LAST_YEAR = 1970, 9998
STATUSES = (100, 599)
FORMS: Mapping[str, str] = {
    "date": '{"kind": "date", "at": "2026-12-01T09:00:00+01:00"}',
    "file": '{"kind": "file", "path": "docs/map.md", "state": "contains", "text": "North"}, where the state is exists, '
    "absent, changed or contains",
    "commit": '{"kind": "commit", "tag": "v2.0"}, or with "sha" or "subject" in the place of "tag"',
    "merged": '{"kind": "merged", "branch": "quay", "into": "main"}, or without "into" for the default branch',
    "passed": '{"kind": "passed", "command": "make test"}',
    "address": '{"kind": "address", "url": "https://example.org/releases/2.0", "status": 200}, or with "contains"',
}
"""Kind -> how a condition of it is written."""
_SHA = re.compile(r"[0-9a-f]{7,64}")
_REF = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[A-Za-z0-9_][\w.+#@/-]{0,199}(?<![./])", re.ASCII)
"""Names of branches and tags that git takes, and that are no options and no expressions."""
_KINDS = {one.__struct_config__.tag: one for one in get_args(Condition)}


class BadCondition(ValueError):
    """The reason why a condition is none, as the end of a sentence, with the right form."""


def condition_of(given: str | Mapping[str, object]) -> Condition | None:
    """The condition that somebody gives, as an object or as JSON; none: they are words, which nothing can look at.

    Raises `BadCondition` for an object that is no condition.
    """
    if isinstance(given, str):
        if not given.lstrip().startswith("{"):
            return None
        given = _object(given)
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise BadCondition(
            f"a condition has a kind, one of {', '.join(KINDS)}, and this one has {echo(str(kind))}; write one such as "
            f"{FORMS['file']}"
        )
    right = f"write it as {FORMS[kind]}"
    unknown = set(given) - {"kind", *_KINDS[kind].__struct_fields__}
    if unknown:
        raise BadCondition(f"a condition of the kind {kind} has no field {echo(min(map(str, unknown)))}; {right}")
    try:
        condition: Condition = msgspec.convert(dict(given), _KINDS[kind])
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadCondition(f"the condition is wrong: {str(error)[:200]}; {right}") from error
    if wrong := fault_of(condition):
        raise BadCondition(f"{wrong}; {right}")
    return condition


def _object(text: str) -> Mapping[str, object]:
    try:
        return msgspec.json.decode(text.encode(), type=dict[str, object])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadCondition(f"the condition is no JSON: {str(error)[:200]}; write it as {FORMS['file']}") from error


def fault_of(condition: Condition) -> str:
    """A fault of a condition beyond its types, as a sentence; empty: there is none."""
    texts = [one for one in msgspec.structs.astuple(condition) if isinstance(one, str)]
    if any(not one.isprintable() for one in texts):
        return "a text of the condition has control characters"
    return next(_faults(condition), "")


def _faults(condition: Condition) -> Iterator[str]:
    match condition:
        case DateCondition(at=at):
            if not FIRST_YEAR <= at.year <= LAST_YEAR:
                yield f"the year {at.year} is not waited for"
        case FileCondition():
            yield from _of_file(condition)
        case CommitCondition():
            yield from _of_commit(condition)
        case MergeCondition(branch=branch, into=into):
            names = (branch, into) if into else (branch,)
            yield from (f"{echo(name)} is no name of a branch" for name in names if not _REF.fullmatch(name))
            if branch == into:
                yield "a branch is not merged into itself"
        case CommandCondition(command=command):
            yield from _of_text(command, "command")
        case AddressCondition():
            yield from _of_address(condition)


def _of_file(condition: FileCondition) -> Iterator[str]:
    path = condition.path
    if not _is_inside(path):
        yield f"{echo(path)} is no path within the project"
    if is_secret(path):
        yield f"{echo(path)} may hold secrets by its name, and such files are not looked at"
    if condition.state == "contains":
        yield from _of_text(condition.text, "text")
    elif condition.text:
        yield f"a text goes with the state contains, and the state is {condition.state}"


def _is_inside(path: str) -> bool:
    if len(path) > LONGEST_PATH or path.startswith("~") or "\\" in path or "://" in path:
        return False
    try:
        return bool(inside(path))
    except ValueError:
        return False


def _of_commit(condition: CommitCondition) -> Iterator[str]:
    if sum(map(bool, (condition.sha, condition.subject, condition.tag))) != 1:
        yield "a condition of the kind commit has exactly one of sha, subject and tag"
    if condition.sha and not _SHA.fullmatch(condition.sha):
        yield f"{echo(condition.sha)} is no sha of 7 to 64 digits"
    if condition.tag and not _REF.fullmatch(condition.tag):
        yield f"{echo(condition.tag)} is no name of a tag"
    if condition.subject:
        yield from _of_text(condition.subject, "subject")


def _of_address(condition: AddressCondition) -> Iterator[str]:
    try:
        web_address(condition.url)
    except ValueError as error:
        yield str(error)
    first, last = STATUSES
    if condition.status and not first <= condition.status <= last:
        yield f"{condition.status} is no status of an answer"
    if condition.contains:
        yield from _of_text(condition.contains, "text that it contains")


def _of_text(text: str, what: str) -> Iterator[str]:
    if not text.strip():
        yield f"the {what} is empty"
    if len(text) > LONGEST:
        yield f"the {what} has {len(text)} characters, and may have {LONGEST}"


def words_of(condition: Condition, zone: str = "") -> str:
    """A condition in words. `zone`: the name of the time zone by whose days a date was found."""
    match condition:
        case DateCondition(at=at):
            named = f" ({zone})" if zone and zone != f"{at:%Z}" else ""
            return f"it is {at:%Y-%m-%d %H:%M %Z}{named}".rstrip()
        case FileCondition(path=path, state="contains", text=text):
            return f"{path} contains {text!r}"
        case FileCondition(path=path, state=state):
            return f"{path} {_STATES[state]}"
        case CommitCondition(sha=sha, subject=subject, tag=tag):
            return f"the commit {sha} is there" if sha else f"the tag {tag} is there" if tag else _commit(subject)
        case MergeCondition(branch=branch, into=into):
            return f"{branch} is merged into {into or 'the default branch'}"
        case CommandCondition(command=command):
            return f"`{command}` has passed in a session"
        case AddressCondition(url=url, status=status, contains=text):
            answer = f"{url} answers with {status}" if status else f"{url} answers"
            return f"{answer} and contains {text!r}" if text else answer


_STATES = {"exists": "is there", "absent": "is not there", "changed": "was changed"}


def _commit(subject: str) -> str:
    return f"there is a commit with {subject!r} in its first line"
