"""The choice of who answers the rooms' questions for a model: rules, or a harness with its own logins."""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from services.edges.argument_types import RULES, SMALL, model_choice
from services.edges.connect import files
from services.edges.connect.jsonc import UnreadableConfig
from services.edges.launcher.run import current
from services.edges.terminal import prompt, write
from services.settings import Settings
from services.settings.sources import user_file

_TABLE, _NAME = "model", "chain"
_VALUE = r"[ \t]*=[ \t]*\[[^\]]*\][^\n]*\n?"
_IN_TABLE = re.compile(rf"^[ \t]*{_NAME}{_VALUE}", re.MULTILINE)
_AT_ROOT = re.compile(rf"^[ \t]*{_TABLE}[ \t]*\.[ \t]*{_NAME}{_VALUE}", re.MULTILINE)
_HEADER = re.compile(rf"^[ \t]*\[[ \t]*{_TABLE}[ \t]*\][^\n]*(?:\n|\Z)", re.MULTILINE)
_ALONE = re.compile(rf"(?:^|\n)\[{_TABLE}\]\n(?=\n*\[|\n*\Z)")


def chain_of(text: str) -> tuple[str, ...] | None:
    """The models that `model.chain` names; None where the text is no TOML, or the setting no list of names."""
    tables = _read(text)
    found = _chain(tables) if tables is not None else None
    return tuple(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else None


def with_chain(text: str, chain: Sequence[str]) -> str | None:
    """The text with another `model.chain`, without one where it is empty; None where that takes a person."""
    before = _read(text)
    if before is None:
        return None
    wanted = _meaning(before, chain)
    read = ((draft, _read(draft)) for draft in _drafts(text, chain))
    return next((draft for draft, tables in read if tables is not None and _meaning(tables) == wanted), None)


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _chain(tables: dict[str, Any]) -> object:
    table = tables.get(_TABLE, {})
    return table.get(_NAME, []) if isinstance(table, dict) else None


def _meaning(tables: dict[str, Any], chain: Sequence[str] | None = None) -> dict[str, Any]:
    """The content of a file, with this chain where one is given. Empty tables and lists are left out."""
    table = tables.get(_TABLE, {})
    if not isinstance(table, dict):
        return tables
    named = table.get(_NAME, []) if chain is None else list(chain)
    inner = {name: value for name, value in table.items() if name != _NAME} | ({_NAME: named} if named else {})
    rest = {name: value for name, value in tables.items() if name != _TABLE}
    return rest | ({_TABLE: inner} if inner else {})


def _drafts(text: str, chain: Sequence[str]) -> Iterator[str]:
    """Texts that may be right, those that change least first; which one is, only reading it shows."""
    value = json.dumps(list(chain), ensure_ascii=False)
    line = f"{_NAME} = {value}\n" if chain else ""
    for found in _IN_TABLE.finditer(text):
        draft = text[: found.start()] + line + text[found.end() :]
        yield draft if chain else _ALONE.sub("", draft)
    for found in _AT_ROOT.finditer(text):
        yield text[: found.start()] + (f"{_TABLE}.{line}" if chain else "") + text[found.end() :]
    for found in _HEADER.finditer(text):
        start = text[: found.end()]
        yield (start if start.endswith("\n") else f"{start}\n") + line + text[found.end() :]
    begun = text if not text or text.endswith("\n") else f"{text}\n"
    gap = "\n" if begun else ""
    yield f"{begun}{gap}[{_TABLE}]\n{line}"


PROVIDER = "harness"
"""The provider of a chain whose models are those of a harness."""
VARIABLE = "ANNALS_MODEL__CHAIN"


class Chain(msgspec.Struct, frozen=True):
    """A person's file of settings, and what is about to be written into it. No text: there is no such file."""

    path: Path
    before: str | None = None
    after: str | None = None
    remark: str = ""
    """The part that is left to a person; empty: nothing is."""
    costs: bool = False
    """Whether a model may be asked by it."""

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


def ask(title: str, settings: Settings) -> str:
    """Have the person choose; empty: it stays as it is. Raises `ValueError` for an answer that is no choice."""
    write("Who writes history and looks after memory?")
    write("  1  rules: no model is asked")
    write(f"  2  {title}'s small model, with the logins of {title}")
    write(f"  3  a model of your choice, with the logins of {title}")
    write(cost(settings))
    prompt("1, 2, 3 [as it is now]: ")
    match sys.stdin.readline().strip():
        case "":
            return ""
        case "1":
            return RULES
        case "2":
            return SMALL
        case "3":
            prompt(f"PROVIDER/MODEL, as {title} names it: ")
            chosen = sys.stdin.readline().strip()
        case other:
            chosen = other
    try:
        return model_choice(chosen)
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"nothing was changed: {error}") from error


def cost(settings: Settings) -> str:
    """The most that a model may cost, in words."""
    most = f"{settings.model.daily_usd:.2f} USD and {settings.model.daily_tokens:,} tokens"
    return (
        f"A model may cost at most {most} a day and project (ANNALS_MODEL__DAILY_USD, ANNALS_MODEL__DAILY_TOKENS); "
        "then rules do the work."
    )


def chain(model: str, settings: Settings, environment: Mapping[str, str]) -> Chain:
    """The chain that this choice makes of the installation's settings. Without a choice, none."""
    return msgspec.structs.replace(_changed(model, settings, environment), costs=model not in ("", RULES))


def _changed(model: str, settings: Settings, environment: Mapping[str, str]) -> Chain:
    path = user_file(environment)
    if not model:
        return Chain(path)
    if settings.nats.url:
        return Chain(path, remark=_by_hand(model, (), "where the rooms run"))
    try:
        before = files.read(path)
    except UnreadableConfig as error:
        return Chain(path, remark=f"{path} stays as it is: {error}. {_by_hand(model, (), 'for the installation')}")
    known = chain_of(before or "")
    wanted = chosen(model, known or ())
    if wanted == known:
        return Chain(path, before, before, _overruled(wanted, environment))
    after = None if known is None else with_chain(before or "", wanted)
    if after is None:
        remark = f"{path} stays as it is, as it cannot be changed safely. {_by_hand(model, known or (), 'in it')}"
        return Chain(path, before, before, remark)
    return Chain(path, before, after or None, _overruled(wanted, environment))


def chosen(model: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The chain that a choice makes of another one: models that are asked without a harness stay, behind it."""
    others = tuple(one for one in known if not one.startswith(f"{PROVIDER}/"))
    return others if model == RULES else (f"{PROVIDER}/{model}", *others)


def apply(change: Chain) -> None:
    if not change.is_changed:
        return
    if change.after is None:
        change.path.unlink()
    else:
        files.write(change.path, change.after.encode())


def restart(change: Chain, settings: Settings) -> str:
    """A sentence about what is left to do for a change to take effect; empty: nothing."""
    if not change.is_changed or current(settings.data) is None:
        return ""
    return "The installation that runs has read its settings before: `annals down`, then `annals up --detach`."


def _by_hand(model: str, known: tuple[str, ...], where: str) -> str:
    wanted = json.dumps(list(chosen(model, known)), ensure_ascii=False)
    return f"Set {VARIABLE} to {wanted} {where}."


def _overruled(wanted: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """A sentence about a variable that applies instead of the file."""
    given, right = environment.get(VARIABLE, ""), json.dumps(list(wanted), ensure_ascii=False)
    if given in ("", right):
        return ""
    return f"{VARIABLE} of this environment applies instead of the file: set it to {right}, or unset it."
