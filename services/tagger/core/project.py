"""The tagger's state of a project: its directories, and its documents. No clock, no I/O."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.envelope import Envelope
from schemas.events import DocumentCaptured, Event, ProjectClaimed, ProjectIdentified, ProjectMerged
from schemas.inbox import DocumentSeen, Seen, SessionSeen
from schemas.subjects import MAX_ID_BYTES
from services.domain.draft import Draft
from services.domain.fold import Map

replace = msgspec.structs.replace

MOST_FORMER = 20
"""Former names of one message that are taken in: no project had more, and whoever sends them may say anything."""


ProjectFact = ProjectIdentified | ProjectClaimed | DocumentCaptured
"""A fact about a project that sessions report."""


class Project(msgspec.Struct, frozen=True):
    """A project's directories and documents."""

    directories: Map[str, ProjectIdentified] = Map()
    documents: Map[str, str] = Map()
    """Path -> digest of its newest content."""
    former: Map[str, None] = Map()
    """Names that it is claimed to have had before."""


def evolve(project: Project, event: Event, _: Envelope) -> Project:
    match event:
        case ProjectIdentified(directory=directory):
            return replace(project, directories=project.directories.insert(directory, event))
        case DocumentCaptured(path=path, digest=digest):
            return replace(project, documents=project.documents.insert(path, digest))
        case ProjectClaimed(former=former) | ProjectMerged(former=former):
            return replace(project, former=project.former.insert(former, None))
        case _:
            return project


def decide(draft: Draft[Project], harness: str, items: Sequence[Seen], sizes: Mapping[str, int]) -> None:
    """Record what is new about the project in a message; `sizes` are those of bodies that are stored apart."""
    for fact in _facts(items, harness, sizes):
        match fact:
            case ProjectIdentified(directory=directory):
                known = draft.state.directories.get(directory)
                now = _with_known(fact, known)
                if now != known:
                    draft.record(now)
            case DocumentCaptured(path=path, digest=digest) if draft.state.documents.get(path, "") != digest:
                draft.record(fact)
            case ProjectClaimed(former=former) if former not in draft.state.former:
                draft.record(fact)
            case _:
                pass


def _facts(items: Sequence[Seen], harness: str, sizes: Mapping[str, int]) -> Iterator[ProjectFact]:
    for item in items:
        match item:
            case SessionSeen(directory=directory) if directory:
                yield ProjectIdentified(
                    directory=directory, harness=harness, root=item.root, vcs=item.vcs, home=item.home
                )
                for former in reversed(dict.fromkeys((item.formerly, *item.former[:MOST_FORMER]))):
                    if 0 < len(former.encode()) <= MAX_ID_BYTES:
                        yield ProjectClaimed(former=former, directory=directory, root=item.root, harness=harness)
            case DocumentSeen(text=text, text_ref=reference):
                size = sizes.get(reference, len(text.encode()))
                yield DocumentCaptured(path=item.path, digest=item.digest, bytes=size, text=text, text_ref=reference)
            case _:
                pass


def _with_known(now: ProjectIdentified, known: ProjectIdentified | None) -> ProjectIdentified:
    """The first harness in a directory stays the recorded one; what is not reported now stays."""
    if known is None:
        return now
    return replace(
        now, harness=known.harness, root=now.root or known.root, vcs=now.vcs or known.vcs, home=now.home or known.home
    )
