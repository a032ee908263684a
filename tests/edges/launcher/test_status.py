"""What `annals status` prints, whatever projects and sessions are called."""

import io
from datetime import UTC, datetime

import msgspec
import pytest
from rich.console import Console

from schemas.room_health import RoomHealth, UnfoldedFact
from schemas.spending_asks import SpentBudget
from schemas.status_asks import LogBreak, SessionStatus, SkippedRecord, Status
from services.edges.launcher.status import HistoryRun, ObservedRoom, Overview, is_well, render


def printed(overview: Overview) -> str:
    out = io.StringIO()
    render(overview, Console(file=out, width=300))
    return out.getvalue()


def test_one_of_a_kind_is_no_plural() -> None:
    text = printed(Overview(broker="nats://b:1", rooms=(), inbound=1, log=1, dead=1))
    for line in ("inbound   1 message of the last", "log       1 fact\n", "dead      1 letter; read"):
        assert line in text


@pytest.mark.parametrize("name", ["[/x]", "[bold]", "a [red]b[/red]", "[link=x]y", ":smile:", "\\[x]"])
def test_names_are_printed_as_they_are(name: str) -> None:
    run = HistoryRun(name, name, "force", "failed", 1, 2, 0, 10, code=name)
    near = SessionStatus(name, name, name, 46_259, 46.3, 65.0, 12.0, "the window has room")
    status = Status(1, 1, 1, 1, "views", sessions=(near,))
    text = printed(
        Overview(
            broker=f"nats://{name}:1",
            rooms=(ObservedRoom(name),),
            inbound=0,
            log=0,
            dead=0,
            history=(run,),
            responder=status,
        )
    )

    assert f"session   {name}/{name} ({name}): about 46,259 tokens, 46 % of what is usable" in text
    assert "(room is made at 65 %, or when cheaper: 12 % there); no rebase: the window has room" in text
    assert f"history   {name}/{name}, messages 1-2 (force): failed with {name};" in text
    assert f"nats://{name}:1" in text
    assert f"│ {name} " in text


def test_faults_of_the_log_are_reported() -> None:
    at = datetime(2026, 3, 7, 12, tzinfo=UTC)
    skipped = SkippedRecord(1412, "log.1.p.s.part.recorded", "it is empty")
    status = Status(1, 1, 1, 1, "views", skipped=2, newest_skipped=(skipped,), breaks=(LogBreak(at, 1953, 512, 570),))
    status = msgspec.structs.replace(status, unfolded=1, newest_unfolded=(UnfoldedFact(1413, "message.listed"),))
    text = printed(Overview(broker="nats://b:1", rooms=(), inbound=0, log=0, dead=0, responder=status))

    assert "log       2026-03-07 12:00 UTC: the log went back from 1,953 to 570; it is the same up to 512" in text
    assert "skipped   2 records of the log cannot be read, and are passed over; `annals doctor` says what to do" in text
    assert "skipped   1,412 on log.1.p.s.part.recorded: it is empty" in text
    assert "unfolded  the responder can read and not use 1 fact of the log; `annals doctor` says what to do" in text
    assert "unfolded  1,413, message.listed" in text


def test_what_models_have_cost_is_printed_with_its_limit_and_what_costs_nothing_is_not() -> None:
    spent = (
        SpentBudget("installation", "2026-11-21", 12_000, 0.05, most_usd=5.0),
        SpentBudget("installation", "2026-11"),
    )
    status = Status(1, 1, 1, 1, "views")
    text = printed(Overview(broker="nats://b:1", rooms=(), inbound=0, log=0, dead=0, responder=status, spent=spent))
    assert "spent     all projects, 2026-11-21: 12,000 tokens, 0.05 of 5.00 USD" in text
    assert 1 == text.count("spent ")


def test_calls_that_got_no_plan_are_counted() -> None:
    def text(**plans: int) -> str:
        status = Status(1, 1, 1, 1, "views", **plans)  # type: ignore[arg-type] # numbers
        return printed(Overview(broker="nats://b:1", rooms=(), inbound=0, log=0, dead=0, responder=status))

    expected = "plans     3 calls wait; 1,412 got none in time, and went on with the plan they had"
    assert expected in text(plans_waiting=3, plans_dropped=1412)
    assert "plans " not in text(plans_waiting=3)


FULL = "the index cannot be written: OSError: No space left on device"
NEWEST = (UnfoldedFact(1413, "message.listed"),)


def with_rooms(*rooms: ObservedRoom, head: int = 9) -> Overview:
    return Overview(
        broker="nats://b:1", rooms=rooms, inbound=0, log=0, dead=0, responder=Status(head, head, head, 1, "views")
    )


def test_each_room_reports_what_it_cannot_do_and_what_it_could_not_use() -> None:
    tagger = RoomHealth("tagger", ok=True, unfolded=2, newest_unfolded=NEWEST)
    indexer = RoomHealth("indexer", ok=False, failures=(FULL,), committed_through=3)
    overview = with_rooms(
        ObservedRoom("tagger", running=True, health=tagger), ObservedRoom("indexer", running=True, health=indexer)
    )
    text = printed(overview)

    assert not is_well(overview)
    assert "unfolded  the tagger can read and not use 2 facts of the log; `annals doctor` says what to do" in text
    assert "unfolded  1,413, message.listed" in text
    assert f"unwell    indexer: {FULL}; `annals doctor` says what to do" in text
    assert "index     6 facts behind the log" in text
    assert ["yes", "yes"] == cells(text, "tagger")
    assert ["yes", "NO"] == cells(text, "indexer")


def cells(text: str, room: str) -> list[str]:
    """Whether a room runs, and whether it is well."""
    (line,) = (line for line in text.splitlines() if line.startswith("│") and room in line)
    return [cell.strip() for cell in line.split("│")[2:4]]


def test_a_room_that_is_not_open_yet_is_not_called_unwell() -> None:
    overview = with_rooms(ObservedRoom("indexer", running=True))
    assert is_well(overview)
    assert ["yes", ""] == cells(printed(overview), "indexer")
    assert "index " not in printed(overview)
    waiting = with_rooms(ObservedRoom("indexer", running=True, health=RoomHealth("indexer", ok=True)))
    assert "index     it is not open yet" in printed(waiting)


def test_a_room_that_runs_elsewhere_and_does_not_answer_is_named_where_others_do() -> None:
    answers = ObservedRoom("tagger", health=RoomHealth("tagger", ok=True))
    line = "unwell    desk: it does not answer; see that it runs where the others do, and its log"
    assert line in printed(with_rooms(answers, ObservedRoom("desk")))
    assert "unwell" not in printed(with_rooms(ObservedRoom("tagger"), ObservedRoom("desk")))
    assert "unwell" not in printed(with_rooms(answers, ObservedRoom("desk", running=True)))
