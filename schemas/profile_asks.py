"""The question of a person about their profile, and the reply."""

from typing import ClassVar, Literal

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count

TraitState = Literal["shown", "no_room", "retired", "off"]


class ProfileAsk(Ask, frozen=True):
    """What is known of the person who works in a directory, and is it collected and used?"""

    NAME: ClassVar[str] = "profile"

    directory: str


class ListedTrait(msgspec.Struct, frozen=True, omit_defaults=True):
    """A trait that has enough candidates."""

    id: str
    text: str
    state: TraitState
    """`shown`: it is in the head of sessions. `no_room`: others were stated in more sessions. `off`: the profile is."""
    candidates: Count = 0
    """The number of times that it was observed, as far as that is remembered."""
    sessions: Count = 0
    """The number of sessions in which it was observed."""


class ProfileReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.profile`."""

    state: Literal["on", "off", "unavailable"] = "unavailable"
    reason: str = ""
    """The reason why there is no profile, where it is unavailable, as the end of a sentence."""
    traits: tuple[ListedTrait, ...] = ()
    """In the order of their promotion."""
    waiting: Count = 0
    """Traits that have too few candidates yet."""
    error: str = ""


PROFILE = RequestReply(ProfileAsk, ProfileReply, order=180)
