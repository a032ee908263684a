"""The lock of who writes the index: of two indexers one waits."""

import fcntl
import os
from pathlib import Path

from services.kit.files import open_own
from services.kit.index_place import folder_of

LOCK = "writer.lock"


class WriterLock:
    """The lock of the one writer: two would write rows twice. The system releases it however its holder ends."""

    def __init__(self, data: Path) -> None:
        folder_of(data).mkdir(parents=True, exist_ok=True)
        self._file = open_own(folder_of(data) / LOCK, os.O_RDWR)

    def taken(self) -> bool:
        """Take it, if nobody has it; whether it is ours now."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self._file)
