"""Divides rows into pages: each fits into one message of the broker."""

from collections.abc import Iterable, Iterator

import msgspec


class RowTooLarge(ValueError):
    """A row that is too large for a page; names a remedy."""


def pages(rows: Iterable[tuple[object, ...]], room: int) -> Iterator[bytes]:
    """Rows as JSON arrays of at most so many bytes, in their order; one array at least. Raises `RowTooLarge`."""
    page: list[bytes] = []
    size = len(b"[]")
    encoder = msgspec.json.Encoder()
    for number, row in enumerate(rows, start=1):
        encoded = encoder.encode(row)
        if len(encoded) + len(b"[]") > room:
            raise RowTooLarge(
                f"row {number} has {len(encoded):,} bytes, an answer has room for {room:,}: ask for fewer columns or "
                "for a part of a long text, such as left(text, 1000)"
            )
        if page and size + len(encoded) + 1 > room:
            yield _joined(page)
            page, size = [], len(b"[]")
        page.append(encoded)
        size += len(encoded) + 1
    yield _joined(page)


def _joined(rows: list[bytes]) -> bytes:
    return b"[" + b",".join(rows) + b"]"
