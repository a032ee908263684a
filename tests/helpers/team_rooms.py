"""A team's rooms as processes, with the environment and the volumes of compose.yaml."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped] # ships no types

from tests.helpers.room_process import Process, room
from tests.helpers.team_broker import DEPLOY, ListeningBroker, passwords
from tests.helpers.waiting import PATIENCE

COMPOSE: Mapping[str, Any] = yaml.safe_load((DEPLOY.parent / "compose.yaml").read_text())
MANUAL = (DEPLOY / "README.md").read_text()
IN_CONTAINERS = ("ANNALS_HTTP__HOST", "ANNALS_HTTP__PORT")
"""Settings that every container may have alike, and processes of one machine may not."""


def removed_volumes() -> frozenset[str]:
    """The volumes that deploy/README.md has an operator remove after an erasure."""
    (removed,) = re.findall(r"^docker volume rm (.+?) +#", MANUAL, re.MULTILINE)
    return frozenset(name.removeprefix("PROJECT_") for name in removed.split())


class Volumes:
    """The volumes of rooms, as folders."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def data_of(self, name: str) -> Path:
        """The data directory of a room; one without a volume has a folder of its own."""
        mounts = dict(mount.split(":")[:2] for mount in COMPOSE["services"][name].get("volumes", []))
        volumes = [volume for volume, place in mounts.items() if place == "/data"]
        return self._home / (volumes[0] if volumes else f"of-{name}")

    def remove(self, but: Collection[str] = ()) -> None:
        """Remove those that the manual has an operator remove, and the containers. `but`: those that were forgotten."""
        volumes = {one for one in COMPOSE["volumes"] if one not in removed_volumes() - {*but}}
        for folder in self._home.iterdir():
            if folder.name not in volumes:
                shutil.rmtree(folder)


def environment_of(name: str, url: str) -> dict[str, str]:
    """The variables that compose.yaml gives the container of a room, with the passwords of the tests."""
    given = {key: str(value) for key, value in COMPOSE["services"][name]["environment"].items()}
    whole = {key: re.sub(r"\$\{(\w+):-\}", lambda found: passwords()[found[1]], value) for key, value in given.items()}
    own = {key: value for key, value in whole.items() if key not in IN_CONTAINERS}
    return {**own, "ANNALS_NATS__URL": url}


@asynccontextmanager
async def team_rooms(
    broker: ListeningBroker, volumes: Volumes, names: Sequence[str], **settings: str
) -> AsyncIterator[None]:
    """These rooms of a team, open; they are asked to end at the end, as `docker compose stop` does."""
    url, processes = await broker.url(), dict[str, Process]()
    async with AsyncExitStack() as stack:
        for name in names:
            data = volumes.data_of(name)
            data.mkdir(parents=True, exist_ok=True)
            given = {**environment_of(name, url), **settings, "ANNALS_DATA": str(data)}
            processes[name] = await stack.enter_async_context(room(name, data, **given))
        for process in processes.values():
            await process.logs("open")
        yield
        for process in processes.values():
            process.process.terminate()
        await asyncio.wait([asyncio.create_task(one.process.wait()) for one in processes.values()], timeout=PATIENCE)
