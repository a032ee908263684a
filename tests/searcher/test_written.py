"""Where in the log what was written last is: a fact is heard of before it is stored."""

import pytest

from schemas.events import NoteWritten
from schemas.subjects import Address
from services.kit.bus import Appender, Bus, LogReader
from services.searcher import written as writes
from services.searcher.written import UNSTORED, ConfirmedWrites
from tests.helpers.broker_world import wrapped

pytestmark = pytest.mark.broker

HARBOUR = Address("harbour")
SUBJECT = HARBOUR.log(NoteWritten.TYPE)


async def append(bus: Bus, name: str) -> int:
    (seq,) = await Appender(bus).append(wrapped([NoteWritten(note=name, text="Ask Ada.")], address=HARBOUR), {})
    return seq


async def test_a_fact_that_was_looked_for_before_it_was_stored_is_looked_for_again(bus: Bus) -> None:
    written = ConfirmedWrites(LogReader(bus))
    written.heard(SUBJECT)
    assert 0 == await written.position("harbour")
    seq = await append(bus, "n1")
    assert seq == await written.position("harbour")
    assert 0 == await written.position("elsewhere")


async def test_what_was_written_long_ago_is_looked_for_no_more(bus: Bus) -> None:
    now = 0.0
    written = ConfirmedWrites(LogReader(bus), lambda: now)
    seq = await append(bus, "n1")
    written.heard(SUBJECT)
    now = UNSTORED + 1
    assert seq == await written.position("harbour")
    later = await append(bus, "n2")
    assert seq == await written.position("harbour")
    written.heard(SUBJECT)
    assert later == await written.position("harbour")


async def test_of_many_projects_none_is_known_by_itself_for_ever_and_no_write_is_missed(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "MOST", 10)
    now = 0.0
    written = ConfirmedWrites(LogReader(bus), lambda: now)
    seq = await append(bus, "n1")
    written.heard(SUBJECT)
    assert seq == await written.position("harbour")
    for number in range(100):
        written.heard(Address(f"p{number}").log(NoteWritten.TYPE))
        now += 1
    end = await append(bus, "n2")
    written.heard(SUBJECT)
    for project in ("harbour", "p1", "elsewhere"):
        assert end == await written.position(project)
    assert UNSTORED + 2 >= sum(len(value) for value in vars(written).values() if isinstance(value, dict))
    late = await append(bus, "n3")
    written.heard(SUBJECT)
    assert late == await written.position("harbour")
    assert end == await written.position("p1")
