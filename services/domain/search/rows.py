"""A row of the search index: what the indexer writes, and the searcher reads.

One row is one thing that can be found: what was written in one message, a memory, a compartment, a note, a
commit, or the names that only the calls of a message's tools and their outputs show. It holds its text, the texts next
to it (a short message says little without them), and what is computed of both: two vectors, and a small vector for each
token, with which the best candidates are compared word by word.
"""

import re
from hashlib import sha256
from typing import Literal

import msgspec

from services.domain.search.words import coded, coded_once, vocabulary

Kind = Literal["message", "memory", "compartment", "note", "commit", "output"]
KINDS: tuple[Kind, ...] = ("memory", "message", "compartment", "note", "commit", "output")
"""In the order in which equals are listed."""
BY_NAME: frozenset[Kind] = frozenset({"output"})
"""The kinds whose rows hold names and nothing else: they have no vectors, and are found by a name word for word."""
TASK = "task"
"""The role of a message in which an agent asks something of one that it has started."""
RULES = 4
"""The version of the rules by which a row is made of a text. A row of another version is stale."""
MOST_CHARACTERS = 65_536
"""Of a text that are indexed."""
WIDE_TEXT_WORDS = 80
"""Words up to which a text is indexed together with its neighbours."""
TOKEN_DIMENSIONS = 64
"""Of a token's vector, each a signed byte."""
MOST_TOKENS = 256
"""Of a text that have a vector."""
_WORD = re.compile(r"\S+")


class SearchRow(msgspec.Struct, frozen=True):
    """One thing that can be found. Its columns are these fields, and those of `Vectors`."""

    id: str
    """Unique in the project: see `row_id`."""
    project: str
    kind: Kind
    ref: str
    """The name of the row for whoever asks: the id of the message, memory, compartment or note, or the whole sha; of
    outputs the id of the message that has them."""
    text: str
    """The text as it was written, cleaned of what harnesses put around it; of a commit its subject and body, without
    paths; of tools' calls the names in their arguments and outputs, a line each."""
    session: str = ""
    """The message's place. Empty for memories, notes and commits."""
    message: str = ""
    """The message's id; of a compartment the first message that it covers."""
    ordinal: int = 0
    """Of a message its place in the session, from 1; of a compartment the first one that it covers."""
    last_ordinal: int = 0
    """Of a compartment the last one that it covers; else `ordinal`."""
    actor: str = ""
    """The id of who wrote it; of a commit its author."""
    role: str = ""
    """Of a message `user`, `assistant` or `task` (the request of an agent that started the session); of a memory its
    class; else empty."""
    at: float = 0.0
    """Time of the message or fact, in seconds since the epoch."""
    seq: int = 0
    """The position in the log of the newest fact that it is made of."""
    before: str = ""
    """The end of the text before it in its session, at most `WIDE_TEXT_WORDS` words; only where it is shorter."""
    after: str = ""
    """The beginning of the text after it, likewise. It comes with the next message, and then the row changes."""
    title: str = ""
    """Of a compartment its title. Of a commit it is empty: its text begins with its subject."""
    files: tuple[str, ...] = ()
    """The paths that a commit touches."""
    terms: bytes = b""
    """The words of `text`, see `words.coded`; this and what follows is filled by `completed`."""
    terms_title: bytes = b""
    """The words of the title, or of a commit's subject."""
    terms_around: bytes = b""
    """The words of a message's neighbours, or of a commit's paths."""
    written: str = ""
    """The different words of `text` as they were written, a line each: see `words.vocabulary`."""
    hash: str = ""
    """Of all that is indexed of it: where it has not changed neither have its words and its vectors."""


class Vectors(msgspec.Struct, frozen=True):
    """The vectors of a row's texts, by the model of its table; all empty where there is none, or not yet."""

    vector: bytes = b""
    """Of `text` alone: 32-bit floats, of length 1."""
    vector_beside: bytes = b""
    """Of `wide_text`; empty where that is the text alone."""
    tokens: bytes = b""
    """Of each token of `text`, without those that mark its ends, `TOKEN_DIMENSIONS` signed bytes, row after row."""
    tokens_beside: bytes = b""
    """The same of `wide_text`; empty where that is the text alone."""


def row_id(kind: Kind, ref: str, session: str = "") -> str:
    """The id of a row. Texts of a session have the session in it, since other sessions may use the same names."""
    return f"{kind}/{session}/{ref}" if session else f"{kind}/{ref}"


def length(text: str) -> int:
    """Words of a text."""
    return sum(1 for _ in _WORD.finditer(text))


def tail(text: str, words: int = WIDE_TEXT_WORDS) -> str:
    """The last words of a text, as they stand."""
    found = [one.start() for one in _WORD.finditer(text)]
    return text[found[max(0, len(found) - words)] :].rstrip() if found and words > 0 else ""


def head(text: str, words: int = WIDE_TEXT_WORDS) -> str:
    """The first words of a text, as they stand."""
    found = [one.end() for one in _WORD.finditer(text)]
    return text[: found[min(len(found), words) - 1]].lstrip() if found and words > 0 else ""


def needs_wide_text(text: str) -> bool:
    """Whether a text is so short that its neighbours are indexed with it."""
    return length(text) < WIDE_TEXT_WORDS


def surroundings(row: SearchRow, words: int = WIDE_TEXT_WORDS) -> tuple[str, str]:
    """The texts around a row: so many words before and after it that all are `words`, half of them on each side."""
    missing = words - length(row.text)
    if missing <= 0:
        return "", ""
    before, after = length(row.before), length(row.after)
    left = min(before, max(missing // 2, missing - after))
    return tail(row.before, left), head(row.after, missing - left)


def wide_text(row: SearchRow) -> str:
    """The text together with its neighbours: the input of the second vector. The text itself comes first.

    So it is not what is cut away where there is too much for a model.
    """
    left, right = surroundings(row)
    return "\n".join(filter(None, (row.text, left, right)))


def completed(row: SearchRow) -> SearchRow:
    """The row with all that is computed of its texts without a model. Whoever writes a row writes it so."""
    title = row.text.partition("\n")[0] if row.kind == "commit" else row.title
    around = " ".join(row.files) if row.kind == "commit" else "\n".join(surroundings(row))
    return msgspec.structs.replace(
        row,
        terms=coded_once(row.text) if row.kind in BY_NAME else coded(row.text),
        terms_title=coded(title),
        terms_around=coded(around),
        written="" if row.kind in BY_NAME else vocabulary(row.text),
        hash=_digest(row),
    )


def fits(row: SearchRow) -> bool:
    """Whether the texts of a row are those that its hash was made of: a disk may have changed some of their bits."""
    return row.hash == _digest(row)


def _digest(row: SearchRow) -> str:
    digest = sha256(f"{RULES}".encode())
    for part in (row.text, row.before, row.after, row.title, *row.files):
        digest.update(b"\0" + part.encode(errors="replace"))
    return digest.hexdigest()
