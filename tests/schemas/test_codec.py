import json
from datetime import datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.asks import ClientManifest, CompactionContext, Plan, SessionReport
from schemas.codec import (
    Malformed,
    decode_envelope,
    decode_event,
    decode_inbound,
    derived_id,
    encode,
    mended,
    mended_json,
    wrap,
)
from schemas.commands import Answer
from schemas.envelope import Actor, Envelope
from schemas.events import EVENTS, Event
from schemas.events.flush import FlushRequested
from schemas.events.session import SessionIdled, SessionRenamed
from schemas.explain_asks import Explanation
from schemas.inbox import Inbound, PartSeen, SessionSeen
from schemas.status_asks import Status
from schemas.subjects import Address
from schemas.view_asks import Rows
from services.desk.core.commands import COMMANDS
from services.generate.schema import ASKS
from tests.helpers.examples import examples
from tests.schemas.strategies import IDS, MOMENTS, TEXTS, structs

pytestmark = pytest.mark.slow

quick = settings(max_examples=examples(25), deadline=None)


class Weighed(Event, frozen=True):
    """An event at its third version: `kilos` was text called `weight`, then a number without unit."""

    TYPE = "parcel.weighed"
    V = 3
    UPCASTS = {
        1: lambda fields: {"amount": int(fields["weight"])},
        2: lambda fields: {"kilos": fields["amount"], "scale": "unknown"},
    }

    kilos: int
    scale: str


@pytest.fixture
def parcels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary of one event, which has a past."""
    monkeypatch.setattr("schemas.codec._by_type", {Weighed.TYPE: Weighed})
    monkeypatch.setattr("schemas.codec._decoders", {Weighed.TYPE: msgspec.json.Decoder(Weighed)})


def enveloped(type_: str, data: bytes, v: int = 1) -> Envelope:
    """An envelope as it comes from the log."""
    head = b'{"id":"1","at":"2026-01-02T03:04:05Z","project":"p","session":"s","actor":{"kind":"room"},'
    return decode_envelope(head + b'"type":%s,"v":%d,"data":%s}' % (encode(type_), v, data))


@pytest.mark.parametrize("event_class", EVENTS, ids=lambda event_class: event_class.TYPE)
@quick
@given(data=st.data())
def test_every_event_comes_back_from_the_wire_as_it_was(event_class: type[Event], data: st.DataObject) -> None:
    event = data.draw(structs(event_class))
    address = Address(data.draw(IDS), data.draw(IDS))
    written = wrap(
        event, address, id=data.draw(TEXTS), at=data.draw(MOMENTS), actor=data.draw(structs(Actor)), cause="c"
    )

    read = decode_envelope(encode(written))

    assert written == read
    assert event == decode_event(read)


@pytest.mark.parametrize(
    "struct",
    [
        Inbound,
        *COMMANDS,
        Answer,
        *ASKS,
        Plan,
        Rows,
        Explanation,
        Status,
        ClientManifest,
        SessionReport,
        CompactionContext,
    ],
    ids=lambda struct: struct.__name__,
)
@quick
@given(data=st.data())
def test_everything_else_on_the_wire_comes_back_as_it_was(struct: type[msgspec.Struct], data: st.DataObject) -> None:
    value = data.draw(structs(struct))
    assert value == msgspec.json.decode(encode(value), type=struct)


def test_an_event_that_was_written_with_an_offset_is_in_utc_in_the_log() -> None:
    local = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    written = wrap(SessionIdled(), Address("p", "s"), id="1", at=local, actor=Actor("harness"))
    assert b'"at":"2026-01-02T01:04:05Z"' in encode(written)


def test_unknown_fields_are_skipped() -> None:
    assert SessionRenamed("t") == decode_event(enveloped("session.renamed", b'{"title":"t","colour":"red"}'))


def test_an_unknown_type_is_nothing() -> None:
    assert decode_event(enveloped("session.painted", b'{"colour":"red"}')) is None


def test_a_version_from_the_future_is_nothing() -> None:
    assert decode_event(enveloped("session.renamed", b'{"name":"t"}', v=SessionRenamed.V + 1)) is None


@pytest.mark.parametrize("v", [0, -1])
def test_a_version_before_the_first_is_malformed(v: int) -> None:
    with pytest.raises(Malformed, match=f"session.renamed has the version {v}; versions begin at 1"):
        decode_event(enveloped("session.renamed", b'{"title":"t"}', v=v))


@pytest.mark.parametrize("data", [b"{}", b'"text"', b"[]", b'{"title":1}'])
def test_a_body_of_another_shape_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed, match=r"not a session\.renamed of version 1: .*(Expected|missing)"):
        decode_event(enveloped("session.renamed", data))


def test_a_body_that_is_not_utf_8_is_malformed() -> None:
    broken = msgspec.structs.replace(enveloped("session.renamed", b"{}"), data=msgspec.Raw(b'{"title":"\xff"}'))
    with pytest.raises(Malformed, match=r"not a session\.renamed of version 1: .*utf-8"):
        decode_event(broken)


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[]", b"{}", b'{"id":"\xff"}', b'{"id":1}'])
def test_what_is_not_an_envelope_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed, match=r"^not an envelope: "):
        decode_envelope(data)


@settings(deadline=None)
@given(data=st.binary(max_size=100))
def test_no_bytes_at_all_break_the_reader(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_envelope(data)


# Texts of harnesses that count in UTF-16.

ANYTHING = st.text(st.characters() | st.sampled_from(["\ud83d", "\ude00", "😀", "\\", '"', "u", "\n"]), max_size=30)


def whole(text: str) -> str:
    """The text with U+FFFD for each half of a character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def inbound(item: dict[str, object]) -> bytes:
    """As a program writes it that knows of no half characters: Python, or an older JavaScript."""
    return json.dumps({"id": "1", "at": "2026-01-02T03:04:05Z", "items": [item]}).encode()


