"""The door for secrets: a text that passed `mask` carries no known credential into a log that cannot forget."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import chain
from typing import AnyStr, NamedTuple

from services.domain.secrets.engine import Span
from services.domain.secrets.nearby import looks_random, nearby_secrets
from services.domain.secrets.patterns import (
    ALL,
    ANY_ANCHOR,
    BEARER_TOKEN,
    CARD,
    CARD_SHAPE,
    CARD_SHAPES,
    CHOSEN_KINDS,
    CODE,
    CURL_PASSWORD,
    DIGIT,
    FRAMES,
    KEYS,
    LEAD,
    LONG_RUN,
    LONGEST_NAME,
    METAVARIABLE,
    MYSQL_PASSWORD,
    NO_PASSPHRASE,
    NUMBER,
    PASSPHRASE,
    PGPASS_PASSWORD,
    PRIVATE_KEY,
    REST_OF_RUN,
    REST_OF_VALUE,
    RUN_SHAPE,
    SHORTEST_CHOSEN,
    SHORTEST_ISSUED,
    SHORTEST_WITHOUT_DIGIT,
    SSHPASS_PASSWORD,
    STAND_IN,
    TEMPLATE,
    TOKEN_CHARACTERS,
    UNLIKE_A_NAME,
    URL_PASSWORD,
    URL_USER,
    VALUE,
    WORD,
    YAML_BLOCK,
    YAML_KEY,
    YAML_PASSWORD,
    YAML_PIECE,
    Issuer,
    token_pattern,
)
from services.domain.secrets.readings import LEVELS, TextReading, as_bytes, as_decoded, as_shown
from services.domain.secrets.rules import Searched, random_runs, ruled_secrets
from services.domain.secrets.wrapping import joined_lines
from services.domain.texts.placeholders import MASKED

__all__ = ["ALL", "PRIVATE_KEY", "mask", "token_pattern"]


class SecretFinding(NamedTuple):
    """The place of a secret in a text, and its kind."""

    start: int
    end: int
    kind: str


class ValueUsage(Enum):
    """The kind of the value after a key, as far as its context shows."""

    PROSE = auto()
    EXPRESSION = auto()  # code, or a constant without quotes
    CONSTANT = auto()
    FLAG = auto()
    HEADER = auto()


def mask(text: str) -> str:
    """The text with a placeholder for each secret; the same object if there is none."""
    # Until nothing is found, because a placeholder changes what its neighbours look like.
    while findings := _findings(text):
        text = _replaced(text, findings)
    return text


def _replaced(text: str, findings: list[SecretFinding]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, kind in _merged(findings):
        pieces += (text[position:start], MASKED.text(kind=kind))
        position = end
    return "".join((*pieces, text[position:]))


def _merged(findings: list[SecretFinding]) -> Iterator[SecretFinding]:
    current, *rest = sorted(findings, key=lambda finding: finding.start)
    for finding in rest:
        if finding.start < current.end:
            current = current._replace(end=max(current.end, finding.end))
        else:
            yield current
            current = finding
    yield current


def _findings(text: str) -> list[SecretFinding]:
    written = as_bytes(text)
    shown = as_shown(text, written)
    if shown:
        return _in_original(shown, _encoded_findings(shown.text, as_bytes(shown.text)))
    return _encoded_findings(text, written)


def _encoded_findings(text: str, written: bytes, level: int = 0) -> list[SecretFinding]:
    """Secrets in a text, and in what is encoded in it, up to `LEVELS` times."""
    folded = written.lower()
    searched, runs = Searched(text, written, folded, random_runs(written)), list(_long_runs(folded))
    found = [*_plain_findings(searched, runs), *_broken_findings(searched)]
    decoded = as_decoded(text, runs) if level < LEVELS else None
    if decoded is None:
        return found
    return found + _in_original(decoded, _encoded_findings(decoded.text, as_bytes(decoded.text), level + 1))


def _broken_findings(searched: Searched) -> Iterator[SecretFinding]:
    """Secrets that are broken over lines."""
    joined = joined_lines(searched.text, searched.written, searched.random)
    if joined is not None:
        text = joined.reading.text
        written = as_bytes(text)
        folded = written.lower()
        whole = Searched(text, written, folded, random_runs(written))
        for one in _in_original(joined.reading, _plain_findings(whole, list(_long_runs(folded)))):
            if joined.is_over_a_break(one.start, one.end):
                yield one


def _in_original(reading: TextReading, found: list[SecretFinding]) -> list[SecretFinding]:
    return [SecretFinding(*reading.original(start, end), kind) for start, end, kind in found]


def _plain_findings(searched: Searched, runs: list[Span]) -> list[SecretFinding]:
    text, folded = searched.text, searched.folded
    return [
        *_private_keys(text),
        *_issued_tokens(text, runs),
        *_url_passwords(text),
        *_assigned_secrets(text, folded),
        *_bearer_tokens(text, folded),
        *_curl_passwords(text, folded),
        *_command_passwords(text, folded),
        *_yaml_passwords(text, folded),
        *_pgpass_passwords(text, folded),
        *_framed_secrets(text, folded),
        *_yaml_blocks(text, folded),
        *_passphrases(text, folded),
        *_cards(folded),
        *_ruled_tokens(text, searched),  # after these: what we find ourselves has our kind
        *_url_users(text),
    ]


def _private_keys(text: str) -> Iterator[SecretFinding]:
    if "PRIVATE KEY" in text:
        for match in PRIVATE_KEY.finditer(text):
            yield SecretFinding(*match.span(), "private-key")


def _issued_tokens(text: str, runs: list[Span]) -> Iterator[SecretFinding]:
    for issuer in _possible_issuers(text, runs):
        covered = 0
        for match in token_pattern(issuer).finditer(text):
            if match.lastgroup != "no_token" and match.start() >= covered:
                covered = _end(REST_OF_RUN, text, match.end())
                yield SecretFinding(match.start(), covered, issuer.kind)


def _ruled_tokens(text: str, searched: Searched) -> Iterator[SecretFinding]:
    for start, end, rule in chain(ruled_secrets(searched), nearby_secrets(searched)):
        value = text[start:end]
        if not (_is_stand_in(value) or METAVARIABLE.fullmatch(value) or text.endswith("[masked:", 0, start)):
            yield SecretFinding(start, end, rule)


def _possible_issuers(text: str, runs: list[Span]) -> list[Issuer]:
    anchors: set[str] = set()
    for start, end in runs:
        anchor = ANY_ANCHOR.search(text, max(0, start - LEAD), end + 1)
        while anchor:
            anchors.add(anchor[0])
            anchor = ANY_ANCHOR.search(text, anchor.end(), end + 1)
    return [issuer for issuer in ALL if _has_any(issuer, anchors)] if anchors else []


def _has_any(issuer: Issuer, anchors: set[str]) -> bool:
    return any(re.match(issuer.anchor, anchor, re.ASCII) for anchor in anchors)


def _long_runs(folded: bytes) -> Iterator[Span]:
    shape = folded.translate(RUN_SHAPE)
    start = shape.find(LONG_RUN)
    while start >= 0:
        end = shape.find(b" ", start)
        yield start, end if end >= 0 else len(shape)
        start = shape.find(LONG_RUN, end) if end >= 0 else -1


def _url_passwords(text: str) -> Iterator[SecretFinding]:
    if "@" in text:
        for match in URL_PASSWORD.finditer(text):
            if not _is_stand_in(match[1]):
                yield SecretFinding(*match.span(1), "password")


def _url_users(text: str) -> Iterator[SecretFinding]:
    if "@" in text:
        for match in URL_USER.finditer(text):
            if looks_random(match[1].encode("ascii", "replace")):
                yield SecretFinding(*match.span(1), "token")


def _assigned_secrets(text: str, folded: bytes) -> Iterator[SecretFinding]:
    for kind, key in KEYS:
        covered = 0
        for match in key.finditer(folded):
            value = VALUE.match(folded, match.end()) if match.start() >= covered else None
            if value and _is_assigned_secret(kind, _value_text(text, value), _usage(text, match, value)):
                start, covered = _value_span(folded, value)
                yield SecretFinding(start, covered, kind)


def _value_text(text: str, value: re.Match[bytes]) -> str:
    return text[slice(*value.span("quoted" if value["quote"] else "bare"))]


def _value_span(folded: bytes, value: re.Match[bytes]) -> tuple[int, int]:
    if value["quote"]:
        return value.span("quoted")
    start, end = value.start("bare"), _end(REST_OF_VALUE, folded, value.end())
    return start, start + len(folded[start:end].rstrip(b".:"))


def _usage(text: str, key: re.Match[bytes], value: re.Match[bytes]) -> ValueUsage:
    before = text[max(0, key.start() - LONGEST_NAME) : key.start()]
    name = before[len(before.rstrip(TOKEN_CHARACTERS)) :]
    before = before.removesuffix(name)
    written = text[slice(*key.span())]
    if before.endswith("[masked:"):
        return ValueUsage.PROSE
    if name.startswith("--"):
        return ValueUsage.FLAG
    if not key["sign"]:  # only SQL writes PASSWORD 'value'
        return ValueUsage.CONSTANT if value["quote"] == b"'" and written.isupper() else ValueUsage.PROSE
    if value["scheme"]:
        return ValueUsage.HEADER
    is_tight = key["sign"] == b"=" and " " not in written
    is_variable = (name + written).isupper()
    is_parameter = before.endswith(("?", "&", ";"))
    return (
        ValueUsage.CONSTANT if value["quote"] or (is_tight and (is_variable or is_parameter)) else ValueUsage.EXPRESSION
    )


def _is_assigned_secret(kind: str, value: str, usage: ValueUsage) -> bool:
    if usage is ValueUsage.PROSE or _is_stand_in(value) or WORD.fullmatch(value):
        return False
    if usage is ValueUsage.FLAG:
        return len(value) >= SHORTEST_CHOSEN and not METAVARIABLE.fullmatch(value)
    if usage is ValueUsage.HEADER:
        return _is_header_token(value)
    if usage is ValueUsage.EXPRESSION and CODE.fullmatch(value):
        return False
    if kind in CHOSEN_KINDS:
        return len(value) >= SHORTEST_CHOSEN and (
            usage is ValueUsage.CONSTANT or UNLIKE_A_NAME.search(value) is not None
        )
    return _is_issued(value) or (usage is ValueUsage.CONSTANT and _is_long(value))


def _is_issued(value: str) -> bool:
    return len(value) >= SHORTEST_ISSUED and DIGIT.search(value) is not None and not NUMBER.fullmatch(value)


def _is_long(value: str) -> bool:
    return len(value) >= SHORTEST_WITHOUT_DIGIT and not METAVARIABLE.fullmatch(value)


def _is_header_token(value: str) -> bool:
    is_mixed = len(value) >= SHORTEST_ISSUED and not value[1:].islower()
    return _is_issued(value) or _is_long(value) or (is_mixed and not METAVARIABLE.fullmatch(value))


def _is_stand_in(value: str) -> bool:
    return TEMPLATE.search(value) is not None or STAND_IN.fullmatch(value) is not None


def _bearer_tokens(text: str, folded: bytes) -> Iterator[SecretFinding]:
    for match in BEARER_TOKEN.finditer(folded):
        start, end = match.span(1)
        if not _is_stand_in(text[start:end]) and _is_header_token(text[start:end]):
            yield SecretFinding(start, end, "token")


def _curl_passwords(text: str, folded: bytes) -> Iterator[SecretFinding]:
    if b"curl" in folded:
        for match in CURL_PASSWORD.finditer(folded):
            start, end = match.span(1)
            if not _is_stand_in(text[start:end]):
                yield SecretFinding(start, end, "password")


def _command_passwords(text: str, folded: bytes) -> Iterator[SecretFinding]:
    for word, pattern in ((b"mysql", MYSQL_PASSWORD), (b"mariadb", MYSQL_PASSWORD), (b"sshpass", SSHPASS_PASSWORD)):
        if word in folded:
            for match in pattern.finditer(text):
                if not _is_stand_in(match[1]):
                    yield SecretFinding(*match.span(1), "password")


def _yaml_passwords(text: str, folded: bytes) -> Iterator[SecretFinding]:
    for match in YAML_PASSWORD.finditer(folded):
        group = 1 if match[1] else 2
        value = match[group].decode()
        if YAML_KEY.fullmatch(text, text.rfind("\n", 0, match.start()) + 1, match.start()) and not (
            WORD.fullmatch(value) or METAVARIABLE.fullmatch(value) or _is_stand_in(value)
        ):
            yield SecretFinding(*match.span(group), "password")


def _pgpass_passwords(text: str, folded: bytes) -> Iterator[SecretFinding]:
    if b":" in folded:
        for match in PGPASS_PASSWORD.finditer(folded):
            if not _is_stand_in(text[slice(*match.span(1))]):
                yield SecretFinding(*match.span(1), "password")


def _framed_secrets(text: str, folded: bytes) -> Iterator[SecretFinding]:
    """Values that a frame shows to be secret, and no sign next to their names."""
    for words, pattern in FRAMES:
        if any(word in folded for word in words):
            for match in pattern.finditer(folded):
                if _is_framed_secret(text[slice(*match.span(1))]):
                    yield SecretFinding(*match.span(1), "password")


def _yaml_blocks(text: str, folded: bytes) -> Iterator[SecretFinding]:
    if b"|" in folded or b">" in folded:
        for block in YAML_BLOCK.finditer(folded):
            for piece in YAML_PIECE.finditer(folded, *block.span(1)):
                if _is_framed_secret(text[slice(*piece.span())]):
                    yield SecretFinding(*piece.span(), "password")


def _is_framed_secret(value: str) -> bool:
    if _is_stand_in(value) or "://" in value or any(one.fullmatch(value) for one in (WORD, METAVARIABLE, CODE, NUMBER)):
        return False
    return UNLIKE_A_NAME.search(value) is not None or _is_long(value)


def _passphrases(text: str, folded: bytes) -> Iterator[SecretFinding]:
    """Words in quotes, where a variable or a key says that they are one; a message about passwords is none."""
    for match in PASSPHRASE.finditer(folded):
        key = text[match.start() : match.start("quote")].rstrip(" \t:=\"'\\")
        is_named = key.isupper() or key.lower() == "passphrase"
        if is_named and not NO_PASSPHRASE.search(match["words"].decode()):
            yield SecretFinding(*match.span("words"), "password")


def _cards(folded: bytes) -> Iterator[SecretFinding]:
    shape = folded.translate(CARD_SHAPE)
    if any(one in shape for one in CARD_SHAPES):
        for match in CARD.finditer(folded):
            if _has_check_digit([int(digit) for digit in match[0].decode() if digit.isdecimal()]):
                yield SecretFinding(*match.span(), "card")


def _has_check_digit(digits: list[int]) -> bool:
    """Whether the last digit is the one that the others ask for (ISO/IEC 7812-1, Luhn)."""
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]  # noqa: PLR2004 - the sum of two digits
    return sum(doubled + digits[::-2]) % 10 == 0


def _end(pattern: re.Pattern[AnyStr], text: AnyStr, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
