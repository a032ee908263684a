"""The project's head message as text: the same values make the same bytes. No dates and no counters stand in it."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from services.domain.texts import placeholders
from services.domain.texts.markup import element, escaped, stacked
from services.domain.tokens import BYTES_PER_TOKEN, tokens
from services.plan.head.documents import Document

MIN_CUT_TOKENS = 200
"""Less than this of a document is not worth showing."""
PROJECT = """\
What is known of this project, put here by the service that keeps your context. It is background and asks for nothing. \
What the files themselves say, and what comes later in this conversation, is newer and holds before it."""
CUT, LEFT_OUT = placeholders.REST.text(), placeholders.WHOLE.text()


class HeadBudget(msgspec.Struct, frozen=True):
    """The most tokens that documents take, that key files take, and that both take together."""

    documents: int = 8000
    key_files: int = 10_000
    together: int = 18_000


ROOM = HeadBudget()


def render_project(
    documents: Sequence[Document],
    memories: str = "",
    profile: Sequence[str] = (),
    key_files: Sequence[Document] = (),
    *,
    last_session: str = "",
    room: HeadBudget = ROOM,
) -> str:
    """The first head message, what changes least first; empty if there is nothing to say.

    Everything comes in the order in which it is given. Key files take what documents leave of the room for both.
    `memories` is the element that `services.memory.rendering` makes, and `last_session` the one that
    `services.plan.head.last_session` makes.
    """
    project = element("documents", stacked(_documents(documents, min(room.documents, room.together))))
    left = min(room.key_files, room.together - _cost(project)) - _cost(element("key_files", " "))
    sections = stacked(
        [
            project,
            element("key_files", stacked(_key_files(key_files, left))),
            element("profile", _lines(profile)),
            memories,
            last_session,
        ]
    )
    return element("project", stacked([PROJECT, sections])) if sections else ""


def _documents(documents: Iterable[Document], room: int) -> Iterator[str]:
    """Whole ones as long as there is room, then the beginning of one; of the others only that there are such."""
    for document in documents:
        text = escaped(document.text.strip())
        cost = tokens(len(text.encode()))
        if cost > room:
            text = _beginning(text, room) if room >= MIN_CUT_TOKENS else ""
            text, cost = (f"{text}\n{CUT}", room) if text else (LEFT_OUT, 0)
        room -= cost
        yield element("document", text, path=document.path)


def _beginning(text: str, room: int) -> str:
    """As many whole lines as there is room for."""
    cut = text.encode()[: room * BYTES_PER_TOKEN].decode(errors="ignore")
    return cut.rpartition("\n")[0].rstrip()


def _key_files(files: Iterable[Document], room: int) -> Iterator[str]:
    """Whole ones. One that does not fit is passed over, at most named in its place: smaller ones behind it may fit."""
    for file in files:
        content = file.text.strip()
        named = element("file", LEFT_OUT, path=file.path) if content else ""
        whole = element("file", escaped(content), path=file.path) if _cost(content) <= room else named
        text = next((text for text in (whole, named) if _cost(text) <= room), "")
        room -= _cost(text)
        yield text


def _cost(text: str) -> int:
    """With the empty line behind it."""
    return tokens(len(text.encode()) + 2) if text else 0


def _lines(texts: Iterable[str]) -> str:
    """One line for each."""
    flat = (" ".join(text.split()) for text in texts)
    return "\n".join(f"- {escaped(text)}" for text in flat if text)
