"""`annals profile`, run: what is known of the person at the terminal, and what they decide about that."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec

from schemas.commands import Command, ProfileDisable, ProfileEnable, ProfileRetire
from schemas.profile_asks import ProfileAsk, ProfileReply
from services.domain.aliases import GLOBAL
from services.domain.often import often, quantity
from services.edges.asking import answer
from services.edges.person import NO_TEXT, person_bus, print_answer, refused, send_as_person
from services.edges.terminal import write_json, write_lines
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings

PATIENCE = 10.0
"""Seconds in which an answer must have come."""
SHORT = 8
"""Characters of an id that are printed."""
STATES = {"on": "Your profile is on.", "off": "Your profile is off: nothing is collected or used. `annals profile on`"}
STATE_OF = {"shown": "in use", "no_room": "no room", "retired": "retired", "off": "off"}


async def profile(options: argparse.Namespace, installation: Settings, here: Path) -> int:
    """Run one action; its exit status: 0 where it is done, 1 where it is refused, with a sentence why."""
    try:
        async with person_bus(installation, "profile") as bus:
            return await (_list if options.action == "list" else _decide)(bus, options, str(here))
    except (Unreachable, TooLarge) as error:
        return refused(str(error))
    except UnicodeEncodeError:
        return refused(NO_TEXT)


async def _list(bus: Bus, options: argparse.Namespace, here: str) -> int:
    reply = await answer(bus, ProfileAsk(here), ProfileReply, PATIENCE)
    if reply.error:
        return refused(f"the profile cannot be read ({reply.error}): try again in a moment")
    if options.json:
        write_json(msgspec.to_builtins(reply) | {"state": reply.state})
    else:
        write_lines(_lines(reply))
    return 0


def _lines(reply: ProfileReply) -> Iterator[str]:
    """A profile for a person to read."""
    if reply.state == "unavailable":
        yield f"You have no profile: {reply.reason}."
        return
    yield STATES[reply.state] + (" switches it on." if reply.state == "off" else "")
    for one in reply.traits:
        times = f"{often(one.candidates)} in {quantity(one.sessions, 'session')}"
        yield f"{one.id[:SHORT]}  {STATE_OF[one.state]:<7}  {one.text}  ({times})"
    if reply.waiting:
        yield f"{reply.waiting} more {'was' if reply.waiting == 1 else 'were'} stated too seldom to be used."


async def _decide(bus: Bus, options: argparse.Namespace, here: str) -> int:
    decided = await send_as_person(bus, GLOBAL, _command(options, here))
    return print_answer(decided, as_json=options.json)


def _command(options: argparse.Namespace, here: str) -> Command:
    match options.action:
        case "on":
            return ProfileEnable(here)
        case "off":
            return ProfileDisable(here)
        case _:
            return ProfileRetire(here, options.trait)
