"""One nats-server for many tests: each of them gets an account of its own, whose streams nobody has used."""

from pathlib import Path

from services.edges.launcher.broker import PERMISSIONS, Broker, free_port
from services.kit.endpoint import Endpoint

MAX_PAYLOAD = 1024 * 1024
TRIES = 3
"""Servers that are begun before one is missing: a port that was free may be another's when it is listened at."""
PLAIN = "plain"
"""The account of the users without a number, which nobody but the launcher's own question uses."""
MANY = 50
"""Accounts of one server: with more of them its leftovers cost as much as a new one."""


class Account(Broker):
    """A broker as a test sees it: its users are numbered, and its process is everybody's."""

    def __init__(self, data: Path, port: int, number: int) -> None:
        super().__init__(data, port=port, max_payload=MAX_PAYLOAD)
        self._number = number

    def endpoint_of(self, user: str) -> Endpoint:
        return Endpoint(self.url, self._name(user), self._passwords[user])

    def _name(self, user: str) -> str:
        return f"{user}.{self._number}"

    @property
    def config(self) -> dict[str, object]:
        """What the server's configuration says of it."""
        users = [
            {"user": self._name(user), "password": self._passwords[user], "permissions": permissions}
            for user, permissions in PERMISSIONS.items()
        ]
        return {"jetstream": "enabled", "users": users}

    async def start(self) -> None:
        raise RuntimeError(MINE)

    def stop(self) -> None:
        raise RuntimeError(MINE)


MINE = "other tests use this server, too: mark a test that starts, stops or looks into its broker with `own_broker`"


class Server(Broker):
    """A nats-server with many accounts."""

    def __init__(self, data: Path) -> None:
        super().__init__(data, port=free_port(), max_payload=MAX_PAYLOAD)
        self.unused = [Account(data, self._port, number) for number in range(1, MANY + 1)]

    def _config(self) -> dict[str, object]:
        config = super()._config()
        plain = {"jetstream": "enabled", **config.pop("authorization")}  # type: ignore[dict-item]
        numbered = {f"account{number}": account.config for number, account in enumerate(self.unused, 1)}
        return {**config, "accounts": {PLAIN: plain, **numbered}}


class Accounts:
    """The accounts that are left; where there are none, another server is started."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._server: Server | None = None
        self._used_up: Server | None = None
        self._count = 0

    async def take(self) -> Account:
        """An account that nobody had before."""
        if self._server is None or not self._server.unused:
            server = await self._started()
            self._retire()
            self._server = server
        return self._server.unused.pop()

    def _retire(self) -> None:
        """Keep the server that is used up until the next one is: the test that runs now may be on its last account."""
        if self._used_up is not None:
            self._used_up.stop()
        self._used_up = self._server

    async def _started(self, tries: int = TRIES) -> Server:
        self._count += 1
        server = Server(self._data / f"server{self._count}")
        try:
            await server.start()
        except ConnectionError:
            server.stop()
            if tries == 1:
                raise
            return await self._started(tries - 1)
        return server

    def close(self) -> None:
        for server in (self._server, self._used_up):
            if server is not None:
                server.stop()
        self._server = self._used_up = None
