"""An index with given rows, as the indexer would leave it: tables of one set, and how far the log is in them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from schemas.asks import EmbeddedText
from services.domain.search.rows import BY_NAME, KINDS, Kind, SearchRow, wide_text
from services.kit.bus import Bus
from services.kit.embed import embedded
from services.kit.index_place import CURRENT, POSITION, Current, Position, folder_of
from services.kit.vectors import Column, Table, Tables

SET = "made"
TYPES = {str: "text", int: "integer", float: "number", bytes: "bytes"}
FIELDS = msgspec.structs.fields(SearchRow)
DIMENSIONS, MOST = 384, 32
VECTORS, TOKENS = ("vector", "vector_beside"), ("tokens", "tokens_beside")


class MadeIndex:
    """Writes rows; whoever looks for them finds them from then on."""

    def __init__(self, data: Path, bus: Bus | None = None, *, lacks: str = "") -> None:
        """With a bus its embedder makes the vectors; without one there are none. `lacks`: a column of today's."""
        self._lacks = lacks
        self._data, self._bus = data, bus
        self._set = SET
        self._model = ""
        self._seq = 0

    @property
    def folder(self) -> Path:
        return folder_of(self._data) / self._set

    def move(self, name: str) -> None:
        """Write into another set from now on."""
        self._set, self._seq = name, 0

    async def write(self, rows: Sequence[SearchRow], through: int = 0) -> None:
        if self._bus is not None:
            self._model = (await embedded(self._bus, [])).model
        tables = await Tables.open(self.folder)
        for kind in KINDS:
            left = [column for column in columns(self._has_vectors(kind)) if column.name != self._lacks]
            table = await tables.make(kind, left)
            mine = [one for one in rows if one.kind == kind]
            if mine:
                await table.put(await self._columns(mine, self._has_vectors(kind)))
        tables.close()
        self._seq = max([self._seq, through, *(one.seq for one in rows)])
        self.place()

    def _has_vectors(self, kind: Kind) -> bool:
        return bool(self._model) and kind not in BY_NAME

    def place(self) -> None:
        position = Position(self._seq, {kind: kind for kind in KINDS})
        (self.folder / POSITION).write_bytes(msgspec.json.encode(position))
        current = Current(self._set, self._model, DIMENSIONS if self._model else 0)
        (folder_of(self._data) / CURRENT).write_bytes(msgspec.json.encode(current))

    async def remove(self, kind: Kind, where: str) -> None:
        tables = await Tables.open(self.folder)
        table: Table = await tables.table(kind)
        await table.remove(where)
        tables.close()

    async def _embedded(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        assert self._bus is not None
        reply = await embedded(self._bus, texts)
        assert not reply.error
        return reply.texts

    async def _columns(self, rows: Sequence[SearchRow], has_vectors: bool) -> dict[str, list[Any]]:  # noqa: FBT001 - a fixture
        found: dict[str, list[Any]] = {one.name: [getattr(row, one.name) for row in rows] for one in FIELDS}
        found.pop(self._lacks, None)
        found["key"] = [f"{one.project}\n{one.id}" for one in rows]
        if not has_vectors or self._bus is None:
            return found
        for vector, tokens, texts in zip(
            VECTORS, TOKENS, ([one.text for one in rows], [wide_text(one) for one in rows]), strict=True
        ):
            made = [
                one for start in range(0, len(texts), MOST) for one in await self._embedded(texts[start : start + MOST])
            ]
            found[vector] = [np.frombuffer(one.vector, np.float32).tolist() for one in made]
            found[tokens] = [one.tokens for one in made]
        return found


def columns(has_vectors: bool) -> tuple[Column, ...]:  # noqa: FBT001 - a fixture
    plain = [Column("key", "text")]
    plain += [Column(one.name, TYPES.get(one.type, "texts" if one.name == "files" else "text")) for one in FIELDS]
    vectors = [Column(one, "vector", DIMENSIONS) for one in VECTORS] if has_vectors else []
    return (*plain, *vectors, *(Column(one, "bytes") for one in TOKENS if has_vectors))
