"""What the doctor makes of what was seen."""

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from schemas.room_health import RoomHealth, UnfoldedFact
from schemas.status_asks import LogBreak, SkippedRecord, Status
from schemas.streams import BUCKETS, STREAMS
from services.edges.connect import installation
from services.edges.connect.connection import Connection, Reported, ReportedAdapter
from services.edges.connect.findings import Finding, PluginConflict, is_well
from services.edges.connect.harnesses.opencode import judgement
from services.edges.connect.harnesses.opencode.config import ConfigSource, PluginEntry, Switch
from services.edges.connect.harnesses.opencode.judgement import Program
from services.edges.connect.harnesses.opencode.places import ConfigFile
from services.edges.connect.installation import Running, StreamSettings, Timed
from services.kit.bus import Lag
from services.kit.bus.connection import FULL
from services.kit.rooms import ROOMS

CONFIG = Path("/home/ada/.config/opencode/opencode.json")
ANNALS = "/opt/annals"
OURS = PluginEntry(
    "file:///data/annals.mjs",
    {"broker": "/data/broker.json", "compaction": "managed", "house": {"command": [ANNALS, "up"]}},
    CONFIG,
)
ANSWERING = OURS._replace(options={**OURS.options, "questions": True})
OTHERS = {name: option for name, option in OURS.options.items() if name != "house"}
ON = (Switch("auto", value=True, source=None), Switch("prune", value=False, source=None))
OFF = (Switch("auto", value=False, source=CONFIG), ON[1])
GOOD = Timed("answered", 1.0)

INSTALLATION = installation.InstallationState(
    "nats://127.0.0.1:4222",
    GOOD,
    version="2.15.1",
    streams={
        stream.name: StreamSettings(stream.subjects, stream.max_age, stream.duplicate_window, stream.immutable)
        for stream in STREAMS
    }
    | {f"OBJ_{bucket.name}": StreamSettings(max_age=bucket.max_age) for bucket in BUCKETS},
    rooms=(Running("tagger", "running"),),
    tagger=Lag(0, 0),
    harness=GOOD,
    inbound=GOOD,
    taken=GOOD,
    status=Status(log_head=9, read_through=9, committed_through=9, hot_sessions=1, file="x"),
    asked=GOOD,
    commanded=GOOD,
)
HARNESS = judgement.OpenCodeState(
    Program("/usr/bin/opencode", "1.18.33"),
    (ConfigSource(ConfigFile(CONFIG, "user")),),
    (OURS,),
    Connection(
        "opencode",
        "OpenCode",
        OURS,
        {"broker": "/data/broker.json"},
        loaded="abc",
        installed="abc",
        programs=(ANNALS,),
        reported=Reported(ReportedAdapter("2026-01-01", "0.1.0", "1.18.33", "abc")),
    ),
    switches=ON,
    dependencies="stand-in",
    ripgrep="/usr/bin/rg",
)


SICK = [
    replace(INSTALLATION, rooms=(replace(Running("desk", "running"), **changes),))
    for changes in (
        {"state": "gone"},
        {"state": "elsewhere", "is_asked": True},
        {"state": "elsewhere", "health": RoomHealth("desk", ok=False)},
        {"state": "elsewhere", "restarts": 2},
    )
] + [
    replace(INSTALLATION, connected=Timed(error="nobody answers")),
    replace(INSTALLATION, tagger=None),
    replace(INSTALLATION, tagger=Lag(9_000, 0)),
]


@pytest.mark.parametrize("seen", SICK)
def test_what_is_found_in_a_team_names_nothing_that_only_one_machine_has(seen: installation.InstallationState) -> None:
    of_team = installation.judge(replace(seen, is_team=True))
    remedies = [one.remedy for one in of_team if one.remedy]
    assert remedies
    assert [] == [one for one in remedies if "annals up" in one or "house.log" in one]
    of_one = installation.judge(seen)
    assert any("annals up" in one.remedy for one in of_one)
    assert [(one.level, one.what) for one in of_one if one.what != "user harness"] == [
        (one.level, one.what) for one in of_team if one.what != "user harness"
    ]


