"""The page of views: what an operator may query, read off the first line of each view's file."""

from services.generate.markdown import code, page, table
from services.responder.views.store import view_sources


def views_page() -> str:
    rows = ((code(name), _purpose(name, source)) for name, source in view_sources().items())
    return page(
        "# Views",
        "The views that `annals sql` and `ask.sql` can query, in addition to one table for each [event](events.md). "
        "Each view `name` is also a macro `name_at(position)`, which returns its state at a position of the log.",
        table(("view", "what it is"), rows),
    )


def _purpose(name: str, source: str) -> str:
    """The comment at the beginning of the file, without the name."""
    lines = []
    for line in source.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines).removeprefix(f"{name}: ")
