"""Prints to the terminal, in colours where it has some."""

from difflib import unified_diff
from pathlib import Path

from services.edges.styling import console, styled

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def difference(path: Path, before: str | None, after: str | None) -> None:
    """Print what changes in a file."""
    out = console(soft_wrap=True)
    old, new = (before or "").splitlines(), (after or "").splitlines()
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    for line in unified_diff(old, new, *names, lineterm=""):
        out.print(styled(line, COLOURS.get(line[:1], "")))
