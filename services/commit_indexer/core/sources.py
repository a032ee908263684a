"""The repositories of projects: where harnesses have worked, and what a person has set. No clock, no I/O."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator

import msgspec

from schemas.events import Event, ProjectIdentified, ProjectMerged
from services.domain.aliases import Aliases
from services.domain.fold import Map
from services.domain.limits import Commits

replace = msgspec.structs.replace


class RepositorySource(msgspec.Struct, frozen=True):
    """A repository of a project."""

    project: str
    place: str
    """A directory of this machine, or the address of a remote."""
    is_remote: bool = False
    is_root: bool = True
    """Whether the directory is known to be the root of a work tree."""


class ProjectPlaces(msgspec.Struct, frozen=True):
    """The places where harnesses have seen projects."""

    directories: Map[tuple[str, str], ProjectIdentified] = Map()
    """By project and directory, as last seen."""
    former: Map[str, None] = Map()
    """Names that projects had before: what lies there is read for their new ones."""


def evolve(places: ProjectPlaces, event: Event, project: str) -> ProjectPlaces:
    match event:
        case ProjectIdentified(directory=directory):
            return replace(places, directories=places.directories.insert((project, directory), event))
        case ProjectMerged(former=former):
            return replace(places, former=places.former.insert(former, None))
        case _:
            return places


def sources(places: ProjectPlaces, settings: Commits, aliases: Aliases) -> list[RepositorySource]:
    """The repositories to be read, each once, and for the name that its project goes by where it was reported so."""
    if not settings.enabled:
        return []
    found = [*_checkouts(places)] if settings.checkouts else []
    named = {(one.project, one.place) for one in found}
    checkouts = (
        one for one in found if (head := aliases.project(one.project)) == one.project or (head, one.place) not in named
    )
    remotes = (
        RepositorySource(aliases.project(project), address, is_remote=True)
        for project, address in settings.remotes.items()
    )
    return list({(one.project, one.place): one for one in (*checkouts, *remotes)}.values())


def _checkouts(places: ProjectPlaces) -> Iterator[RepositorySource]:
    for (project, directory), found in sorted(places.directories.items()):
        place = found.root or directory
        if not found.home and project not in places.former and place.startswith("/") and (found.vcs or not found.root):
            yield RepositorySource(project, place, is_root=bool(found.root))
