"""A repository's `.annals/config.toml`, read as what it is: somebody else's text, which may be anything.

It sets nothing by being there. What a person applies of it holds for that project alone.
"""

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from services.domain.finding import echo
from services.domain.project_settings import OWN, checked_values
from services.settings.sources import ENTRIES, FILE

MOST_BYTES = 32 * 1024
_CAREFULLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link that comes in between is not followed, and a pipe is not waited for."""


class SettingsFile(msgspec.Struct, frozen=True):
    """A project's file of settings, with a sentence for everything in it that cannot be used."""

    path: Path
    is_there: bool
    settings: Mapping[str, object] = {}
    problems: tuple[str, ...] = ()


class UnreadableFile(ValueError):
    """A file of settings that is not read; says why, and what to do about it."""


def settings_file(here: Path) -> SettingsFile:
    """The file in the root of the work tree that a folder lies in: the whole repository is one project."""
    folder = here.resolve()
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    path = top / ".annals" / FILE
    try:
        tables = _tables(path)
    except FileNotFoundError:
        return SettingsFile(path, is_there=False)
    except UnreadableFile as error:
        return SettingsFile(path, is_there=True, problems=(str(error),))
    given = dict(_flat(tables))
    others = [name for name in given if name in ENTRIES and name not in OWN]
    settings, problems = checked_values({name: value for name, value in given.items() if name not in others})
    return SettingsFile(path, is_there=True, settings=settings, problems=(*map(_of_installation, others), *problems))


def missing(file: SettingsFile) -> Iterator[str]:
    """A sentence for each file that it names and that is not there; it may be written later."""
    for name, value in file.settings.items():
        for path in value if isinstance(value, tuple) else ():
            if not (file.path.parent.parent / path).is_file():
                yield f"{name} names {path}, which is no file here yet"


def _tables(path: Path) -> dict[str, Any]:
    """The tables in the file. Raises `FileNotFoundError`, and `UnreadableFile` where there is something else."""
    if path.parent.is_symlink() or path.is_symlink():
        raise UnreadableFile("it is a link, and none is followed: put the file itself there")
    try:
        with os.fdopen(os.open(path, _CAREFULLY), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnreadableFile("it is no file: put one there")
            raw = file.read(MOST_BYTES + 1)
    except NotADirectoryError as error:
        raise FileNotFoundError(path) from error
    except IsADirectoryError as error:
        raise UnreadableFile("it is a directory: put a file there") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({error.strerror}): mend that, and try again") from error
    if len(raw) > MOST_BYTES:
        raise UnreadableFile(f"it is longer than {MOST_BYTES} bytes: shorten it")
    try:
        return tomllib.loads(raw.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise UnreadableFile("it is no text in UTF-8: save it so") from error
    except ValueError as error:
        raise UnreadableFile(f"it is no TOML ({error}): mend it") from error
    except RecursionError as error:
        raise UnreadableFile(
            "it is nested too deeply: write each setting below its table, as docs/settings.md does"
        ) from error


def _flat(tables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in tables.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def _of_installation(name: str) -> str:
    entry = ENTRIES[name]
    limits = "; `annals up --project-limits` reads it, for all projects that it serves" if entry.rule else ""
    return (
        f"{echo(name)} is for the whole installation, and a project sets none for itself with it{limits}: take it out"
    )
