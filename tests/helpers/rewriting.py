"""Assertions of test files, rewritten once for all processes of a run: in a new checkout, each of them does a share.

Pytest rewrites them in each process that collects. What one has rewritten, the others find in pytest's cache.
"""

import sys
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import (  # there is no public way to rewrite a file without importing it
    PYC_TAIL,
    _read_pyc,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
)


def rewrite_share(config: pytest.Config, folder: Path) -> None:
    """Rewrite what is this process's to rewrite, where the whole folder is to be collected."""
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode or [folder] != [Path(one).absolute() for one in config.args]:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    files = (path for path in sorted(folder.rglob("test_*.py")) if "node_modules" not in path.parts)
    for path in list(files)[number::count]:
        cached = get_cache_dir(path) / f"{path.stem}{PYC_TAIL}"
        if _read_pyc(path, cached) is None:
            source_hash, code = _rewrite_test(path, config)
            cached.parent.mkdir(parents=True, exist_ok=True)
            _write_pyc(config.stash[assertstate_key], code, source_hash, cached)
