"""The page of settings: every environment variable, its default and its meaning."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from services.kit.docs.docstrings import field_docs, summary
from services.kit.docs.markdown import code, page, table

PREFIX = "ANNALS_"
BETWEEN = "__"
LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
COLLECTIONS = (list, tuple, dict, set, frozenset)
Row = tuple[str, str, str]


def settings_table(groups: Mapping[str, type[BaseModel]]) -> str:
    """Draw the page: one table for each group, and for each group within it. The name "" is the root's."""
    blocks = [block for name, group in groups.items() for block in _group((name,) if name else (), group)]
    return page(
        "# Settings", f"Environment variables, read once when a room starts: `{PREFIX}<group>__<name>`.", *blocks
    )


def _group(path: tuple[str, ...], group: type[BaseModel]) -> Iterator[str]:
    """Its own settings, then those of the groups within."""
    inner = {name: nested for name, field in group.model_fields.items() if (nested := _nested(field))}
    rows = list(_rows(path, group, set(inner)))
    if rows:
        yield f"## {'.'.join(path)}" if path else "## Everywhere"
        yield summary(group)
        yield table(("variable", "default", "meaning"), rows)
    for name, nested in inner.items():
        yield from _group((*path, name), nested)


def _nested(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _rows(path: tuple[str, ...], group: type[BaseModel], inner: set[str]) -> Iterator[Row]:
    docs = field_docs(group)
    for name, field in group.model_fields.items():
        if name not in inner:
            variable = PREFIX + BETWEEN.join((*path, name)).upper()
            meaning = field.description or docs.get(name, "")
            yield code(variable), _default(field), " ".join(filter(None, (meaning, _bounds(field))))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    factory = field.default_factory
    if factory in COLLECTIONS:
        return "empty"
    if factory is not None:  # its value may differ from machine to machine, so its docstring speaks for it
        return summary(factory) or "worked out at the start"
    return _shown(field.default)


def _shown(value: object) -> str:
    match value:
        case None | "" | () | []:
            return "empty"
        case SecretStr():
            return "a secret" if value.get_secret_value() else "empty"
        case bool():
            return code(str(value).lower())
        case Enum():
            return code(value.value)
        case _:
            return code(value)


def _bounds(field: FieldInfo) -> str:
    """Which values are accepted, where not all of the type are."""
    if get_origin(field.annotation) is Literal:
        return f"One of {', '.join(code(choice) for choice in get_args(field.annotation))}."
    limits = [
        f"{words} {code(getattr(limit, name))}"
        for limit in field.metadata
        for name, words in LIMITS.items()
        if hasattr(limit, name)
    ]
    return f"Must be {' and '.join(limits)}." if limits else ""