def at_installation(**changes: Any) -> tuple[Finding, ...]:  # noqa: ANN401 - fields of several types
    return installation.judge(msgspec.structs.replace(INSTALLATION, **changes))


def at_harness(**changes: Any) -> tuple[Finding, ...]:  # noqa: ANN401 - fields of several types
    of_connection = {name: changes.pop(name) for name in Connection.__struct_fields__ if name in changes}
    seen = msgspec.structs.replace(HARNESS, **changes)
    connection = None
    if seen.ours:
        connection = msgspec.structs.replace(HARNESS.connection, entry=seen.ours[-1], **of_connection)
    return judgement.judge(msgspec.structs.replace(seen, connection=connection))


def changed_stream(name: str, **changes: Any) -> dict[str, StreamSettings | None]:  # noqa: ANN401 - fields of several types
    assert INSTALLATION.streams is not None
    return dict(INSTALLATION.streams) | {
        name: msgspec.structs.replace(INSTALLATION.streams[name] or StreamSettings(), **changes)
    }


def answering(room: str, *, ok: bool = True, **health: Any) -> Running:  # noqa: ANN401 - fields of several types
    """A room that runs and is open."""
    return Running(room, "running", health=RoomHealth(room, ok, **health), is_asked=True)


def elsewhere(*rooms: str) -> tuple[Running, ...]:
    """Rooms that answer, and were not started from this data directory."""
    return tuple(msgspec.structs.replace(answering(one), state="elsewhere", is_asked=False) for one in rooms)


def unwell(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.level, finding.what) for finding in findings if finding.level != "PASS"]


def test_where_all_is_well_all_passes() -> None:
    assert [] == unwell(at_installation()) + unwell(at_harness())


def test_whatever_is_not_well_has_a_remedy() -> None:
    ill = (*at_installation(dead=3, rooms=(Running("desk", "gone"),)), *at_harness(ripgrep="", loaded=""))
    assert [] == [finding for finding in ill if (finding.level == "PASS") == bool(finding.remedy)]


