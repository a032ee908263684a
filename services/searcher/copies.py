"""Copies of rows' fields for comparing and showing, in a file that has no name.

A table takes a tenth of a millisecond for each value that is read out of its midst, and a search reads a thousand of
them. Here a row is one piece, and is read at once. The file goes with the process, or with the shelf whose rows it
holds; what is taken off the shelf is overwritten.
"""

import os
import shutil
import weakref
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

import msgspec
import numpy as np

from services.searcher.core.arrays import Array, Flags, Places

VECTORS = ("vector", "vector_beside")
TOKENS = ("tokens", "tokens_beside")
TEXT, FACTS = "text", "facts"
PARTS = (*VECTORS, *TOKENS, TEXT, FACTS)
"""In the order in which a row has them; each is bytes."""
ROOM = 2 * 1024**3
"""Bytes that are left free on the disk: without a copy search is slower, without room nothing is remembered."""


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """A row's fields for a hit, besides its text."""

    ref: str
    session: str
    message: str
    ordinal: int
    last_ordinal: int
    actor: str
    role: str
    at: float
    files: tuple[str, ...] | None = None


_FACTS = tuple(field.name for field in msgspec.structs.fields(Facts))
_encode = msgspec.msgpack.Encoder().encode


def columns_of(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table in which these parts are."""
    return tuple(column for name in names for column in (_FACTS if name == FACTS else (name,)))


def pieces(rows: Any, names: Sequence[str]) -> list[tuple[bytes, ...]]:  # noqa: ANN401 - a table of Arrow
    """These parts of rows that were read from a table, row by row."""
    return list(zip(*(_piece(rows, name) for name in names), strict=True))


def _piece(rows: Any, name: str) -> Sequence[bytes]:  # noqa: ANN401 - a table of Arrow
    if name == FACTS:
        values = (rows.column(one).to_pylist() for one in _FACTS)
        return [_encode(one) for one in zip(*values, strict=True)]
    column = rows.column(name)
    if name in VECTORS:
        return _vectors(column)
    if name == TEXT:
        return [value.encode() for value in column.to_pylist()]
    return [value or b"" for value in column.to_pylist()]


def _vectors(column: Any) -> list[bytes]:  # noqa: ANN401 - a column of Arrow
    array = column.combine_chunks()
    known = array.drop_null()
    flat = np.asarray(known.flatten().to_numpy(zero_copy_only=False), np.float32)
    found = iter(flat.reshape(len(known), -1) if len(known) else ())
    return [next(found).tobytes() if is_there else b"" for is_there in array.is_valid().to_pylist()]


class ShelfCopies:
    """The copies of one shelf, whose rows are known by their numbers on it."""

    def __init__(self, folder: Path, room: int = ROOM) -> None:
        self._room = room
        place = folder if os.access(folder, os.W_OK) else Path(gettempdir())
        self._place = place
        with TemporaryFile(dir=place, buffering=0) as file:
            self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)  # when the last search that reads it has ended
        self._ends: Array = np.full((0, len(PARTS) + 1), -1, np.int64)
        """Of each row where its first part begins, and where each ends; -1: there is none."""
        self._size = 0

    def __len__(self) -> int:
        return int((self._ends[:, 0] >= 0).sum())

    def has(self, numbers: Places) -> Flags:
        """Of which of these rows there is a copy."""
        found = np.zeros(len(numbers), bool)
        inside = numbers < len(self._ends)
        found[inside] = self._ends[numbers[inside], 0] >= 0
        return found

    def read(self, numbers: Sequence[int], names: Sequence[str]) -> list[tuple[bytes, ...]]:
        """Parts of rows that stand next to each other, as `pieces` has them. Raises `OSError`."""
        first = PARTS.index(names[0])
        ends = self._ends[list(numbers), first : first + len(names) + 1]
        return [tuple(self._parts(row)) for row in ends.tolist()]

    def _parts(self, ends: Sequence[int]) -> Iterator[bytes]:
        whole = os.pread(self._file, ends[-1] - ends[0], ends[0])
        for start, end in pairwise(ends):
            yield whole[start - ends[0] : end - ends[0]]

    def write(self, records: Sequence[tuple[bytes, ...]]) -> Array:
        """Add rows at the end of the file; where they are, for `know`. Raises `OSError`."""
        whole = b"".join(part for record in records for part in record)
        if shutil.disk_usage(self._place).free < self._room + len(whole):
            raise OSError(f"less than {self._room // 1024**2} MiB are free in {self._place}: make room there")
        lengths = np.array([[0, *map(len, record)] for record in records], np.int64).reshape(-1, len(PARTS) + 1)
        ends = self._size + np.cumsum(lengths).reshape(lengths.shape)
        written = 0
        while written < len(whole):
            written += os.pwrite(self._file, memoryview(whole)[written:], self._size + written)
        self._size += len(whole)
        return ends

    def know(self, numbers: Places, ends: Array) -> None:
        """These rows have been written there."""
        missing = int(numbers.max(initial=-1)) + 1 - len(self._ends)
        if missing > 0:
            self._ends = np.concatenate((self._ends, np.full((missing, len(PARTS) + 1), -1, np.int64)))
        self._ends[numbers] = ends

    def forget(self, numbers: Places) -> None:
        """Overwrite what there is of these rows."""
        for number in numbers[self.has(numbers)].tolist():
            start, end = int(self._ends[number, 0]), int(self._ends[number, -1])
            os.pwrite(self._file, bytes(end - start), start)
            self._ends[number] = -1

    def written(self) -> bytes:
        """All that the file holds."""
        return os.pread(self._file, self._size, 0)
