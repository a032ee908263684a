"""The names of projects, as the desk decides on them: what harnesses claim, and what people say."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Actor, Envelope
from schemas.events import ProjectClaimed, ProjectMerged
from schemas.subjects import Address, BadSubject
from services.desk.core.aliases import Claim, NamesContext, claimed
from services.desk.core.commands import decide
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.domain.aliases import GLOBAL, NOUN, Aliases, evolve
from services.domain.decision import Decision
from services.domain.draft import Draft
from services.kit.aggregate import Aggregate
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.project_name import had_name
from services.kit.room import Kit


class ProjectNames:
    """Decides which names lead to which project."""

    def __init__(self, kit: Kit, is_home: Callable[[str], Awaitable[bool]]) -> None:
        """`is_home`: whether a project is a home directory, of which nothing is remembered."""
        self._kit = kit
        self._is_home = is_home
        reader = NounReader(kit.reader, (NOUN,), catches_up=True)
        sessions = Sessions(reader, evolve, Aliases(), kit.settings.loop.sessions, knows_causes=True)
        self._aliases = Aggregate(kit, sessions, guard=NOUN, catches_up=True)

    async def now(self) -> Aliases:
        """The names of all projects, as the log has them."""
        return await self._aliases.newest(GLOBAL)

    async def claim(self, envelope: Envelope, event: ProjectClaimed | ProjectMerged) -> None:
        """Take in a claim that a project had another name."""
        claim = await self._looked_into(envelope.project, event)

        async def judge(draft: Draft[Aliases]) -> None:
            draft.record(*claimed(draft.state, claim))

        await self._aliases.handle(
            GLOBAL, judge, cause=f"claim/{envelope.id}", at=envelope.at, actor=Actor("room", self._kit.room),
            again=lambda _: None,
        )  # fmt: skip

    async def _looked_into(self, project: str, event: ProjectClaimed | ProjectMerged) -> Claim:
        """The claim, with what Annals sees itself: what an earlier release has recorded was believed then."""
        how, directory, reason = "recorded", "", ""
        if isinstance(event, ProjectClaimed):
            directory = event.directory or event.root
            place, root = Path(directory), Path(event.root or directory)
            is_there = (
                "\0" not in directory + event.root
                and place.is_absolute()
                and await had_name(event.former, project, place, root)
            )
            how = "derived" if is_there else ""
            reason = "" if is_there else f"what lies in {directory or 'its directory'} does not say so here"
        exists = await self._exists(event.former)
        is_home = await self._is_home(project) or (exists and await self._is_home(event.former))
        return Claim(event.former, project, how, exists, is_home, directory, reason)

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a person's command about the names of a project."""
        other = getattr(command, "former", "") or getattr(command, "name", "")
        exists = bool(other) and await self._exists(other)
        context = NamesContext(address.project, trust_of(message.actor), exists)

        def judge(aliases: Aliases) -> Decision:
            return decide(aliases, command, context)

        return await decided(self._aliases, self._kit.reader, GLOBAL, message, judge)

    async def _exists(self, project: str) -> bool:
        """Whether anything was ever reported under this name; of none that cannot be written was there anything."""
        try:
            prefix = Address(project).log_prefix.rpartition(".")[0]
        except BadSubject:
            return False
        return bool(await self._kit.reader.subjects(f"{prefix}.>"))
