"""Proposed changes of documents, as the desk writes them down: one aggregate for each project."""

from schemas.commands import Answer, Command, CommandMessage
from schemas.subjects import Address
from services.desk.core.commands import decide
from services.desk.core.docs import DocsContext
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.desk.project_names import ProjectNames
from services.domain.documents.proposals import DocProposals, evolve
from services.kit.aggregate import Aggregate
from services.kit.cache import Sessions
from services.kit.nouns import NounReader
from services.kit.room import Kit

NOUN = "docs"


class ProposedDocs:
    """Decides what becomes of changes of documents."""

    def __init__(self, kit: Kit, names: ProjectNames) -> None:
        self._kit = kit
        self._names = names
        reader = NounReader(kit.reader, (NOUN,), catches_up=True)
        sessions = Sessions(reader, evolve, DocProposals(), kit.settings.loop.sessions, knows_causes=True)
        self._projects = Aggregate(kit, sessions, guard=NOUN, catches_up=True)

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a command about a project, under the name that it goes by."""
        project = (await self._names.now()).project(address.project)
        context = DocsContext(trust_of(message.actor), self._kit.settings.dream.documents)
        return await decided(
            self._projects, self._kit.reader, Address(project), message, lambda now: decide(now, command, context)
        )
