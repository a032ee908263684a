"""The fullest tier of a compartment with some of its lines left out, where it is too long to be shown whole."""

from collections.abc import Iterator, Sequence

from services.domain.texts.abridged import octets, rules_in, with_rules
from services.domain.transcript.labels import is_settled

QUOTE = "U: "
"""The beginning of a line of what the user wrote."""
TASK = "Task: "
"""The beginning of a line of what the agent wrote that started a sub-agent, in the sub-agent's session: it takes the
user's place."""
LEAST = 1_300
"""Bytes of a fullest tier that need no shortening: about what one has on average."""


def excerpt(full: str, brief: str, most: int, quote: str = QUOTE) -> str:
    """At most `most` bytes, but at least LEAST, and never less than the next tier.

    The user's own words come first, then what was decided and what is open, then what was done, then other remarks, the
    newest first: they show the present state. Of what is too long, the user's rules and the beginning take at most half
    of the room. `quote`: how the lines begin that take the user's place.
    """
    room = max(most, LEAST, octets(brief))
    if octets(full) <= room:
        return full
    chosen: dict[int, str] = {}
    size = 0
    for at, line, bound in _offers(full.splitlines(), room, quote):
        replaced = octets(chosen[at]) + 1 if at in chosen else 0
        left = bound - size + replaced - 1
        fitting = line if octets(line) <= left else _abridged(line, left, quote) if bound < room else ""
        if octets(fitting) + 1 > max(replaced, 1):
            chosen[at] = fitting
            size += octets(fitting) + 1 - replaced
    text = "\n".join(chosen[at] for at in sorted(chosen))
    return text if octets(text) >= octets(brief) else brief


def _offers(lines: Sequence[str], room: int, quote: str) -> Iterator[tuple[int, str, int]]:
    """Lines in the order in which they are taken, each with how many bytes all may have together with it.

    First the heading, then the rules of the user, what else they wrote, and everything.
    """
    quotes = [(at, line) for at, line in enumerate(lines) if line.startswith(quote)]
    if not lines[0].startswith(quote):
        yield 0, lines[0], room
    for at, line in quotes:
        if rules := rules_in(line.removeprefix(quote)):
            yield at, f"{quote}{rules}", room // 2
    yield from ((at, line, room // 2) for at, line in quotes)
    ranked = sorted(range(len(lines)), key=lambda at: (_rank(lines[at], at, quote), at))
    yield from ((at, lines[at], room) for at in ranked)


def _abridged(line: str, most: int, quote: str) -> str:
    """So much of what the user wrote; empty where none fits, or someone else wrote it."""
    words = with_rules(line.removeprefix(quote), most - len(quote), octets) if line.startswith(quote) else ""
    return f"{quote}{words}" if words else ""


def _rank(line: str, at: int, quote: str) -> tuple[int, int]:
    if line.startswith(quote) or not at:
        return 0, 0
    if is_settled(line):
        return 1, 0
    if not line.lstrip().startswith("- "):
        return 2, 0
    return 3, -at
