"""What is said in the terminal, in colours where it has some."""

import sys
from difflib import unified_diff
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def echo(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def difference(path: Path, before: str | None, after: str | None) -> None:
    """Print what changes in a file."""
    console = Console(highlight=False, soft_wrap=True)
    old, new = (before or "").splitlines(), (after or "").splitlines()
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    for line in unified_diff(old, new, *names, lineterm=""):
        console.print(Text(line, COLOURS.get(line[:1], "")))
