"""The responder's file of tables and views as it is before the first fact.

To make it takes a third of a second of a processor. The tests of a process make it once; the room opens a copy as it
opens its own file when it starts again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from services.responder.views.store import Store, file_name

_made: dict[str, bytes] = {}
"""By its name, which says what shapes it has."""


async def lay_out(data: Path) -> None:
    """Copy it into a data directory that has no views yet."""
    path = data / "views" / file_name()
    if path.parent.exists():
        return
    if path.name not in _made:
        with TemporaryDirectory() as folder:
            made = Path(folder) / path.name
            await (await Store.open(made, memory_limit="256MB")).close()
            _made[path.name] = made.read_bytes()
    path.parent.mkdir(parents=True)
    path.write_bytes(_made[path.name])
