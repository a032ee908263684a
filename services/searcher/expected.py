"""Projects that are searched soon: a session begins or goes on, and what a person writes in it is searched for at once.

Their shelves are filled in the background: filling takes no turn of a search.
"""

import asyncio

from schemas.subjects import parse_log
from services.kit.alias_reader import AliasReader
from services.kit.embed import embedded
from services.kit.room import Kit
from services.searcher.store import SearchStore


class ExpectedProjects:
    """Those of sessions that were heard of since the last look. Facts are only heard of, and not read."""

    def __init__(self, kit: Kit, store: SearchStore, aliases: AliasReader) -> None:
        self._kit = kit
        self._store = store
        self._aliases = aliases
        self._heard: dict[str, bool] = {}
        """Project -> whether a session began in it."""
        self._any = asyncio.Event()

    def begins(self, subject: str) -> None:
        """A session has begun, as the subject of this fact says."""
        self._hear(subject, is_new=True)

    def goes_on(self, subject: str) -> None:
        """An agent of a session has called its model."""
        self._hear(subject, is_new=False)

    def _hear(self, subject: str, *, is_new: bool) -> None:
        project = parse_log(subject)[0].project
        self._heard[project] = is_new or self._heard.get(project, False)
        self._any.set()

    async def prepare(self) -> None:
        """Have ready what the first searches would have to wait for. Never ends."""
        while True:
            await self._any.wait()
            self._any.clear()
            heard, self._heard = self._heard, {}
            aliases = await self._aliases.now()
            for project, is_new in heard.items():
                for name in aliases.names(project):
                    self._store.expect(name, is_new=is_new)
            if any(heard.values()):
                await self._load_model()

    async def _load_model(self) -> None:
        """Have the model of this machine loaded, which it is when it is first asked: an installation may be new."""
        settings = self._kit.settings
        if settings.embed.provider == "local" and settings.search.ranking != "bm25":
            await embedded(self._kit.bus, (self._kit.room,), "query", tokens=False)