@given(text=ANYTHING)
def test_half_a_character_in_a_text_becomes_the_sign_for_one(text: str) -> None:
    read = decode_inbound(inbound({"kind": "part.seen", "message": "m", "type": "text", "text": text}))
    (part,) = read.items
    assert PartSeen("m", "text", text=whole(text)) == part


def test_half_a_character_in_a_name_that_nobody_knows_does_no_harm() -> None:
    read = decode_inbound(inbound({"kind": "session.seen", "title": "t", "\ud83d": {"\ude00": ["\ud83d"]}}))
    assert (SessionSeen(title="t"),) == read.items


@given(text=ANYTHING, key=ANYTHING)
def test_half_a_character_in_arguments_is_replaced_in_keys_and_values(text: str, key: str) -> None:
    read = json.loads(mended_json(json.dumps({key: [text]})))
    assert {whole(key): [whole(text)]} == read


@pytest.mark.parametrize("text", [r"sed s/\ud83d/x/", r"*** Update File: a\ud83d", "", r'{"a":"\ud83d'])
def test_arguments_that_are_no_json_stay_as_they_are(text: str) -> None:
    assert text == mended_json(text)


@given(text=st.text(st.characters(codec="utf-8")))
def test_whole_json_stays_as_it_is(text: str) -> None:
    data = json.dumps(text).encode()
    assert data == mended(data)
    assert mended(mended(data)) == data


@pytest.mark.usefixtures("parcels")
@pytest.mark.parametrize(
    ("v", "data"),
    [(1, b'{"weight":"7"}'), (2, b'{"amount":7}'), (3, b'{"kilos":7,"scale":"unknown"}')],
)
def test_every_older_version_is_lifted_to_todays_shape(v: int, data: bytes) -> None:
    assert Weighed(7, "unknown") == decode_event(enveloped(Weighed.TYPE, data, v=v))


@pytest.mark.usefixtures("parcels")
@pytest.mark.parametrize("data", [b"[]", b'"text"', b"null"])
def test_an_older_body_that_is_no_object_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed, match=r"not a parcel\.weighed of version 1: Expected `object`"):
        decode_event(enveloped(Weighed.TYPE, data, v=1))


@pytest.mark.usefixtures("parcels")
def test_an_upcast_to_another_shape_than_todays_is_malformed() -> None:
    with pytest.raises(Malformed, match=r"not a parcel\.weighed of version 2: Expected `int`, got `str`"):
        decode_event(enveloped(Weighed.TYPE, b'{"amount":"seven"}', v=2))


@pytest.mark.parametrize("event_class", EVENTS, ids=lambda event_class: event_class.TYPE)
def test_there_is_a_way_up_from_every_older_version(event_class: type[Event]) -> None:
    assert set(range(1, event_class.V)) == set(event_class.UPCASTS)


def test_no_two_events_share_a_wire_name() -> None:
    assert len(EVENTS) == len({event.TYPE for event in EVENTS})


def test_defaults_are_not_written() -> None:
    assert b"{}" == encode(FlushRequested())


@given(decided=st.lists(IDS, min_size=1, max_size=4), other=st.lists(IDS, min_size=1, max_size=4))
def test_two_decisions_have_one_id_only_if_they_are_the_same(decided: list[str], other: list[str]) -> None:
    assert (decided == other) == (derived_id(*decided) == derived_id(*other))


def test_a_slash_in_an_id_does_not_make_two_decisions_one() -> None:
    assert derived_id("sealed", "a/b", "c") != derived_id("sealed", "a", "b/c")


def test_derived_ids_never_change() -> None:
    assert "66fb88ee-4df1-5f83-9b9e-13afb1b233e4" == derived_id("compartment", "ses_1", "msg_1")
