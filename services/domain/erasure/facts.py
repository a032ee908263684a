"""A record of the log without a secret: texts are masked, all else stays as it is, or nothing is done at all."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec
from msgspec import inspect

from schemas.envelope import Envelope
from schemas.events import EVENTS, SessionOpened
from schemas.inbox import Inbound
from schemas.plan import AnyEdit
from services.domain.erasure.secret import LEVELS, MASK, Masks, masked, masked_subject
from services.domain.record import Record, read_record

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*', re.DOTALL)
"""A string or a number of JSON, as it is written."""
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
"""One letter of a string of JSON, as it is written."""
_NAME = re.compile(r"[0-9a-f]{32,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Names that programs give: a part of one is nobody's word."""


class Structural(ValueError):
    """The secret is a part of the structure of facts, and masking it would ruin them; names where."""


def rewritten(subject: str, data: bytes, masks: Masks, renamed: Mapping[bytes, bytes]) -> tuple[str, bytes]:
    """The subject and the data of a record once the secret is masked; the very same where it does not hold it.

    `renamed`: the names of long bodies, by those that they had. A record that is no fact is masked as it is.
    Raises `Structural` where what comes out would be another fact, or none.
    """
    new_subject, new = masked_subject(subject, masks), data
    for old, name in renamed.items():
        new = new.replace(old, name)
    if masked(new, masks) == new and new_subject == subject:
        return subject, new
    before = read_record(subject, data, 0, deep=True)
    if before.problem:
        return new_subject, masked(new, masks)
    clean = _clean_fact(subject, new.decode(), masks).encode()
    if masked(clean, masks) != clean:
        raise _structural(subject, "a number, a moment or the name of a field")
    after = read_record(new_subject, clean, 0, deep=True)
    if after.problem:
        what = (
            "an id that is too long with its masks" if "use one of at most" in after.problem else "what is then spoilt"
        )
        raise _structural(subject, f"{what} ({after.problem})")
    if _identity(before) != _identity(after):
        raise _structural(subject, "its id, its type, its moment or its harness")
    return new_subject, clean


def _structural(subject: str, what: str) -> Structural:
    return Structural(
        f"the secret is a part of what facts are made of, and cannot be masked there: of {what}, in a fact on "
        f"{subject!a}. Nothing was changed; give a longer piece of the secret, which occurs in texts alone"
    )


def _identity(record: Record) -> tuple[object, ...]:
    envelope, event = record.envelope, record.event
    harness = event.harness if isinstance(event, SessionOpened) else ""
    return envelope.id, envelope.type, envelope.v, envelope.at, envelope.cause, envelope.actor.kind, harness


def _clean_fact(subject: str, data: str, masks: Masks) -> str:
    """The JSON of a fact with its texts masked. Its numbers stay, and so do the names of its fields."""

    def one(found: re.Match[str]) -> str:
        written = found[0]
        if written[0] != '"' or data[found.end()] == ":" or _masked(written, masks) == written:
            return written
        text = json.loads(written)
        if _NAME.fullmatch(text) and text.encode() not in masks:
            field = re.findall(r'"(\w+)":', data[: found.start()])[-1]
            raise _structural(subject, f"a digest or an id, its {field!r}")
        return _written(_clean_text(text, masks, LEVELS), masks)

    return _TOKEN.sub(one, data)


def _clean_text(text: str, masks: Masks, levels: int) -> str:
    """A text, which stays JSON if it is, with the secret masked in its strings and numbers."""
    if _masked(text, masks) == text:
        return text
    if levels and text[:1] in {"{", "["} and _is_json(text):
        text = _TOKEN.sub(lambda found: _clean_token(found[0], masks, levels - 1), text)
    return _masked(text, masks)


def _clean_token(written: str, masks: Masks, levels: int) -> str:
    if _masked(written, masks) == written:
        return written
    if written[0] != '"':
        return json.dumps(MASK)
    return _written(_clean_text(json.loads(written), masks, levels), masks)


def _written(text: str, masks: Masks) -> str:
    """A text as JSON, without a spelling that is made up of the end of an escape and what follows it."""
    written = json.dumps(text, ensure_ascii=False)
    while (place := _place(written, masks)) is not None:
        unit = next((one for one in _UNIT.finditer(written) if one.start() >= place and one[0] != '"'), None)
        letter = unit and json.loads(f'"{unit[0]}"')
        if unit is None or letter is None or len(letter) != 1 or unit[0][:2] == "\\u":
            return written
        written = f"{written[: unit.start()]}\\u{ord(letter):04x}{written[unit.end() :]}"
    return written


def _place(written: str, masks: Masks) -> int | None:
    """The position of the first spelling in it."""
    data = written.encode()
    found = min((place for one in masks if (place := data.find(one)) >= 0), default=None)
    return None if found is None else len(data[:found].decode(errors="ignore"))


def _masked(text: str, masks: Masks) -> str:
    return masked(text.encode(), masks).decode()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False
    return True


def refuse_word_of_language(masks: Masks, names: Iterable[str]) -> None:
    """Raise `Structural` where the secret is a part of a word that facts are written with, or of one of these names."""
    for word in {*_words(), *names}:
        if any(one in word.encode() for one in masks):
            raise Structural(
                f"the secret is a part of {word!r}, a word that the log itself is written with; nothing was changed, "
                "give a longer piece of the secret"
            )


@cache
def _words() -> frozenset[str]:
    return frozenset(
        word for kind in (*EVENTS, Envelope, Inbound, AnyEdit) for word in _words_of(inspect.type_info(kind), set())
    )


def _words_of(kind: inspect.Type, seen: set[type]) -> Iterator[str]:
    """Types and names of fields, and what those may say that say one of a few words."""
    if isinstance(kind, inspect.LiteralType):
        yield from map(str, kind.values)
    inner = (getattr(kind, name, ()) for name in ("types", "item_types", "item_type", "type", "value_type"))
    for one in inner:
        for each in one if isinstance(one, tuple) else (one,):
            if isinstance(each, inspect.Type):
                yield from _words_of(each, seen)
    if isinstance(kind, inspect.StructType) and kind.cls not in seen:
        seen.add(kind.cls)
        yield getattr(kind.cls, "TYPE", "")
        yield str(kind.tag)
        for field in kind.fields:
            yield field.encode_name
            yield from (field.default,) if isinstance(field.default, str) else ()
            yield from _words_of(field.type, seen)


class Addresses:
    """The addresses of a log as they are with masks: no two of them may become one."""

    def __init__(self) -> None:
        self._before: dict[str, str] = {}

    def add(self, subject: str, new: str) -> None:
        """Raises `Structural` where another address has become this one already."""
        old, now = (
            one.rpartition(".")[0].rpartition(".")[0].partition(".")[2].partition(".")[2] for one in (subject, new)
        )
        if self._before.setdefault(now, old) != old:
            raise Structural(
                f"with masks, the facts of {old!a} and those of {self._before[now]!a} would become one session's; "
                "nothing was changed, give a shorter or a longer piece of the secret"
            )
