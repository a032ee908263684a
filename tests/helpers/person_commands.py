"""Commands of a person who searches and looks, run in this process as they would be from a terminal."""

import json
from pathlib import Path

import pytest

from services.edges.arguments import parser
from services.edges.launcher.broker import Broker
from services.edges.search.command import augment, explain, search, show
from services.settings import Nats, Settings

COMMANDS = {"search": search, "ask": augment, "show": show, "explain": explain}


class Ran:
    """What a command has printed, and how it ended."""

    def __init__(self, settings: Settings, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._settings, self._here, self._capsys = settings, here, capsys
        self.status = 0
        self.out = self.error = ""

    async def __call__(self, *arguments: str, here: Path | None = None, command: str = "search") -> "Ran":
        options = parser().parse_args([command, *arguments])
        self.status = await COMMANDS[command](options, self._settings, here or self._here)
        self.out, self.error = self._capsys.readouterr()
        return self

    @property
    def ids(self) -> list[str]:
        """Of what was found, by the JSON that was printed."""
        assert (0, "") == (self.status, self.error)
        return [hit["id"] for hit in json.loads(self.out)["hits"]]


def person_settings(broker: Broker, data: Path) -> Settings:
    """Settings with which a person connects as themselves."""
    endpoint = broker.endpoint_of("person")
    scheme, _, place = endpoint.url.partition("//")
    return Settings(data=data, nats=Nats(url=f"{scheme}//{endpoint.user}:{endpoint.password}@{place}"))
