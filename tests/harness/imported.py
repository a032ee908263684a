"""A long session as OpenCode exports it, made up: what a session that is much older than the test would be."""

from typing import Any

from tests.harness.isolation import OPENAI

BORN = 1_767_225_600_000
"""Milliseconds since 1970: the first of January 2026."""
LINE = "a line of a file that was read long ago\n"


def exported(length: int, path: str, session: str = "ses_00000000000imported000001") -> dict[str, Any]:
    """A session of so many messages: questions, and answers with a file read in each."""
    messages = [_question(session, at) if at % 2 == 0 else _answer(session, at, path) for at in range(length)]
    info = {
        "id": session,
        "slug": "imported",
        "projectID": "global",
        "directory": "",
        "path": "",
        "title": "An old session",
        "version": "1.18.33",
        "cost": 0,
        "tokens": _tokens(),
        "time": {"created": BORN, "updated": BORN + length},
    }
    return {"info": info, "messages": messages}


def _question(session: str, at: int) -> dict[str, Any]:
    model = {"providerID": OPENAI.provider, "modelID": OPENAI.main.name}
    info = {
        "id": _message(at), "role": "user", "sessionID": session, "time": {"created": BORN + at},
        "agent": "build", "model": model,
    }  # fmt: skip
    return {"info": info, "parts": [_part(session, at, 0, type="text", text=f"Question {at}: what stands there?")]}


def _answer(session: str, at: int, path: str) -> dict[str, Any]:
    info = {
        "id": _message(at), "role": "assistant", "sessionID": session, "parentID": _message(at - 1),
        "time": {"created": BORN + at, "completed": BORN + at}, "agent": "build", "mode": "build",
        "modelID": OPENAI.main.name, "providerID": OPENAI.provider, "path": {"cwd": "/", "root": "/"},
        "cost": 0, "tokens": _tokens(), "finish": "stop",
    }  # fmt: skip
    state = {
        "status": "completed", "input": {"filePath": path}, "output": LINE * 40, "title": "",
        "metadata": {}, "time": {"start": BORN + at, "end": BORN + at},
    }  # fmt: skip
    return {
        "info": info,
        "parts": [
            _part(session, at, 0, type="tool", tool="read", callID=f"call_{at}", state=state),
            _part(session, at, 1, type="text", text=f"Answer {at}: nothing that is worth remembering."),
        ],
    }


def _part(session: str, at: int, index: int, **fields: object) -> dict[str, Any]:
    return {"id": f"prt_0000{at:08d}{index:014d}", "messageID": _message(at), "sessionID": session, **fields}


def _message(at: int) -> str:
    return f"msg_0000{at:08d}00000000000000"


def _tokens() -> dict[str, Any]:
    return {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
