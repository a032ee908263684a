"""The list of settings, read from the definitions: each with its names, its type and its bounds."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeGuard, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo

PREFIX = "ANNALS_"
BETWEEN = "__"
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
Rule = Literal["lower", "higher", "off", "fewer"]
"""The way in which a project may tighten a setting: a lower or a higher number, switching it off, fewer of a list."""

ALLOWED: Mapping[Rule, str] = {
    "lower": "lower it",
    "higher": "raise it",
    "off": "switch it off",
    "fewer": "leave out of it",
}
"""The words for what a project may do with a setting, by its rule."""


class SettingEntry(Struct, frozen=True):
    """One setting."""

    group: str
    """Empty for a setting of the root."""
    name: str
    kind: object
    """Its type, without its bounds."""
    meta: Meta
    field: FieldInfo
    """Its definition."""

    @property
    def key(self) -> str:
        """Its name in a file of settings."""
        return ".".join(filter(None, (self.group, self.name)))

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return PREFIX + BETWEEN.join(filter(None, (*self.group.split("."), self.name))).upper()

    @property
    def bounds(self) -> str:
        """Which values are taken, where not all of the type are; empty: all are."""
        if get_origin(self.kind) is Literal:
            return f"one of {', '.join(f'`{choice}`' for choice in get_args(self.kind))}"
        return " and ".join(
            f"{words} `{limit}`" for name, words in BOUNDS.items() if (limit := getattr(self.meta, name)) is not None
        )

    @property
    def own(self) -> str:
        """A project's choice of this setting for itself: `any` value, or only `off`; empty: none."""
        found: str = (self.meta.extra or {}).get("own", "")
        return found

    @property
    def rule(self) -> Rule | None:
        """The rule by which a project's file may restrict it for a whole installation; None: it may not."""
        found: Rule | None = (self.meta.extra or {}).get("project")
        return found


def groups_of(root: type[Struct], path: str = "") -> Iterator[tuple[str, type[Struct]]]:
    """The groups of settings by their dotted names, the root itself first, under an empty one."""
    yield path, root
    for field in msgspec.structs.fields(root):
        kind, _ = _bare(field.type)
        if is_struct(kind):
            yield from groups_of(kind, ".".join(filter(None, (path, field.name))))


def entries_of(group: type[Struct], path: str) -> Iterator[SettingEntry]:
    """The settings of one group, without those of the groups within."""
    for field in msgspec.structs.fields(group):
        kind, meta = _bare(field.type)
        if not is_struct(kind):
            yield SettingEntry(path, field.name, kind, meta, field)


def value_of(root: Struct, entry: SettingEntry) -> object:
    """The value of an entry in these settings."""
    for name in filter(None, entry.group.split(".")):
        root = getattr(root, name)
    return getattr(root, entry.name)


def is_struct(kind: object) -> TypeGuard[type[Struct]]:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _bare(kind: object) -> tuple[object, Meta]:
    """A type without its bounds, and these."""
    bare, *metas = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    return bare, next(iter(metas), Meta())
