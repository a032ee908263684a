"""The folder next to a configuration that OpenCode fills from npm before it loads a plugin: it waits for that.

Our bundle needs nothing of it. Where the folder is untouched, three small files show OpenCode that nothing is missing.
"""

import json
from pathlib import Path
from typing import Any

from services.edges.connect import files

NEEDED = "@opencode-ai/plugin"
_DEPENDENCIES = {"dependencies": {NEEDED: "*"}}
_FILES = {
    "package.json": _DEPENDENCIES,
    "package-lock.json": {"lockfileVersion": 3, "packages": {"": _DEPENDENCIES}},
}
MODULES = "node_modules"
CODE = ("tool", "tools", "plugin", "plugins")
"""Folders of code that may import what OpenCode would install."""


def is_wanted(folder: Path) -> bool:
    """Whether nothing is installed there, and nothing is there that would need it."""
    untouched = not any((folder / name).exists() for name in (*_FILES, MODULES))
    return untouched and not has_code(folder)


def has_package(folder: Path) -> bool:
    return (folder / "package.json").exists()


def has_code(folder: Path) -> bool:
    return any(next((folder / name).glob("*.[tj]s"), None) for name in CODE)


def make(folder: Path) -> tuple[str, ...]:
    """Make the three; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MODULES).mkdir()
    for name, content in _FILES.items():
        (folder / name).write_text(json.dumps(content) + "\n")
    return (*_FILES, MODULES)


def take_away(folder: Path) -> None:
    """Remove the three where they are as they were made."""
    modules = folder / MODULES
    if not is_ours(folder) or any(modules.iterdir()):
        return
    for name in _FILES:
        (folder / name).unlink()
    modules.rmdir()


def is_ours(folder: Path) -> bool:
    return (folder / MODULES).is_dir() and all(_json(folder / name) == made for name, made in _FILES.items())


def is_declared(folder: Path) -> bool:
    """Whether OpenCode would find all that it wants, and install nothing at its start."""
    lock = _json(folder / "package-lock.json")
    root = _object(_object(lock.get("packages")).get(""))
    is_locked = any(NEEDED in _object(root.get(kind)) for kind in ("dependencies", "devDependencies"))
    return (folder / MODULES).is_dir() and is_locked


def _json(path: Path) -> dict[str, Any]:
    try:
        return _object(json.loads(files.read(path) or ""))
    except (ValueError, RecursionError):  # `UnreadableConfig` is one
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
