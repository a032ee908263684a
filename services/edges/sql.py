"""`annals sql`: a query over the views, for a person: as a table, as JSON or as CSV."""

import argparse
import csv
import io
import sys
from collections.abc import Sequence
from typing import TextIO

import msgspec
from rich.table import Table

from schemas.view_asks import Rows, SqlAsk
from services.domain.often import quantity
from services.edges.asking import answer
from services.edges.person import NO_TEXT, person_bus, refused
from services.edges.styling import console, styled
from services.edges.terminal import write_file, write_json, write_note
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings

SPARE = 2.0
"""Seconds that an answer may take beyond what its query may."""
WIDE = 10_000
"""Columns of what is no terminal: whoever reads a file wants each row in one line."""


async def sql(options: argparse.Namespace, settings: Settings) -> int:
    """Ask, and print what was found; the exit status is 1 where there is no answer."""
    try:
        query = sys.stdin.read() if options.query == "-" else options.query
        async with person_bus(settings, "sql") as bus:
            found = await _all_pages(bus, SqlAsk(query, options.rows, int(options.seconds * 1000)))
    except (Unreachable, TooLarge) as error:
        return refused(str(error))
    except UnicodeError:
        return refused(NO_TEXT)
    if found.error:
        return refused(found.error)
    if options.json:
        write_json(_whole(found))
    elif options.csv:
        text = io.StringIO()
        write_csv(found, text)
        write_file(text.getvalue())
    else:
        print_table(found, sys.stdout)
    write_note(_foot(found))
    return 0


async def _all_pages(bus: Bus, question: SqlAsk) -> Rows:
    """The reply, with the rows of all its pages; or the error of the first page that is none."""
    patience = question.timeout_ms / 1000 + SPARE
    first = page = await answer(bus, question, Rows, patience)
    rows = [*first.rows]
    while page.cursor and not page.error:
        page = await answer(bus, SqlAsk(cursor=page.cursor), Rows, patience)
        rows += page.rows
    if page.error:
        return page
    return msgspec.structs.replace(first, rows=tuple(rows), truncated=page.truncated, cursor="")


def print_table(found: Rows, out: TextIO) -> None:
    """Print the rows for a person to read."""
    table = Table()
    for name in found.columns:
        table.add_column(styled(name))
    for row in found.rows:
        table.add_row(*(styled(as_text(value)) for value in row))
    console(out, width=None if out.isatty() else WIDE).print(table)


def write_csv(found: Rows, out: TextIO) -> None:
    """Write the rows as CSV: null is an empty field, and what is nested is JSON."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(found.columns)
    writer.writerows([as_text(value) for value in row] for row in found.rows)


def as_text(value: object) -> str:
    """One value as text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _whole(found: Rows) -> dict[str, object]:
    """Every field, so that who reads it need not ask which are there."""
    names: Sequence[str] = ("columns", "rows", "truncated", "as_of", "age")
    return {name: getattr(found, name) for name in names}


def _foot(found: Rows) -> str:
    count = quantity(len(found.rows), "row")
    more = ", and there are more (--rows)" if found.truncated else ""
    return f"{count}{more}, as of position {found.as_of:,} of the log, {found.age:.0f} s ago"
