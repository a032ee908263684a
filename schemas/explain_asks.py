"""The question of what an agent saw at a step, with the facts that made it so, and the reply."""

from datetime import datetime
from typing import ClassVar

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count
from schemas.plan import AnyEdit


class ExplainAsk(Ask, frozen=True):
    """What did the agent see at this step, and which facts made it so?"""

    NAME: ClassVar[str] = "explain"

    project: str
    session: str
    """Its id, or the beginning of one where only one session begins so."""
    step: str = ""
    """Its id, the beginning of one, or the number of the call in its session, from 1 on. Empty: the newest."""
    part: str = ""
    """Only the edit of this part."""
    max_edits: Count = 50
    tags: bool = True
    """Whether edits that do nothing but show a tag are among them."""


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A log event in one line."""

    seq: int
    type: str
    at: datetime
    actor: str
    text: str = ""


class Explained(msgspec.Struct, frozen=True, omit_defaults=True):
    """One edit with the facts that led to it and the revision that made it."""

    edit: AnyEdit
    revision: int
    facts: tuple[Fact, ...] = ()
    lanes: tuple[str, ...] = ()
    """The kinds of edits that decided it, as `services/plan/lanes` names them: `drops`, `search hint`."""
    causes: tuple[str, ...] = ()
    """The causes for which covered messages changed, where a rebase made it; empty: it came with its messages, in an
    extension."""
    ordinal: int = 0
    """The place of the message that it changes; 0: it changes none, or that message has no place."""
    tag: int = 0
    """The number of the part that it changes; 0: it has none."""
    what: str = ""
    """The part that it changes, in words: `the output of read`."""


class PromptHint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something known that follows a person's message, since a search for its words has found it."""

    message: str
    ordinal: int
    seq: int
    """Position of the fact that decided it."""
    source: str
    id: str
    score: float
    """The score of how well it fits, from 0 to 1."""
    text: str = ""


class PromptSearch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a search by the agent that is in the prompt."""

    part: str
    ordinal: int
    tag: int
    seq: int
    """Position of the fact that recorded it."""
    query: str = ""
    """The query of the search, in one line."""
    text: str = ""
    """The beginning of the answer, in one line; empty: the log has it elsewhere, since it is long."""
    bytes: int = 0
    """UTF-8 length of the whole answer."""


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.explain`; the newest edits first."""

    step: str = ""
    at: datetime | None = None
    revision: int = 0
    messages: int = 0
    edits: tuple[Explained, ...] = ()
    edits_in_force: int = 0
    history: tuple[Fact, ...] = ()
    """The plan's rebases up to this step."""
    error: str = ""
    session: str = ""
    """Its whole id."""
    title: str = ""
    call: int = 0
    """The number of the call in its session, from 1 on."""
    calls: int = 0
    """The number of calls of the session by now."""
    tags: int = 0
    """The number of edits in force that do nothing but show a tag."""
    left_out: int = 0
    """The number of older edits that were asked for and are not among `edits`."""
    hints: tuple[PromptHint, ...] = ()
    """The hints that were added behind messages of a person, the newest first, at most `max_edits`."""
    searches: tuple[PromptSearch, ...] = ()
    """Answers to searches that are in the prompt, the newest first, at most `max_edits`."""


EXPLAIN = RequestReply(ExplainAsk, Explanation, order=210)
