"""Profiles of people: candidates are counted over sessions, what is shown is bounded, and a fold is a fold."""

from collections.abc import Sequence
from itertools import chain

from hypothesis import example
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from schemas.events import Event, ProfileBound, ProfileDisabled, ProfileEnabled, ProfileObserved, ProfileRetired
from schemas.subjects import Address
from services.domain.erasure.secret import MASK
from services.domain.texts.markup import escaped
from services.domain.tokens import tokens
from services.memory.profiles import (
    LEAST_CANDIDATES,
    LEAST_SESSIONS,
    MOST_CANDIDATES,
    MOST_SHOWN,
    MOST_TOKENS,
    PersonProfile,
    Profiles,
    evolve,
    head_traits,
    trait_id,
)
from tests.helpers.given import envelope

ADA, BOB = "person-ada", "person-bob"
RULE = "Always write the tests first."


def stated(session: str, text: str = RULE, at: int = 1, *, person: str = ADA, root: str = "") -> ProfileObserved:
    """A person has stated something in one message of a session."""
    return ProfileObserved(person=person, origin_project="p", origin=session, text=text, root=root, first=at, last=at)


def folded(*events: Event) -> Profiles:
    profiles = Profiles()
    for seq, event in enumerate(events, 1):
        profiles = evolve(profiles, event, envelope(event, seq))
    return profiles


def texts(profile: PersonProfile) -> list[str]:
    return [one.text for one in head_traits(profile)]


def promoted(text: str, times: int = 1) -> list[ProfileObserved]:
    """So many sessions more than needed in which this was stated."""
    return [stated(f"s{number}", text, number) for number in range(LEAST_CANDIDATES + times - 1)]


def test_a_trait_needs_three_candidates_in_two_sessions() -> None:
    on = ProfileEnabled(person=ADA)
    assert [] == texts(folded(on, stated("a"), stated("b")).of(ADA))
    assert [] == texts(folded(on, *(stated("a", at=at) for at in range(9))).of(ADA))
    assert [RULE] == texts(folded(on, stated("a"), stated("a", at=5), stated("b")).of(ADA))


def test_the_usual_form_makes_candidates_one_trait_in_the_oldest_words() -> None:
    other = ("always write tests first", "Please, always write the tests first!")
    known = folded(ProfileEnabled(person=ADA), stated("a"), *(stated("b", text, at) for at, text in enumerate(other)))
    assert [RULE] == texts(known.of(ADA))
    assert trait_id(ADA, RULE) != trait_id(BOB, RULE) != trait_id(BOB, "Never write the tests first.")
    assert ["", ""] == [trait_id(ADA, ""), trait_id(ADA, " -- \n\0".replace("\0", ""))]


def test_copies_of_a_session_count_as_one() -> None:
    copies = [stated(name, at=at, root="a") for at, name in enumerate(("b", "c"), 2)]
    assert [] == texts(folded(ProfileEnabled(person=ADA), stated("a"), *copies).of(ADA))


def test_a_profile_that_is_off_shows_nothing_and_what_was_collected_is_there_when_it_is_on_again() -> None:
    on, off = ProfileEnabled(person=ADA), ProfileDisabled(person=ADA)
    assert [] == texts(folded(on, *promoted(RULE), off).of(ADA))
    assert [RULE] == texts(folded(on, *promoted(RULE), off, on).of(ADA))
    assert (False, True) == (folded(on, off).are_any_on, folded(on, ProfileEnabled(person=BOB), off).are_any_on)


def test_a_retired_trait_is_used_no_more_whatever_is_stated_later() -> None:
    retired = ProfileRetired(person=ADA, trait=trait_id(ADA, RULE))
    on = ProfileEnabled(person=ADA)
    assert [] == texts(folded(on, *promoted(RULE), retired, *promoted(RULE)).of(ADA))
    assert [] == texts(folded(on, retired, *promoted(RULE)).of(ADA))


def test_a_profile_is_used_in_the_sessions_of_its_person_alone() -> None:
    bound = [ProfileBound(person=name, origin_project="p", origin=name) for name in (ADA, BOB)]
    nobody = ProfileBound(person="", origin_project="p", origin="nobody")
    known = folded(ProfileEnabled(person=ADA), ProfileEnabled(person=BOB), *bound, nobody, *promoted(RULE))
    assert [RULE] == texts(known.of_session(Address("p", ADA)))
    for session in (BOB, "nobody", "old"):
        assert [] == texts(known.of_session(Address("p", session)))
    assert [] == texts(known.of_session(Address("other", ADA)))


