"""Finds the project that a person means: that of the repository they work in, or of a harness that worked there."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

import msgspec

from schemas.asks import SessionAsk, SessionReport
from schemas.envelope import Actor, Envelope
from schemas.events import AliasAdded, AliasProposed, AliasRemoved, Event
from schemas.view_asks import (
    AliasesAsk,
    ProjectAliases,
    ProjectAt,
    ProjectAtAsk,
    ProjectList,
    ProjectsAsk,
    ProjectSummary,
)
from services.domain.aliases import Aliases, evolve
from services.edges.asking import answer
from services.kit.bus import Bus, NoResponder, Unreachable
from services.kit.project_name import beginning, is_of, name_of

PATIENCE = 10.0
LONGEST_NAME = 80
"""Characters of a name that nothing is called by, as it is repeated."""
MOST_LIKE, SHORTEST = 3, 4
"""Names that are proposed where there is none of a name, and characters of a name that is completed."""
_NEVER = datetime.fromtimestamp(0, UTC)


class NoProject(LookupError):
    """No project is known for the current directory; the message is how to name one."""


async def project_at(bus: Bus, here: Path, home: Path) -> str:
    """The project of a person's current folder, under the name that it goes by.

    A repository names itself, also where no harness has been yet. Elsewhere it is the project that was seen at the
    folder or nearest above it; so it is where the repository still is that one, under a name that it had before.
    """
    aliases = await aliases_of(bus)
    seen = await _reported(bus, folders=list(dict.fromkeys(filter(_is_text, map(str, _upwards(here, home))))))
    top = working_tree(here)
    found = await beginning(here)
    own = name_of(found, top) if found.state in ("root", "shallow", "unborn") else ""
    if own and seen not in ("", own) and not await _reported(bus, names=aliases.names(own)):
        own = seen if await is_of(seen, here, top) else own
    if not own and not seen:
        why = f" ({found.reason})" if found.state == "unknown" else ""
        raise NoProject(
            f"no harness has worked in {here} yet, and it lies in no repository that can be read{why}, so that no "
            "project is known here: go to its folder, or name it with --project"
        )
    return aliases.project(own or seen)


async def project_meant(bus: Bus, name: str, here: Path) -> str:
    """The project that a person names, by any of its names, or else that of their current folder."""
    if not name:
        return await project_at(bus, here, Path.home())
    try:
        aliases = await aliases_of(bus)
        project, known = aliases.project(name), {one.project for one in await projects_of(bus)}
    except (NoProject, NoResponder):
        return name  # there are no views: who is asked next says so, or knows that project without them
    except Unreachable as error:
        raise NoProject(f"whether there is a project {name[:LONGEST_NAME]} could not be looked up: {error}") from error
    if project in {*known, *map(aliases.project, (*known, *aliases.led))}:
        return project
    with suppress(NoProject):  # a repository has its name before a harness has worked in it
        if project == await project_at(bus, here, Path.home()):
            return project
    raise NoProject(unknown_project(name, [*known, *aliases.leads]))


def unknown_project(name: str, known: Sequence[str]) -> str:
    """The sentence for a project that does not exist, with similar names."""
    begun = [one for one in known if len(name) >= SHORTEST and one.startswith(name)]
    like = list(dict.fromkeys(begun or get_close_matches(name, known, MOST_LIKE)))[:MOST_LIKE]
    meant = (
        f"did you mean {' or '.join(like)}?"
        if like
        else "nothing was ever recorded under that name; `annals project list` shows what there is"
    )
    return f"there is no project {name[:LONGEST_NAME]}: {meant}"


async def projects_of(bus: Bus) -> tuple[ProjectSummary, ...]:
    """The projects under all names that were reported. Raises `NoProject` where the views do not answer."""
    reply = await answer(bus, ProjectsAsk(), ProjectList, PATIENCE)
    if reply.error:
        raise NoProject(f"the projects cannot be read ({reply.error}): try again in a moment")
    return reply.projects


async def check_session(bus: Bus, project: str, session: str) -> None:
    """Raise `NoProject` where a session is named that the project does not have."""
    try:
        reply = await answer(bus, SessionAsk(project, session), SessionReport, PATIENCE, project)
    except Unreachable:
        return  # who is asked next says what is wrong
    if reply.error:
        raise NoProject(reply.error)


async def aliases_of(bus: Bus) -> Aliases:
    """All names of projects. Raises `NoProject` where the views do not answer."""
    reply = await answer(bus, AliasesAsk(), ProjectAliases, PATIENCE)
    if reply.error:
        raise NoProject(f"the names of projects cannot be read ({reply.error}): try again in a moment")
    aliases = Aliases()
    for change in reply.changes:
        event: AliasAdded | AliasProposed | AliasRemoved
        match change.change:
            case "added":
                event = AliasAdded(alias=change.alias, leads_to=change.leads_to, how=change.how)
            case "removed":
                event = AliasRemoved(alias=change.alias, leads_to=change.leads_to)
            case "proposed":
                event = AliasProposed(
                    alias=change.alias, leads_to=change.leads_to, directory=change.directory, reason=change.reason
                )
        aliases = evolve(aliases, event, _envelope(event, change.seq))
    return aliases


def _envelope(event: Event, seq: int) -> Envelope:
    return Envelope("", event.TYPE, _NEVER, "", "", Actor("room"), msgspec.Raw(b"{}"), seq=seq)


def working_tree(here: Path) -> Path:
    """The root of the work tree that a folder lies in; the folder itself where it lies in none."""
    resolved = here.resolve()
    return next((folder for folder in (resolved, *resolved.parents) if _has_repository(folder)), resolved)


def _upwards(here: Path, home: Path) -> list[Path]:
    """The folder and those around it, as they are called and as they are, as far as the root of the work tree."""
    found: list[Path] = []
    for start in (here, here.resolve()):
        for folder in (start, *start.parents):
            if folder in (home, home.resolve()) and folder != start:
                break
            found.append(folder)
            if _has_repository(folder):
                break
    return found


def _has_repository(folder: Path) -> bool:
    """Whether a repository is here, as far as that can be seen: a path may be too long, or a folder be closed."""
    return os.path.exists(folder / ".git")  # noqa: PTH110 - that of pathlib raises there


def _is_text(folder: str) -> bool:
    """Whether a folder's name is text: one that is not cannot have been reported, and not be asked for."""
    return not any("\ud800" <= character <= "\udfff" for character in folder)


async def _reported(bus: Bus, *, folders: Sequence[str] = (), names: Sequence[str] = ()) -> str:
    """The project that was reported at one of these folders, or under one of these names; empty: none was.

    Raises `NoProject` where the views do not answer.
    """
    question = ProjectAtAsk(tuple(folders), tuple(names))
    reply = await answer(bus, question, ProjectAt, PATIENCE)
    if reply.error:
        raise NoProject(f"the views do not report which project this is ({reply.error}): name it with --project")
    return reply.project
