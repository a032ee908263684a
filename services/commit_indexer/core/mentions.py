"""Mentions of commits in sessions: in texts of people and agents, and in git's commands and answers."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import re

import msgspec

from schemas.envelope import Envelope
from schemas.events import CommitMentioned, Event, PartRecorded
from services.domain.fold import Map
from services.domain.texts.content import Piece
from services.domain.tools.call import call_of
from services.domain.transcript import commits

MOST = 50
"""Hashes of one part: a longer list is a history, and speaks of none of them."""
LOOKED_AT = 40_000
"""Characters of a text."""
_DIGITS = re.compile(r"[0-9a-f]{6}")
_GIT = re.compile(r"\bgit\b")
_NAME = re.compile(r"(?<![\w/.-])([0-9a-f]{7,64})(?![\w/-])")
_MADE = re.compile(r"^\[[^\]\n]{1,200}? ([0-9a-f]{7,40})\] ", re.MULTILINE)


class Mentions(msgspec.Struct, frozen=True):
    """The commits that the parts of one session name."""

    parts: Map[str, CommitMentioned] = Map()


def evolve(mentions: Mentions, event: Event, _: Envelope) -> Mentions:
    if isinstance(event, CommitMentioned):
        return Mentions(mentions.parts.insert(event.part, event))
    return mentions


def news(mentions: Mentions, recorded: PartRecorded) -> list[CommitMentioned]:
    """That a part names commits, where that is not known; or that it does so no longer."""
    named = mentioned(recorded)
    known = mentions.parts.get(recorded.part)
    return [] if named == known or (known is None and not named.hashes) else [named]


def mentioned(recorded: PartRecorded) -> CommitMentioned:
    """The commits that a part names."""
    hashes: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    match recorded.kind:
        case "text" if not recorded.ignored and _DIGITS.search(recorded.text):
            hashes = commits.mentioned(recorded.text[:LOOKED_AT])
        case "tool" | "tool_call" if "git" in recorded.input:  # to read a call takes its time, and most are none of git
            call = call_of(_piece(recorded))
            made = commits.made_commits(call)
            asked = _NAME.findall(call.command) if _GIT.search(call.command) else ()
            hashes = (*made, *_short(asked), *commits.listed_hashes(call))
        case "tool_result" if recorded.status != "error":
            hashes = made = _short(_MADE.findall(recorded.output[:LOOKED_AT]))
        case _:
            pass
    return CommitMentioned(
        message=recorded.message, part=recorded.part, hashes=[*dict.fromkeys(hashes)][:MOST], made=[*made][:MOST]
    )


def _piece(recorded: PartRecorded) -> Piece:
    return Piece(
        part=recorded.part,
        kind=recorded.kind,
        tool=recorded.tool,
        input=recorded.input,
        output=recorded.output[:LOOKED_AT],
        status=recorded.status,
    )


def _short(names: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name[: commits.LONGEST] for name in names if commits.is_hash(name))
