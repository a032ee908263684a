"""The broker of a team, with the configuration and the passwords that `deploy` describes."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from services.edges.launcher.broker import binary
from services.kit.bus import Bus
from tests.helpers.waiting import until

DEPLOY = Path(__file__).parents[2] / "deploy"
NATS_CONF = (DEPLOY / "nats.conf").read_text()
PASSWORDS = {"harness": "1 pass#word$with{all}", "room": "of the rooms", "person": "for people"}
"""Of users, for a broker that lives as long as its test."""
VARIABLE_OF = {
    "harness": "ANNALS_PASSWORD",
    "room": "ANNALS_ROOM_PASSWORD",
    "person": "ANNALS_PERSON_PASSWORD",
}
ASK_NOBODY = {**dict.fromkeys(VARIABLE_OF.values(), ""), "ANNALS_BIND": ""}


def start(*arguments: str, script: Path = DEPLOY / "nats-start.sh", **environment: str) -> subprocess.Popen[bytes]:
    """Start the broker by the script of its container, whose own tools are found whatever the test takes away."""
    path = os.pathsep.join((str(Path(binary()).parent), os.environ["PATH"], os.defpath))
    return subprocess.Popen(
        [shutil.which("sh") or "/bin/sh", str(script), *arguments],
        env={"PATH": path, **ASK_NOBODY, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def passwords(**others: str) -> dict[str, str]:
    """The variables of all passwords, with those of these users changed."""
    return {VARIABLE_OF[user]: password for user, password in (PASSWORDS | others).items()}


def ports_of(home: Path) -> list[str]:
    """The arguments by which a broker finds free ports, and writes into this folder which ones."""
    return ["-a", "127.0.0.1", "-p", "-1", "-m", "-1", "--ports_file_dir", str(home)]


def copied_configuration(home: Path, name: str) -> Path:
    """A file of `deploy` for a broker whose store is in this folder."""
    copy = home / name
    copy.write_text((DEPLOY / name).read_text().replace('"/data"', f'"{home}"'))
    return copy


class ListeningBroker:
    """A broker's process, on ports that it finds, with its store in a folder."""

    def __init__(self, home: Path, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._found = home / f"nats-server_{process.pid}.ports"

    async def url(self) -> str:
        """Where it listens, once it does."""
        return await self._address("nats")

    async def configured(self) -> dict[str, Any]:
        """What it reports of its own configuration."""
        with urlopen(f"{await self._address('monitoring')}/varz") as reply:  # noqa: ASYNC210, S310 - it is ours
            return dict(json.loads(reply.read()))

    async def _address(self, kind: str) -> str:
        await until(self._listens)
        (url,) = json.loads(self._found.read_text())[kind]
        return str(url)

    async def connect(self, user: str = "", password: str | None = None) -> Bus:
        """A connection as this user."""
        url = await self.url()
        known = PASSWORDS.get(user, "") if password is None else password
        return await Bus.connect(url, "test", user=user, password=known)

    def _listens(self) -> bool:
        """Whether it has written whole where it listens."""
        assert self.process.poll() is None, self.process.communicate()
        return self._found.exists() and self._found.read_text().endswith("}")

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.communicate()


class TeamBroker(ListeningBroker):
    """A broker with the configuration of its container."""

    def __init__(self, home: Path, **variables: str) -> None:
        script = Path(shutil.copy(DEPLOY / "nats-start.sh", home))
        copied_configuration(home, "nats.conf")
        super().__init__(home, start(*ports_of(home), script=script, **variables))


class ErasureBroker(ListeningBroker):
    """The broker that deploy/README.md has an operator start on a stopped team's store, by the command of that page."""

    def __init__(self, home: Path) -> None:
        (given,) = re.findall(r"--entrypoint nats-server nats (.+)$", (DEPLOY / "README.md").read_text(), re.MULTILINE)
        words = [str(home) if word == "/data" else word for word in shlex.split(given)]
        words = [str(copied_configuration(home, Path(one).name)) if one.endswith(".conf") else one for one in words]
        process = subprocess.Popen(
            [binary(), *words, *ports_of(home)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        super().__init__(home, process)
