"""Readings of a project's memory for a person: the question of each, and how its reply is printed."""

import argparse
from collections.abc import Iterator, Mapping

from schemas.asks import MemoryAsk, MemoryEntry, MemoryReply, MemoryView
from schemas.events.memory import VERDICTS
from services.domain.often import often
from services.domain.senders import words_of

VIEWS: Mapping[str, MemoryView] = {
    "list": "list",
    "show": "list",
    "why": "why",
    "missing": "missing",
    "quality": "quality",
    "history": "history",
    "notes": "notes",
    "policy": "policy",
    "review": "review",
    "export": "list",
}
"""Reading -> the view that it asks for."""


class NotFound(LookupError):
    """The reply has not what was asked for; says so."""


def question(options: argparse.Namespace, project: str) -> MemoryAsk:
    """The question of a reading."""
    return MemoryAsk(
        project,
        session=options.session,
        view=VIEWS[options.action],
        id=getattr(options, "id", ""),
        as_of=options.as_of,
        filter=getattr(options, "status", ""),
    )


def text_of(options: argparse.Namespace, reply: MemoryReply) -> str:
    """A reply for a person. Raises `NotFound` where one memory was asked for, and the reply does not hold it."""
    if options.action == "show":
        return "\n".join(_lines(_one(reply, options.id)))
    return reply.text or "There is nothing to show."


def values_of(options: argparse.Namespace, reply: MemoryReply) -> object:
    """The values of a reading for programs."""
    return _one(reply, options.id) if options.action == "show" else as_values(options.action, reply)


def as_values(action: str, reply: MemoryReply) -> dict[str, object]:
    """A reply as one JSON object. The same keys are there at all times."""
    match action:
        case "list":
            return {
                "project": reply.project,
                "as_of": reply.as_of,
                "memories": reply.memories,
                "counts": reply.counts,
            }
        case "missing":
            return {"omitted": reply.counts, "total": reply.total, "hidden": reply.hidden}
        case "quality":
            counts = {verdict: reply.counts.get(verdict, 0) for verdict in VERDICTS}
            return {"candidates": sum(counts.values()), **counts, "reasons": reply.reasons, "junk": reply.junk}
        case "review":
            return {"memories": reply.memories, "quotes": reply.quotes}
        case "policy":
            return {"policy": reply.policy}
        case "notes":
            return {"notes": reply.notes, "total": reply.total}
        case "why":
            return {
                "id": reply.id,
                "rendered": reply.rendered,
                "reason": reply.reason,
                "revision": reply.revision,
                "facts": reply.facts,
            }
        case _:
            return {"id": reply.id, "facts": reply.facts}


def _one(reply: MemoryReply, name: str) -> MemoryEntry:
    exact = [entry for entry in reply.memories if entry.id == name]
    found = exact or [entry for entry in reply.memories if entry.id.startswith(name)]
    if not found:
        raise NotFound(f"this project has no memory {name!r}; `annals memory list` shows those that it has")
    if len(found) > 1:
        raise NotFound(f"{len(found)} memories begin with {name!r}: write more of the id")
    return found[0]


def _lines(entry: MemoryEntry) -> Iterator[str]:
    """One memory for a person."""
    yield entry.text
    yield ""
    yield f"id            {entry.id}{' (pinned)' if entry.pinned else ''}"
    yield f"category      {entry.category} ({entry.kind})"
    yield f"status        {entry.status}"
    yield f"shown         {'yes' if entry.rendered else f'no ({entry.omitted})' if entry.omitted else 'no'}"
    yield f"strength      {entry.strength:.2f}, seen {often(entry.seen)}"
    yield f"trust         {words_of(entry.trust) or 'unknown'}, {entry.verification or 'unverified'}"
    if entry.expires_at:
        yield f"expires       {entry.expires_at}"
    for source in entry.sources:
        where = "/".join(filter(None, (source.session, source.message))) or source.run
        yield f"from          {source.actor}{f', {where}' if where else ''}, fact {source.seq}"
