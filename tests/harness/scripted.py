"""Turns of a scripted session: what the person says, what the model answers, what came of it."""

from base64 import b64encode
from collections.abc import Iterable

from tests.harness.isolation import Json
from tests.harness.opencode import OpenCode
from tests.harness.provider import Answer, Call, Provider, Reply
from tests.harness.provider.script import Lane


class Conversation:
    """One session with a scripted model."""

    def __init__(self, oc: OpenCode, provider: Provider, session: str) -> None:
        self.oc = oc
        self.provider = provider
        self.session = session

    @classmethod
    async def open(cls, oc: OpenCode, provider: Provider, title: str) -> "Conversation":
        return cls(oc, provider, await oc.session(title))

    def script(self, *answers: Answer, lane: Lane = "main") -> None:
        """What the model says next: for this session, or for whichever of another lane asks."""
        self.provider.script.add(*answers, **({"session": self.session} if lane == "main" else {"lane": lane}))

    async def send(self, text: str, *answers: Answer, **how: object) -> Json:
        """One turn: it is over when this returns."""
        self.script(*answers)
        return await self.oc.prompt(self.session, text, **how)  # type: ignore[arg-type] # what `prompt` takes by name

    async def failed(self, text: str, *answers: Answer) -> Json:
        """One turn that ends in an error; the error."""
        return dict((await self.send(text, *answers))["info"]["error"])

    async def messages(self) -> list[Json]:
        return await self.oc.messages(self.session)

    async def texts(self, role: str = "assistant") -> list[str]:
        """The messages, in order."""
        return [
            part["text"]
            for message in await self.messages()
            if message["info"]["role"] == role
            for part in message["parts"]
            if part["type"] == "text" and not part.get("synthetic")
        ]

    async def tools(self) -> list[tuple[str, str]]:
        """The tools that ran, and how each ended."""
        return [(part["tool"], part["state"]["status"]) for part in tool_parts(await self.messages())]

    async def outputs(self, tool: str) -> list[str]:
        """The output of a tool, its errors included."""
        states = [part["state"] for part in tool_parts(await self.messages()) if part["tool"] == tool]
        return [state.get("output") or state.get("error") or "" for state in states]

    async def user(self, place: int) -> str:
        """The id of one of the person's messages."""
        return str([m["info"]["id"] for m in await self.messages() if m["info"]["role"] == "user"][place])

    async def running(self, tool: str, since: int) -> Json:
        """The event that says that a tool of this session runs now."""
        return await self.oc.event(lambda event: _is_running(event, self.session, tool), since=since)

    async def stop(self, since: int) -> None:
        """Abort the turn, and wait until the harness has written that down: it is idle once before that."""
        await self.oc.abort(self.session)
        aborted = await self.oc.event(lambda event: _is_aborted(event, self.session), since=since)
        await self.idle(self.oc.events.seen.index(aborted))

    async def titled(self, since: int) -> None:
        """Wait until the model has given the session its title."""
        await self.oc.event(
            lambda event: (
                event["type"] == "session.updated"
                and event["properties"]["sessionID"] == self.session
                and event["properties"]["info"]["title"] == "Session title"
            ),
            since=since,
        )

    async def idle(self, since: int) -> None:
        """Wait until the session's turn is over."""
        await self.oc.event(
            lambda event: event["type"] == "session.idle" and event["properties"]["sessionID"] == self.session,
            since=since,
        )


def tool_parts(messages: Iterable[Json]) -> list[Json]:
    return [part for message in messages for part in message["parts"] if part["type"] == "tool"]


def _is_running(event: Json, session: str, tool: str) -> bool:
    part = event["properties"].get("part", {}) if event["type"] == "message.part.updated" else {}
    return part.get("sessionID") == session and part.get("tool") == tool and part["state"]["status"] == "running"


def _is_aborted(event: Json, session: str) -> bool:
    info = event["properties"].get("info", {}) if event["type"] == "message.updated" else {}
    return info.get("sessionID") == session and (info.get("error") or {}).get("name") == "MessageAbortedError"


class Calls:
    """The tool calls that the model makes, on files of one workspace."""

    def __init__(self, oc: OpenCode) -> None:
        self._oc = oc

    def read(self, name: str, **more: int) -> Call:
        return Call("read", {"filePath": self._oc.path(name), **more})

    def edit(self, name: str, old: str, new: str) -> Call:
        return Call("edit", {"filePath": self._oc.path(name), "oldString": old, "newString": new})

    def write(self, name: str, text: str) -> Call:
        return Call("write", {"filePath": self._oc.path(name), "content": text})


def bash(line: str, what: str = "Run it") -> Call:
    return Call("bash", {"command": line, "description": what})


def grep(pattern: str) -> Call:
    return Call("grep", {"pattern": pattern})


def glob(pattern: str) -> Call:
    return Call("glob", {"pattern": pattern})


def todos(*entries: tuple[str, str]) -> Call:
    listed = [{"content": content, "status": status, "priority": "medium"} for content, status in entries]
    return Call("todowrite", {"todos": listed})


def task(what: str, prompt: str, agent: str = "general") -> Call:
    return Call("task", {"description": what, "prompt": prompt, "subagent_type": agent})


def calls(*made: Call, text: str = "", reasoning: str = "") -> Reply:
    """An answer that calls tools, all of them at once."""
    return Reply(text=text, reasoning=reasoning, calls=made)


def attached(name: str, text: str) -> Json:
    """A file that the person hands over with a message."""
    data = b64encode(text.encode()).decode()
    return {"type": "file", "mime": "text/plain", "filename": name, "url": f"data:text/plain;base64,{data}"}
