"""`annals search`: what is known of a project that bears on a few words, for a person."""

import argparse
import sys
from pathlib import Path

import msgspec

from schemas.asks import Hits, SearchAsk
from schemas.codec import encode
from schemas.subjects import BadSubject, ask
from services.edges.memory.command import person_endpoint
from services.edges.memory.place import PATIENCE, NoProject, project_at
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings


async def search(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Ask, and print what was found; the exit status is 1 where nothing could be searched for."""
    try:
        endpoint = person_endpoint(settings)
        bus = await Bus.connect(endpoint.url, "search", user=endpoint.user, password=endpoint.password, wait=PATIENCE)
        try:
            project = options.project or await project_at(bus, here, Path.home())
            question = _question(options, project)
            reply = await bus.request(ask(SearchAsk.NAME, project), encode(question), PATIENCE)
        finally:
            await bus.close()
    except (NoProject, Unreachable, TooLarge, BadSubject) as error:
        return _refused(str(error))
    except UnicodeEncodeError:
        return _refused("what you have given is no Unicode text: leave out the bytes that are none")
    found = msgspec.json.decode(reply, type=Hits)
    if options.json:
        values = {"hits": [], **msgspec.to_builtins(found)}  # who reads them need not ask whether there are any
        sys.stdout.write(msgspec.json.encode(values).decode() + "\n")
    elif found.text:
        sys.stdout.write(found.text + "\n")
    return _refused(found.error) if found.error else 0


def _question(options: argparse.Namespace, project: str) -> SearchAsk:
    return SearchAsk(
        project=project,
        query=" ".join(options.query),
        sources=tuple(options.source),
        sessions=tuple(options.session),
        since=options.since,
        until=options.until,
        limit=options.limit,
        group="session" if options.by_session else "",
    )


def _refused(reason: str) -> int:
    sys.stderr.write(f"annals: {reason}\n")
    return 1
