"""A secret in all the spellings in which stores hold it, and what is put in their place."""

import base64
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal
from unicodedata import normalize
from urllib.parse import quote, quote_plus

from schemas.subjects import BadSubject, identifier, parse_log, token
from services.domain.texts.placeholders import MASKED

MASK = MASKED.text(kind="erased")
SHORTEST = 8
"""Characters: masking every occurrence of less would tear other words apart."""
LEVELS = 4
"""The number of times that a text may be escaped: JSON in a tool's input, in an edit, in a fact, in a line of a
spool."""
FORMS: Sequence[Literal["NFC", "NFD"]] = ("NFC", "NFD")
"""The forms in which Unicode may write one letter: a file system, or a keyboard, gives another than was typed
elsewhere."""
_IN_GO = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>&"})
SEXTET, OCTET, ALIGNMENTS = 6, 8, 3

Masks = Mapping[bytes, bytes]
"""The texts that are replaced in a store, each with its mask. The longest first, so that no part is replaced before
it."""


class TooShort(ValueError):
    """A text that is too short to be masked everywhere; says what is long enough."""


def spellings(secret: str) -> Masks:
    """The secret in plain text, escaped in JSON up to `LEVELS` times, in addresses, and in base64.

    Raises `TooShort`.
    """
    if len(secret) < SHORTEST:
        raise TooShort(
            f"the secret has {len(secret)} characters, and masking so few would tear other words apart; "
            f"give at least {SHORTEST}"
        )
    _refuse_unfit(secret)
    texts = {text for form in {secret, *(normalize(one, secret) for one in FORMS)} for text in _texts(form)}
    masks = {text.encode(): MASK.encode() for text in texts}
    masks |= {core: b"A" * len(core) for core in _cores(secret.encode())}  # which stays base64
    return dict(sorted(masks.items(), key=lambda pair: -len(pair[0])))


def _refuse_unfit(secret: str) -> None:
    try:
        secret.encode()
    except UnicodeEncodeError as error:
        raise TooShort("the secret is not text in UTF-8; give the part of it that is") from error
    if len({*secret.split(), ""}) == 1 or not secret.strip("\0"):
        raise TooShort(
            "the secret is nothing but blanks, and masking these would ruin every text; give one with letters"
        )
    if secret in MASK:
        raise TooShort(f"the secret is a part of {MASK!r}, which takes the place of secrets; give another one")


def _texts(secret: str) -> set[str]:
    """Its forms after each escaping: letters may become escapes at any of them, a slash at the first alone."""
    newest = {secret, secret.replace("/", "\\/")}
    lesser = {secret.translate(_IN_GO), html.escape(secret), html.escape(secret, quote=False)}
    found = {*newest, quote(secret), quote(secret, safe=""), quote_plus(secret), *lesser}
    for _ in range(LEVELS):
        newest = {json.dumps(text, ensure_ascii=is_ascii)[1:-1] for text in newest for is_ascii in (False, True)}
        found |= newest
    return found


def _cores(secret: bytes) -> Iterator[bytes]:
    """Parts of its base64 that depend on the secret alone, wherever in a longer text it begins."""
    for offset in range(ALIGNMENTS):
        begin = -(-offset * OCTET // SEXTET)
        end = (offset + len(secret)) * OCTET // SEXTET
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(offset) + secret)[begin:end]


def masked(data: bytes, masks: Masks) -> bytes:
    """The data with each spelling replaced; the very same bytes where there is none."""
    before = None
    while before != data:  # a mask and what is next to it may be a spelling again
        before = data
        for old, new in masks.items():
            if old in data:
                data = data.replace(old, new)
    return data


def masked_subject(subject: str, masks: Masks) -> str:
    """A subject whose ids are masked, as those in its message are; one of the log gets the shard that this makes."""
    tokens = subject.split(".")
    plain = [_masked_token(one, masks) for one in tokens]
    if plain == tokens:
        return subject
    if tokens[0] != "log":
        return ".".join(plain)
    address, event_type = parse_log(".".join(plain))
    return address.log(event_type)


def _masked_token(one: str, masks: Masks) -> str:
    try:
        plain = identifier(one)
        changed = masked(plain.encode(), masks).decode()
        return one if changed == plain else token(changed)
    except BadSubject:
        return one
