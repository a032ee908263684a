"""Recorded sessions: those that come along with the tests, and those of other projects, which are not ours to ship."""

import os
from collections.abc import Sequence
from pathlib import Path

FOREIGN = "ANNALS_RECORDED"
"""The variable that names the folder of foreign recordings; tests/recorded/README.md says how it is laid out."""
OF_TESTS = "TESTS_RECORDED"
"""The same among the tests: a variable that begins as our settings do would be an unknown one to what is tested."""
SHIPPED = Path(__file__).parents[1] / "recorded"
LONG = "opencode/rec_long/final_session.json.gz"
"""392 calls. It is foreign for what it reads: sources of Python's standard library."""


def rename_variable() -> None:
    """Leave no variable to what is tested that is no setting."""
    if named := os.environ.pop(FOREIGN, ""):
        os.environ[OF_TESTS] = named


def foreign(path: str = "") -> Path | None:
    """A path within the folder of foreign recordings; none where no such folder is named."""
    named = os.environ.get(FOREIGN) or os.environ.get(OF_TESTS)
    if not named:
        return None
    if not Path(named).is_dir():
        raise NotADirectoryError(f"{FOREIGN} names {named}, which is no folder: name another, or unset it")
    return Path(named).absolute() / path


def foreign_files(pattern: str) -> Sequence[Path]:
    """The foreign recordings of a kind, in the order of their names; none where no folder is named."""
    folder = foreign()
    return sorted(folder.glob(pattern)) if folder else ()
