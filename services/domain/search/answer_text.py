"""The text of a search's answer: a header, two lines for each hit, and the call that opens it."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from shlex import quote

import msgspec

from schemas.search_asks import FoundSession, Hit, Hits
from services.domain.often import quantity
from services.domain.texts.markup import escaped
from services.domain.texts.posing import unposed

AROUND = 3
"""Messages before and after one that are worth reading with it."""
SHOWN_QUERY = 80
SHORT_SHA = 7
DAYS, MONTHS = 30, 12
OPENED = frozenset({"message", "compartment", "output"})
"""The kinds of hits that are parts of a session, which can be opened there."""
_MEMORY = re.compile(r"^\[\d+\] \[memory\] score=\S+ id=(\S+)", re.MULTILINE)


def answer_text(query: str, found: Hits, now: datetime, asker: str = "") -> str:
    """The answer to a search. It always says where was looked, and where that could not be done as it should.

    `asker`: the session that asks; empty: a person does, which is given what to type instead of a call. Texts of others
    are in it without markup: it is a tool's answer.
    """
    what = query if len(query) <= SHOWN_QUERY else f"{query[: SHOWN_QUERY - 1]}…"
    what = escaped(unposed(what))
    where = f"Searched: {', '.join(found.searched) or 'nowhere'}."
    if found.session:
        lines = [_session(found.session, asker), *hit_lines(found.hits, now, asker)]
    elif found.in_prompt:
        places = ", ".join(f'{_place(hit)} ("{escaped(unposed(hit.fragment))}")' for hit in found.in_prompt)
        lines = [f"It stands in your prompt: {places}. Nothing else is known of it. {where}"]
    elif not found.hits and not found.searched:
        lines = [f'Nothing could be searched for "{what}".']
    elif not found.hits and (found.index_failure or found.is_behind):
        lines = [f'Nothing was found of "{what}", and there may be something: the index is not complete. {where}']
    elif not found.hits:
        lines = [f'Nothing was found. Nothing is known of this: "{what}". {where}']
    else:
        count = quantity(len(found.hits), "result")
        lines = [f'{count} for "{what}". {where}', *hit_lines(found.hits, now, asker)]
    return "\n".join((*lines, *degraded_lines(found.degraded)))


def memories_in_answer(text: str) -> tuple[str, ...]:
    """The ids of the memories that such an answer shows. What a hit itself says begins no line."""
    return tuple(dict.fromkeys(_MEMORY.findall(text)))


def degraded_lines(reasons: Iterable[str]) -> Iterator[str]:
    """Lines about what could not be searched as it should have been."""
    return (f"Degraded: {escaped(unposed(reason))}." for reason in reasons)


def hit_lines(hits: Iterable[Hit], now: datetime, asker: str) -> Iterator[str]:
    """Two lines for each hit: its place, with what opens it, and its words without markup."""
    for number, hit in enumerate(hits, 1):
        yield f"[{number}] [{hit.source}] score={hit.score:.2f} {' '.join(_facts(hit, now, asker))}"
        yield f"    {escaped(unposed(hit.fragment))}"


def _place(hit: Hit) -> str:
    """The place of something in a prompt."""
    match hit.source:
        case "message":
            return f"message {hit.ordinal}" if hit.ordinal else "the newest messages"
        case "output":
            return f"the calls in message {hit.ordinal}" if hit.ordinal else "the newest calls"
        case "compartment":
            return f"the history of messages {hit.ordinal} and behind"
        case _:
            return f"the {hit.source} {hit.id}"


def _facts(hit: Hit, now: datetime, asker: str) -> Iterator[str]:
    if hit.source == "commit":
        yield f"sha={hit.id[:SHORT_SHA]}"
    elif hit.source in OPENED:
        if hit.ordinal:
            yield f"ordinal={hit.ordinal}"
        yield f"session={escaped(unposed(hit.session))}"
    else:
        yield f"id={hit.id}"
    if hit.role:
        yield f"{'class' if hit.source == 'memory' else 'role'}={escaped(unposed(hit.role))}"
    if hit.at is not None:
        yield age(hit.at, now)
    if hit.why:
        yield f"match={'+'.join(hit.why)}"
    if hit.source in OPENED:
        yield f"open: {opening(hit, asker)}"


def _session(found: FoundSession, asker: str) -> str:
    """A session in a sentence, and what opens all of it."""
    time = f" from {found.began:%Y-%m-%d %H:%M} to {found.ended:%Y-%m-%d %H:%M}" if found.began and found.ended else ""
    counts = f"{quantity(found.messages, 'message')} and {quantity(found.compartments, 'part')} of history can be found"
    whole = call(found.session, asker, start=1, end=found.last) if found.last else ""
    return f"Session {escaped(unposed(found.session))}{time}: {counts}.{f' Open it: {whole}' if whole else ''}"


def opening(hit: Hit, asker: str) -> str:
    """The very call that shows a hit with what is around it, or what a person types for that.

    What was answered last has no number before the next call: it is opened by its id. So is a message whose tools have
    answered what was found: a range of messages leaves out a part of outputs.
    """
    if hit.ordinal and hit.source != "output":
        return call(hit.session, asker, start=hit.first, end=hit.last)
    return call(hit.session, asker, message=hit.id)


def call(session: str, asker: str, **place: int | str) -> str:
    """The call that opens a place of a session: a tool's for the session that asks, a command for a person."""
    if not asker:
        given = (
            f"--message {quote(str(place['message']))}" if "message" in place else f"{place['start']}-{place['end']}"
        )
        return escaped(f"annals show {quote(session)} {given}")
    named = {} if session == asker else {"session": session}
    return f"ctx_expand {escaped(msgspec.json.encode({**named, **place}).decode())}"


def age(at: datetime, now: datetime) -> str:
    """An age in words."""
    days = (now - at).days
    if days < 0:
        return "future"
    if days == 0:
        return "today"
    if days < DAYS:
        return f"{days}d ago"
    months = days // DAYS
    return f"{months}mo ago" if months < MONTHS else f"{days // 365 or 1}y ago"
