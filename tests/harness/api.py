"""What can be asked of a running OpenCode over HTTP, as its own clients ask it."""

from collections.abc import Sequence
from typing import Any

import aiohttp

from tests.harness.isolation import Json, Model

TURN = 60.0
"""Seconds that a turn may take; a hanging harness fails the test instead of the run."""


class Refused(Exception):
    """The harness answered with an HTTP error."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body[:2000]}")
        self.status = status
        self.body = body


class Api:
    """The HTTP side of one OpenCode in one workspace."""

    def __init__(self, http: aiohttp.ClientSession, directory: str, model: Model) -> None:
        self._http = http
        self._directory = directory
        self._model = model

    async def call(self, method: str, path: str, body: Json | None = None, *, patience: float = TURN) -> Any:  # noqa: ANN401 - JSON
        """One request; the decoded answer, or None where there is none."""
        timeout = aiohttp.ClientTimeout(total=patience)
        params = {"directory": self._directory}
        async with self._http.request(method, path, json=body, params=params, timeout=timeout) as response:
            if response.status >= 400:
                raise Refused(response.status, await response.text())
            return await response.json() if await response.read() else None

    async def session(self, title: str = "A session", parent: str = "") -> str:
        """A new session. It has a title, so that no model is asked for one."""
        body = {"title": title, **({"parentID": parent} if parent else {})}
        return str((await self.call("POST", "/session", body))["id"])

    async def untitled(self) -> str:
        """A new session that asks its model for a title at its first message."""
        return str((await self.call("POST", "/session", {}))["id"])

    async def info(self, session: str) -> Json:
        return dict(await self.call("GET", f"/session/{session}"))

    async def prompt(
        self,
        session: str,
        text: str,
        *,
        model: Model | None = None,
        agent: str = "build",
        parts: Sequence[Json] = (),
        patience: float = TURN,
        **more: object,
    ) -> Json:
        """Say something, and return the last message of the answer when the turn is over."""
        body = self._as_sent(text, model, agent, parts, more)
        return dict(await self.call("POST", f"/session/{session}/message", body, patience=patience))

    async def prompt_async(
        self, session: str, text: str, *, model: Model | None = None, agent: str = "build", **more: object
    ) -> None:
        """Say something, and return at once."""
        await self.call("POST", f"/session/{session}/prompt_async", self._as_sent(text, model, agent, (), more))

    def _as_sent(self, text: str, model: Model | None, agent: str, parts: Sequence[Json], more: Json) -> Json:
        parts_sent = [{"type": "text", "text": text}, *parts]
        return {"parts": parts_sent, "model": (model or self._model).body, "agent": agent, **more}

    async def command(self, session: str, name: str, arguments: str = "", *, model: Model | None = None) -> Json:
        """A slash command; it returns when its turn is over."""
        body = {"command": name, "arguments": arguments, "model": (model or self._model).spec}
        return dict(await self.call("POST", f"/session/{session}/command", body))

    async def shell(self, session: str, line: str, *, agent: str = "build") -> Json:
        """A line that the person runs in the shell; the model sees it as a tool call."""
        body = {"agent": agent, "model": self._model.body, "command": line}
        return dict(await self.call("POST", f"/session/{session}/shell", body))

    async def abort(self, session: str) -> None:
        await self.call("POST", f"/session/{session}/abort", {})

    async def revert(self, session: str, message: str, part: str = "") -> None:
        body = {"messageID": message, **({"partID": part} if part else {})}
        await self.call("POST", f"/session/{session}/revert", body)

    async def unrevert(self, session: str) -> None:
        await self.call("POST", f"/session/{session}/unrevert", {})

    async def fork(self, session: str, before: str = "") -> str:
        """A copy of the session, up to a message if one is named."""
        return str((await self.call("POST", f"/session/{session}/fork", {"messageID": before} if before else {}))["id"])

    async def summarize(self, session: str, *, model: Model | None = None) -> None:
        """The harness's own compaction."""
        await self.call("POST", f"/session/{session}/summarize", (model or self._model).body)

    async def messages(self, session: str) -> list[Json]:
        return list(await self.call("GET", f"/session/{session}/message"))

    async def todo(self, session: str) -> list[Json]:
        return list(await self.call("GET", f"/session/{session}/todo"))

    async def children(self, session: str) -> list[Json]:
        return list(await self.call("GET", f"/session/{session}/children"))

    async def delete(self, session: str) -> None:
        await self.call("DELETE", f"/session/{session}")

    async def patch_part(self, part: Json) -> Json:
        """Write a part of a stored message anew."""
        path = f"/session/{part['sessionID']}/message/{part['messageID']}/part/{part['id']}"
        return dict(await self.call("PATCH", path, part))

    async def reply(self, permission: str, answer: str) -> None:
        """Answer what a tool asked leave for: once, always or reject."""
        await self.call("POST", f"/permission/{permission}/reply", {"reply": answer})

    async def history(self, after: dict[str, int]) -> list[Json]:
        """The harness's own durable log, of every session; those named only after a number."""
        return list(await self.call("POST", "/sync/history", dict(after)))

    async def tool_ids(self) -> list[str]:
        return list(await self.call("GET", "/experimental/tool/ids"))
