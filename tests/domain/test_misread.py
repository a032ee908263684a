"""The reason why a message could not be read names no type of Python, whatever was sent in whichever field."""

import json
from typing import Annotated

import msgspec
import pytest

from schemas.commands import CommandMessage
from services.desk.core.commands import COMMANDS
from services.domain.misread import misread
from services.generate.schema import ASKS
from tests.helpers.any_command import any_command
from tests.helpers.wrong_input import CODE, VALUES

KINDS = (*COMMANDS, *ASKS, CommandMessage)
AS_JSON = {
    "a whole number": "7",
    "a number": "0.5",
    "a text": '"word"',
    "true or false": "true",
    "a list": "[]",
    "an object with named fields": "{}",
    "nothing": "null",
}


def reason(kind: type[msgspec.Struct], data: bytes) -> str:
    """Why this cannot be read as a message of this kind; empty: it can."""
    try:
        msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return misread(error)
    return ""


def wrong_in(text: str) -> bool:
    return bool(CODE.search(text)) or any(mark in text for mark in ("$", "Expected", "Object", "`int", "`str", "got `"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_wrong_value_of_any_field_is_answered_with_the_name_of_a_type(kind: type[msgspec.Struct]) -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(kind)]
    wrong = []
    for name in fields:
        for value in VALUES.values():
            text = reason(kind, json.dumps({name: value}).encode())
            if text and wrong_in(text.replace(f"`{name}`", "")):
                wrong.append(f"{name}={str(value)[:40]!r}: {text}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("data", [b"", b"{", b"nul", b"\xff", b'{"id":"\xff"}', b"[" * 100_000, b"{}", b"[]", b"7"])
def test_what_is_no_message_at_all_is_refused_in_words(data: bytes) -> None:
    text = reason(CommandMessage, data)
    assert text
    assert not wrong_in(text)


@pytest.mark.parametrize(("found", "text"), AS_JSON.items())
def test_the_value_and_the_expected_type_are_both_named(found: str, text: str) -> None:
    class Message(msgspec.Struct):
        one: int

    answer = reason(Message, f'{{"one": {text}}}'.encode())
    expected = "" if found == "a whole number" else f"`one` must be a whole number, and is {found}"
    assert expected == answer


def test_a_field_that_is_missing_is_named_with_its_place() -> None:
    class Inner(msgspec.Struct):
        one: str

    class Message(msgspec.Struct):
        inner: Inner

    assert "`inner` is missing" == reason(Message, b"{}")
    assert "`inner.one` is missing" == reason(Message, b'{"inner": {}}')


def test_a_bound_is_named_with_its_number() -> None:
    class Message(msgspec.Struct):
        page: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1

    assert "`page` must be at least 1" == reason(Message, b'{"page": 0}')
    assert "`page` must be at most 9" == reason(Message, b'{"page": 10}')


def test_every_command_that_can_be_made_can_be_read() -> None:
    for kind in COMMANDS:
        assert "" == reason(kind, msgspec.json.encode(any_command(kind)))
