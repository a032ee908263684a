"""One setting in a person's file of settings, changed so that all else in it stays as it is."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

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
