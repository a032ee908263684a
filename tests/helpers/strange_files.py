"""What may be in the place of a file, and is none."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

STRANGE: Mapping[str, Callable[[Path], None]] = {
    "device": lambda path: os.symlink("/dev/zero", path),
    "pipe": lambda path: os.mkfifo(path),
    "folder": lambda path: path.mkdir(),
    "endless link": lambda path: os.symlink(path, path),
}
