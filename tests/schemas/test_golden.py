from pathlib import Path
from typing import Any

import msgspec

from schemas.codec import decode_edits, decode_envelope, decode_event
from schemas.events import EVENTS, Event
from services.generate.__main__ import GOLDEN
from services.generate.golden import golden_name
from tests.helpers.cells import cells

SAMPLES = sorted(GOLDEN.glob("*.json"))
UNRELEASED = "if this version was never released, delete the file and run `make schema`; otherwise raise V and upcast"


@cells("path", SAMPLES)
def test_every_version_ever_shipped_is_todays_event(path: Path) -> None:
    envelope = decode_envelope(path.read_bytes())

    event = decode_event(envelope)

    assert event is not None, f"{path.name} is of no known event; {UNRELEASED}"
    assert path.stem == f"{event.TYPE}.v{envelope.v}"


@cells("path", SAMPLES)
def test_no_field_of_a_current_sample_is_forgotten(path: Path) -> None:
    envelope = decode_envelope(path.read_bytes())
    event = decode_event(envelope)
    assert event is not None
    if envelope.v == event.V:
        written: dict[str, Any] = msgspec.json.decode(envelope.data)
        read: dict[str, Any] = msgspec.to_builtins(event)
        assert written == read, f"{path.name} says more than its event can hold; {UNRELEASED}"


@cells("event_class", EVENTS)
def test_every_current_event_has_its_sample(event_class: type[Event]) -> None:
    path = GOLDEN / golden_name(event_class)
    assert path.exists(), f"{path.name} is missing; run `make schema` and commit what it writes"


@cells("path", [path for path in SAMPLES if path.stem.startswith("plan.")])
def test_every_edit_ever_shipped_can_be_read(path: Path) -> None:
    event: Any = decode_event(decode_envelope(path.read_bytes()))
    assert decode_edits(event.edits)
