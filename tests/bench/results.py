"""Files of measurements: one JSON line for each thing that was measured."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

FOLDER = Path(__file__).parents[2] / ".bench"
WIDEST = 10_000
"""Characters of a line of a table: more than any has."""


def keep(name: str, found: Iterable[msgspec.Struct]) -> Path:
    """Leave these in `.bench`, in place of those of the run before."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in found))
    return path


def print_whole(shown: Table, console: Console | None = None) -> None:
    """Print a table with all that it says, as wide as that is: a narrow terminal folds its lines."""
    console = console or Console()
    wide = Measurement.get(console, console.options.update(max_width=WIDEST), shown).maximum
    console.width = max(wide, console.width)
    console.print(shown)


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Markdown: numbers with separators, shares in percent."""
    names = list(headings)
    lines = [names, ["---"] * len(names), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    match value:
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.1f}"
        case _:
            return str(value)
