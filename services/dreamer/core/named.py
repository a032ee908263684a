"""Names in a memory of things in a working tree: paths, symbols of one file, commands, and values of settings.

A path is only one that can be looked up in a tree: an address, a pattern, a place outside of the project, a placeholder
for any name, and what a build makes are none. A text about what is not there, or is to come, names nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from services.domain.secret_paths import is_secret
from services.dreamer.core.paths import parts_of
from services.memory.sameness import LONGEST, set_of

CACHED = 16_384
_CODE = re.compile(r"`([^`\n]{1,200})`")
_RUN = re.compile(r"[^\s`\"'“”‘’«»<>|,;(){}\[\]]{3,300}")  # noqa: RUF001 - the quotation marks of prose
_LINE = re.compile(r"(?::\d{1,6}){1,2}\Z")
_PATTERN = re.compile(r"[*?<>{}$|\[\]…%=]|://|\.\.")
_ANY_NAME = re.compile(r"(?:\A|[/_.-])(?:N{2,}|X{2,}|YYYY|NAME|FOO|foo|bar|example|your|my|some)(?=[/_.-]|\Z)")
_FILE = re.compile(
    r"[^/]{0,200}[^/.]\.[A-Za-z][A-Za-z\d]{0,9}|\.[a-z][\w.-]{2,40}|Makefile|Dockerfile|Justfile|LICENSE"
)
"""The name of a file, by how it ends; of one that begins with a point; and those without an ending."""
_PRODUCT = re.compile(r"[A-Za-z\d]+\.(?:js|io|net|org|com|dev|ai|NET|JS)\Z")
_BUILT = frozenset(
    [
        "dist",
        "build",
        "out",
        "target",
        "node_modules",
        "coverage",
        "tmp",
        "temp",
        "cache",
        ".cache",
        ".venv",
        "venv",
        "__pycache__",
        "logs",
        "log",
        "bin",
        "obj",
        "artifacts",
        "output",
        "generated",
        ".next",
        ".nuxt",
        ".turbo",
        ".tox",
        ".mypy_cache",
        ".pytest_cache",
        "vendor",
        "var",
        "data",
        "proc",
        "dev",
    ]
)
"""Folders of what a build or a run makes: that they are not there says nothing."""
_ABSENT = frozenset(
    [
        "removed",
        "deleted",
        "moved",
        "renamed",
        "gone",
        "former",
        "formerly",
        "old",
        "obsolete",
        "deprecated",
        "legacy",
        "missing",
        "absent",
        "never",
        "instead",
        "replaced",
        "replaces",
        "was",
        "were",
        "not",
        "no",
        "none",
        "without",
        "planned",
        "create",
        "creates",
        "created",
        "creating",
        "generate",
        "generates",
        "generated",
        "generating",
        "writes",
        "written",
        "emits",
        "produces",
        "produced",
        "output",
        "outputs",
        "artifact",
        "artifacts",
        "temporary",
        "ignored",
        "gitignored",
        "example",
        "examples",
        "e.g",
        "would",
        "will",
        "future",
        "todo",
        "later",
        "optional",
        "if",
        "whether",
        "like",
        "gelöscht",
        "entfernt",
        "verschoben",
        "umbenannt",
        "früher",
        "fehlt",
        "nicht",
        "kein",
        "keine",
        "ohne",
        "supprimé",
        "déplacé",
        "renommé",
        "pas",
        "sans",
        "eliminado",
        "movido",
        "no",
        "sin",
        "не",
        "удалён",
        "нет",
        "без",
        "不",
        "没",
        "沒",
        "已",
    ]
)
"""Words of a text in which a path need not be there."""
_ABSENT_WITHIN = ("ない", "なく", "ません", "削除", "移動", "없", "않", "삭제", "이동")
"""Parts of words of such a text: Japanese parts none by blanks, and Korean adds endings to its own."""
_SYMBOL = re.compile(r"(?:[A-Za-z_$]\w{1,63}(?:\.|::|#))*([A-Za-z_]\w{2,63})(?:\(\))?\Z")
_LIKE_CODE = re.compile(r"_|[a-z\d][A-Z]|\(\)\Z|::|\.|#")
_MAKE = re.compile(r"make ([a-z][\w.-]{0,63})\Z")
_SCRIPT = re.compile(r"(?:npm|pnpm|yarn|bun) run ([\w:.-]{1,64})\Z")
_SETTING = re.compile(r"[A-Za-z][\w.-]{2,63}\Z")
_NUMBER = re.compile(r"(?<![\w.:/-])\d{1,9}(?:\.\d{1,6}){0,3}(?![\w/:-]|\.\d)")
WITHIN = frozenset({"in", "inside", "of", "from", "by", "under", "within", "dans", "en", "в", "für"})


class NamedPath(NamedTuple):
    """A path that a text names."""

    path: str
    is_file: bool
    """It is written like a file; a folder may as well be two words with a stroke."""
    is_quoted: bool
    """It is in back quotes."""


class TextNames(NamedTuple):
    """The names in a text."""

    paths: tuple[NamedPath, ...] = ()
    symbols: tuple[str, ...] = ()
    """Names of code in back quotes, where the text has one file that may contain them."""
    targets: tuple[str, ...] = ()
    """The targets that `make` is called with."""
    scripts: tuple[str, ...] = ()
    """Scripts of a `package.json`."""
    settings: tuple[str, ...] = ()
    number: str = ""
    """The only number of the text; empty: it has none, or several."""
    may_be_absent: bool = False
    """Whether the text speaks of what is not there, or not always."""


@lru_cache(CACHED)
def named_in(text: str) -> TextNames:
    """The names in a text, each once, in order."""
    text = text[:LONGEST]
    codes = [found[1].strip() for found in _CODE.finditer(text)]
    paths = dict[str, NamedPath]()
    for code in codes:
        if one := _path(code, is_quoted=True):
            paths.setdefault(one.path, one)
    for found in _RUN.finditer(_CODE.sub(" ", text)):
        if one := _path(
            found[0].strip(".:!?*_-=") if not found[0].startswith(".") else found[0].rstrip(".:!?"), is_quoted=False
        ):
            paths.setdefault(one.path, one)
    files = [one for one in paths.values() if one.is_file]
    others = [code for code in codes if code not in paths and not _path(code, is_quoted=True)]
    bare = text
    for code in (*codes, *paths):
        bare = bare.replace(code, " ")
    numbers = _NUMBER.findall(bare)
    return TextNames(
        tuple(paths.values()),
        tuple(dict.fromkeys(filter(None, map(_symbol, others)))) if len(files) == 1 else (),
        tuple(dict.fromkeys(found[1] for found in map(_MAKE.match, codes) if found)),
        tuple(dict.fromkeys(found[1] for found in map(_SCRIPT.match, codes) if found)),
        tuple(dict.fromkeys(code for code in others if _SETTING.match(code))),
        numbers[0] if len(numbers) == 1 else "",
        not _ABSENT.isdisjoint(set_of(text)) or any(part in normalize("NFC", text) for part in _ABSENT_WITHIN),
    )


def _symbol(code: str) -> str:
    """The last part of a name of code; empty: it is none."""
    found = _SYMBOL.match(code) if _LIKE_CODE.search(code) else None
    return found[1] if found else ""


def _path(run: str, *, is_quoted: bool) -> NamedPath | None:
    """A run of characters as a path of the project; none where a tree can say nothing of it."""
    plain = _LINE.sub("", run).removeprefix("./")
    if (
        any(one.isspace() for one in plain)
        or _PATTERN.search(plain)
        or _ANY_NAME.search(plain)
        or plain.startswith("@")
    ):
        return None
    parts = parts_of(plain)
    if not parts or is_secret(plain) or not _BUILT.isdisjoint(parts):
        return None
    is_file = bool(_FILE.fullmatch(parts[-1])) and not (len(parts) == 1 and _PRODUCT.match(plain))
    if not is_file and len(parts) == 1 and not (is_quoted and plain.endswith("/")):
        return None
    return NamedPath("/".join(parts), is_file, is_quoted or plain.endswith("/"))
