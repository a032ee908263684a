"""Names in texts: files, identifiers, errors and numbers that someone may have to write again from memory."""

import re
from collections.abc import Iterator

SHORTEST = 6
LONGEST = 80
_EXTENSIONS = (
    "py|pyi|go|tsx?|mts|cts|mjs|cjs|jsx?|json5?|jsonc|jsonl|md|mdx|rs|toml|ya?ml|sh|bash|zsh|ps1|bat|s?css|less|html?|vue"
    "|svelte|sql|txt|lock|cfg|conf|ini|mod|sum|omp|lua|c|cc|cpp|h|hpp|java|kts?|rb|php|swift|cs|fs|exs?|erl|hs|ml|scala"
    "|clj|dart|zig|nix|tf|proto|graphql|xml|svg|csv|ipynb|gradle|cmake|pl|vsix|wasm|sqlite"
)
_NAME = re.compile(
    r"(?:[a-z]++(?![\w@./\-])|[^\w@./#\-]++)++"
    rf"|(?P<file>(?<![\w@.\-])[\w@.\-]{{0,100}}(?:/[\w@.+\-\[\]()]{{1,100}}){{0,20}}[\w@\-\])]\.(?:{_EXTENSIONS}))(?![\w(])"
    r"|(?P<word>[^\W\d]\w{3,}+)"
    r"|(?<![\w&])(?P<issue>#\d{1,5})\b(?![-.])"
    r"|(?<![\w.])(?P<number>\d{4,6})(?![\w.])"
)
"""Plain words go by at once, and have no group. The parts of a path are counted, and it begins where no other name goes
on: any text is read in linear time."""
_MIXED = re.compile(
    r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^[A-Z]{1,5}\d{2,5}$|^E[A-Z]{4,}$|^[A-Z]\w*(?:Error|Exception)$"
)
_PLAIN_NUMBER = re.compile(r"(?:19|20)\d\d|\d*000|0+\d*|100(?:644|755)")


def names(text: str) -> Iterator[str]:
    """All names in their order, each as often as it comes.

    They are files by their last part, identifiers of several parts, codes of errors, issue numbers, and numbers of four
    to six digits that are no year and not round.
    """
    return (name for name, _ in mentions(text))


def mentions(text: str) -> Iterator[tuple[str, str]]:
    """The same, each with the path of a file that is named with one; empty: there is none."""
    for found in _NAME.finditer(text):
        kind = found.lastgroup
        if kind is None:
            continue
        name = found[kind]
        if kind == "file":
            yield base(name), name if "/" in name else ""
        elif _is_mixed(name) if kind == "word" else kind == "issue" or not _PLAIN_NUMBER.fullmatch(name):
            yield name, ""


_EXPRESSION = re.compile(r"(?<![\w.@/#\-])[^\W\d]\w{0,40}+(?:\.[^\W\d]\w{0,40}+){1,5}+(?![\w@/\-])")
SHORTEST_EXPRESSION = 6


def expressions(text: str) -> Iterator[str]:
    """Names with dots in them, as code writes them (`session.queue.push`), in their order; no files."""
    for found in _EXPRESSION.finditer(text):
        name = found[0]
        if SHORTEST_EXPRESSION <= len(name) <= LONGEST and not is_file(name):
            yield name


_LINK = re.compile(r"\bhttps?://([\w.@:\-]{1,60}(?:/[\w.@+~%\-]{1,60}){0,8})")


def links(text: str) -> Iterator[str]:
    """Addresses of pages in their order, without scheme, query and fragment."""
    for found in _LINK.finditer(text):
        name = found[1].rstrip(".,:-/")
        if "@" not in name and len(name) <= LONGEST:
            yield name


def _is_mixed(word: str) -> bool:
    """Whether it has several parts, or is a code."""
    if len(word) > LONGEST or (word.islower() and "_" not in word):
        return False
    return _MIXED.search(word) is not None and (len(word) >= SHORTEST or word[-1].isdigit())


def base(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rsplit("/", 1)[-1]


def end_of(path: str) -> str:
    """The last two parts of a path: enough to distinguish files, whatever directory a call names it from."""
    return "/".join(path.strip("./").split("/")[-2:])


def is_file(name: str) -> bool:
    """Whether a name is one of a file."""
    found = _NAME.fullmatch(name)
    return found is not None and found.lastgroup == "file"