@pytest.mark.parametrize(
    ("room", "run", "line"),
    [
        (Running("desk", "gone"), "", "FAIL its process is gone"),
        (Running("desk", "gone"), "runs in a terminal", "FAIL it fell, and is started again"),
        (replace(answering("desk"), state="gone"), "runs in a terminal", "WARN it fell, and answers again"),
        (replace(answering("desk", ok=False), state="gone"), "runs", "FAIL it fell, and is started again"),
        (Running("desk", "running", restarts=1), "runs", "WARN it runs, and fell once before"),
        (Running("desk", "running", restarts=2), "runs", "WARN it runs, and fell 2 times before"),
    ],
)
def test_a_room_that_fell_is_reported_as_gone_where_nobody_starts_it_again(room: Running, run: str, line: str) -> None:
    (found,) = [one for one in at_installation(rooms=(room,), run=run) if one.what == "room desk"]
    assert line == f"{found.level} {found.finding}"
    assert ("annals up --detach" in found.remedy) == (not run)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"connected": Timed(error="no broker answers; start one")}, [("FAIL", "broker")]),
        ({"version": "2.9.10"}, [("FAIL", "broker")]),
        ({"jetstream": False}, [("FAIL", "jetstream")]),
        ({"streams": None}, [("WARN", "streams")]),
        ({"streams": None, "is_team": True}, []),
        ({"streams": changed_stream("LOG", denies_deletion=False)}, [("FAIL", "stream LOG")]),
        ({"streams": changed_stream("IN", max_age=60.0)}, [("FAIL", "stream IN")]),
        ({"streams": changed_stream("IN", subjects=("in.a",))}, [("FAIL", "stream IN")]),
        ({"streams": changed_stream("OBJ_inbound", max_age=0.0)}, [("FAIL", "bucket inbound")]),
        ({"streams": dict(INSTALLATION.streams or {}) | {"DEAD": None}}, [("FAIL", "stream DEAD")]),
        ({"rooms": ()}, [("WARN", "rooms")]),
        ({"rooms": (Running("desk", "gone"),)}, [("FAIL", "room desk")]),
        ({"rooms": (Running("desk", "stopped"),)}, [("FAIL", "room desk")]),
        ({"rooms": (Running("desk", "running", restarts=2),)}, [("WARN", "room desk")]),
        ({"rooms": (Running("desk", "running", is_asked=True),)}, [("WARN", "room desk")]),
        ({"rooms": (answering("desk", ok=False),)}, [("FAIL", "room desk")]),
        ({"rooms": (answering("desk"), *elsewhere("indexer"))}, []),
        ({"rooms": elsewhere(*ROOMS)}, []),
        ({"rooms": elsewhere(*(one for one in ROOMS if one != "desk"))}, [("WARN", "room desk")]),
        ({"harness": Timed()}, [("WARN", "user harness")]),
        ({"harness": Timed(), "is_team": True, "user": "person"}, [("WARN", "user harness")]),
        ({"harness": Timed(), "is_team": True, "user": "room"}, []),
        ({"rooms": (answering("desk", unfolded=2),)}, [("WARN", "facts")]),
        (
            {"rooms": (answering("indexer", committed_through=4),), "status": Status(2000, 2000, 2000, 0, "")},
            [("WARN", "indexer")],
        ),
        ({"tagger": None}, [("FAIL", "tagger")]),
        ({"tagger": Lag(1001, 0)}, [("WARN", "tagger")]),
        ({"tagger": Lag(999, 1)}, []),
        (
            {"status": msgspec.structs.replace(INSTALLATION.status or Status(0, 0, 0, 0, ""), log_head=5000)},
            [("WARN", "responder")],
        ),
        (
            {"status": msgspec.structs.replace(INSTALLATION.status or Status(0, 0, 0, 0, ""), building=True)},
            [("WARN", "responder")],
        ),
        ({"dead": 2, "dead_reason": "nobody knows"}, [("WARN", "dead letters")]),
        ({"harness": Timed(error="refuses; set it")}, [("FAIL", "user harness")]),
        ({"inbound": Timed(error="not taken")}, [("FAIL", "published")]),
        ({"taken": Timed(error="not read")}, [("FAIL", "read")]),
        ({"taken": Timed()}, []),
        ({"asked": Timed(error="no answer"), "status": None}, [("FAIL", "asked")]),
        ({"commanded": Timed(error="no answer")}, [("FAIL", "commanded")]),
    ],
)
def test_what_is_not_well_in_an_installation_is_found(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert expected == unwell(at_installation(**changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"program": None}, [("WARN", "opencode")]),
        ({"program": Program("/x/opencode", "1.17.0")}, [("WARN", "opencode")]),
        ({"program": Program("/x/opencode")}, [("WARN", "opencode")]),
        ({"sources": (ConfigSource(ConfigFile(CONFIG, "user"), error="line 1"),)}, [("FAIL", "configuration")]),
        ({"plugins": ()}, [("WARN", "plugin")]),
        ({"plugins": (OURS, OURS._replace(spec="/other/annals.mjs"))}, [("FAIL", "plugin")]),
        ({"plugins": (OURS, OURS)}, []),
        ({"loaded": ""}, [("FAIL", "bundle")]),
        ({"loaded": "old"}, [("WARN", "bundle")]),
        ({"installed": ""}, [("WARN", "bundle")]),
        ({"wanted": {"broker": "/other/broker.json"}}, [("FAIL", "broker option")]),
        ({"wanted": {"url": "nats://far"}}, [("FAIL", "broker option")]),
        ({"plugins": (OURS._replace(options={**OURS.options, "password": "x"}),)}, [("FAIL", "broker option")]),
        ({"switches": OFF}, [("WARN", "compaction")]),
        (
            {"plugins": (OURS._replace(options={**OURS.options, "compaction": "assist"}),), "switches": OFF},
            [("WARN", "compaction")],
        ),
        ({"plugins": (OURS._replace(options={**OTHERS, "compaction": "assist"}),)}, [("WARN", "start")]),
        ({"plugins": (OURS._replace(options={**OTHERS, "house": False}),)}, []),
        ({"programs": ()}, [("WARN", "start")]),
        ({"conflicts": (PluginConflict("opencode-dcp", CONFIG, "it prunes", "remove it"),)}, [("FAIL", "conflict")]),
        ({"dependencies": "missing"}, [("WARN", "dependencies")]),
        ({"dependencies": "blocked"}, [("WARN", "dependencies")]),
        ({"dependencies": "installed"}, []),
        ({"ripgrep": ""}, [("WARN", "ripgrep")]),
        ({"chain": ("anthropic/mini",)}, []),
        ({"chain": ("harness/small",)}, [("WARN", "questions")]),
        ({"chain": ("harness/small",), "plugins": (ANSWERING,)}, [("WARN", "questions")]),
        ({"chain": ("harness/small",), "plugins": (ANSWERING,), "small": "ac/mini"}, []),
        ({"chain": ("anthropic/mini", "harness/ac/large"), "plugins": (ANSWERING,)}, []),
        ({"plugins": (ANSWERING,), "small": "ac/mini"}, [("WARN", "questions")]),
        ({"reported": Reported()}, [("WARN", "adapter")]),
        ({"reported": Reported(is_silent=True)}, [("WARN", "adapter")]),
        ({"reported": Reported(ReportedAdapter("2026", "0.0.9", "", "old"))}, [("WARN", "adapter")]),
        ({"reported": Reported(ReportedAdapter("2026", "0.1.0", "", "abc", "opencode-dcp"))}, [("WARN", "adapter")]),
    ],
)
def test_what_is_not_well_of_a_harness_is_found(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert expected == unwell(at_harness(**changes))


def test_what_an_earlier_setup_switched_off_has_another_remedy_than_what_a_person_did() -> None:
    ours = next(one for one in at_harness(switches=OFF, switched_off=(str(CONFIG),)) if one.what == "compaction")
    theirs = next(one for one in at_harness(switches=OFF) if one.what == "compaction")
    assert "annals setup opencode" in ours.remedy
    assert "take that out" == theirs.remedy
    assert str(CONFIG) in theirs.finding


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        ({}, "rules write history"),
        ({"chain": ("anthropic/mini",)}, "anthropic/mini answers the rooms"),
        ({"chain": ("harness/small",), "plugins": (ANSWERING,), "small": "ac/mini"}, "answers the rooms with ac/mini"),
        ({"chain": ("harness/ac/large",), "plugins": (ANSWERING,)}, "OpenCode answers the rooms with ac/large"),
        ({"chain": ("harness/ac/large",)}, "OpenCode, which does not answer"),
        ({"chain": ("harness/small",), "plugins": (ANSWERING,)}, "no small model is set in OpenCode"),
    ],
)
def test_the_harness_that_answers_the_rooms_is_reported_in_one_line(changes: dict[str, Any], who: str) -> None:
    (one,) = [one for one in at_harness(**changes) if one.what == "questions"]
    assert who in one.finding
    assert bool(one.remedy) == (one.level != "PASS")


