"""Forks in the adapter: where a copy comes from, and that its system prompt is its origin's."""

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services.responder.answers.client_manifest import MANIFEST
from tests.adapter.played import AGENTS, PROMPT, Json

MODEL = {"providerID": "p", "modelID": "m"}
LATER = PROMPT.replace("Nov 20", "Nov 21")


def entry(session: str, place: int) -> Json:
    """A message of a session; its copies have the same time and another id."""
    role, name = ("assistant", "user")[place % 2], f"{session}{place}"
    part = {"id": f"{name}.0", "messageID": name, "sessionID": session, "type": "text", "text": f"text {place}"}
    who: Json = {"agent": "build", "model": MODEL, "mode": "build", **MODEL}
    info = {"id": name, "sessionID": session, "role": role, "time": {"created": place}, **who}
    return {"info": info, "parts": [part]}


def entries(session: str, count: int) -> list[Json]:
    return [entry(session, place) for place in range(1, count + 1)]


def named(session: str, title: str) -> Json:
    return {"id": session, "title": title}


class OpenCode:
    """One OpenCode with its sessions, and the adapter in it."""

    def __init__(self, process: subprocess.Popen[str], directory: Path) -> None:
        self._process = process
        self._directory = directory
        self.items: list[Json] = []

    def start(self, *sessions: Json, **messages: list[Json]) -> None:
        given = {"directory": str(self._directory), "guide": msgspec.to_builtins(MANIFEST), "agents": AGENTS}
        self.do("begin", {**given, "sessions": sessions, "messages": messages})

    def do(self, way: str, *given: object) -> Any:  # noqa: ANN401 - JSON
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"way": way, "given": given}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        self.items = answer["items"]
        return answer.get("answer")

    def call(self, session: str, messages: list[Json], prompt: str = PROMPT) -> list[str]:
        """A turn's first model call; its system prompt."""
        self.do("prepare", session)
        reported = self.items
        self.do("serve", messages)
        reported += self.items
        found: list[str] = self.do("system", session, [prompt])
        self.items = reported
        return found

    def copies(self, session: Json, messages: list[Json]) -> None:
        """The harness makes a copy, and says so."""
        self.do("hear", _event("session.created", session["id"], info=session))
        for message in messages:
            self.do("hear", _event("message.updated", session["id"], info=message["info"]))

    @property
    def origins(self) -> list[tuple[str, str]]:
        """The newest reports of where sessions come from."""
        seen = [item for item in self.items if item["kind"] == "session.seen"]
        return [(item.get("forked_from", ""), item.get("forked_at", "")) for item in seen]


def _event(kind: str, session: str, **properties: object) -> Json:
    return {"id": f"{kind}/{json.dumps(properties)}", "type": kind, "properties": {"sessionID": session, **properties}}


@pytest.fixture
def oc(process: subprocess.Popen[str], tmp_path: Path) -> OpenCode:
    return OpenCode(process, tmp_path)


ORIGIN, COPY = named("s", "A talk"), named("f", "A talk (fork #1)")


def test_a_copy_has_the_system_prompt_of_its_origin(oc: OpenCode) -> None:
    oc.start(ORIGIN, COPY, s=entries("s", 4), f=entries("f", 2))
    before = oc.call("s", entries("s", 3))
    oc.copies(COPY, entries("f", 2))
    assert [] == oc.items
    assert before == oc.call("f", entries("f", 3), LATER)
    assert [("s", "s2")] == oc.origins
    assert before != oc.call("other", entries("other", 1), LATER)


def test_the_origin_of_a_copy_is_reported_before_its_first_turn(oc: OpenCode) -> None:
    oc.start(ORIGIN, COPY, s=entries("s", 2), f=entries("f", 2))
    oc.copies(COPY, entries("f", 2))
    oc.do("listen")
    assert [("s", "")] == oc.origins
    assert ["f1", "f2"] == [item["message"] for item in oc.items if item["kind"] == "message.seen"]
    oc.do("prepare", "f")
    assert [] == oc.origins


