"""The places of OpenCode's configuration, in the order in which it merges what it finds."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

FILES = ("opencode.json", "opencode.jsonc")
LEGACY = "config.json"
"""A name of old, read before the others of the user's folder."""

Scope = Literal["user", "custom", "project"]


class ConfigFile(msgspec.Struct, frozen=True):
    """A file that OpenCode reads where it exists."""

    path: Path
    scope: Scope


class Places(msgspec.Struct, frozen=True):
    """The files of one person in one project, and the folders that plugins are discovered in."""

    user: Path
    here: Path
    files: tuple[ConfigFile, ...]
    folders: tuple[Path, ...]

    @property
    def project(self) -> tuple[Path, ...]:
        """The files of the project itself, of those in the folders above it none."""
        return tuple(folder / name for folder in (self.here, self.here / ".opencode") for name in FILES)


def places(environment: Mapping[str, str], here: Path) -> Places:
    home = Path(environment.get("HOME") or Path.home())
    user = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    alone = bool(environment.get("OPENCODE_DISABLE_PROJECT_CONFIG"))
    above = [] if alone else list(_upwards(here))
    folders = list(dict.fromkeys([*(folder / ".opencode" for folder in above), home / ".opencode"]))
    if custom := environment.get("OPENCODE_CONFIG_DIR"):
        folders.append(Path(custom))
    files = [ConfigFile(user / name, "user") for name in (LEGACY, *FILES)]
    if custom := environment.get("OPENCODE_CONFIG"):
        files.append(ConfigFile(Path(custom), "custom"))
    files += [ConfigFile(folder / name, "project") for folder in reversed(above) for name in FILES]
    files += [ConfigFile(folder / name, "project") for folder in folders for name in FILES]
    return Places(user, here, tuple(files), (user, *folders))


def _upwards(here: Path) -> Iterator[Path]:
    """From here to the root of the work tree, or of the file system where there is none."""
    for folder in (here, *here.parents):
        yield folder
        if (folder / ".git").exists():
            return
