"""Building an index of a table, in a process of its own: it takes hundreds of megabytes, and gives none of them back.

It is run by the indexer, which writes nothing meanwhile: `python -m services.indexer.build FOLDER TABLE COLUMN`.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

from services.indexer.tables import VECTORS
from services.kit.vectors import Tables


async def build(folder: Path, name: str, column: str) -> None:
    table = await (await Tables.open(folder)).table(name)
    if column in VECTORS:
        await table.index_vectors(column)
    else:
        await table.index_values(column)


async def built(folder: Path, name: str, column: str) -> bool:
    """Whether a child has built it."""
    words = (sys.executable, "-m", "services.indexer.build", str(folder), name, column)
    process = await asyncio.to_thread(subprocess.Popen, words)  # the loop would fork, which the library does not like
    try:
        return await asyncio.to_thread(process.wait) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


if __name__ == "__main__":
    asyncio.run(build(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
