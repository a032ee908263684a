"""Decides on names of projects: what Annals can verify itself, it accepts; on everything else a person decides."""

from __future__ import annotations

import re
from shlex import quote

import msgspec

from schemas.commands import ProjectMerge, ProjectRename, ProjectSeparate
from schemas.events import AliasAdded, AliasProposed, AliasRemoved
from services.domain.aliases import Aliases
from services.domain.command import PEOPLE, AddressKind, command
from services.domain.decision import Decision
from services.domain.finding import echo

_TITLE = re.compile(r"[\w][\w .-]{0,63}")
_MADE = re.compile(r"(git|shallow|dir)-")
"""The beginnings of names that are made of a repository or a directory."""


class Claim(msgspec.Struct, frozen=True):
    """A claim that a project had another name before, and what is known of it."""

    former: str
    project: str
    how: str
    """`derived` or `recorded`, where it is sure; empty: nobody but the harness says so."""
    exists: bool
    """Whether anything was ever reported under that name."""
    is_home: bool = False
    """Whether one of the two is a home directory."""
    directory: str = ""
    reason: str = ""


def claimed(aliases: Aliases, claim: Claim) -> tuple[AliasAdded | AliasProposed, ...]:
    """Facts that follow from a claim. A name stays with its first project; what a person undid stays undone."""
    former, project = claim.former, claim.project
    pair = (former, project)
    if not former or claim.is_home or aliases.project(former) == aliases.project(project):
        return ()
    if not claim.how and former.startswith("git-") and _MADE.match(project) and not project.startswith("git-"):
        return ()  # a shallow clone or a directory is less than the repository that it was
    if pair in aliases.proposed or pair in aliases.removed:
        return ()
    taken = aliases.leads.get(former)
    if claim.how and taken is None:
        return (AliasAdded(alias=former, leads_to=project, how=claim.how),)
    if not claim.exists:
        return ()
    reason = f"it leads to {taken.leads_to} already" if taken else claim.reason
    return (AliasProposed(alias=former, leads_to=project, directory=claim.directory, reason=reason),)


class NamesContext(msgspec.Struct, frozen=True):
    """The context of a command about the names of a project, apart from the names."""

    project: str
    """The name that it was sent to."""
    trust: str
    exists: bool
    """Whether anything was ever reported under the other name."""


BY_HAND = "ask a person to run `annals project`"


@command(
    ProjectMerge,
    on=Aliases,
    sent_by=PEOPLE,
    writes=(AliasAdded,),
    address=AddressKind.PROJECT,
    remedy=BY_HAND,
)
def merge(aliases: Aliases, command: ProjectMerge, context: NamesContext) -> Decision:
    """Another name is this project, too."""
    project, head = aliases.project(context.project), aliases.project(command.former)
    return _merged(aliases, project, head, command.former, exists=context.exists)


@command(
    ProjectRename,
    on=Aliases,
    sent_by=PEOPLE,
    writes=(AliasAdded,),
    address=AddressKind.PROJECT,
    remedy=BY_HAND,
)
def rename(aliases: Aliases, command: ProjectRename, context: NamesContext) -> Decision:
    """A name to call a project by."""
    return _renamed(aliases, aliases.project(context.project), command.name.strip(), exists=context.exists)


@command(
    ProjectSeparate,
    on=Aliases,
    sent_by=PEOPLE,
    writes=(AliasRemoved,),
    address=AddressKind.PROJECT,
    remedy=BY_HAND,
)
def separate(aliases: Aliases, command: ProjectSeparate, context: NamesContext) -> Decision:
    """A name is this project no longer."""
    return _separated(aliases, aliases.project(context.project), command.former)


def _merged(aliases: Aliases, project: str, head: str, former: str, *, exists: bool) -> Decision:
    if head == project:
        return _refused(f"{echo(former)} and {project} are one project already")
    if not exists and former not in aliases.leads:
        return _refused(f"nothing was ever reported under {echo(former)}; `annals project list` shows what there is")
    text = (
        f"{head} is {project} from now on: its memory moves there, and its sessions are found there. "
        f"`annals project undo {quote(head)}` takes that back."
    )
    return Decision(ok=True, text=text, events=(AliasAdded(alias=head, leads_to=project, how="confirmed"),))


def _renamed(aliases: Aliases, project: str, name: str, *, exists: bool) -> Decision:
    if not _TITLE.fullmatch(name) or _MADE.match(name):
        return _refused(
            f"{echo(name)} is no name for a project: give 1 to 64 letters, digits, spaces, dots, hyphens or "
            "underscores, that do not begin with git-, shallow- or dir-"
        )
    known = aliases.leads.get(name)
    if known is not None and known.leads_to == project and aliases.title(project) == name:
        return _refused(f"{project} is called {name} already")
    if known is not None or exists:
        return _refused(f"{echo(name)} is the name of {known.leads_to if known else 'another project'}; give another")
    text = f"{project} is called {name} from now on, also with --project."
    return Decision(ok=True, text=text, events=(AliasAdded(alias=name, leads_to=project, how="given"),))


def _separated(aliases: Aliases, project: str, former: str) -> Decision:
    name = former or aliases.newest(project)
    known = aliases.leads.get(name)
    if known is None:
        what = f"{echo(former)} leads to no project" if former else f"no name leads to {project}"
        return _refused(f"{what}: there is nothing to undo; `annals project show` lists the names of a project")
    if aliases.project(name) != project:
        return _refused(f"{echo(name)} leads to {aliases.project(name)}: undo it with --project {known.leads_to}")
    ends = "" if known.how == "given" else ": its memory is what it was, and what came since stays where it was written"
    text = f"{name} is {known.leads_to} no longer{ends}."
    return Decision(ok=True, text=text, events=(AliasRemoved(alias=name, leads_to=known.leads_to),))


def _refused(reason: str) -> Decision:
    return Decision(ok=False, text=f"Nothing was written: {reason}.")
