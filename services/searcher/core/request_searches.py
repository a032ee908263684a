"""The searches for a person's request: the request itself, the names in it, and its rarest words.

Of `Why does crane_lift.py stop with the new hook?` these are the whole sentence, `crane_lift.py`, and those of its
other words that few rows of the project hold, such as `new hook`. The whole is compared by its meaning; the names are
found wherever they are; and a text that shares two rare words with a long request is found although it lacks all
others.
"""

from collections.abc import Callable, Iterable

from services.domain.search.literals import literals
from services.domain.search.words import words, written_words
from services.domain.texts.clean import searchable

READ = 10_000
"""Characters of a request that are searched for."""
RARE = 6
"""Words of a request that are searched for because few rows hold them."""


def request_searches(request: str, rows_with: Callable[[str], int | None]) -> tuple[str, ...]:
    """At most three searches, no two of them the same; none where the request has no words.

    `rows_with`: how many rows of the project have a word, by its stem.
    """
    plain = _on_one_line(request)
    names = literals(plain)
    rest = plain
    for name in names:
        rest = rest.replace(name, " ")
    rarest = _rarest(rest, rows_with)
    if {*words(rarest)} == {*words(plain)}:
        rarest = ""
    return tuple(dict.fromkeys(one for one in (plain, _joined(names), rarest) if one))


def _on_one_line(request: str) -> str:
    """The request without what a harness has put around it, where anything is left then."""
    read = request[:READ].replace("\0", " ")
    return " ".join((searchable(read) or read).split())


def _joined(names: Iterable[str]) -> str:
    """Paths, symbols and codes as a search. Several words that were quoted together stay together."""
    return " ".join(f"`{one}`" if " " in one else one for one in names)


def _rarest(text: str, rows_with: Callable[[str], int | None]) -> str:
    """The words that the fewest rows hold, in the order of the text."""
    written: dict[str, str] = {}
    for word in written_words(text):
        written.setdefault(word.stem, word.written or word.stem)
    counts = {stem: count for stem in written if (count := rows_with(stem))}
    rarest = sorted(counts, key=counts.__getitem__)[:RARE]
    return " ".join(written[stem] for stem in written if stem in rarest)
