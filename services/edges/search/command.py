"""`annals search`, `annals ask`, `annals show` and `annals explain`, for a person.

They print what is known of a project, what of it helps with a request, the messages of a session, and why a prompt of
it looks as it does.
"""

import argparse
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from schemas.asks import ExpandAsk, Expanded
from schemas.explain_asks import ExplainAsk, Explanation
from schemas.search_asks import AugmentAsk, Augmentation, Hits, SearchAsk
from schemas.status_asks import Status, StatusAsk
from schemas.subjects import BadSubject
from services.edges.asking import answer
from services.edges.memory.place import PATIENCE, NoProject, project_meant
from services.edges.person import NO_TEXT, person_bus, refused
from services.edges.search.explanation import as_text
from services.edges.terminal import write, write_json
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings

STATUS_WAIT = 1.0
"""Seconds that the responder has to report how long the log is."""
AUGMENT_WAIT = 35.0
"""Seconds for what helps with a request: a model is asked, and has half a minute."""


async def search(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Ask, and print what was found; the exit status is 1 where nothing could be searched for."""
    return await _asking(options, settings, here, _search)


async def augment(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Print what of the project helps with a request; the exit status is 1 where nothing could be searched for."""
    return await _asking(options, settings, here, _augment)


async def show(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Print the messages of a session, page after page; the exit status is 1 where there is no such session."""
    return await _asking(options, settings, here, _show)


async def explain(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Print why a prompt looks as it does; the exit status is 1 where there is no such session or model call."""
    return await _asking(options, settings, here, _explain)


async def _asking(
    options: argparse.Namespace,
    settings: Settings,
    here: Path,
    do: Callable[[Bus, argparse.Namespace, str], Awaitable[int]],
) -> int:
    """Ask as the person who types, about the project of this folder or of `--project`."""
    try:
        async with person_bus(settings, "search") as bus:
            return await do(bus, options, await project_meant(bus, options.project, here))
    except (NoProject, Unreachable, TooLarge, BadSubject) as error:
        return refused(str(error))
    except UnicodeEncodeError:
        return refused(NO_TEXT)


async def _augment(bus: Bus, options: argparse.Namespace, project: str) -> int:
    question = AugmentAsk(project, " ".join(options.text))
    reply = await answer(bus, question, Augmentation, AUGMENT_WAIT, project)
    if options.json:
        write_json({"hits": [], **msgspec.to_builtins(reply)})
    elif reply.text:
        write(reply.text)
    return refused(reply.error) if reply.error else 0


async def _show(bus: Bus, options: argparse.Namespace, project: str) -> int:
    start, end = options.range
    place = {"message": options.message} if options.message else {"start": start, "end": end}
    question = ExpandAsk(project, options.session, verbose=options.verbose, **place)
    is_first = True
    while True:
        reply = await answer(bus, question, Expanded, PATIENCE, project)
        if reply.error:
            return refused(reply.error)
        header, _, body = reply.text.partition("\n\n")
        if is_first:
            title = f' "{" ".join(reply.title.split())}"' if reply.title else ""
            write(f"Session {options.session}{title}. {header}\n")
        write(body)
        if not (reply.next or reply.next_page):
            return 0
        is_first = False
        question = msgspec.structs.replace(
            question, start=reply.next or question.start, page=1 if reply.next else reply.next_page
        )


async def _explain(bus: Bus, options: argparse.Namespace, project: str) -> int:
    has_tags = options.tags or bool(options.part)
    question = ExplainAsk(
        project, options.session, options.step, part=options.part, max_edits=options.limit, tags=has_tags
    )
    reply = await answer(bus, question, Explanation, PATIENCE, project)
    if reply.error:
        return refused(reply.error)
    if options.json:
        write_json({"edits": [], "history": [], "hints": [], "searches": [], **msgspec.to_builtins(reply)})
    else:
        write(as_text(reply))
    return 0


async def _search(bus: Bus, options: argparse.Namespace, project: str) -> int:
    found = await answer(bus, _question(options, project, await _head(bus)), Hits, PATIENCE, project)
    if options.session and set(options.session) <= set(found.unknown):
        return refused(next(one for one in found.degraded if found.unknown[0][:80] in one))
    if options.json:
        write_json({"hits": [], **msgspec.to_builtins(found)})  # who reads them need not ask whether there are any
    elif found.text:
        write(found.text)
    if found.index_failure and not found.hits:
        return refused("this search says nothing: the index cannot be written; `annals doctor` says what to do")
    return refused(found.error) if found.error else 0


async def _head(bus: Bus) -> int:
    """The newest position of the log, up to which a person's search waits for the index; 0: nobody reports it now."""
    try:
        return (await answer(bus, StatusAsk(), Status, STATUS_WAIT)).log_head
    except Unreachable:
        return 0


def _question(options: argparse.Namespace, project: str, head: int) -> SearchAsk:
    return SearchAsk(
        project=project,
        min_seq=head,
        query=" ".join(options.query),
        sources=tuple(options.source),
        sessions=tuple(options.session),
        since=options.since,
        until=options.until,
        limit=options.limit,
        group="session" if options.by_session else "",
    )
