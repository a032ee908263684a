"""Who may send which commands: the broker knows people, rooms and harnesses apart, whoever they claim to be."""

from pathlib import Path

import msgspec
import pytest

from schemas.ask import Ask
from schemas.subjects import PERSON, Address, ask
from schemas.view_asks import SqlAsk, ViewsCopyAsk
from services.desk.core.commands import COMMANDS
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, NotAllowed
from services.kit.endpoint import USERS, EndpointFile, find, read, write
from services.settings import Nats, Settings
from tests.helpers.broker_world import HARBOUR, connected
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.broker

CLAIM = b'{"id": "c", "at": "2026-01-01T00:00:00Z", "actor": {"kind": "person", "id": "ada"}, "data": {}}'
OF_THE_PROJECT = ("do.harbour._.memory.decide", "do.harbour._.policy.set", "do.Z=C3=BCrich._.memory.quarantine")
OF_PEOPLE = [address.command(command.TYPE, PERSON) for command in COMMANDS for address in (Address("harbour"), HARBOUR)]
NO_SUBJECTS = ("do.harbour.s1.memory.write.room", "do.harbour.s1.memory.write.person.person", "do.harbour.s1.memory")


@pytest.fixture
async def desk(bus: Bus) -> Bus:
    """A desk that answers each command with its subject."""

    async def answer(subject: str, _: bytes) -> bytes:
        return subject.encode()

    await bus.serve("do.>", "desk", answer)
    return bus


@pytest.mark.usefixtures("desk")
async def test_a_harness_sends_no_command_of_a_project_or_a_person_whoever_it_claims_to_be(broker: Broker) -> None:
    harness = await connected(broker, "harness")
    for subject in (*OF_THE_PROJECT, *OF_PEOPLE, *NO_SUBJECTS):
        await refused(harness, subject)
    await harness.close()


async def refused(bus: Bus, subject: str) -> None:
    """Send a command that the broker does not let through."""
    with pytest.raises(NotAllowed, match=f"the user `{bus.user}` may (not ask|ask, and may not decide)"):
        await bus.request(subject, CLAIM, PATIENCE)
    assert bus.forbidden.is_set()


@pytest.mark.usefixtures("desk")
async def test_a_person_sends_no_command_but_as_a_person(broker: Broker) -> None:
    person = await connected(broker, "person")
    for subject in (*OF_THE_PROJECT, *NO_SUBJECTS, HARBOUR.command("memory.write")):
        await refused(person, subject)
    await person.close()


@pytest.mark.usefixtures("desk")
async def test_what_a_harness_sends_shows_the_desk_whose_session_it_is_of(broker: Broker) -> None:
    harness = await connected(broker, "harness")
    subject = HARBOUR.command("memory.decide")
    assert subject.encode() == await harness.request(subject, CLAIM, PATIENCE)
    await harness.close()


@pytest.mark.usefixtures("desk")
async def test_people_send_all_commands_on_subjects_of_their_own_and_rooms_on_those_of_projects(broker: Broker) -> None:
    for user, subjects in (("person", OF_PEOPLE), ("room", (*OF_THE_PROJECT, HARBOUR.command("flush.request")))):
        bus = await connected(broker, user)
        for subject in subjects:
            assert subject.encode() == await bus.request(subject, b"{}", PATIENCE)
        await bus.close()


@pytest.mark.parametrize("question", [SqlAsk, ViewsCopyAsk])
async def test_a_harness_asks_nothing_in_sql_and_a_person_does(broker: Broker, bus: Bus, question: type[Ask]) -> None:
    async def answer(subject: str, _: bytes) -> bytes:
        return subject.encode()

    await bus.serve("ask.>", "all", answer)
    for subject in (ask(question.NAME), ask(question.NAME, "harbour")):
        harness = await connected(broker, "harness")
        with pytest.raises(NotAllowed, match=f"the user `{harness.user}` may not ask for `{question.NAME}`"):
            await harness.request(subject, b"{}", PATIENCE)
        await harness.close()
        person = await connected(broker, "person")
        assert subject.encode() == await person.request(subject, b"{}", PATIENCE)
        await person.close()


REPLIES = (
    HARBOUR.log("part.recorded"),
    "log.0.harbour.s1.limit.learned",
    "in.opencode.harbour.s1",
    "dead.desk",
    "do.harbour._.memory.write",
    ask("status"),
    "$JS.API.STREAM.PURGE.DEAD",
    "$O.bodies.C.x",
    "_INBOX",
    "_INBOXES.a",
)


@pytest.mark.parametrize("user", ["harness", "person"])
async def test_no_answer_is_sent_where_it_would_be_stored_or_carried_out(broker: Broker, bus: Bus, user: str) -> None:
    """The broker lets anyone name any reply subject, and a room that answers may publish on all of them."""
    asked: list[bytes] = []

    async def answer(_: str, data: bytes) -> bytes:
        asked.append(data)
        return b"{}"

    sent: list[str] = []
    for reply in REPLIES:
        await bus.follow(reply, sent.append)
    await bus.serve("ask.guide.*", "all", answer)
    other = await connected(broker, user)
    for reply in REPLIES:
        await other.client.publish(ask("guide"), b"stored", reply=reply)
    await other.client.publish(ask("guide"), b"no reply")
    assert b"{}" == await other.request(ask("guide"), b"a request", PATIENCE)
    await other.close()
    assert [b"no reply", b"a request"] == asked
    assert [] == sent


@pytest.mark.own_broker
async def test_an_installation_from_before_people_had_a_user_gives_them_one(broker: Broker, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    before = read(settings.data)
    assert before is not None
    assert {*USERS} == {*before.passwords}
    broker.stop()
    passwords = {user: before.passwords[user] for user in ("room", "harness")}
    write(settings.data, msgspec.structs.replace(before, passwords=passwords))

    again = Broker(settings.data, port=0, max_payload=65536)
    await again.start()
    try:
        after = read(settings.data)
        assert isinstance(after, EndpointFile)
        assert passwords == {user: after.passwords[user] for user in passwords}
        endpoint = find(Settings(data=tmp_path, nats=Nats(user="person")))
        assert ("person", after.passwords["person"]) == (endpoint.user, endpoint.password)
        bus = await Bus.connect(endpoint.url, "test", user=endpoint.user, password=endpoint.password)
        await bus.close()
    finally:
        again.stop()
