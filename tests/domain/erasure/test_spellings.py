"""A secret is found and masked in each spelling that stores have for it."""

import base64
import json
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.subjects import Address, token
from services.domain.erasure.secret import LEVELS, MASK, SHORTEST, TooShort, masked, masked_subject, spellings

SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=SHORTEST, max_size=24)
AROUND = st.text("abc{}[]", max_size=5)


@given(SECRETS, AROUND, AROUND, st.lists(st.booleans(), max_size=LEVELS))
def test_it_is_masked_however_often_json_escapes_it(secret: str, before: str, after: str, escaped: list[bool]) -> None:
    text = before + secret + after
    for is_ascii in escaped:
        text = json.dumps({"x": text}, ensure_ascii=is_ascii)
    clean = masked(text.encode(), spellings(secret)).decode()
    for _ in escaped:
        clean = json.loads(clean)["x"]
    assert secret.replace(secret, MASK) in clean


@given(SECRETS)
def test_it_is_masked_as_the_encoder_of_facts_writes_it(secret: str) -> None:
    data = msgspec.json.encode({"edits": msgspec.json.encode([secret]).decode()})
    clean = masked(data, spellings(secret))
    assert json.dumps([MASK]) == msgspec.json.decode(clean)["edits"]


@given(SECRETS, st.binary(max_size=8), st.binary(max_size=8))
def test_base64_that_holds_it_stays_base64_and_holds_it_no_more(secret: str, before: bytes, after: bytes) -> None:
    for encode, decode in (
        (base64.b64encode, base64.b64decode),
        (base64.urlsafe_b64encode, base64.urlsafe_b64decode),
    ):
        text = encode(before + secret.encode() + after)
        clean = masked(text, spellings(secret))
        assert len(clean) == len(text)
        assert len(decode(clean)) == len(before + secret.encode() + after)
        assert secret.encode() not in decode(clean) or not secret.strip("\0")


def test_it_is_masked_in_addresses() -> None:
    secret = "quay kestrel/77"  # noqa: S105 - of this test
    address = f"https://harbour.example/{quote(secret, safe='')}?x={quote(secret)}"
    assert f"https://harbour.example/{MASK}?x={MASK}" == masked(address.encode(), spellings(secret)).decode()


def test_an_id_that_holds_it_is_masked_in_subjects_as_in_facts() -> None:
    masks = spellings("kestrel.77")
    assert Address(f"a {MASK}", "s").log("part.recorded") == masked_subject(
        Address("a kestrel.77", "s").log("part.recorded"), masks
    )
    assert f"in.opencode.{token(MASK)}.s" == masked_subject(f"in.opencode.{token('kestrel.77')}.s", masks)
    assert "log.1.a.b.c.d" == masked_subject("log.1.a.b.c.d", masks)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(TooShort, match="at least 8"):
        spellings("seven77")
