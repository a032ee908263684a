"""The profiles of people: what each of them has stated of how they want to work, again and again. Pure.

A *person* is a digest of the e-mail address that git has for them. A *candidate* is one observation that they stated
something, and a *trait* is all candidates in the same usual form. A trait is promoted, and thus used, once it has
enough candidates in enough sessions; that is counted here, from the log, and never asked of a model.
"""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import msgspec

from schemas.codec import derived_id
from schemas.envelope import Envelope
from schemas.events import Event, ProfileBound, ProfileDisabled, ProfileEnabled, ProfileObserved, ProfileRetired
from schemas.subjects import Address
from services.domain.erasure.secret import MASK
from services.domain.fold import Map
from services.domain.texts.bounds import flat
from services.domain.texts.markup import escaped
from services.domain.tokens import tokens
from services.memory.sameness import sentence_key

NOUN = "profile"
LEAST_CANDIDATES, LEAST_SESSIONS = 3, 2
"""Candidates of a trait, and sessions in which they were observed, from which on it is promoted."""
MOST_CANDIDATES = 64
"""Candidates that are remembered of one trait, the newest."""
MOST_SHOWN = 10
"""The most traits that are in a head."""
MOST_TOKENS = 300
"""The most tokens that the traits in a head take."""

replace = msgspec.structs.replace


class TraitCandidate(msgspec.Struct, frozen=True):
    """One observation that a person stated something: in which session and messages, and the fact in the log."""

    session: Address
    """Of copies of a session, the one that they were copied from."""
    first: int
    last: int
    seq: int

    def overlaps(self, session: Address, first: int, last: int) -> bool:
        """Whether it was read off messages of this range."""
        return self.session == session and self.first <= last and first <= self.last


class Trait(msgspec.Struct, frozen=True):
    """A trait that a person has stated, in the words of its oldest candidate."""

    id: str
    text: str = ""
    candidates: tuple[TraitCandidate, ...] = ()
    promoted: int = 0
    """The position of the fact by which it had enough candidates; 0: it has not."""
    is_retired: bool = False

    @property
    def sessions(self) -> int:
        """The number of sessions in which it was stated."""
        return len({one.session for one in self.candidates})

    @property
    def is_promoted(self) -> bool:
        """Whether it is used where there is room."""
        return bool(self.promoted) and not self.is_retired


class PersonProfile(msgspec.Struct, frozen=True):
    """The profile of one person."""

    is_on: bool = False
    """Whether it is collected and used."""
    since: int = 0
    """The position of the fact that switched it on last."""
    traits: Map[str, Trait] = Map()
    """By id."""
    promoted: tuple[str, ...] = ()
    """The ids of the promoted traits, in the order of their promotion."""

    @property
    def listed(self) -> tuple[Trait, ...]:
        """All promoted traits, those that were retired too, in the order of their promotion."""
        return tuple(self.traits[name] for name in self.promoted)


class Profiles(msgspec.Struct, frozen=True):
    """The profiles of all people of an installation, and whose sessions there are."""

    people: Map[str, PersonProfile] = Map()
    owners: Map[Address, str] = Map()
    """Session -> the person who works in it; empty: nobody whose profile was on when it began."""
    seq: int = 0

    @property
    def are_any_on(self) -> bool:
        """Whether the profile of anybody is on, so that sessions that begin are bound to people."""
        return any(one.is_on for one in self.people.values())

    def of(self, person: str) -> PersonProfile:
        """The profile of a person; an empty one that is off where nothing is known of them."""
        return self.people.get(person) or PersonProfile()

    def of_session(self, session: Address) -> PersonProfile:
        """The profile that a session gets; an empty one for a session that is nobody's."""
        return self.of(self.owners.get(session) or "")


def trait_id(person: str, text: str) -> str:
    """The id of the trait that a sentence states; empty: it states nothing. It is the same for the same usual form."""
    form = sentence_key(flat(text))
    return derived_id("trait", person, form) if form else ""


def evolve(profiles: Profiles, event: Event, envelope: Envelope) -> Profiles:
    """The profiles after this fact. One that was folded before changes nothing."""
    if 0 < envelope.seq <= profiles.seq:
        return profiles
    now = replace(profiles, seq=envelope.seq) if envelope.seq else profiles
    match event:
        case ProfileEnabled(person=person):
            return _with(now, person, replace(now.of(person), is_on=True, since=envelope.seq))
        case ProfileDisabled(person=person):
            return _with(now, person, replace(now.of(person), is_on=False))
        case ProfileBound(person=person, origin_project=project, origin=session):
            return replace(now, owners=now.owners.insert(Address(project, session), person))
        case ProfileObserved(person=person):
            return _with(now, person, _observed(now.of(person), event, envelope.seq))
        case ProfileRetired(person=person, trait=name):
            profile = now.of(person)
            retired = replace(profile.traits.get(name) or Trait(name), is_retired=True)
            return _with(now, person, replace(profile, traits=profile.traits.insert(name, retired)))
        case _:
            return now


def _with(profiles: Profiles, person: str, profile: PersonProfile) -> Profiles:
    return replace(profiles, people=profiles.people.insert(person, profile))


def _observed(profile: PersonProfile, event: ProfileObserved, seq: int) -> PersonProfile:
    """The profile with one more candidate; what was erased from the log is none."""
    name = trait_id(event.person, event.text) if MASK not in event.text else ""
    if not name:
        return profile
    before = profile.traits.get(name) or Trait(name)
    root = Address(event.origin_project, event.root or event.origin)
    candidates = (*before.candidates, TraitCandidate(root, event.first, event.last, seq))[-MOST_CANDIDATES:]
    trait = replace(before, text=before.text or flat(event.text), candidates=candidates)
    has_enough = len(candidates) >= LEAST_CANDIDATES and trait.sessions >= LEAST_SESSIONS
    if has_enough and not trait.promoted:
        trait = replace(trait, promoted=seq)
        profile = replace(profile, promoted=(*profile.promoted, name))
    return replace(profile, traits=profile.traits.insert(name, trait))


def head_traits(profile: PersonProfile, most: int = MOST_TOKENS) -> tuple[Trait, ...]:
    """The traits at the head of a prompt, in the order of their promotion; none of a profile that is off.

    Where there are more than fit, those stay that were stated in most sessions, and of these the oldest.
    `most`: tokens that they may take, if that is less than `MOST_TOKENS`.
    """
    found = [one for one in profile.listed if one.is_promoted] if profile.is_on else []
    left = min(most, MOST_TOKENS)
    picked: set[str] = set()
    for one in sorted(found, key=lambda trait: (-trait.sessions, trait.promoted)):
        cost = tokens(len(f"- {escaped(one.text)}\n".encode()))
        if cost <= left and len(picked) < MOST_SHOWN:
            picked.add(one.id)
            left -= cost
    return tuple(one for one in found if one.id in picked)
