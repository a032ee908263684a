"""The person who types a command: their connection to the broker, their commands, and the answers that are printed."""

import getpass
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import msgspec
import psutil

from schemas.commands import Answer, Command
from schemas.envelope import Actor
from schemas.subjects import Address
from services.edges.terminal import write, write_error, write_json
from services.kit.bus import Bus, NotAdmitted, Unreachable
from services.kit.commands import send
from services.kit.endpoint import Endpoint, find, read
from services.settings import Settings

PERSON, HARNESS = "person", "harness"
"""The broker lets no harness send what people decide."""
NO_TEXT = "what you have given is no Unicode text: leave out the bytes that are none"
PATIENCE = 10.0
"""Seconds in which the broker must have answered."""
BROKER = "nats-server"
BROKER_LOG = "nats.log"


async def admitted(settings: Settings, name: str, *users: str, wait: float = PATIENCE, is_patient: bool = False) -> Bus:
    """Connect as the first of these users whom the broker lets in. Raises `Unreachable`, as `Bus.connect` does.

    In a team one variable has the password of whichever user it is: only the broker knows of which one. `wait`: seconds
    for each of them, and never more than the settings say. `is_patient`: as for `Bus.connect`.
    """
    refusals: list[NotAdmitted] = []
    patience = min(wait, settings.nats.wait)
    for user in dict.fromkeys(users):
        endpoint = endpoint_of(settings, user)
        try:
            login = {"user": endpoint.user, "password": endpoint.password}
            return await Bus.connect(endpoint.url, name, **login, wait=patience, is_patient=is_patient)
        except NotAdmitted as error:
            refusals.append(error)
            if not endpoint.password:
                break
        except Unreachable as error:
            raise (Unreachable(why) if (why := why_silent(settings)) else error) from error
    raise refusals[0]


@asynccontextmanager
async def person_bus(settings: Settings, name: str) -> AsyncIterator[Bus]:
    """A connection for what people ask and decide.

    Where the password that is set is that of harnesses, it is one of a harness: it may ask, and what people decide is
    refused with `NotAllowed`. It waits where a room or the broker is started again. Raises `Unreachable`.
    """
    bus = await admitted(settings, name, PERSON, HARNESS, is_patient=True)
    try:
        yield bus
    finally:
        await bus.close()


def endpoint_of(settings: Settings, user: str) -> Endpoint:
    """The broker as this user reaches it. Raises `Unreachable`."""
    endpoint = find(msgspec.structs.replace(settings, nats=msgspec.structs.replace(settings.nats, user=user)))
    if user == PERSON and not endpoint.password and not settings.nats.url:
        raise Unreachable(
            "the installation that runs here was started by a release that knew no user for people: "
            "start it anew with `annals down` and `annals up`"
        )
    return endpoint


def name_of_person() -> str:
    """The person's name on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as somebody without a name
        return ""


async def send_as_person(bus: Bus, address: Address, command: Command) -> Answer:
    """Send a command as this person, and wait for the answer. Each call is a new command, and never a repetition."""
    return await send(bus, address, command, name=f"person-{uuid4()}", actor=Actor("person", name_of_person()))


def print_answer(answer: Answer, *, as_json: bool, more: Iterable[str] = (), **fields: object) -> int:
    """Print the answer to a command; the exit status. A refusal is printed as an error.

    `more`: lines after those of the answer; `fields`: what JSON has besides the answer.
    """
    if as_json:
        write_json({"ok": answer.ok, "text": answer.text, "seq": answer.seq, **fields})
    if not answer.ok:
        return refused(answer.text)
    if not as_json:
        write("\n".join([answer.text, *more]))
    return 0


def refused(reason: str) -> int:
    """Say why nothing was done; the exit status."""
    write_error(reason)
    return 1


def why_silent(settings: Settings) -> str:
    """The reason why the broker of this installation does not answer, with what to do about it.

    Empty where it runs elsewhere, or not at all.
    """
    written = None if settings.nats.url else read(settings.data)
    if written is None or not written.pid:
        return ""
    try:
        process = psutil.Process(written.pid)
        state = process.status() if Path(process.name()).stem == BROKER else psutil.STATUS_DEAD
    except psutil.Error:
        return ""
    if state in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
        return ""
    if state == psutil.STATUS_STOPPED:
        return (
            "the broker's process is stopped and answers nobody; let it go on with "
            f"`kill -CONT {written.pid}`: nothing that it has confirmed is lost"
        )
    return (
        f"the broker runs (pid {written.pid}) and does not answer; see {settings.data / BROKER_LOG}, and that its disk "
        "answers; if it stays so, `annals down`, then `annals up`"
    )
