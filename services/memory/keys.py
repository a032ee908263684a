"""The keys of a memory: two with the same exact key are the same sentence.

A memory about the project or a reference is also the same as another one that names the same address or file: what it
says of it may have changed, but it is about one thing. Rules and decisions are the same only in the same words.
"""

import re
import unicodedata
from collections.abc import Iterator
from hashlib import sha256

from services.memory.classes import MemoryClass
from services.memory.sameness import LONGEST, sentence_key

_BY_THING: frozenset[MemoryClass] = frozenset({"project", "reference"})
_URL = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)([\"'`])([^\"'`\n]+)\1")
_UNQUOTED = "\"'`"
_TRAILING = "),.;:!?"
_AROUND = "\"'`()[]<>{}“”‘’「」,;:!?"  # noqa: RUF001 - the quotation marks of prose
_EXTENSIONS = (
    "jsonc?|tsx?|jsx?|mjs|cjs|md|ya?ml|toml|lock|config|py|go|rs|java|kt|rb|sql|proto|tf|sh"
)  # fmt: skip
_ENDS_AS_FILE = re.compile(rf"\.(?:{_EXTENSIONS})\Z", re.IGNORECASE)
_BEGINS_AS_PATH = re.compile(r"\.{0,2}/|\.?[\w@-][\w@.-]*/")
_PRODUCT = re.compile(
    r"(?:node|next|nuxt|vue|react|express|three|d3|chart|ember|backbone|alpine|angular|discord|moment|socket|p5)\.js",
    re.IGNORECASE,
)
"""Products that are called like files."""
_SLASHES = re.compile(r"/{2,}")


def canonical(text: str) -> str:
    """The words of a text in lower case, with one blank for every run of white space, punctuation and back quotes."""
    if len(text) > LONGEST:
        return f"{canonical(text[:LONGEST])} {sha256(text.encode(errors='replace')).hexdigest()}"
    folded = text
    while folded != (again := unicodedata.normalize("NFKC", folded).lower()):
        folded = again
    return " ".join(folded.translate(_BLANKS).split())


def exact_key(memory_class: MemoryClass, text: str) -> str:
    """The key that only the same sentence of the same class has."""
    return f"{memory_class}:{sentence_key(text) if len(text) <= LONGEST else canonical(text)}"


def identity_key(memory_class: MemoryClass, text: str) -> str:
    """The key under which stand all memories of a class that are about the same thing."""
    if memory_class not in _BY_THING:
        return exact_key(memory_class, text)
    looked_at = text[:LONGEST]
    if found := _URL.search(looked_at):
        return f"{memory_class}:url:{normal_url(found[0])}"
    if path := next(_paths(looked_at), ""):
        return f"{memory_class}:path:{path}"
    return exact_key(memory_class, text)


def normal_url(url: str) -> str:
    """An address without what prose puts behind it, without a fragment, and with its host in lower case."""
    bare = url.rstrip(_TRAILING).partition("#")[0]
    scheme, _, rest = bare.partition("://")
    end = next((at for at, one in enumerate(rest) if one in "/?"), len(rest))
    path, mark, query = rest[end:].partition("?")
    return f"{scheme.lower()}://{rest[:end].lower()}{path.rstrip('/')}{mark}{query}"


def normal_path(path: str) -> str:
    """A path without quotes, without what prose puts behind it, and with single slashes between its parts."""
    plain = path.strip().rstrip(_TRAILING).strip(_UNQUOTED).rstrip(_TRAILING).replace("\\", "/")
    plain = _SLASHES.sub("/", plain)
    return plain.rstrip("/") if len(plain) > 1 else plain


def is_concrete(path: str) -> bool:
    """Whether this names a file or a folder rather than speaking of one."""
    if path in {"", ".", ".."}:
        return False
    return bool(_BEGINS_AS_PATH.match(path) or _ENDS_AS_FILE.search(path))


def _paths(text: str) -> Iterator[str]:
    """The paths of a text: first those in quotation marks or in code, then all others."""
    for found in _QUOTED.finditer(text):
        if is_concrete(found[2].strip()):
            yield normal_path(found[2])
    for word in text.split():
        bare = word.strip(_AROUND)
        plain = normal_path(bare)
        if _is_pathlike(bare.replace("\\", "/")) and is_concrete(plain):
            yield plain


def _is_pathlike(word: str) -> bool:
    """Whether a word outside of quotation marks is a path: `and/or` and `Node.js` are none."""
    if _ENDS_AS_FILE.search(word.rstrip(_TRAILING)):
        return not _PRODUCT.fullmatch(word.rstrip(_TRAILING))
    return "/" in word and (word.startswith(("/", "./", "../")) or word.endswith("/") or word.count("/") > 1)


class _Blanks(dict[int, str]):
    """A table of characters: each becomes a blank, or itself. It is looked up once for each of the usual ones."""

    MOST = 4_096

    def __missing__(self, code: int) -> str:
        one = chr(code)
        made = " " if one == "`" or one.isspace() or unicodedata.category(one).startswith("P") else one
        if len(self) < self.MOST:
            self[code] = made
        return made


_BLANKS = _Blanks()