def test_a_copy_that_was_made_while_the_adapter_was_away_has_its_origin_too(oc: OpenCode) -> None:
    oc.start(ORIGIN, s=entries("s", 2))
    before = oc.call("s", entries("s", 1))
    oc.start(ORIGIN, COPY, s=entries("s", 2), f=entries("f", 2))
    assert before == oc.call("f", entries("f", 3), LATER)
    assert [("s", "")] == oc.origins
    oc.start(ORIGIN, COPY, s=entries("s", 2), f=entries("f", 3))
    assert before == oc.call("f", entries("f", 3), LATER)


def test_of_several_that_it_may_be_a_copy_of_one_that_has_made_a_call_is_the_origin(oc: OpenCode) -> None:
    again = named("g", "A talk (fork #2)")
    oc.start(COPY, ORIGIN, again, s=entries("s", 2), f=entries("f", 2), g=entries("g", 2))
    oc.call("s", entries("s", 1))
    oc.copies(again, entries("g", 2))
    oc.do("prepare", "g")
    assert [("s", "")] == oc.origins


def test_a_copy_of_what_nobody_knows_begins_as_any_other(oc: OpenCode) -> None:
    oc.start(COPY, f=entries("f", 2))
    oc.copies(COPY, entries("f", 2))
    assert any("Nov 21" in text for text in oc.call("f", entries("f", 3), LATER))
    assert [("", "")] == oc.origins


def at(session: str, created: int, updated: int, title: str = "A talk") -> Json:
    return {**named(session, title), "time": {"created": created, "updated": updated}}


def test_an_origin_is_found_among_many_of_one_name(oc: OpenCode) -> None:
    """And whatever it or the copy are called now."""
    others = [at(f"o{n}", n % 4, 900 + n) for n in range(30)]
    origin, copy = at("s", 0, 800, "Renamed since"), at("f", 500, 600, "A talk (fork #1)")
    oc.start(*others, origin, copy, s=entries("s", 4), f=entries("f", 4), **{one["id"]: [] for one in others})
    oc.copies(copy, entries("f", 4))
    oc.do("prepare", "f")
    assert [("s", "")] == oc.origins


def test_a_copy_that_was_renamed_while_the_adapter_was_away_has_its_origin(oc: OpenCode) -> None:
    oc.start(at("s", 0, 800), at("f", 500, 600, "Plans"), s=entries("s", 4), f=entries("f", 2))
    oc.call("f", entries("f", 3))
    assert [("s", "s2")] == oc.origins


def test_the_origin_of_a_copy_of_a_copy_is_the_one_that_ends_with_what_was_copied(oc: OpenCode) -> None:
    root, first, second = at("s", 0, 990), at("f", 500, 600), at("g", 700, 700, "A talk (fork #2)")
    oc.start(root, first, second, s=entries("s", 6), f=entries("f", 4), g=entries("g", 4))
    oc.copies(second, entries("g", 4))
    oc.do("prepare", "g")
    assert [("f", "")] == oc.origins


def test_a_session_of_the_same_times_and_other_words_is_no_origin(oc: OpenCode) -> None:
    alike = entries("s", 2)
    alike[1]["parts"][0]["text"] = "something else altogether"
    copy = at("f", 500, 600, "A talk (fork #1)")
    oc.start(at("s", 0, 800), copy, s=alike, f=entries("f", 2))
    oc.copies(copy, entries("f", 2))
    oc.do("prepare", "f")
    assert [("", "")] == oc.origins


def test_a_session_that_is_called_like_a_copy_and_is_none_begins_as_any_other(oc: OpenCode) -> None:
    own = at("f", 0, 600, "A talk (fork #1)")
    oc.start(at("s", 0, 800), own, s=entries("s", 2), f=entries("f", 2))
    oc.copies(own, entries("f", 2))
    oc.do("prepare", "f")
    assert [("", "")] == oc.origins


def test_reports_of_a_copy_come_before_its_first_call_in_any_case(oc: OpenCode) -> None:
    copy = at("f", 500, 600, "A talk (fork #1)")
    oc.start(copy, f=entries("f", 2))
    oc.copies(copy, entries("f", 2))
    oc.do("serve", entries("f", 3))
    kinds = [item["kind"] for item in oc.items]
    assert kinds.index("session.seen") < kinds.index("step.seen")
    assert [""] == [origin for origin, _ in oc.origins]
