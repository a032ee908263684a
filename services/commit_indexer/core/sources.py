"""Where the repositories of projects are: where harnesses have worked, and what a person has set. No clock, no I/O."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator

import msgspec

from schemas.events import Event, ProjectIdentified, ProjectMerged
from services.domain.fold import Map
from services.domain.limits import Commits

replace = msgspec.structs.replace


class Source(msgspec.Struct, frozen=True):
    """A repository of a project."""

    project: str
    place: str
    """A directory of this machine, or the address of a remote."""
    is_remote: bool = False
    is_root: bool = True
    """Whether the directory is known to be the root of a work tree."""


class Places(msgspec.Struct, frozen=True):
    """What harnesses have told of where projects are."""

    directories: Map[tuple[str, str], ProjectIdentified] = Map()
    """By project and directory, as last told."""
    former: Map[str, None] = Map()
    """Names that projects had before: what lies there is read for their new ones."""


def evolve(places: Places, event: Event, project: str) -> Places:
    match event:
        case ProjectIdentified(directory=directory):
            return replace(places, directories=places.directories.insert((project, directory), event))
        case ProjectMerged(former=former):
            return replace(places, former=places.former.insert(former, None))
        case _:
            return places


def sources(places: Places, settings: Commits) -> list[Source]:
    """The repositories to be read, each once."""
    if not settings.enabled:
        return []
    checkouts = _checkouts(places) if settings.checkouts else ()
    remotes = (Source(project, address, is_remote=True) for project, address in settings.remotes.items())
    return list({(one.project, one.place): one for one in (*checkouts, *remotes)}.values())


def _checkouts(places: Places) -> Iterator[Source]:
    for (project, directory), told in sorted(places.directories.items()):
        place = told.root or directory
        if not told.home and project not in places.former and place.startswith("/") and (told.vcs or not told.root):
            yield Source(project, place, is_root=bool(told.root))


def first_commit(project: str) -> str:
    """The commit that a project's repository begins with, where its name tells."""
    kind, _, sha = project.partition("-")
    return sha if kind == "git" and len(sha) in (40, 64) else ""
