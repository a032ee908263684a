"""The answer to `ask.brief`: what a harness's own summary must carry on, as one bounded text."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from schemas.events import ToolRan
from services.kit.tokens import tokens
from services.responder.notes import File, Notes

MAX_TOKENS = 2500
MAX_LINE_CHARACTERS = 200
HEADINGS = (
    "Goal", "Instructions", "Progress", "Key decisions", "Discoveries", "Next steps", "Relevant files", "Notes",
)  # fmt: skip

CONTINUITY = """\
The same agent goes on working from your summary, without seeing the messages before it. Write down everything that \
it needs for that: facts, names, paths, numbers and the reasons of decisions."""
PLAIN = """\
Numbers between section signs at the beginning of texts, such as §7§, are tags for bookkeeping, and so are \
placeholders such as [dropped §7§]: copy none of them into the summary. What a placeholder stands for was removed to \
save room; do not guess what it said."""
OPENING = (
    CONTINUITY,
    "",
    "Use these Markdown headings, and leave out one that has nothing to say:",
    *(f"## {heading}" for heading in HEADINGS),
    "",
    PLAIN,
)


class _List(msgspec.Struct, frozen=True):
    """A list with its head line; of the lines as many as there is room for."""

    head: str
    lines: Sequence[str]


def brief(notes: Notes) -> str:
    """At most 2,500 tokens, by whole lines: what does not fit is left out from the end of each list."""
    text = list(OPENING)
    room = MAX_TOKENS - _cost(text)
    for section in _sections(notes):
        taken = _fitting(("", section.head), section.lines, room)
        text += taken
        room -= _cost(taken)
    return "\n".join(text)


def _sections(notes: Notes) -> Iterator[_List]:
    """The most important first."""
    todos = [f"- {_line(todo)}" for todo in notes.open_todos]
    yield _List("Still to do, by the agent's own list (keep these lines under Next steps):", todos)
    failures = [_failure(failure) for failure in reversed(notes.failures)]
    yield _List("Calls that failed and were not repeated with success:", failures)
    files = [_file(file) for file in reversed(notes.files)]
    yield _List("Files worked with, the newest first:", files)


def _failure(failure: ToolRan) -> str:
    how = "with an error" if failure.exit_code is None else f"with exit code {failure.exit_code}"
    about = f" {_line(failure.target)}" if failure.target else ""
    return f"- {_line(failure.tool) or 'a tool'}{about}: ended {how}"


def _file(file: File) -> str:
    what = {"deleted": "deleted"}.get(file.last) or ("changed" if file.edits else "read")
    return f"- {_line(file.path)} ({what})"


def _fitting(head: tuple[str, ...], lines: Iterable[str], room: int) -> list[str]:
    """The head and as many lines as there is room for; without a line no head."""
    taken: list[str] = []
    for line in lines:
        more = [*(taken or head), line]
        if _cost(more) > room:
            break
        taken = more
    return taken


def _cost(lines: Sequence[str]) -> int:
    return tokens(sum(len(line.encode()) + 1 for line in lines))


def _line(text: str) -> str:
    """A text in one line of bounded length."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_LINE_CHARACTERS else flat[: MAX_LINE_CHARACTERS - 1] + "…"
