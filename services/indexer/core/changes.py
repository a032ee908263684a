"""Changes of the index that are to be written."""

from collections.abc import Iterable

import msgspec

from services.domain.search.rows import SearchRow


def key(project: str, row: str) -> str:
    """Names a row among those of all projects. The name of a project holds no line break."""
    return f"{project}\n{row}"


class Changes(msgspec.Struct, frozen=True):
    """Rows as they are now, and rows that are no more."""

    rows: tuple[SearchRow, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()
    """The kind and the key of each."""


class RowChanges:
    """Changes of several facts, of which for each row the newest holds."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, SearchRow]] = {}
        """By kind and key."""
        self.gone: dict[str, set[str]] = {}

    def add(self, changes: Changes) -> None:
        for kind, name in changes.gone:
            self.rows.get(kind, {}).pop(name, None)
            self.gone.setdefault(kind, set()).add(name)
        for row in changes.rows:
            name = key(row.project, row.id)
            self.gone.get(row.kind, set()).discard(name)
            self.rows.setdefault(row.kind, {})[name] = row

    @property
    def kinds(self) -> Iterable[str]:
        return sorted({*self.rows, *self.gone})
