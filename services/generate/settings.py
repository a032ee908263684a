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
A project may bring `.annals/config.toml` in the root of its repository, in the form of your own file. **By being
there it does nothing**: a repository is somebody else's text, and nobody is asked before it is cloned. A person has
two ways to take it over.

**For this project alone**: `annals project settings`, run in the repository, shows what holds there and what the file
would change; `annals project settings apply` takes it over, and `annals project settings clear` has the
installation's settings hold again. What a project may set like that is this list:"""
APPLIED = """\
A file that has anything else in it is refused as a whole, with a sentence for each name and value, and what held
before goes on. The same goes for a link, a file of more than 32 KiB, and what is no TOML. What is applied is a fact
in the log, `settings.applied`, and holds in every clone and for every person until something else is applied: a file
that changes afterwards, by a pull or by an agent, changes nothing. Other projects have none of it, to the byte. A new
session begins with it; one that runs takes it in at its next rebase, which names the cause `settings`, and which is
made for other reasons. The most specific says what holds: a project's own setting is used before the environment and
your own file.

**For a whole installation, only tighter**: `annals up --project-limits`, run within the project, hands its file to
the rooms that it starts. Then it holds **for every project that this installation serves**, until it ends: `annals
status` names the file. The tables below say what it may tighten there and how ("A project may lower it"); with hosts,
keys, paths and everything else it has no say, and what it tries to loosen is named and left out. `annals config show`
prints what holds in the installation that runs, wherever you are, with the path of the file that tightened it; a file
that does not hold there, or was changed since, is named. What a team wants to hold belongs in its environment
(`.env`)."""
OWN_VALUES = {"any": "anything that the setting takes", "off": "only off, where the installation has it on"}


def settings_page(root: type[Struct]) -> str:
    """Draw the page: where settings come from, and one table for each group."""
    blocks = [block for path, group in groups_of(root) for block in _group(path, group)]
    own = table(("setting", "what a project may set", "meaning"), _own_rows(root))
    head = ("# Settings", INTRODUCTION, "## A project's own file", PROJECT, own, APPLIED)
    return page(*head, *blocks)


def _own_rows(root: type[Struct]) -> list[tuple[str, str, str]]:
    """What a project may set for itself, in the order of the definitions."""
    entries = ((entry, field_docs(group)) for path, group in groups_of(root) for entry in entries_of(group, path))
    return [(code(one.key), OWN_VALUES[one.own], docs.get(one.name, "")) for one, docs in entries if one.own]


def _group(path: str, group: type[Struct]) -> Iterator[str]:
    docs = field_docs(group)
    rows = [(code(entry.variable), _default(entry), _meaning(entry, docs)) for entry in entries_of(group, path)]
    if rows:
        yield f"## {path}" if path else "## Everywhere"
        yield summary(group)
        yield table(("variable", "default", "meaning"), rows)


def _meaning(entry: Entry, docs: dict[str, str]) -> str:
    bounds = f"{entry.bounds[0].upper()}{entry.bounds[1:]}." if entry.bounds else ""
    limits = f"A project may {ALLOWED[entry.rule]}." if entry.rule else ""
    own = "A project may set it for itself alone." if entry.own else ""
    return " ".join(filter(None, (docs.get(entry.name, ""), bounds, own, limits)))


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
