"""Rows as they are searched, of which most fields say nothing."""

from typing import Any

from services.domain.search.rows import Kind, SearchRow, completed, row_id


def message_row(
    text: str,
    message: str = "m1",
    session: str = "s1",
    project: str = "harbour",
    **more: Any,  # noqa: ANN401 - fields of a row
) -> SearchRow:
    """A row of a message."""
    return row("message", message, text, session=session, project=project, **({"role": "user"} | more))


def row(kind: Kind, ref: str, text: str, project: str = "harbour", session: str = "", **more: Any) -> SearchRow:  # noqa: ANN401 - fields of a row
    return completed(
        SearchRow(
            id=row_id(kind, ref, session), project=project, kind=kind, ref=ref, text=text, session=session, **more
        )
    )