def test_how_the_installation_is_run_is_reported() -> None:
    assert "it runs as a service" in [one.finding for one in at_installation(run="runs as a service")]
    assert "installation" not in [one.what for one in at_installation()]


def test_an_installation_of_a_team_is_started_by_nobody_here() -> None:
    team = OURS._replace(options={"url": "nats://far", "compaction": "managed"})
    findings = at_harness(plugins=(team,), wanted={"url": "nats://far"})
    assert [] == unwell(findings)
    assert "start" not in [one.what for one in findings]


@pytest.mark.parametrize(
    ("free", "others", "expected"),
    [
        (90.0, {}, []),
        (1.0, {}, [("WARN", "disk")]),
        (0.1, {}, [("FAIL", "disk")]),
        (90.0, {"readable_by_others": True}, [("FAIL", "passwords")]),
        (90.0, {"is_open": True}, [("FAIL", "data")]),
    ],
)
def test_the_disk_is_judged(free: float, others: dict[str, bool], expected: list[tuple[str, str]]) -> None:
    disk = installation.Disk("/data", int(free * installation.GIB), **others)
    assert expected == unwell(installation.judge_disk(disk))


def test_where_a_disk_is_full_room_is_to_be_made_and_the_broker_of_a_container_to_be_started_anew() -> None:
    full = installation.judge_disk(installation.Disk("/data", 0))
    refused = at_installation(inbound=Timed(error=FULL))
    remedies = [finding.remedy for finding in (*full, *refused) if finding.level == "FAIL"]
    assert 2 == len(remedies)
    assert all("make room, and what waits is stored by itself" in remedy for remedy in remedies), remedies
    (of_team,) = (one for one in at_installation(inbound=Timed(error=FULL), is_team=True) if one.level == "FAIL")
    assert "`docker compose restart nats`" in of_team.remedy


