"""What the tagger knows of a project: where it lies, and what its documents say. No clock, no I/O."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from schemas.envelope import Envelope
from schemas.events import DocumentCaptured, Event, ProjectIdentified
from schemas.inbox import DocumentSeen, Seen, SessionSeen
from services.kit.fold import Map

replace = msgspec.structs.replace


class Project(msgspec.Struct, frozen=True):
    """A project's directories and documents."""

    directories: Map[str, ProjectIdentified] = Map()
    documents: Map[str, str] = Map()
    """Path -> digest of its newest content."""
    told: Map[str, None] = Map()
    """Inbound messages whose facts are all in the log: said again, however late, they say nothing new."""


def evolve(project: Project, event: Event, envelope: Envelope) -> Project:
    if envelope.last and envelope.cause:
        project = replace(project, told=project.told.insert(envelope.cause, None))
    match event:
        case ProjectIdentified(directory=directory):
            return replace(project, directories=project.directories.insert(directory, event))
        case DocumentCaptured(path=path, digest=digest):
            return replace(project, documents=project.documents.insert(path, digest))
        case _:
            return project


def decide(project: Project, harness: str, told: str, items: Sequence[Seen], sizes: Mapping[str, int]) -> list[Event]:
    """The facts about the project that are new in an inbound message; `sizes` are those of bodies kept aside."""
    if told in project.told:
        return []
    directories, documents = project.directories, project.documents
    facts: list[Event] = []
    for fact in _facts(items, harness, sizes):
        match fact:
            case ProjectIdentified(directory=directory):
                now = _with_known(fact, directories.get(directory))
                if now != directories.get(directory):
                    facts.append(now)
                    directories = directories.insert(directory, now)
            case DocumentCaptured(path=path, digest=digest) if documents.get(path, "") != digest:
                facts.append(fact)
                documents = documents.insert(path, digest)
            case _:
                pass
    return facts


def _facts(items: Sequence[Seen], harness: str, sizes: Mapping[str, int]) -> Iterator[Event]:
    for item in items:
        match item:
            case SessionSeen(directory=directory) if directory:
                yield ProjectIdentified(directory=directory, harness=harness, root=item.root, vcs=item.vcs)
            case DocumentSeen(text=text, text_ref=reference):
                size = sizes.get(reference, len(text.encode()))
                yield DocumentCaptured(path=item.path, digest=item.digest, bytes=size, text=text, text_ref=reference)
            case _:
                pass


def _with_known(now: ProjectIdentified, known: ProjectIdentified | None) -> ProjectIdentified:
    """The first harness in a directory stays the one that is told; what is not said now stays."""
    if known is None:
        return now
    return replace(now, harness=known.harness, root=now.root or known.root, vcs=now.vcs or known.vcs)
