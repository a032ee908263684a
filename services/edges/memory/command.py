"""`annals memory`, run: a person's question or command goes to the broker as theirs, and the answer is printed."""

import argparse
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import msgspec

from schemas.asks import MemoryAsk, MemoryReply
from schemas.commands import (
    Command,
    MemoryArchive,
    MemoryDecide,
    MemoryImportance,
    MemoryMerge,
    MemoryPin,
    MemoryQuarantine,
    MemoryRestore,
    MemoryRevise,
    MemorySplit,
    MemoryWrite,
    PolicySet,
)
from schemas.subjects import Address, BadSubject
from services.edges.asking import answer
from services.edges.memory.exchange import export_text, item_of
from services.edges.memory.importing import ImportReport, import_files
from services.edges.memory.place import PATIENCE, NoProject, check_session, project_meant, working_tree
from services.edges.memory.readings import VIEWS, NotFound, question, text_of, values_of
from services.edges.memory.review import review
from services.edges.memory.stores.files import NothingToImport
from services.edges.person import NO_TEXT, person_bus, print_answer, refused, send_as_person
from services.edges.terminal import write, write_error, write_file, write_json
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings


class Incomplete(ValueError):
    """The arguments do not say what is to be done; says what is missing."""


def commands(options: argparse.Namespace) -> tuple[Command, ...]:
    """The commands that the arguments ask for, one after the other. Raises `Incomplete`."""
    if options.action != "edit":
        return (_command(options),)
    found: list[Command] = []
    if options.text or options.category:
        found.append(MemoryRevise(options.id, options.text, options.category))
    if options.importance:
        found.append(MemoryImportance(options.id, options.importance))
    if not found:
        raise Incomplete("nothing is to change: give its new words, --category or --importance")
    return tuple(found)


def _command(options: argparse.Namespace) -> Command:
    match options.action:
        case "merge":
            return MemoryMerge(tuple(options.id), options.text, options.category)
        case "split":
            return MemorySplit(options.id, tuple(options.text))
        case "policy" if not options.to:
            raise Incomplete(
                f"give what is to be done with candidates of {options.trust}, too: applied, held or refused"
            )
        case "policy":
            return PolicySet(options.trust, options.to)
        case "write":
            return MemoryWrite(options.text, options.category, options.importance, session=options.session)
        case "approve" | "reject":
            return MemoryDecide(options.id, approve=options.action == "approve", reason=options.reason)
        case "archive":
            return MemoryArchive(options.id, options.reason)
        case "restore":
            return MemoryRestore(options.id, options.reason)
        case "pin":
            return MemoryPin(options.id, pinned=not options.undo)
        case "quarantine":
            return MemoryQuarantine(options.kind, options.value, undo=options.undo, reason=options.reason)
    raise AssertionError(f"nothing is decided by {options.action!r}")


async def memory(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Run one action; its exit status: 0 where it is done, 1 where it is refused, with a sentence why."""
    try:
        async with person_bus(settings, "memory") as bus:
            project = await project_meant(bus, options.project, here)
            if session := _session_named(options):
                await check_session(bus, project, session)
            return await _action(options, here)(bus, options, project)
    except (NoProject, NotFound, Incomplete, NothingToImport, Unreachable, TooLarge, BadSubject) as error:
        return refused(str(error))
    except UnicodeError:
        return refused(NO_TEXT)


def _session_named(options: argparse.Namespace) -> str:
    """The session that the arguments name, which must be there; empty: none."""
    if options.action == "quarantine":
        return str(options.value) if options.kind == "session" and not options.undo else ""
    return str(getattr(options, "session", ""))


def _action(options: argparse.Namespace, here: Path) -> Callable[[Bus, argparse.Namespace, str], Awaitable[int]]:
    match options.action:
        case "review" if not options.json:
            return _review
        case "import":
            return partial(_import, here=here)
        case "export":
            return _export
        case "policy" if options.trust:
            return _decide
        case action:
            return _read if action in VIEWS else _decide


async def _review(bus: Bus, options: argparse.Namespace, project: str) -> int:
    """Go through what waits; whatever is not decided on goes on waiting."""
    reply = await _asked(bus, question(options, project))
    if reply.error:
        return refused(reply.error)
    return await review(reply, partial(send_as_person, bus, Address(project)))


async def _export(bus: Bus, options: argparse.Namespace, project: str) -> int:
    """Print the active memories."""
    reply = await _asked(bus, question(options, project))
    if reply.error:
        return refused(reply.error)
    write_file(export_text(project, (item_of(one) for one in reply.memories)))
    return 0


async def _import(bus: Bus, options: argparse.Namespace, project: str, here: Path) -> int:
    """Propose what files say, or restore what exports have. What is refused is reported, and the rest goes on."""
    report = ImportReport(is_restored=options.restore)
    origin = options.origin or working_tree(here).name
    await import_files(partial(send_as_person, bus, Address(project)), options.paths, origin, report)
    if options.json:
        write_json(report.values())
    else:
        for problem in report.problems:
            write_error(problem)
        write(report.text())
    return 1 if report.problems else 0


async def _read(bus: Bus, options: argparse.Namespace, project: str) -> int:
    reply = await _asked(bus, question(options, project))
    if reply.error:
        return refused(reply.error)
    if options.json:
        write_json(values_of(options, reply))
    else:
        write(text_of(options, reply))
    return 0


async def _asked(bus: Bus, wanted: MemoryAsk) -> MemoryReply:
    """The reply, with the memories of all its pages, and the words that they came from."""
    first = reply = await answer(bus, wanted, MemoryReply, PATIENCE, wanted.project)
    memories, quotes = [*first.memories], {**first.quotes}
    while reply.more:
        wanted = msgspec.structs.replace(wanted, page=wanted.page + 1)
        reply = await answer(bus, wanted, MemoryReply, PATIENCE, wanted.project)
        if reply.error:
            return reply
        memories += reply.memories
        quotes |= reply.quotes
    return msgspec.structs.replace(first, memories=tuple(memories), quotes=quotes)


async def _decide(bus: Bus, options: argparse.Namespace, project: str) -> int:
    for command in commands(options):
        answer = await send_as_person(bus, Address(project), command)
        if status := print_answer(answer, as_json=options.json):
            return status
    return 0
