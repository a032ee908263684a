"""A project whose documents and memory change, and the lanes of a session that sees them."""

import hashlib

from schemas.codec import wrap
from schemas.envelope import Actor
from schemas.events import Event, MemoryWritten, SessionIdled
from schemas.plan import AppendText, SetHead
from schemas.subjects import Address
from services.domain.limits import Limits, MemoryLimits
from services.memory.remembered import Remembered, evolve
from services.plan.head.documents import Document
from services.plan.lanes import DROPS, TAGS, View, head, memory_notices, notices
from services.plan.lanes.hints import HintHit, NoteStatus
from tests.helpers.harness import ADDRESS, LIMITS, Harness, replace

FIRST = -100
"""The positions of facts from before all sessions."""
HEAD = "head:0"


class Project:
    """The documents and the memory as a responder knows them."""

    def __init__(self, **texts: str) -> None:
        self.documents: tuple[Document, ...] = ()
        self.remembered = Remembered()
        self.memory = MemoryLimits()
        """How much of the memory is shown."""
        self.notes: NoteStatus | None = None
        self.hits: tuple[HintHit, ...] = ()
        self._seq = FIRST
        self.session: Harness | None = None
        """Whose log goes on while documents change."""
        for name, text in texts.items():
            self.write(f"{name}.md", text)

    def write(self, path: str, text: str) -> int:
        """A document has this text now; the position of that fact."""
        seq = self._position()
        digest = hashlib.sha256(text.encode()).hexdigest() if text else ""
        others = tuple(document for document in self.documents if document.path != path)
        self.documents = (*others, Document(path, digest, text, seq))
        return seq

    def _position(self) -> int:
        """The next in the log."""
        if self.session:
            self.session.append(SessionIdled())
            return len(self.session.log)
        self._seq += 1
        return self._seq

    def remove(self, path: str) -> int:
        return self.write(path, "")

    def remembers(self, *events: Event) -> int:
        """Facts about its memory come, while a session goes on; the position of the last one."""
        for event in events:
            seq = self._position()
            at = self.session.now if self.session else None
            if at is None:
                raise ValueError("a memory's facts stand in the log of a session: begin one first")
            envelope = wrap(event, Address(ADDRESS.project), id=f"p{seq}", at=at, actor=Actor("agent", "build"))
            self.remembered = evolve(self.remembered, event, replace(envelope, seq=seq))
        return self.remembered.book.seq

    def seen(self, view: View) -> View:
        """What a pass is decided on, with what is known of the project."""
        return replace(
            view,
            documents=self.documents,
            remembered=self.remembered,
            memory=self.memory,
            name=ADDRESS.session,
            notes=self.notes,
            hits=self.hits,
        )


def written(name: str, text: str, category: str = "CONSTRAINTS", *, origin: str = "other") -> MemoryWritten:
    """A sentence that a person has added to the project's memory, by default in another session."""
    return MemoryWritten(memory=name, category=category, text=text, trust="person", origin=origin)


LANES_OF_HEADS = (TAGS, DROPS, head.LANE, notices.LANE, memory_notices.LANE)
"""What shows a project to a session, among the lanes that number and drop."""


def session(project: Project, limits: Limits = LIMITS) -> Harness:
    project.session = Harness(limits, LANES_OF_HEADS)
    project.session.seen = project.seen
    return project.session


def headed(harness: Harness) -> str:
    """The head that the harness holds."""
    edit = harness.edits.get(HEAD)
    return edit.text if isinstance(edit, SetHead) else ""


def noticed(harness: Harness) -> dict[str, AppendText]:
    """Part -> the notice that the harness holds for it."""
    return {
        edit.part: edit
        for edit in harness.edits.values()
        if isinstance(edit, AppendText) and "project_changed" in edit.text
    }


def memory_noticed(harness: Harness) -> dict[str, AppendText]:
    """Part -> the harness's text of it that has the project's memory."""
    return {
        edit.part: edit
        for edit in harness.edits.values()
        if isinstance(edit, AppendText) and "memory_changed" in edit.text
    }
