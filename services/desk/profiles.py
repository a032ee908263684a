"""The profiles of people, as the desk writes them: one aggregate of the installation, apart from those of projects."""

from collections.abc import Awaitable, Callable

from schemas.commands import Answer, Command, CommandMessage, ProfileObserve
from schemas.envelope import Actor, Envelope
from schemas.events import SessionOpened
from schemas.subjects import Address
from services.desk.core.commands import decide
from services.desk.core.profiles import ProfileContext, bound
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.desk.kin import copied_from
from services.domain.aliases import GLOBAL
from services.domain.decision import Decision
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.person import NoPerson, person_at
from services.kit.room import Kit
from services.memory.profiles import NOUN, Profiles, evolve

OF_NOBODY = frozenset({"subagent", "hidden"})
"""The modes of sessions that no person works in."""


class ProfileDesk:
    """Decides whose sessions there are, what is collected of people, and what they say about that."""

    def __init__(self, kit: Kit, is_home: Callable[[str], Awaitable[bool]]) -> None:
        """`is_home`: whether a project is a home directory, of which nothing is remembered."""
        self._kit = kit
        self._is_home = is_home
        reader = NounReader(kit.reader, (NOUN,), catches_up=True)
        sessions = Sessions(reader, evolve, Profiles(), kit.settings.loop.sessions, knows_causes=True)
        self._profiles = Aggregate(kit, sessions, guard=NOUN, catches_up=True)

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a command about a profile."""
        context = await self._context(address, trust_of(message.actor), command)

        def judge(profiles: Profiles) -> Decision:
            return decide(profiles, command, context)

        return await decided(self._profiles, self._kit.reader, GLOBAL, message, judge)

    async def _context(self, address: Address, trust: str, command: Command) -> ProfileContext:
        """The context of a command: the service finds the person; an observation belongs to a session's owner."""
        if isinstance(command, ProfileObserve):
            family = await copied_from(self._kit.reader, Address(address.project, command.session))
            return ProfileContext(trust, project=address.project, root=family[-1] if family else "")
        try:
            return ProfileContext(trust, await person_at(getattr(command, "directory", ""), self._kit.settings))
        except NoPerson as error:
            return ProfileContext(trust, reason=str(error))

    async def bind(self, address: Address, envelope: Envelope, event: SessionOpened, *, remembers: bool) -> None:
        """Record whose session it is that begins. `remembers`: whether its project has a memory."""
        if event.parent or event.mode in OF_NOBODY or not (await self._profiles.newest(GLOBAL)).are_any_on:
            return
        person = ""
        if remembers and event.directory and not await self._is_home(address.project):
            person = await self._person(event.directory)

        async def judge(draft: Draft[Profiles]) -> None:
            draft.record(*bound(draft.state, person, address, envelope.seq))

        await self._profiles.handle(
            GLOBAL, judge, cause=f"{NOUN}/{envelope.id}", at=envelope.at, actor=Actor("room", self._kit.room),
            again=lambda _: None,
        )  # fmt: skip

    async def _person(self, directory: str) -> str:
        """The person who works in a directory; empty: nobody is known."""
        try:
            return await person_at(directory, self._kit.settings)
        except NoPerson as error:
            self._kit.log.info("a session is nobody's", reason=str(error))
            return ""
