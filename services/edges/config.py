"""`annals config show`: every setting with its value and where that comes from. Secrets are not printed."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.edges.launcher.run import Run, current
from services.edges.project_settings import load_with
from services.edges.styling import console, styled
from services.edges.terminal import printable, write_json
from services.settings import LoadedSettings, Problem
from services.settings.sources import DEFAULT, ENTRIES

HIDDEN = "(set)"
ELSEWHERE = "the installation that runs was not started within the limits of this project, so the file does not hold"
UNASKED = "what a project brings holds only in an installation that somebody starts within its limits"
CHANGED = "it was changed or removed after the installation had started, so what it says now may not hold"
RESTART = (
    "for this project alone use `annals project settings`; for all run `annals down`, then `annals up --detach "
    "--project-limits` in the project whose file should hold"
)
_LOGIN = re.compile(r"(?<=//)[^/\s]+(?=@)")
"""A user and a password within an address: a password may hold the sign that ends it."""


class PrintedSetting(msgspec.Struct, frozen=True):
    """One setting as it is printed."""

    setting: str
    """Its name in a file."""
    variable: str
    value: object
    source: str


class Page(msgspec.Struct, frozen=True):
    """All settings, and what is wrong with them."""

    settings: tuple[PrintedSetting, ...]
    problems: tuple[Problem, ...]


def show(loaded: LoadedSettings, *, as_json: bool) -> int:
    """Print all settings, as they hold in the installation that runs, or would in one that is started now.

    The exit status is 1 where something that was found is not used.
    """
    loaded = in_force(loaded, current(loaded.settings.data))
    page = Page(tuple(printed_settings(loaded)), loaded.problems)
    if as_json:
        write_json(page)
    else:
        render(page, console())
    return 1 if page.problems else 0


def printed_settings(loaded: LoadedSettings) -> Iterator[PrintedSetting]:
    for key, entry in ENTRIES.items():
        value = msgspec.to_builtins(loaded.value(entry), enc_hook=_hidden)
        yield PrintedSetting(key, entry.variable, _without_login(value), loaded.sources[key])


def in_force(loaded: LoadedSettings, run: Run | None) -> LoadedSettings:
    """The settings of the installation that runs, if one does: it read a project's file when it started, or none.

    `loaded` is what would hold in one that is started within the limits of the project here.
    """
    here, file = loaded.project, Path(run.project) if run is not None and run.project else None
    problems: list[Problem] = []
    if here != file:
        loaded = load_with(file)
        if here is not None:
            problems.append(Problem(str(here), ELSEWHERE if run else UNASKED, RESTART))
    if run is not None and file is not None and (not file.is_file() or file.stat().st_mtime > run.at.timestamp()):
        problems.append(Problem(str(file), CHANGED, RESTART))
    return msgspec.structs.replace(loaded, problems=(*loaded.problems, *problems))


def render(page: Page, out: Console) -> None:
    table = Table("setting", "value", "from", box=None, pad_edge=False)
    for one in page.settings:
        value = one.value if isinstance(one.value, str) else msgspec.json.encode(one.value).decode()
        style = "" if one.source == DEFAULT else "bold"
        table.add_row(
            Text(one.setting, style),
            Text(printable(value), style, overflow="fold"),
            Text(printable(one.source), overflow="fold"),
        )
    out.print(table)
    for problem in page.problems:
        out.print(styled(f"! {problem.line}", "yellow"), soft_wrap=True)


def _hidden(value: object) -> str:
    match value:
        case SecretStr():
            return HIDDEN if value.get_secret_value() else ""
        case Path():
            return str(value)
    raise NotImplementedError(f"no setting is a {type(value).__name__}")


def _without_login(value: object) -> object:
    """Addresses without what opens them."""
    match value:
        case str():
            return _LOGIN.sub(HIDDEN, value)
        case dict():
            return {name: _without_login(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_without_login(inner) for inner in value]
    return value
