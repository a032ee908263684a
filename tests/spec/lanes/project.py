"""A project whose documents change, what else is known of it, and the lanes of a session that sees them."""

import hashlib
from collections.abc import Sequence

from schemas.events import SessionIdled
from schemas.plan import AppendText, SetHead
from services.kit.limits import Limits
from services.responder.head.documents import Document
from services.responder.lanes import DROPS, TAGS, Lane, View, head, notices
from services.responder.lanes.hints import Hit, Notes
from tests.spec.harness import LIMITS, Harness, replace

FIRST = -100
"""The positions of facts from before all sessions."""
HEAD = "head:0"


class Project:
    """The documents as a responder knows them."""

    def __init__(self, **texts: str) -> None:
        self.documents: tuple[Document, ...] = ()
        self.notes: Notes | None = None
        self.hits: tuple[Hit, ...] = ()
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

    def lanes(self) -> Sequence[Lane]:
        """The lanes of the head, which see this project, among others."""

        def seen(view: View) -> View:
            return replace(view, documents=self.documents)

        return (
            TAGS,
            DROPS,
            Lane(
                "head",
                lambda view: head.rebase(seen(view)),
                lambda view, new: head.extend(seen(view), new),
                modes=head.MODES,
            ),
            Lane("notices", notices.rebase, lambda view, new: notices.extend(seen(view), new), modes=notices.MODES),
        )


def session(project: Project, limits: Limits = LIMITS) -> Harness:
    project.session = Harness(limits, project.lanes())
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