def test_a_finding_is_one_line_with_its_remedy_and_its_time() -> None:
    assert "PASS  asked              - it answers (1.3 ms)" == Finding("PASS", "asked", "it answers", ms=1.26).line
    assert "FAIL  x                  - no; do this" == Finding("FAIL", "x", "no", "do this").line


def test_a_warning_is_no_failure() -> None:
    assert is_well([Finding("WARN", "x", "y", "z")])
    assert not is_well([Finding("PASS", "x", "y"), Finding("FAIL", "x", "y", "z")])


# The log


def of_log(what: str = "log", **status: Any) -> list[Finding]:  # noqa: ANN401 - fields of several types
    known = msgspec.structs.replace(INSTALLATION.status, **status)
    found = installation.judge(msgspec.structs.replace(INSTALLATION, status=known))
    return [one for one in found if one.what == what]


def test_a_log_that_can_be_read_is_well() -> None:
    assert ["PASS"] == [one.level for one in of_log()]


def test_a_remedy_is_one_command_whatever_the_directory_is_called() -> None:
    path = "/srv/it's; touch sprung $(id)"
    disk = installation.Disk(path, installation.GIB, readable_by_others=True, is_open=True)
    remedies = [one.remedy for one in installation.judge_disk(disk) if "chmod" in one.remedy]
    assert [["chmod", "600", f"{path}/broker.json"], ["chmod", "700", path]] == [
        shlex.split(one.strip("`")) for one in remedies
    ]


def test_records_that_cannot_be_read_are_named_with_what_to_do() -> None:
    (one,) = of_log(skipped=7, newest_skipped=(SkippedRecord(412, "log.1.p.s.part.recorded", "it is empty"),))
    assert "WARN" == one.level
    assert "7 of its records" in one.finding
    assert "412 on log.1.p.s.part.recorded: it is empty" in one.finding
    assert "nats stream get LOG" in one.remedy


def test_facts_that_cannot_be_used_are_named_with_what_to_do() -> None:
    assert [] == of_log("facts")
    (one,) = of_log("facts", unfolded=7, newest_unfolded=(UnfoldedFact(412, "message.listed"),))
    assert "WARN" == one.level
    assert "7 can be read and not be used" in one.finding
    assert "412, message.listed" in one.finding
    assert "nats stream get LOG" in one.remedy


def test_faults_of_a_room_are_reported_with_the_reason_and_unusable_facts_with_their_names() -> None:
    failure = "the views cannot be written: OSError: No space left on device"
    rooms = (
        answering("responder", ok=False, failures=(failure,)),
        answering("tagger", unfolded=2, newest_unfolded=(UnfoldedFact(412, "message.listed"),)),
    )
    found = {one.what: one for one in at_installation(rooms=rooms)}
    assert failure == found["room responder"].finding
    assert "disk" in found["room responder"].remedy
    assert "2 can be read and not be used since the tagger began" in found["facts"].finding


def test_a_log_that_went_back_is_reported_with_both_positions() -> None:
    at = datetime(2026, 3, 7, 12, tzinfo=UTC)
    went, _ = of_log(breaks=(LogBreak(at, 1953, 512, 570),))
    assert "WARN" == went.level
    assert "the log went back from 1,953 to 570; it is the same up to 512" in went.finding
    assert "2026-03-07 12:00 UTC" in went.finding
    assert went.remedy
