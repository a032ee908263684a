"""What was found, as an agent or a person reads it: a header, two lines for each hit, and what to do next."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from schemas.asks import Hit, Hits
from services.domain.texts.posing import unposed

AROUND = 3
"""Messages before and after one that are worth reading with it."""
SHOWN_QUERY = 80
SHORT_SHA = 7
DAYS, MONTHS = 30, 12
_MEMORY = re.compile(r"^\[\d+\] \[memory\] score=\S+ id=(\S+)", re.MULTILINE)


def told(query: str, found: Hits, now: datetime) -> str:
    """The answer to a search. It always says where was looked, and where that could not be done as it should."""
    what = query if len(query) <= SHOWN_QUERY else f"{query[: SHOWN_QUERY - 1]}…"
    what = " ".join(what.split())
    where = ", ".join(found.searched) or "nowhere"
    if not found.hits:
        lines = [f'Nothing was found for "{what}". Searched: {where}.']
    else:
        count = "1 result" if len(found.hits) == 1 else f"{len(found.hits)} results"
        lines = [f'{count} for "{what}". Searched: {where}.', *_lines(found.hits, now)]
    lines += [f"Degraded: {reason}." for reason in found.degraded]
    if any(hit.source in {"message", "compartment"} for hit in found.hits):
        lines.append("Read more with ctx_expand: start and end are the two numbers of a range, in its session.")
    return "\n".join(lines)


def told_memories(text: str) -> tuple[str, ...]:
    """The ids of the memories that such an answer shows. What a hit itself says begins no line."""
    return tuple(dict.fromkeys(_MEMORY.findall(text)))


def _lines(hits: Iterable[Hit], now: datetime) -> Iterator[str]:
    for number, hit in enumerate(hits, 1):
        yield f"[{number}] [{hit.source}] score={hit.score:.2f} {' '.join(_facts(hit, now))}"
        yield f"    {unposed(hit.fragment)}"


def _facts(hit: Hit, now: datetime) -> Iterator[str]:
    if hit.source == "commit":
        yield f"sha={hit.id[:SHORT_SHA]}"
    elif hit.source in {"message", "compartment"}:
        yield f"ordinal={hit.ordinal} range={hit.first}-{hit.last} session={hit.session}"
    else:
        yield f"id={hit.id}"
    if hit.role:
        yield f"{'class' if hit.source == 'memory' else 'role'}={hit.role}"
    if hit.at is not None:
        yield age(hit.at, now)
    if hit.why:
        yield f"match={'+'.join(hit.why)}"


def age(at: datetime, now: datetime) -> str:
    """How long ago something was."""
    days = (now - at).days
    if days < 0:
        return "future"
    if days == 0:
        return "today"
    if days < DAYS:
        return f"{days}d ago"
    months = days // DAYS
    return f"{months}mo ago" if months < MONTHS else f"{days // 365 or 1}y ago"