def test_what_was_erased_is_no_candidate() -> None:
    erased = [stated(one, f"{MASK} the tests first.", at) for at, one in enumerate(("a", "b", "c"))]
    assert PersonProfile(is_on=True, since=1) == folded(ProfileEnabled(person=ADA), *erased).of(ADA)


def test_of_more_traits_than_fit_the_most_stated_stay_in_the_order_of_their_promotion() -> None:
    rules = [f"Always check number {number} first." for number in range(MOST_SHOWN + 3)]
    often = promoted(rules[-1], 4)
    known = folded(ProfileEnabled(person=ADA), *(one for rule in rules for one in promoted(rule)), *often)
    assert [*rules[: MOST_SHOWN - 1], rules[-1]] == texts(known.of(ADA))
    assert [] == [*head_traits(known.of(ADA), 0)]


def test_of_one_trait_only_the_newest_candidates_are_remembered() -> None:
    many = [stated(f"s{number}", at=number) for number in range(3 * MOST_CANDIDATES)]
    profile = folded(ProfileEnabled(person=ADA), *many).of(ADA)
    (trait,) = head_traits(profile)
    assert (MOST_CANDIDATES, LEAST_CANDIDATES + 1) == (len(trait.candidates), trait.promoted)


PEOPLE = st.sampled_from((ADA, BOB))
WORDS = st.sampled_from((RULE, "always write tests first", "Never push on Fridays.", "x" * 250, "<b> & more", MASK, ""))
SESSIONS = st.sampled_from(("a", "b", "c"))
PLACES = st.integers(0, 3)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.builds(ProfileEnabled, person=PEOPLE)),
        st.tuples(st.builds(ProfileDisabled, person=PEOPLE)),
        st.tuples(st.builds(ProfileBound, person=PEOPLE, origin_project=st.just("p"), origin=SESSIONS)),
        st.tuples(st.builds(lambda *one: stated(*one[:3], person=one[3]), SESSIONS, WORDS, PLACES, PEOPLE)),
        st.tuples(st.builds(lambda who, text: ProfileRetired(person=who, trait=trait_id(who, text)), PEOPLE, WORDS)),
        st.builds(promoted, WORDS),
    ),
    max_size=20,
).map(lambda several: [*chain.from_iterable(several)])


@hypothesis_given(EVENTS)
@example([ProfileEnabled(person=ADA), *promoted(RULE)])
def test_traits_in_use_were_promoted_by_the_log_and_have_bounds(events: Sequence[Event]) -> None:
    known = folded(*events)
    for person, profile in known.people.items():
        for one in head_traits(profile):
            counted = [
                event
                for event in events
                if isinstance(event, ProfileObserved) and trait_id(event.person, event.text) == one.id
            ]
            assert len(counted) >= LEAST_CANDIDATES
            assert len({event.origin for event in counted}) >= LEAST_SESSIONS
            assert one.text == counted[0].text
            assert ProfileRetired(person=person, trait=one.id) not in events
        lines = "".join(f"- {escaped(text)}\n" for text in texts(profile))
        assert tokens(len(lines.encode())) <= MOST_TOKENS
        assert profile.is_on or not lines


@hypothesis_given(EVENTS, st.data())
def test_grown_rebuilt_and_delivered_again_it_is_the_same(events: Sequence[Event], data: st.DataObject) -> None:
    grown, again = folded(*events), Profiles()
    for seq, event in enumerate(events, 1):
        again = evolve(again, event, envelope(event, seq))
        back = data.draw(st.integers(1, seq))
        again = evolve(again, events[back - 1], envelope(events[back - 1], back))
    assert grown == again


@hypothesis_given(EVENTS)
def test_people_are_apart(events: Sequence[Event]) -> None:
    of_ada = [one for one in events if getattr(one, "person", "") == ADA]
    positions = [seq for seq, one in enumerate(events, 1) if getattr(one, "person", "") == ADA]
    alone = Profiles()
    for seq, event in zip(positions, of_ada, strict=True):
        alone = evolve(alone, event, envelope(event, seq))
    assert alone.of(ADA) == folded(*events).of(ADA)
