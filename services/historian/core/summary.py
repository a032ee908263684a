"""A summary of a stretch of conversation, whoever wrote it, before it is published."""

import msgspec

RULES = "rules"
"""The author of a summary that no model wrote."""
TITLE = 120
"""Characters of a title."""
ANCHORS = 8
EPISODES = ("bug", "feature", "release", "refactor", "infra", "design", "investigation", "docs")


class CompartmentDraft(msgspec.Struct, frozen=True):
    """A compartment to be: a span of messages in four tiers from the fullest to the shortest."""

    first: int
    """The ordinal of its first message."""
    last: int
    """The ordinal of its last message."""
    title: str
    episode: tuple[str, ...] = ()
    """Of EPISODES."""
    importance: int = 50
    """1 to 100: how slowly it fades."""
    p1: str = ""
    p2: str = ""
    p3: str = ""
    p4: str = ""
    anchors: tuple[str, ...] = ()
    """The names that every tier has; at most ANCHORS."""
    names: tuple[str, ...] = ()
    """Files, identifiers, commits and errors, the most telling first."""


class SummaryFact(msgspec.Struct, frozen=True):
    """Something that may hold beyond the session."""

    category: str
    """Of `schemas.events.fact.CATEGORIES`."""
    text: str
    evidence: tuple[int, ...] = ()
    """Ordinals of the messages that show it."""


TRAIT = "user_trait"
"""The kind of the observations that are about a person."""


class Observation(msgspec.Struct, frozen=True):
    """An observation: how a person works, or a turn that the work took."""

    kind: str
    """user_trait, causal_incident, trajectory_correction or open_question."""
    text: str
    first: int = 0
    last: int = 0


class Summary(msgspec.Struct, frozen=True):
    """The summary of a stretch. Its compartments follow each other without a gap, from its first message on."""

    compartments: tuple[CompartmentDraft, ...] = ()
    facts: tuple[SummaryFact, ...] = ()
    observations: tuple[Observation, ...] = ()
    unprocessed_from: int = 0
    """The first ordinal that is left for the next run, as it is one topic with what follows; 0: none is."""
