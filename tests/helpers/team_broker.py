"""The broker of a team, with the configuration and the passwords that `deploy` describes."""

import json
import os
import shutil
import subprocess
from pathlib import Path

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
    """Start the broker by the script of its container."""
    path = f"{Path(binary()).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        [shutil.which("sh") or "/bin/sh", str(script), *arguments],
        env={"PATH": path, **ASK_NOBODY, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def passwords(**others: str) -> dict[str, str]:
    """The variables of all passwords, with those of these users changed."""
    return {VARIABLE_OF[user]: password for user, password in (PASSWORDS | others).items()}


class TeamBroker:
    """A broker with the configuration of its container, on ports that it finds, and with a store of its own."""

    def __init__(self, home: Path, **variables: str) -> None:
        script = Path(shutil.copy(DEPLOY / "nats-start.sh", home))
        (home / "nats.conf").write_text(NATS_CONF.replace('"/data"', f'"{home}"'))
        ports = ["-a", "127.0.0.1", "-p", "-1", "-m", "-1", "--ports_file_dir", str(home)]
        self.process = start(*ports, script=script, **variables)
        self._found = home / f"nats-server_{self.process.pid}.ports"

    async def url(self) -> str:
        """Where it listens, once it does."""
        await until(self._listens)
        (url,) = json.loads(self._found.read_text())["nats"]
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
