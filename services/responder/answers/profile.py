"""The answer to `ask.profile`: what is known of the person who works in a directory."""

from collections.abc import Awaitable, Callable, Iterator

from schemas.profile_asks import ListedTrait, ProfileAsk, ProfileReply, TraitState
from services.domain.aliases import GLOBAL
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.person import NoPerson, person_at
from services.memory.profiles import NOUN, PersonProfile, Profiles, evolve, head_traits
from services.responder.answers.base import LONG, Context, Question


def _open(context: Context) -> Callable[[ProfileAsk], Awaitable[ProfileReply]]:
    reader = NounReader(context.kit.reader, (NOUN,), catches_up=True)
    known = Sessions(reader, evolve, Profiles(), 1)

    async def answer(question: ProfileAsk) -> ProfileReply:
        try:
            person = await person_at(question.directory, context.kit.settings)
        except NoPerson as error:
            return ProfileReply(reason=str(error))
        entry = await known.get(GLOBAL)
        await known.catch_up(entry)  # whoever has just changed something sees it
        return reply_of(entry.state.of(person))

    return answer


def reply_of(profile: PersonProfile) -> ProfileReply:
    """A profile as it is listed."""
    return ProfileReply(
        state="on" if profile.is_on else "off",
        traits=tuple(_listed(profile)),
        waiting=sum(not one.promoted and not one.is_retired for one in profile.traits.values()),
    )


def _listed(profile: PersonProfile) -> Iterator[ListedTrait]:
    in_prompts = {one.id for one in head_traits(profile)}
    for one in profile.listed:
        state: TraitState = "no_room" if profile.is_on else "off"
        if one.is_retired or one.id in in_prompts:
            state = "retired" if one.is_retired else "shown"
        yield ListedTrait(one.id, one.text, state, len(one.candidates), one.sessions)


PROFILE = Question(ProfileAsk, _open, lambda reason: ProfileReply(error=reason), LONG)
