"""The settings of projects, as the desk writes them down: one aggregate for each project."""

from collections.abc import Mapping

from schemas.commands import Answer, Command, CommandMessage
from schemas.subjects import Address
from services.desk.core.commands import decide
from services.desk.core.settings import SettingsContext
from services.desk.core.trust import trust_of
from services.desk.deciding import decided
from services.desk.project_names import ProjectNames
from services.domain.decision import Decision
from services.domain.project_settings import ProjectSettings, evolve, own_values
from services.kit.aggregate import Aggregate
from services.kit.cache import Sessions
from services.kit.nouns import NounReader, SettingsReader
from services.kit.room import Kit
from services.settings.dream_tasks import check_times

NOUN = "settings"


class OwnSettings:
    """Decides what a project sets for itself, and knows it."""

    def __init__(self, kit: Kit, names: ProjectNames) -> None:
        self._kit = kit
        self._names = names
        self._known = SettingsReader(kit)
        settings = kit.settings
        self._installation = own_values(settings.plan, settings.history, settings.memory, settings.dream)
        self._applies_key_files = settings.dream.key_files == "applied"
        reader = NounReader(kit.reader, (NOUN,), catches_up=True)
        sessions = Sessions(reader, evolve, ProjectSettings(), settings.loop.sessions, knows_causes=True)
        self._projects = Aggregate(kit, sessions, guard=NOUN, catches_up=True)

    async def of(self, project: str) -> Mapping[str, object]:
        """A project's own settings, under whichever name it is asked for."""
        return await self._known.of(project)

    async def handle(self, address: Address, message: CommandMessage, command: Command) -> Answer:
        """Decide a person's command about a project, under the name that it goes by."""
        project = (await self._names.now()).project(address.project)
        context = SettingsContext(trust_of(message.actor), self._installation, check_times, self._applies_key_files)

        def judge(state: ProjectSettings) -> Decision:
            return decide(state, command, context)

        answer = await decided(self._projects, self._kit.reader, Address(project), message, judge)
        self._known.forget(project)
        return answer
