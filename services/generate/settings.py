"""The page of settings: every setting with its variable, its default and its meaning."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import NODEFAULT, Struct
from pydantic import SecretStr

from services.generate.docstrings import field_docs, summary
from services.generate.markdown import code, page, table
from services.settings.entries import ALLOWED, Entry, entries_of, groups_of

INTRODUCTION = """\
An installation is one set of settings for all projects that it serves. Each setting comes from the first of these that
has a usable value for it:

1. the environment: the variable in the tables below, lists and objects as JSON;
2. your own file, `~/.config/annals/config.toml` (below `$XDG_CONFIG_HOME`, where that is set): the groups below are its
   tables, so `ANNALS_PLAN__THRESHOLD=70` is `threshold = 70` below `[plan]`;
3. the default.

A value that cannot be used is named, with its source and what to do about it, and the next source holds in its place; a
name that no setting has is named with the nearest one that exists. Neither stops a command. `annals config show` prints
each value and its source."""
PROJECT = """\
A project may bring `.annals/config.toml` in its root, in the form of your own file. It may only tighten what holds: the
tables below say where and how. With hosts, keys, paths and everything else it has no say; what it tries to loosen is
named and left out. It tightens what the sources above agree on, the environment included.

No installation reads it of itself, wherever it is started: what somebody's repository brings must not change what other
projects have. `annals up --project-limits`, run within that project, hands it to the rooms that it starts, and then it
holds **for every project that this installation serves**, until it ends: `annals status` names the file.
`annals config show` prints what holds in the installation that runs, wherever you are, with the path of the file that
tightened it; a file that does not hold there, or was changed since, is named. What a team wants to hold belongs in its
environment (`.env`). What must hold for one project alone needs an
installation of its own, with its own `ANNALS_DATA`."""


def settings_page(root: type[Struct]) -> str:
    """Draw the page: where settings come from, and one table for each group."""
    blocks = [block for path, group in groups_of(root) for block in _group(path, group)]
    head = ("# Settings", INTRODUCTION, "## A project's own file", PROJECT)
    return page(*head, *blocks)


def _group(path: str, group: type[Struct]) -> Iterator[str]:
    docs = field_docs(group)
    rows = [(code(entry.variable), _default(entry), _meaning(entry, docs)) for entry in entries_of(group, path)]
    if rows:
        yield f"## {path}" if path else "## Everywhere"
        yield summary(group)
        yield table(("variable", "default", "meaning"), rows)


def _meaning(entry: Entry, docs: dict[str, str]) -> str:
    bounds = f"{entry.bounds[0].upper()}{entry.bounds[1:]}." if entry.bounds else ""
    project = f"A project may {ALLOWED[entry.rule]}." if entry.rule else ""
    return " ".join(filter(None, (docs.get(entry.name, ""), bounds, project)))


def _default(entry: Entry) -> str:
    default, factory = entry.field.default, entry.field.default_factory
    if default is not NODEFAULT:
        return _shown(default)
    if factory is NODEFAULT:
        return "required"
    if isinstance(factory, type):
        return "empty"
    return summary(factory) or "worked out at the start"  # it may differ from machine to machine


def _shown(value: object) -> str:
    match value:
        case None | "" | ():
            return "empty"
        case SecretStr():
            return "a secret" if value.get_secret_value() else "empty"
        case bool():
            return code(str(value).lower())
        case tuple():
            return ", ".join(code(one) for one in value)
        case str() | int() | float() | Path():
            return code(value)
    raise NotImplementedError(f"no setting has a {type(value).__name__} as its default")
