"""The page of settings: every setting with its variable, its default and its meaning."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import NODEFAULT, Struct
from pydantic import SecretStr

from services.generate.markdown import code, field_docs, page, summary, table
from services.settings.entries import ALLOWED, SettingEntry, entries_of, groups_of

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
A repository may contain `.annals/config.toml`, in the same form as your own file. **The file alone has no effect**: it
was written by somebody else, and nobody is asked before a repository is cloned. A person can apply it in two ways.

**For this project alone**: run in the repository, `annals project settings` shows the settings in force and what the
file would change. `annals project settings apply` applies the file, and `annals project settings clear` returns to the
installation's settings. These settings can be applied:"""
APPLIED = """\
A file with anything else in it is refused as a whole, with a sentence for each name and value that cannot be applied;
the settings in force stay as they are. A link, a file of more than 32 KiB, and text that is not TOML are refused, too.
Applied settings are an event in the log, `settings.applied`. They apply in every clone and to every person until others
are applied, and take precedence over the environment and your own file. Later changes of the file have no effect, and
other projects are not affected at all. A new session begins with them; a running session takes them in at its next
rebase, which is made for other reasons and then names the cause `settings`, too.

**For a whole installation, only tighter**: `annals up --project-limits`, run in the repository, passes its file to the
rooms that it starts. The file then applies **to every project of this installation**, until the installation stops;
`annals status` names it. The tables below say what it may tighten and how ("A project may lower it"). It cannot change
hosts, keys, paths or anything else, and a value that would loosen a limit is reported and left out. `annals config
show`, in any directory, prints the settings of the running installation with the path of the file that tightened them,
and names a file that is not in force or has changed since. Settings for a whole team belong in its environment
(`.env`)."""
OWN_VALUES = {"any": "anything that the setting takes", "off": "only off, where the installation has it on"}


def settings_page(root: type[Struct]) -> str:
    """Draw the page: where settings come from, and one table for each group."""
    blocks = [block for path, group in groups_of(root) for block in _group(path, group)]
    own = table(("setting", "what a project may set", "meaning"), _own_rows(root))
    head = ("# Settings", INTRODUCTION, "## A project's own file", PROJECT, own, APPLIED)
    return page(*head, *blocks)


def _own_rows(root: type[Struct]) -> list[tuple[str, str, str]]:
    """Rows of the settings that a project may set for itself, in the order of the definitions."""
    entries = ((entry, field_docs(group)) for path, group in groups_of(root) for entry in entries_of(group, path))
    return [(code(one.key), OWN_VALUES[one.own], docs.get(one.name, "")) for one, docs in entries if one.own]


def _group(path: str, group: type[Struct]) -> Iterator[str]:
    docs = field_docs(group)
    rows = [(code(entry.variable), _default(entry), _meaning(entry, docs)) for entry in entries_of(group, path)]
    if rows:
        yield f"## {path}" if path else "## Everywhere"
        yield summary(group)
        yield table(("variable", "default", "meaning"), rows)


def _meaning(entry: SettingEntry, docs: dict[str, str]) -> str:
    bounds = f"{entry.bounds[0].upper()}{entry.bounds[1:]}." if entry.bounds else ""
    limits = f"A project may {ALLOWED[entry.rule]}." if entry.rule else ""
    own = "A project may set it for itself alone." if entry.own else ""
    return " ".join(filter(None, (docs.get(entry.name, ""), bounds, own, limits)))


def _default(entry: SettingEntry) -> str:
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
