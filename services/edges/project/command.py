"""`annals project`, run: which projects there are, under which names, and what a person says about that."""

import argparse
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

import msgspec

from schemas.commands import Command, ProjectMerge, ProjectRename, ProjectSeparate
from schemas.events import AliasProposed
from schemas.subjects import Address, BadSubject
from schemas.view_asks import ProjectSummary
from services.domain.aliases import Aliases
from services.domain.often import quantity
from services.edges.memory.place import NoProject, aliases_of, project_meant, projects_of, unknown_project
from services.edges.person import NO_TEXT, person_bus, print_answer, refused, send_as_person
from services.edges.project.own_settings import (
    SeparateSettings,
    SharedSettings,
    separate_settings,
    settings,
    shared_settings,
)
from services.edges.terminal import write_json, write_lines
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings

SHORT = 8
"""Characters of a name from which on its beginning is enough."""
HOW = {
    "derived": "made of this directory or its remote",
    "recorded": "merged by an earlier release",
    "confirmed": "merged by a person",
    "given": "given by a person",
}


class ListedProject(msgspec.Struct, frozen=True):
    """A project as it is listed."""

    name: str
    title: str
    sessions: int
    last_seen: str
    directories: tuple[str, ...]
    aliases: Mapping[str, str]
    """Name -> how it came to lead here."""


async def project(options: argparse.Namespace, installation: Settings, here: Path) -> int:
    """Run one action; its exit status: 0 where it is done, 1 where it is refused, with a sentence why."""
    try:
        async with person_bus(installation, "project") as bus:
            return await _action(options)(bus, options, here)
    except (NoProject, Unreachable, TooLarge, BadSubject) as error:
        return refused(str(error))
    except UnicodeEncodeError:
        return refused(NO_TEXT)


def _action(options: argparse.Namespace) -> Callable[[Bus, argparse.Namespace, Path], Awaitable[int]]:
    match options.action:
        case "settings":
            return settings
        case "list" | "show":
            return _read
        case _:
            return _decide


async def _read(bus: Bus, options: argparse.Namespace, here: Path) -> int:
    aliases = await aliases_of(bus)
    found = await _entries(bus, aliases)
    waiting = [*aliases.proposed.values()]
    if options.action == "show":
        name = aliases.project(_whole(options.project, found)) or await project_meant(bus, "", here)
        entry = next((one for one in found if one.name == name), None)
        if entry is None and options.project:
            return refused(unknown_project(options.project, [one.name for one in found]))
        found = [entry or ListedProject(name, aliases.title(name), 0, "", (), {})]
        waiting = [one for one in waiting if aliases.project(one.leads_to) == name]
    if options.json:
        write_json({"projects": found, "proposed": [msgspec.structs.asdict(one) for one in waiting]})
    else:
        lines = [*(_details(found[0]) if options.action == "show" else _table(found)), *_waiting(waiting)]
        write_lines(lines)
    return 0


async def _entries(bus: Bus, aliases: Aliases) -> list[ListedProject]:
    """The projects, that in which something happened last first."""
    known: dict[str, list[ProjectSummary]] = {}
    for one in await projects_of(bus):
        known.setdefault(aliases.project(one.project), []).append(one)
    for name in aliases.led:
        known.setdefault(aliases.project(name), [])
    entries = [_entry(name, same, aliases) for name, same in known.items()]
    return sorted(entries, key=lambda one: (one.last_seen, one.name), reverse=True)


def _entry(name: str, reported: Sequence[ProjectSummary], aliases: Aliases) -> ListedProject:
    return ListedProject(
        name=name,
        title=aliases.title(name),
        sessions=sum(one.sessions for one in reported),
        last_seen=max((one.last_seen[:16] for one in reported), default=""),
        directories=tuple(sorted({directory for one in reported for directory in one.directories})),
        aliases={one: aliases.leads[one].how for one in aliases.names(name) if one in aliases.leads},
    )


def _table(entries: Iterable[ListedProject]) -> Iterator[str]:
    lines = [("PROJECT", "CALLED", "SESSIONS", "LAST SEEN", "OTHER NAMES")]
    lines += [
        (one.name, one.title or "-", str(one.sessions), one.last_seen or "-", str(len(one.aliases))) for one in entries
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _details(entry: ListedProject) -> Iterator[str]:
    yield f"{entry.name}{f', called {entry.title}' if entry.title else ''}"
    yield f"{quantity(entry.sessions, 'session')}{f', last seen {entry.last_seen}' if entry.last_seen else ''}"
    yield from (f"in {directory}" for directory in entry.directories)
    yield from (f"also {name}: {HOW.get(how, how)}" for name, how in entry.aliases.items())


def _waiting(proposed: Iterable[AliasProposed]) -> Iterator[str]:
    for one in proposed:
        yield ""
        yield f"{one.alias} may be {one.leads_to}: a harness in {one.directory or 'it'} says so, and {one.reason}."
        yield f"  If it is: annals project merge {quote(one.alias)} --project {quote(one.leads_to)}"


async def _decide(bus: Bus, options: argparse.Namespace, here: Path) -> int:
    name = await project_meant(bus, options.project, here)
    aliases = await aliases_of(bus)
    known = await _entries(bus, aliases)
    command = _command(options, known)
    changed: SharedSettings | SeparateSettings | None = None
    if isinstance(command, ProjectMerge):
        changed = await shared_settings(bus, name, aliases.project(command.former))
    elif isinstance(command, ProjectSeparate):
        changed = await _separated(bus, aliases, command.former or aliases.newest(name))
    answer = await send_as_person(bus, Address(name), command)
    if changed is None or not answer.ok:
        return print_answer(answer, as_json=options.json)
    return print_answer(answer, as_json=options.json, more=changed.lines, settings=_as_json(changed))


async def _separated(bus: Bus, aliases: Aliases, former: str) -> SeparateSettings | None:
    """The settings of a project that is separated; None where it is no merge that is undone."""
    alias = aliases.leads.get(former)
    if alias is None or alias.how == "given":
        return None
    return await separate_settings(bus, aliases.project(former), former)


def _as_json(changed: SharedSettings | SeparateSettings) -> Mapping[str, object]:
    return {"project": changed.project, "own": changed.own, "changes": changed.changes}


def _command(options: argparse.Namespace, known: Iterable[ListedProject]) -> Command:
    match options.action:
        case "merge":
            return ProjectMerge(_whole(options.former, known))
        case "rename":
            return ProjectRename(options.name)
        case _:
            return ProjectSeparate(_whole(options.former, known))


def _whole(name: str, known: Iterable[ListedProject]) -> str:
    """The name that a person means with its beginning, where only one begins so; else as it was given."""
    names = {one for entry in known for one in (entry.name, *entry.aliases)}
    found = [one for one in names if one.startswith(name)] if len(name) >= SHORT and name not in names else []
    return found[0] if len(found) == 1 else name
