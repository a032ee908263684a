"""Reads from the log how often the sessions of a project have worked with its files."""

from collections.abc import Mapping, Sequence

from schemas.events import FileTouched, SessionOpened
from schemas.subjects import of_sessions
from services.domain.key_files import FileUse
from services.dreamer.core.uses import FileUses, evolve
from services.kit.bus import LogReader


async def file_uses(reader: LogReader, project: str, roots: Sequence[str]) -> Mapping[str, FileUse]:
    """Path from the project's root -> its use up to now, in all primary sessions of the project.

    `roots`: where harnesses have worked in it. Raises `Unreachable`.
    """
    uses = FileUses()
    for kind in (SessionOpened, FileTouched):
        async for record in reader.after(0, of_sessions(project, kind.TYPE)):
            if record.event is not None:
                uses = evolve(uses, record.event, record.envelope, roots)
    return uses.files
