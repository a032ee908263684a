"""Facts about names that lead to a project. They belong to no project, so that each name leads to one at most."""

from typing import ClassVar

from schemas.events.base import Event


class AliasAdded(Event, frozen=True):
    """A name leads to a project from now on: its sessions, memory and commits are that project's."""

    TYPE: ClassVar[str] = "alias.added"

    alias: str
    leads_to: str
    """The project."""
    how: str
    """`derived`: Annals can make that name of what it reads in the project's directory. `recorded`: an earlier release
    has merged the two. `confirmed`: a person has. `given`: a person has called the project so."""


class AliasProposed(Event, frozen=True):
    """A harness says that a project had another name before, and Annals cannot check it: a person decides."""

    TYPE: ClassVar[str] = "alias.proposed"

    alias: str
    leads_to: str
    """The project that it would lead to."""
    directory: str = ""
    """The directory in which the harness works in the project."""
    reason: str = ""
    """The reason why the name was not added at once."""


class AliasRemoved(Event, frozen=True):
    """A person has taken back that a name leads to a project: the name is a project of its own again."""

    TYPE: ClassVar[str] = "alias.removed"

    alias: str
    leads_to: str
    """The project that it led to."""


EVENTS: tuple[type[Event], ...] = (AliasAdded, AliasProposed, AliasRemoved)
