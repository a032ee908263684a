"""The names in a tool's arguments and output: what is indexed of them, so that a name leads to the message with it.

Paths, identifiers, codes of errors, hosts, addresses, tickets and hashes are names, by the shapes that make words of a
query literals. Of an output with more of them than fit, those at its beginning and at its end are taken: a listing says
at its beginning what it lists, and an error is at the end.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

import msgspec

from services.domain.search.literals import is_address, name_in, runs

MOST, MOST_BYTES = 96, 2_048
"""Names of one output that are indexed, and their UTF-8 bytes with a line end each."""
FULL_OUTPUTS = 4
"""Of one message so many times as many names are indexed as of one output: agents run several tools at once."""
READ = 65_536
"""Characters at each end of an output that are read."""
LONGEST = 128
"""Characters of a name; what is longer is data."""
BLOCK = 200
"""Characters without a blank from which on they are taken for encoded data, of which pieces look like names."""
_WITHIN = re.compile(r"[\w.@+~/#-]{3,200}(?:(?:::|->)[\w.]{1,64}){0,8}")
_COLOUR = re.compile(r"\x1b\[[\d;]{0,16}[A-Za-z]")
_NUMBERS = re.compile(r"[\d._/:-]{1,128}")
"""Dates, versions and ranges: they have the shape of names, and name nothing."""
_ESCAPED = frozenset("nrt")


def names_of(output: str) -> tuple[str, ...]:
    """The different names in an output, in their order, at most `MOST`."""
    whole = output if len(output) <= 2 * READ else f"{output[:READ]}\n{output[-READ:]}"
    text = _COLOUR.sub("", whole) if "\x1b" in whole else whole
    return _that_fit(tuple(dict.fromkeys(_names(text))))


def names_of_call(arguments: str, output: str) -> tuple[str, ...]:
    """The different names in the arguments of a call and in its output, at most `MOST` of each.

    Of arguments in JSON the values are read: how a tool calls its parameters names nothing.
    """
    return tuple(dict.fromkeys((*names_of(_values(arguments)), *names_of(output))))


def _values(arguments: str) -> str:
    """The texts in arguments, a line each; what is not JSON stays as it is."""
    try:
        waiting: list[object] = [msgspec.json.decode(arguments)]
    except (msgspec.DecodeError, RecursionError):
        return arguments
    found: list[str] = []
    while waiting:
        match waiting.pop():
            case str() as text:
                found.append(text)
            case list() as values:
                waiting += reversed(values)
            case dict() as fields:
                waiting += reversed(fields.values())
    return "\n".join(found)


def together(outputs: Iterable[Sequence[str]], besides: str) -> tuple[str, ...]:
    """The names of several outputs of one message that its text `besides` does not hold.

    Where there are too many, each output gives as many as the others. At most `FULL_OUTPUTS` times `MOST`.
    """
    folded = besides.casefold()
    listed = [[name for name in names if name.casefold() not in folded] for names in outputs]
    mixed = (name for some in zip_longest(*map(_from_both_ends, listed)) for name in some if name is not None)
    taken = frozenset(_first(dict.fromkeys(mixed), FULL_OUTPUTS))
    return tuple(dict.fromkeys(name for names in listed for name in names if name in taken))


def _names(text: str) -> Iterator[str]:
    seen = set[str]()
    for run in runs(text):
        if len(run) < BLOCK and run not in seen:
            seen.add(run)
            yield from (name for name in _of_run(run) if len(name) <= LONGEST and _is_named(name))


def _is_named(name: str) -> bool:
    return name.isdecimal() or is_address(name) or not _NUMBERS.fullmatch(name)


def _of_run(run: str) -> Iterator[str]:
    """The names in characters without a blank between them: these as a whole, or what signs part in them."""
    if name := name_in(run):
        yield name
        return
    for found in _WITHIN.finditer(run):
        piece = found[0]
        is_escaped = found.start() > 0 and run[found.start() - 1] == "\\" and piece[0] in _ESCAPED
        for one in (piece, piece[1:]) if is_escaped else (piece,):
            if name := name_in(one.lstrip("+-@/")):
                yield name


def _that_fit(names: Sequence[str]) -> tuple[str, ...]:
    """The names that fit, those at the ends first, in their order."""
    taken = frozenset(_first(_from_both_ends(names)))
    return tuple(name for name in names if name in taken)


def _from_both_ends(names: Sequence[str]) -> Iterator[str]:
    """The first name, the last one, the second one and so on."""
    half = (len(names) + 1) // 2
    pairs = zip_longest(names[:half], reversed(names[half:]))
    return (name for name in chain.from_iterable(pairs) if name is not None)


def _first(names: Iterable[str], times: int = 1) -> tuple[str, ...]:
    """The first names, as many as are taken of so many outputs; one that does not fit is passed over."""
    taken: list[str] = []
    room = times * MOST_BYTES
    for name in names:
        size = len(name.encode(errors="replace")) + 1
        if size <= room and len(taken) < times * MOST:
            taken.append(name)
            room -= size
    return tuple(taken)
