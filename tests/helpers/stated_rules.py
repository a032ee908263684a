"""What people state in sessions, as the tagger records it and the historian sends it: on a real broker."""

from pathlib import Path

from schemas.commands import Answer, Command, ProfileObserve
from schemas.envelope import Actor
from schemas.events import SessionOpened
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.kit.bus import Appender, Bus, LogReader
from services.memory.profiles import NOUN, Profiles, evolve
from tests.helpers.broker_world import HARBOUR, PERSON, wrapped
from tests.helpers.memory_sessions import done
from tests.helpers.repositories import Checkout
from tests.helpers.waiting import until

RULE = "Always write the tests first."
ADDRESS = "ada@example.org"


def home_of(person: str, folder: Path) -> Checkout:
    """A repository in which git has this e-mail address; empty: it has none."""
    made = Checkout(folder)
    if person:
        made.git("config", "user.email", person)
    return made


async def begins(bus: Bus, session: str, folder: Path, *, project: str = HARBOUR.project) -> None:
    """A session of a person begins in this directory while a profile is on, and the desk has recorded whose it is."""
    address = Address(project, session)
    opened = SessionOpened(harness="pi", mode="primary", directory=str(folder))
    await Appender(bus).append(wrapped([opened], address=address), {})

    async def is_bound() -> bool:
        return address in (await known(bus)).owners

    await until(is_bound)


async def states(bus: Bus, session: str, *places: int, text: str = RULE, project: str = HARBOUR.project) -> None:
    """A person states something in these messages of a session, and that is observed behind the end of the log."""
    position = await LogReader(bus).head() + 1
    for at in places:
        one = ProfileObserve(text, session, position, at, at)
        await done(bus, one, Address(project), Actor("room", "historian"))


async def decided(bus: Bus, command: Command) -> Answer:
    """A person sends a command about their profile, which is granted."""
    return await done(bus, command, GLOBAL, PERSON)


async def known(bus: Bus) -> Profiles:
    """The profiles, folded from the log."""
    profiles = Profiles()
    async for record in LogReader(bus).after(0, GLOBAL.log(f"{NOUN}.*")):
        if record.event is not None:
            profiles = evolve(profiles, record.event, record.envelope)
    return profiles
