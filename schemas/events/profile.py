"""Facts about what is known of people. A person is a digest: whose it is, only their own installation can say.

They belong to no project, since a profile is used in all of them.
"""

from typing import ClassVar

from schemas.events.base import Event


class ProfileEnabled(Event, frozen=True):
    """A person has switched their profile on: it is collected and used from this position of the log on."""

    TYPE: ClassVar[str] = "profile.enabled"

    person: str


class ProfileDisabled(Event, frozen=True):
    """A person has switched their profile off: nothing is collected or used from this position of the log on."""

    TYPE: ClassVar[str] = "profile.disabled"

    person: str


class ProfileBound(Event, frozen=True):
    """A session began while somebody's profile was on: whose session it is. One without this fact is nobody's."""

    TYPE: ClassVar[str] = "profile.bound"

    person: str
    """The person who works in it; empty: nobody whose profile was on."""
    origin_project: str
    """The project of the session, under the name that it was reported by."""
    origin: str
    """The session."""


class ProfileObserved(Event, frozen=True):
    """A person has stated again how they want to work: one candidate of a trait."""

    TYPE: ClassVar[str] = "profile.observed"

    person: str
    origin_project: str
    """The project of the session, under the name that it was reported by."""
    origin: str
    """The session in which they stated it."""
    text: str
    """The sentence, as the person typed it."""
    root: str = ""
    """The session that this one is a copy of, directly or not: both count as one. Empty: it is none."""
    first: int = 0
    """The place in the session of the first message in which it was stated."""
    last: int = 0
    """The place in the session of the last message in which it was stated."""


class ProfileRetired(Event, frozen=True):
    """A person has retired a trait: it is not used, and nothing more is collected of it."""

    TYPE: ClassVar[str] = "profile.retired"

    person: str
    trait: str
    """The id of the trait."""


EVENTS: tuple[type[Event], ...] = (ProfileEnabled, ProfileDisabled, ProfileBound, ProfileObserved, ProfileRetired)
