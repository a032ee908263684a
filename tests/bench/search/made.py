"""An index of many rows with the vectors of no model: how long a search takes does not depend on what they say."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from services.domain.search.rows import TOKEN_DIMENSIONS, WIDE_TEXT_WORDS, SearchRow, completed, row_id
from services.embedder.convert import DIMENSIONS, FOLDER
from services.indexer.build import built
from services.indexer.tables import TABLES, TOKENS, VECTORS, as_columns, columns
from services.kit.index_place import Current, Position, folder_of, write_current, write_position
from services.kit.vectors import Table, Tables
from services.settings import IndexSettings

Matrix = NDArray[Any]

PROJECT = "bench"
SESSION = 400
"""Messages of one."""
AT_ONCE = 2_000
CLUSTERS = 200
LENGTHS = (8, 20, 40, 120)
AROUND = 40
"""Words of the neighbours that stay on each side of a short message."""
DOCUMENTS = Path(__file__).parents[3] / "docs"


class Texts:
    """Texts of words that are as frequent as those of this project's documents."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._words = [word for file in sorted(DOCUMENTS.rglob("*.md")) for word in file.read_text().split()]

    def text(self, words: int = 0) -> str:
        return " ".join(self._chance.choices(self._words, k=words or self._chance.choice(LENGTHS)))


async def make(data: Path, rows: int) -> None:
    """Write the index of so many messages and a few of everything else, as the indexer leaves it."""
    folder = folder_of(data) / FOLDER
    tables = await Tables.open(folder)
    versions = {}
    for kind in TABLES:
        table = await tables.make(kind, columns(DIMENSIONS))
        if kind == "message":
            await _filled(table, rows)
            await table.tidy()
            await _indexed(folder, rows)
        versions[kind] = await table.version()
    tables.close()
    write_position(folder, Position(rows, {kind: kind for kind in TABLES}, versions, dimensions=DIMENSIONS))
    write_current(data, Current(FOLDER, FOLDER, DIMENSIONS))


async def _indexed(folder: Path, rows: int) -> None:
    for column in ("key", *VECTORS) if rows >= IndexSettings().index_rows else ():
        if not await built(folder, "message", column):
            raise RuntimeError(f"the index of {column} could not be built; the lines above say why")


async def _filled(table: Table, rows: int) -> None:
    texts, numbers = Texts(), np.random.default_rng(1)
    centres = numbers.normal(size=(CLUSTERS, DIMENSIONS))
    for start in range(0, rows, AT_ONCE):
        some = [_row(texts, number) for number in range(start, min(rows, start + AT_ONCE))]
        plain = {name: values for name, values in as_columns(some, 0).items() if name not in (*VECTORS, *TOKENS)}
        made = pa.table({**plain, **_computed(some, numbers, centres)})
        await table.add(made.select(await table.columns()))


def _row(texts: Texts, number: int) -> SearchRow:
    session, text = f"s{number // SESSION}", texts.text()
    short = text.count(" ") + 1 < WIDE_TEXT_WORDS
    return completed(
        SearchRow(
            id=row_id("message", f"m{number}", session),
            project=PROJECT,
            kind="message",
            ref=f"m{number}",
            text=text,
            session=session,
            message=f"m{number}",
            ordinal=number % SESSION + 1,
            actor="ada" if number % 2 else "model",
            role="user" if number % 2 else "assistant",
            at=1.7e9 + number,
            seq=number + 1,
            before=texts.text(AROUND) if short else "",
            after=texts.text(AROUND) if short else "",
        )
    )


def _computed(rows: Sequence[SearchRow], numbers: np.random.Generator, centres: Matrix) -> dict[str, pa.Array]:
    """Vectors that lie in heaps, as those of texts do, and tokens that lie anywhere."""
    own = centres[numbers.integers(0, CLUSTERS, len(rows))] + numbers.normal(size=(len(rows), DIMENSIONS))
    neighbours = own + 0.5 * numbers.normal(size=own.shape)
    lengths = [row.text.count(" ") + 1 for row in rows]
    is_short = np.array([one < WIDE_TEXT_WORDS for one in lengths])
    return {
        "vector": _vectors(own, np.ones(len(rows), bool)),
        "vector_beside": _vectors(neighbours, is_short),
        "tokens": pa.array([_tokens(numbers, one) for one in lengths], pa.binary()),
        "tokens_beside": pa.array(
            [_tokens(numbers, WIDE_TEXT_WORDS) if one else None for one in is_short], pa.binary()
        ),
    }


def _vectors(found: Matrix, is_there: Matrix) -> pa.Array:
    level = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(level.ravel()), DIMENSIONS, mask=pa.array(~is_there))


def _tokens(numbers: np.random.Generator, words: int) -> bytes:
    return numbers.integers(-30, 31, words * TOKEN_DIMENSIONS, dtype=np.int8).tobytes()
