"""Decides on people's profiles: whose session it is, what is collected, and what people ask for."""

from __future__ import annotations

import msgspec

from schemas.commands import ProfileDisable, ProfileEnable, ProfileObserve, ProfileRetire
from schemas.events import (
    ProfileBound,
    ProfileDisabled,
    ProfileEnabled,
    ProfileObserved,
    ProfileRetired,
)
from schemas.subjects import Address
from services.domain.command import PEOPLE, ROOMS, AddressKind, command
from services.domain.decision import Decision
from services.domain.finding import NotNamed, find
from services.domain.secrets import mask
from services.domain.texts.bounds import flat
from services.domain.texts.placeholders import MASKED
from services.domain.texts.risky import risk_of
from services.memory.gate.candidate import judge_candidate
from services.memory.profiles import Profiles, Trait, trait_id
from services.memory.requests.find import LONGEST

_MASKED = MASKED.text(kind="")[:-1]
"""The beginning of the placeholder for a secret."""
BY_HAND = "ask a person to run `annals profile`"


class ProfileContext(msgspec.Struct, frozen=True):
    """The context of a command about a profile: its sender, and whose profile it is about."""

    trust: str
    person: str = ""
    """The digest of the person; empty: there is none, for this reason."""
    reason: str = ""
    project: str = ""
    """The project in which it was observed; empty: it was not observed."""
    root: str = ""
    """The session that the one of the command is a copy of; empty: it is none."""


def bound(profiles: Profiles, person: str, session: Address, seq: int) -> tuple[ProfileBound, ...]:
    """The owner of a session that began at this position of the log, while the profile of anybody is on.

    It is the person's if their own profile was on by then, and else nobody's: that is recorded, too, since the first
    plan of a session waits for it. `person`: empty where nobody is known.
    """
    if not profiles.are_any_on or session in profiles.owners:
        return ()
    profile = profiles.of(person)
    owner = person if profile.is_on and seq > profile.since else ""
    return (ProfileBound(person=owner, origin_project=session.project, origin=session.session),)


@command(
    ProfileObserve,
    on=Profiles,
    sent_by=ROOMS,
    writes=(ProfileObserved,),
    address=AddressKind.PROJECT_FOR_SESSION,
    remedy="what a person states is observed by the historian",
)
def observe(profiles: Profiles, command: ProfileObserve, context: ProfileContext) -> Decision:
    """Collect a person's own sentence: while their profile is on, in their session, once for each range of messages."""
    person = profiles.owners.get(Address(context.project, command.session)) or ""
    profile, text = profiles.of(person), flat(command.text)
    if not profile.is_on or command.position <= profile.since:
        return Decision(ok=True, text="Nothing was collected: no profile was on.")
    if not is_collected(text) or _is_known(profile.traits.get(trait_id(person, text)), command, context):
        return Decision(ok=True, text="Nothing was collected: it was collected before, or is no trait.")
    event = ProfileObserved(
        person=person,
        origin_project=context.project,
        origin=command.session,
        text=text,
        root=context.root,
        first=command.first,
        last=command.last,
    )
    return Decision(ok=True, text="It was collected.", events=(event,))


def _is_known(trait: Trait | None, command: ProfileObserve, context: ProfileContext) -> bool:
    """Whether a trait is retired, or was observed in these messages before."""
    if trait is None:
        return False
    root = Address(context.project, context.root or command.session)
    return trait.is_retired or any(one.overlaps(root, command.first, command.last) for one in trait.candidates)


def is_collected(text: str) -> bool:
    """Whether a sentence may become a trait: it passes the gate of memories, and holds no secret and no risky order."""
    if not text or len(text) > LONGEST or _MASKED in text or not trait_id("", text):
        return False
    return not judge_candidate(text, "feedback").verdict.is_hard and not risk_of(text) and mask(text) == text


@command(
    ProfileEnable, on=Profiles, sent_by=PEOPLE, writes=(ProfileEnabled,), address=AddressKind.PROJECT, remedy=BY_HAND
)
def enable(profiles: Profiles, _: ProfileEnable, context: ProfileContext) -> Decision:
    """Have a profile collected and used from now on."""
    if not context.person:
        return _refused(context.reason)
    profile = profiles.of(context.person)
    if profile.is_on:
        return Decision(ok=True, text="Your profile is on already; nothing was changed.", seq=profile.since)
    text = (
        "Your profile is on. In sessions that begin from now on, what you state again and again of how you want to "
        "work is collected, and repeated to the agent at the beginning of each of your sessions, in every project. "
        "`annals profile list` shows it, and `annals profile off` ends it."
    )
    return Decision(ok=True, text=text, events=(ProfileEnabled(person=context.person),))


@command(
    ProfileDisable, on=Profiles, sent_by=PEOPLE, writes=(ProfileDisabled,), address=AddressKind.PROJECT, remedy=BY_HAND
)
def disable(profiles: Profiles, _: ProfileDisable, context: ProfileContext) -> Decision:
    """Have a profile neither collected nor used from now on."""
    if not context.person:
        return _refused(context.reason)
    if not profiles.of(context.person).is_on:
        return Decision(ok=True, text="Your profile is off already; nothing was changed.")
    text = (
        "Your profile is off: nothing is collected, and no prompt that is written anew shows it. A session that runs "
        "drops it with its next rebase. What was collected stays in the log; `annals erase session` takes it out."
    )
    return Decision(ok=True, text=text, events=(ProfileDisabled(person=context.person),))


@command(
    ProfileRetire, on=Profiles, sent_by=PEOPLE, writes=(ProfileRetired,), address=AddressKind.PROJECT, remedy=BY_HAND
)
def retire(profiles: Profiles, command: ProfileRetire, context: ProfileContext) -> Decision:
    """Have one trait neither used nor collected from now on."""
    if not context.person:
        return _refused(context.reason)
    known = {one.id: one for one in profiles.of(context.person).listed}
    try:
        trait = find(known, command.trait, "trait", "traits with `annals profile list`", of="your profile")
    except NotNamed as error:
        return _refused(str(error))
    if trait.is_retired:
        return Decision(ok=True, text="This trait is retired already; nothing was changed.")
    text = f"The trait {trait.id} is retired. A session that runs drops it with its next rebase."
    return Decision(ok=True, text=text, events=(ProfileRetired(person=context.person, trait=trait.id),))


def _refused(reason: str) -> Decision:
    return Decision(ok=False, text=f"Nothing was written: {reason}.")
