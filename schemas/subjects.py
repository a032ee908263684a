"""Subjects: the prefixes of the broker, built and parsed in this one place."""

import hashlib
import re
from functools import lru_cache

import msgspec

SHARDS = 64
"""The number of shards that LOG subjects are spread over. It can never change: an immutable log cannot be
re-addressed."""
WHOLE_PROJECT = "_"
"""The session token of a fact that belongs to no session, and the project token of a question about all projects."""
PERSON = "person"
"""The last token of a person's command: the broker lets nobody but the user `person` publish on such a subject."""
MAX_ID_BYTES = 256
CACHED_IDS = 8192
"""Encoded ids in the cache: the same few ids are encoded again and again."""

_ESCAPE = re.compile(r"=([0-9A-F]{2})")


class BadSubject(ValueError):
    """A subject or an id that cannot be part of the language."""


@lru_cache(CACHED_IDS)
def token(identifier: str) -> str:
    """The subject token of any id: letters, digits, `-` and `_` stay, other bytes become `=XX`, nothing becomes `_`."""
    if not identifier:
        return WHOLE_PROJECT
    raw = _utf8(identifier)
    if len(raw) > MAX_ID_BYTES:
        raise BadSubject(f"the id {identifier[:40]!r}... has {len(raw)} bytes; use one of at most {MAX_ID_BYTES}")
    if identifier == WHOLE_PROJECT:
        return "=5F"
    return "".join(chr(b) if chr(b).isascii() and (chr(b).isalnum() or b in b"-_") else f"={b:02X}" for b in raw)


def identifier(subject_token: str) -> str:
    """The id that `token` made this token of. Raises `BadSubject` for a token that `token` does not make."""
    if subject_token == WHOLE_PROJECT:
        return ""
    raw = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), subject_token)
    try:
        found = raw.encode("latin-1").decode()
    except UnicodeError as error:
        raise BadSubject(f"the token {subject_token!r} is not an id in UTF-8; make tokens as `token` does") from error
    if token(found) != subject_token:
        raise BadSubject(f"the token {subject_token!r} is not how {found!r} is written; that is {token(found)!r}")
    return found


def shard(project: str) -> int:
    """The shard of a project: stable over processes, machines and releases."""
    return int.from_bytes(hashlib.blake2b(_utf8(project), digest_size=4).digest(), "big") % SHARDS


def _utf8(identifier: str) -> bytes:
    try:
        return identifier.encode()
    except UnicodeEncodeError as error:
        raise BadSubject(f"the id {identifier[:40]!r} is not Unicode text; leave out its lone surrogates") from error


@lru_cache(CACHED_IDS)
def _log_prefix(project: str, session: str) -> str:
    return f"log.{shard(project)}.{token(project)}.{token(session)}"


class Address(msgspec.Struct, frozen=True):
    """The project and the session whose log a fact belongs to."""

    project: str
    session: str = ""

    @property
    def log_prefix(self) -> str:
        return _log_prefix(self.project, self.session)

    @property
    def log_filter(self) -> str:
        return f"{self.log_prefix}.>"

    def log(self, event_type: str) -> str:
        return f"{self.log_prefix}.{event_type}"

    def inbound(self, harness: str) -> str:
        return f"in.{token(harness)}.{token(self.project)}.{token(self.session)}"

    def command(self, command_type: str, user: str = "") -> str:
        """The subject of a command; `user`: `PERSON` where a person sends it."""
        return ".".join(filter(None, ("do", token(self.project), token(self.session), command_type, user)))


def of_sessions(project: str, event_type: str) -> str:
    """The filter for the facts of one type of all sessions of a project."""
    return f"log.{shard(project)}.{token(project)}.*.{event_type}"


def ask(question: str, project: str = "") -> str:
    """`ask.<question>.<project>`; the project token is `_` where the question is about all of them."""
    return f"ask.{question}.{token(project)}"


def dead(room: str) -> str:
    return f"dead.{room}"


def parse_inbound(subject: str) -> tuple[str, Address]:
    """The harness and the address of an `in.*` subject."""
    match subject.split("."):
        case ["in", harness, project, session] if WHOLE_PROJECT not in {project, session}:
            return identifier(harness), Address(identifier(project), identifier(session))
        case _:
            raise BadSubject(f"{subject!r} is not in.<harness>.<project>.<session>")


def parse_command(subject: str) -> tuple[Address, str, str]:
    """The address and the command type of a `do.*` subject, and `PERSON` where only a person can have sent it."""
    match subject.split("."):
        case ["do", project, session, noun, verb]:
            return Address(identifier(project), identifier(session)), f"{noun}.{verb}", ""
        case ["do", project, session, noun, verb, user] if user == PERSON:
            return Address(identifier(project), identifier(session)), f"{noun}.{verb}", user
        case _:
            raise BadSubject(f"{subject!r} is not do.<project>.<session>.<noun>.<verb>, nor that with .{PERSON}")


def parse_ask(subject: str) -> tuple[str, str]:
    """The question and the project of an `ask.*` subject; an empty project: it is about all of them, or none."""
    match subject.split("."):
        case ["ask", question, project]:
            return question, identifier(project)
        case _:
            raise BadSubject(f"{subject!r} is not ask.<question>.<project>")


def parse_log(subject: str) -> tuple[Address, str]:
    """The address and the event type of a `log.*` subject."""
    match subject.split("."):
        case ["log", _, project, session, noun, participle]:
            return Address(identifier(project), identifier(session)), f"{noun}.{participle}"
        case _:
            raise BadSubject(f"{subject!r} is not log.<shard>.<project>.<session>.<noun>.<past participle>")
