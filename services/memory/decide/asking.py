"""Candidates in a message: what it asks to be remembered, and what else it shows.

What only looks like a request is one, too, that is rejected with its reason.
"""

from __future__ import annotations

import msgspec

from services.domain.senders import PEOPLE
from services.memory.candidates import JudgedCandidate
from services.memory.decide.candidate import Candidate
from services.memory.decide.ids import candidate_id
from services.memory.gate.verdict import Verdict
from services.memory.requests.find import IgnoredRequest, MemoryRequest, place_of, requests


class Origin(msgspec.Struct, frozen=True):
    """A message of a session, and whose words it has."""

    session: str
    """The session that its candidates are of: that of a sub-agent is the one that started it."""
    message: str
    trust: str
    source: str
    family: tuple[str, ...] = ()
    """Sessions of which its own is a copy."""
    message_session: str = ""
    """The session of the message, if it is another one."""

    def holder(self, kind: str) -> str:
        """The name that its candidates are known by, with their words."""
        return f"{kind}/{self.message_session or self.session}/{self.message}"


def candidates_in_message(text: str, origin: Origin) -> tuple[Candidate, ...]:
    """The candidates of a message. The same message gives the same ones."""
    return tuple(_candidate(one, origin) for one in requests(text))


SESSIONS = 2
"""In so many sessions something is seen that nobody asked for, before it holds."""
_RULES = {"person": "sentence", "command": "command", "decision": "decision"}


def candidate_of(found: JudgedCandidate, origin: Origin) -> Candidate:
    """A candidate that a session shows without a request: one for a session, however often it shows it.

    A rule that a person typed holds at once, as their own words do; all else was read off, and has to be seen again.
    """
    is_typed = found.rule == "person" and found.is_own and origin.trust in PEOPLE
    return Candidate(
        id=candidate_id(f"session/{origin.session}", found.text),
        text=found.text,
        place=found.place,
        trust=origin.trust if is_typed else "historian",
        rule=_RULES[found.rule],
        source=origin.source,
        origin=origin.session,
        message=origin.message,
        sessions=1 if is_typed else SESSIONS,
        needs_approval=not found.is_own,
        verdict=found.verdict,
        family=origin.family,
    )


def _candidate(found: MemoryRequest | IgnoredRequest, origin: Origin) -> Candidate:
    if isinstance(found, MemoryRequest):
        kind, text, place, verdict, mark = "message", found.text, found.place, None, found.mark
    else:
        mark = ""
        kind, text, place, verdict = "ignored", found.preview, place_of(found.preview), Verdict((found.reason,))
    return Candidate(
        id=candidate_id(origin.holder(kind), text),
        text=text,
        place=place,
        trust=origin.trust,
        rule=f"request:{found.language}",
        source=origin.source,
        origin=origin.session,
        message=origin.message,
        is_asked=True,
        needs_approval=bool(mark),
        codes=(mark,) if mark else (),
        verdict=verdict,
        family=origin.family,
    )
