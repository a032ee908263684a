"""Commits as git keeps them, read from its bytes: whoever made them, in whatever encoding, with whatever clock."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from schemas.events import CommitSeen
from services.domain.secrets import mask

SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
LAST_SECOND = 253_402_300_799
"""The end of the year 9999: what lies behind it is no date."""
_SECONDS = re.compile(rb"-?\d{1,30}(?!\S)")
_TEXT_ENCODING = re.compile(
    r"(?:utf|iso|latin|windows|cp|koi8|euc|shift|s?jis|gb|big5|ascii|us-ascii|mac)[\w.-]{0,20}\Z", re.IGNORECASE
)
"""Codecs that make a text of bytes: Python has others by the same door."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
SUBJECT, BODY, NAME, PATH = 500, 8_000, 200, 400
"""The most characters of each."""
LOOKED_AT = 64 * 1024
"""Characters that are searched for secrets before they are cut: one that the cut goes through is still known as one."""
FILES, FILES_LENGTH = 300, 32 * 1024
"""The most paths that are named, and the most characters of them together."""


class Person(msgspec.Struct, frozen=True):
    """The author or committer of a commit, and the time."""

    name: str = ""
    email: str = ""
    at: datetime = datetime.fromtimestamp(0, UTC)


class Commit(msgspec.Struct, frozen=True):
    """One commit, in words."""

    sha: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    subject: str
    body: str


def moment(seconds: int) -> datetime:
    """A time of git's as one that exists."""
    return datetime.fromtimestamp(min(max(seconds, 0), LAST_SECOND), UTC)


def commits_in(answer: bytes) -> Iterator[Commit]:
    """The commits of an answer of `cat-file --batch`. What is none, or is gone, is passed over."""
    at = 0
    while (end := answer.find(b"\n", at)) >= 0:
        words = answer[at:end].split()
        at = end + 1
        match words:
            case [sha, kind, length] if length.isdigit():
                size = int(length)
                if kind == b"commit":
                    yield read_commit(sha.decode(), answer[at : at + size])
                at += size + 1
            case _:
                pass  # it is not there


def read_commit(sha: str, raw: bytes) -> Commit:
    """A commit from its bytes, of which the end may be missing."""
    head, _, text = raw.partition(b"\n\n")
    fields: dict[bytes, list[bytes]] = {}
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name:  # else it goes on with a signature
            fields.setdefault(name, []).append(value)
    encoding = fields.get(b"encoding", [b""])[0].decode("ascii", "replace")
    subject, body = _message(decoded(text, encoding))
    return Commit(
        sha=sha,
        parents=tuple(one for value in fields.get(b"parent", ()) if SHA.match(one := value.decode("ascii", "replace"))),
        author=_person(fields.get(b"author", [b""])[0], encoding),
        committer=_person(fields.get(b"committer", [b""])[0], encoding),
        subject=subject,
        body=body,
    )


def decoded(text: bytes, encoding: str = "") -> str:
    """A text in the encoding that is claimed if it is that, else in UTF-8, else in the one that most others are."""
    for codec in ([encoding] if _TEXT_ENCODING.match(encoding) else []) + ["utf-8", "cp1252"]:
        try:
            return _CONTROL.sub("", text.decode(codec).replace("\r\n", "\n"))
        except (UnicodeError, LookupError):
            continue
    return _CONTROL.sub("", text.decode("latin-1").replace("\r\n", "\n"))


def _message(text: str) -> tuple[str, str]:
    subject, _, body = _split(text.strip("\n \t"))
    return " ".join(subject.split()), body.strip("\n").rstrip()


def _split(text: str) -> tuple[str, str, str]:
    found = _PARAGRAPH.search(text)
    return (text[: found.start()], "\n", text[found.end() :]) if found else (text, "", "")


def _person(value: bytes, encoding: str) -> Person:
    name, opens, rest = value.partition(b"<")
    mail, closes, when = rest.partition(b">")
    if not (opens and closes):
        return Person(name=decoded(value, encoding))
    seconds = _SECONDS.match(when.strip())
    return Person(
        decoded(name, encoding).strip(), decoded(mail, encoding).strip(), moment(int(seconds[0]) if seconds else 0)
    )


def files_in(answer: bytes, shas: Sequence[str]) -> dict[str, list[str]]:
    """The paths below each of these commits in an answer of `diff-tree --stdin -z`, which names them in their order."""
    *words, _ = answer.split(b"\0")  # behind the last there is nothing, or half a path of an answer that was cut
    found: dict[str, list[str]] = {}
    left = iter(shas)
    wanted, paths = next(left, ""), list[str]()
    for word in words:
        if word == wanted.encode():
            paths = found.setdefault(wanted, [])
            wanted = next(left, "")
        else:
            paths.append(word.decode(errors="replace"))
    return found


def listed_in(answer: bytes) -> list[tuple[int, str]]:
    """Times and names of an answer of `rev-list --timestamp`."""
    lines = (line.partition(" ") for line in answer.decode("ascii", "replace").splitlines())
    return [(min(max(int(seconds), 0), LAST_SECOND), sha) for seconds, _, sha in lines]


def sizes_in(answer: bytes) -> dict[str, int]:
    """The commits of an answer of `cat-file --batch-check`, with their sizes."""
    lines = (line.partition(" commit ") for line in answer.decode("ascii", "replace").splitlines())
    return {sha: int(size) for sha, is_commit, size in lines if is_commit}


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
