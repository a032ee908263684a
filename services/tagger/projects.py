"""The tagger's aggregate of projects: facts that belong to no session."""

from schemas.envelope import Actor
from schemas.inbox import DocumentSeen, SessionSeen
from schemas.subjects import Address
from services.domain.draft import Draft
from services.domain.guards import ALL
from services.kit.aggregate import Aggregate
from services.kit.room import Kit
from services.tagger.core.decide import InboundContext
from services.tagger.core.project import Project, decide, evolve


class Projects:
    """Records where projects lie and what their documents hold."""

    def __init__(self, kit: Kit) -> None:
        self._actor = Actor("room", kit.room)
        self._aggregate = Aggregate.of(kit, evolve, Project(), guard=ALL, catches_up=False, once=True)

    async def record(self, project: str, context: InboundContext) -> None:
        """Append what a message holds about its project."""
        items = context.inbound.items
        if not any(isinstance(item, SessionSeen | DocumentSeen) for item in items):
            return

        async def judge(draft: Draft[Project]) -> None:
            decide(draft, context.harness, items, context.sizes)

        await self._aggregate.handle(
            Address(project), judge, cause=context.id, at=context.at, actor=self._actor, again=lambda _: None
        )
