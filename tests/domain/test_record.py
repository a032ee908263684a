"""A record of the log is read, or named as one that cannot be: never does reading it raise."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.codec import encode
from schemas.events import PartRecorded
from schemas.subjects import Address
from services.domain.record import MOST_PROBLEM, read_record
from tests.helpers.poison import UNFOLDABLE, UNKNOWN, UNREADABLE, enveloped

HARBOUR = Address("harbour", "s1")
PART = PartRecorded(message="m", part="p", kind="text", text="a text", digest="d", bytes=2**63 - 1)
SUBJECT = HARBOUR.log(PartRecorded.TYPE)


def test_a_fact_is_read_with_its_position() -> None:
    record = read_record(SUBJECT, enveloped(PART, HARBOUR, seq=3), 9)
    assert ("", PART, 9) == (record.problem, record.event, record.envelope.seq)


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_named_and_keeps_its_position_and_its_place(kind: str) -> None:
    poison = UNREADABLE[kind](HARBOUR)
    record = read_record(poison.subject, poison.data, 7)
    assert record.problem
    assert len(record.problem) <= MOST_PROBLEM
    assert record.event is None
    assert ("", 7) == (record.envelope.id, record.envelope.seq)
    place = Address(record.envelope.project, record.envelope.session).log(record.envelope.type)
    if record.envelope.type:
        assert poison.subject == place
    else:
        assert Address("") == Address(record.envelope.project, record.envelope.session)


@pytest.mark.parametrize("kind", UNKNOWN)
def test_what_a_later_release_has_written_is_no_problem(kind: str) -> None:
    poison = UNKNOWN[kind](HARBOUR)
    record = read_record(poison.subject, poison.data, 7)
    assert (None, "") == (record.event, record.problem)
    assert record.envelope.id


@pytest.mark.parametrize("kind", UNFOLDABLE)
def test_edits_are_read_where_it_is_asked_for(kind: str) -> None:
    poison = UNFOLDABLE[kind](HARBOUR)
    assert read_record(poison.subject, poison.data, 7).event is not None
    assert read_record(poison.subject, poison.data, 7, deep=True).problem


@given(data=st.binary(max_size=300), subject=st.text(max_size=80))
def test_no_bytes_and_no_subject_raise(data: bytes, subject: str) -> None:
    assert read_record(subject, data, 1).problem


@given(at=st.integers(0, 400), byte=st.integers(0, 255))
def test_a_flipped_byte_gives_a_fact_of_the_same_place_or_a_problem(at: int, byte: int) -> None:
    data = bytearray(enveloped(PART, HARBOUR))
    data[at % len(data)] = byte
    record = read_record(SUBJECT, bytes(data), 1)
    assert record.problem or (record.envelope.project, record.envelope.session) == ("harbour", "s1")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(field=st.sampled_from(PartRecorded.__struct_fields__), value=JSON)
def test_any_value_in_any_field_is_a_fact_or_a_problem(field: str, value: object) -> None:
    fields = {**msgspec.to_builtins(PART), field: value}
    record = read_record(SUBJECT, enveloped(PART, HARBOUR, data=msgspec.Raw(msgspec.json.encode(fields))), 1)
    assert bool(record.problem) == (record.event is None)


@pytest.mark.parametrize("letter", ["\x1b[31m", "\r", "\x00", "\u202e", "\x9b2J"])
def test_a_reason_and_a_subject_are_safe_to_print(letter: str) -> None:
    data = encode({**msgspec.json.decode(enveloped(PART, HARBOUR)), "type": f"part.{letter}recorded"})
    record = read_record(f"{SUBJECT}{letter}", data, 1)
    assert record.problem
    assert record.problem.isprintable()
    assert record.problem.isascii()
    assert record.subject.isprintable()
    assert record.subject.isascii()
