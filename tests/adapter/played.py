"""A session in the adapter, hook by hook, as OpenCode plays it."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from schemas.tools import Tool
from services.responder.answers.client_manifest import MANIFEST

FOLDER = Path(__file__).parents[2] / "deploy" / "opencode"
DRIVER = Path(__file__).with_name("sessions.mjs")
Json = dict[str, Any]

NOBODY = "nobody"
PROMPT = "You are a coder.\nToday's date: Fri Nov 20 2026"
AGENTS: list[Json] = [
    {"name": "build", "permission": []},
    {"name": "quiet", "permission": [{"permission": "*", "pattern": "*", "action": "deny"}]},
    {"name": "title", "hidden": True, "prompt": "Name this talk."},
    {"name": "historian", "hidden": True, "prompt": "You sum up."},
    {"name": "untouched", "prompt": "One word. <!-- annals: skip -->"},
]


class Harness:
    """One OpenCode with one session, and the adapter in it."""

    def __init__(self, process: subprocess.Popen[str], directory: Path) -> None:
        self._process = process
        self._directory = directory
        self.ids: list[str] = []
        self.items: list[Json] = []
        self.subjects: list[str] = []
        self.questions: list[Json] = []
        self.notices: list[str] = []
        self.entries: list[Json] = []
        self._positions: dict[str, int] = {}
        self.start()

    def start(
        self,
        *,
        breaks: bool = False,
        project: Json | None = None,
        documents: Sequence[str] | None = None,
        guide: Json | None = None,
        **options: object,
    ) -> None:
        """Begin anew with what is stored on disk; `breaks`: nothing is asked for a while where nobody answers.

        `project`: what the directory is called by now, and was called before. `documents`: the files that are wanted.
        `guide`: what rooms of another release offer.
        """
        guide = msgspec.to_builtins(MANIFEST) if guide is None else guide
        if documents is not None:
            guide["documents"] = documents
        given = {"directory": str(self._directory), "guide": guide, "agents": AGENTS, "options": options}
        self._do("begin", {**given, "breaks": breaks, "project": project or {}})
        self._do("prepare", "s")

    def _do(self, way: str, *given: object) -> Any:  # noqa: ANN401 - JSON
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"way": way, "given": given}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        self.ids, self.items = answer["ids"], answer["items"]
        self.subjects, self.questions, self.notices = answer["subjects"], answer["questions"], answer["notices"]
        return answer.get("answer")

    def reported(self) -> list[str]:
        """The subjects on which something was reported since the start."""
        return list(self._do("reported"))

    def meet(self, *plugins: object) -> None:
        self._do("meet", plugins)

    def answer(self, *answers: object) -> None:
        """What the service says next; None: nothing in time; `NOBODY`: there is nobody who could."""
        self._do("answer", *answers)

    def hear(self, kind: str, **properties: object) -> None:
        self.hear_event(event(f"e{len(self.entries)}", kind, **properties))

    def hear_event(self, heard: Json) -> None:
        self._do("hear", heard)

    def stores(self, *entries: Json) -> None:
        """From now on OpenCode says which messages it stores: these, and no others."""
        self._do("store", entries)

    def reads_slowly(self) -> None:
        """From now on OpenCode's event log has been read when `read` says so."""
        self._do("reading")

    def read(self, *events: Json) -> None:
        """The event log has been read: it holds these; those behind the position that was asked for are answered."""
        for one in events:
            self._positions.setdefault(one["id"], len(self._positions) + 1)
        rows = [
            {
                "id": one["id"],
                "aggregate_id": "s",
                "seq": self._positions[one["id"]],
                "type": f"{one['type']}.1",
                "data": one["properties"],
            }
            for one in events
        ]
        self._do("read", rows)

    def learns(self, **session: object) -> None:
        self.hear("session.updated", info={"id": "s", "title": "A talk", **session})

    def user(self, text: str, agent: str = "build", **info: object) -> None:
        self._message("user", text, agent=agent, model={"providerID": "p", "modelID": "m"}, **info)

    def _message(self, role: str, text: str, **info: object) -> None:
        name = f"m{len(self.entries)}"
        part = {"id": f"{name}.0", "messageID": name, "sessionID": "s", "type": "text", "text": text}
        self.entries.append({"info": {"id": name, "sessionID": "s", "role": role, **info}, "parts": [part]})

    def add_message(self, text: str, agent: str = "build", tokens: int = 10, **info: object) -> None:
        """The answer is there, and counted."""
        who = {"agent": agent, "mode": agent, "providerID": "p", "modelID": "m"}
        self._message("assistant", text, **who, tokens={"input": tokens}, time={"created": 1, "completed": 2}, **info)
        self.hear("message.updated", info=self.entries[-1]["info"])

    @property
    def may_compact(self) -> bool:
        """Whether OpenCode reads in its configuration that it may compact now."""
        return bool(self._do("compacts"))

    @property
    def restarts(self) -> int:
        """How often the installation was to be started until now."""
        return int(self._do("restarts"))

    def pass_time(self, seconds: int) -> None:
        self._do("later", seconds * 1000)

    def is_written_to(self, session: str = "s") -> None:
        """A message is put into a session; whether it is to be answered nobody knows yet."""
        self._do("prepare", session)

    def send(self, session: str) -> None:
        """A model call of another session is under way."""
        info = {"id": f"{session}.m", "sessionID": session, "role": "user", "agent": "build"}
        self._do("serve", [{"info": info, "parts": []}])

    def compacts(self) -> None:
        self._do("compact", "s")

    def serve(self) -> list[str]:
        """The texts of a model call."""
        served = self._do("serve", self.entries)
        return [part["text"] for entry in served for part in entry["parts"]]

    def call(self, tool: Tool, call: str = "c1", **given: object) -> str:
        """The agent calls this tool, from its newest message."""
        context = {"sessionID": "s", "messageID": self.entries[-1]["info"]["id"], "callID": call, "agent": "build"}
        return str(self._do("call", msgspec.to_builtins(tool), given, context))

    def system(self, text: str = PROMPT) -> list[str]:
        """The system prompt of that call."""
        found: list[str] = self._do("system", "s", [text])
        return found

    @property
    def steps(self) -> list[Json]:
        """The steps among the newest reports."""
        return [item for item in self.items if item["kind"] == "step.seen"]


def event(name: str, kind: str, **properties: object) -> Json:
    return {"id": name, "type": kind, "properties": {"sessionID": "s", **properties}}


def on_disk(what: str, directory: Path, *happenings: list[Any]) -> list[Json]:
    """What the core's outbox or record says behind each of these happenings, with its files in this directory."""
    node = shutil.which("node")
    assert node, "node is missing; the adapter is built with it: install Node.js 20 or later"
    driver = Path(__file__).with_name(f"{what}.mjs")
    command = [node, str(driver), str(FOLDER), str(directory), json.dumps(happenings)]
    found: list[Json] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found
