"""What may be in the place of a file, and is none."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

STRANGE: Mapping[str, Callable[[Path], None]] = {
    "device": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
    "folder": lambda path: path.mkdir(),
    "endless link": lambda path: path.symlink_to(path),
}
